#if NETWORK
import Foundation
import SirenHTTP
import SirenKit
import TestSupport
import Testing

/// PyPI's `flask-ripozo`, which makes Siren of its own accord.
private let ripozo = PythonWitness(modules: "flask_ripozo")

@Suite(
    .enabled(if: ripozo != nil, "flask-ripozo is not installed: run Scripts/setup --tests"),
    .timeLimit(.minutes(10))
)
struct MembersTests {
    @Test("[real ripozo] members are listed, found, added, renamed and removed by what flask-ripozo says of them")
    func members() async throws {
        let server = try PythonServer("members.py", python: ripozo?.path)
        let base = "http://127.0.0.1:\(server.port)/api/"
        let client = try SirenClient(baseURL: #require(URL(string: base)), manifestPath: "members")

        // Page by page, each behind a redirect.
        var answer = try await client.manifest()
        var names: [SirenValue?] = []
        while let page = answer.entity {
            #expect(answer.redirects.count == 1 && page.classes == ["members"])
            // Where it has no number of a member it says `<id>`, and its types are Python's.
            #expect(Set(answer.violations.map(\.rule)) == [.reference, .fieldType, .relation])
            for member in page.entities {
                names.append(try await client.follow(#require(member.link)).entity?.properties["name"])
            }
            guard let next = page.links.first(rel: "next") else { break }
            answer = try await client.follow(next)
        }
        #expect(names == ["Ada", "Bo", "Čapek", "Dé", "Émile"])
        let back = try await client.follow(#require(answer.entity?.links.first(rel: "previous")))
        #expect(back.entity?.entities.count == 2)

        let renamed = try await client.submit(
            actionNamed: "update",
            onEntityWithGUID: base + "members/3",
            parameters: ["name": "Karel & Č", "id": 9]
        )
        #expect(renamed.outcome == .done && renamed.entity?.properties == ["id": 3, "name": "Karel & Č"])
        #expect(renamed.dropped.map(\.name) == ["id"])

        let create = try #require(renamed.entity?.actions.first(name: "create"))
        await #expect {
            _ = try await client.submit(create)
        } throws: { error in
            guard case .fieldsRefused(let problems) = error as? SirenRequestError else { return false }
            return problems.map(\.field) == ["name"]
        }
        let created = try await client.submit(create, parameters: ["name": "Fé"])
        #expect(created.outcome == .created && created.entity?.properties["id"] == 6)
        let six = try await client.follow(#require(created.entity?.links.first(rel: "created")))
        #expect(six.entity?.properties["name"] == "Fé")

        let removed = try await client.submit(
            actionNamed: "delete",
            onEntityWithGUID: base + "members/6",
            parameters: ["name": "Fé"]
        )
        #expect(removed.outcome == .done)
        await #expect(throws: SirenRequestError.linkNotFound(rel: "self", guid: base + "members/6")) {
            try await client.follow(rel: "self", ofEntityWithGUID: base + "members/6")
        }
        let missing = try await client.follow(SirenLink(rel: ["item"], href: "members/6"))
        #expect(missing.outcome == .failed && missing.status == 404)
        #expect(missing.entity?.properties["message"] == "There is no member 6")
    }
}
#endif
