import Foundation
import SirenKit

func readADocument(_ bytes: [UInt8]) throws {
    let document = try SirenDocument(decoding: bytes)
    for violation in document.violations { print(violation) }  // $.links[0].href: expected a text

    let order = document.entity
    let next = order.links.first(rel: "next")
    let items = order.entities.first(class: "items", "collection")
    let number = order.properties["orderNumber"]?.number?.text
    print(next?.href ?? "-", items?.link?.href ?? "-", number ?? "-")
}

func fillAForm(of order: SirenEntity) throws -> SirenBody? {
    if let add = order.actions.first(name: "add-item") {
        let form = try add.form(["productCode": "A-17", "quantity": 2])
        let body = try SirenEncodings().body(form, type: add.encoding ?? "application/json")
        return body
    }
    return nil
}

func tellEntitiesApart(_ order: SirenEntity, from url: URL) throws {
    let mapping = try SirenGUIDMapping(["order": "properties.orderNumber", "items, collection": "href"])
    let identities = mapping.identities(in: order, base: url)
    for identity in identities.all { print(identity.path, identity.guid ?? "-") }
    for problem in identities.problems { print(problem) }
}

func askInProcess(_ server: URL) async throws -> SirenAnswer {
    let transport = InMemoryTransport { request in
        SirenResponse(headers: ["Content-Type": SirenEntity.mediaType], body: Array(#"{"title":"Hello"}"#.utf8))
    }
    let client = try SirenClient(baseURL: server, transport: transport)
    let answer = try await client.manifest()
    return answer
}
