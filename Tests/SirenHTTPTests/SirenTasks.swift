#if NETWORK
import Foundation
import SirenCache
import SirenHTTP
import SirenKit

// The code of Documentation/siren.md: it is compiled, and nobody calls it.

func checkIn(at server: URL, token: String) async throws {
    var session = SirenSession()
    session.mapping = try SirenGUIDMapping(["member": "properties.card"])
    session.certificateAuthorities = ["/etc/club/authority.pem"]
    let client = try SirenClient(baseURL: server, session: session, store: FileSirenStore(path: "siren.sqlite"))
    client.authorizationHeaderValue = "Bearer \(token)"

    let manifest = try await client.manifest()
    guard let search = manifest.entity?.links.first(rel: "search") else { return }
    let member = try await client.follow(search, parameters: ["card": "04A1B2"])
    for action in member.entity?.actions ?? [] { print(action.title ?? action.name) }
    let answer = try await client.submit(actionNamed: "check-in", onEntityWithGUID: "04A1B2")
    print(answer.outcome)
}

func askInProcess(_ server: URL) async throws -> SirenAnswer {
    let transport = InMemoryTransport { request in
        SirenResponse(headers: ["Content-Type": SirenEntity.mediaType], body: Array(#"{"title":"Hello"}"#.utf8))
    }
    let client = try SirenClient(baseURL: server, transport: transport)
    let answer = try await client.manifest()
    return answer
}
#endif
