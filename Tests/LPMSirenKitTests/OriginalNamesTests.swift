import Foundation
import LPMSirenKit
import SirenKit
import Synchronization
import Testing

/// The original library's names do what they say.
@Suite(.serialized) struct OriginalNamesTests {
    private static let order = #"""
        {"class":["order"],"properties":{"orderNumber":42},
        "links":[{"rel":["self"],"href":"/orders/42"},{"rel":["next"],"href":"/orders/43"}],
        "entities":[{"class":["items","collection"],"rel":["x:items"],"href":"/items"}],
        "actions":[{"name":"add","method":"POST","href":"/items","fields":[{"name":"id","type":"hidden","value":"42"},
        {"name":"count","type":"number"},{"name":"page","type":"url"}]},{"name":"fail","href":"/fail"}]}
        """#

    private let transport = InMemoryTransport { request in
        let siren: SirenHeaders = ["Content-Type": SirenEntity.mediaType]
        switch request.url.path() {
        case "/api/", "/orders/42": return SirenResponse(headers: siren, body: Array(Self.order.utf8))
        case "/fail": return SirenResponse(status: 422, headers: siren, body: Array(#"{"title":"No"}"#.utf8))
        case "/items": return SirenResponse(status: 204)
        default: return SirenResponse(headers: siren, body: Array(#"{"title":"43"}"#.utf8))
        }
    }
    private let queue = DispatchQueue(label: "completions")

    private func manager() throws -> LPMSirenSessionManager {
        try LPMSirenSessionManager(
            baseURL: #require(URL(string: "https://shop.example/api")),
            manifestPath: "",
            transport: transport,
            completionQueue: queue
        )
    }

    private struct Result: Sendable {
        var entity: LPMSirenEntityModel?
        var error: (any Error)?
    }

    /// What a completion gets.
    private func result(_ start: (@escaping LPMSirenSessionManager.Completion) async throws -> LPMSirenTask)
        async throws
        -> Result
    {
        let (results, continuation) = AsyncStream<Result>.makeStream()
        let queue = queue
        _ = try await start { entity, error in
            dispatchPrecondition(condition: .onQueue(queue))
            continuation.yield(Result(entity: entity, error: error))
        }
        var iterator = results.makeAsyncIterator()
        return try #require(await iterator.next())
    }

    @Test func manifestAndLinks() async throws {
        let manager = try manager()
        manager.authorizationHeaderValue = "Bearer 1"
        let manifest = try await result { manager.GETManifest(withParameters: ["a": 1], completion: $0) }
        let entity = try #require(manifest.entity)
        #expect(manifest.error == nil && entity.sirenLinks.count == 2 && entity.sirenEntities.count == 1)
        #expect(entity.sirenActions[0].sirenFields.map(\.name) == ["id", "count", "page"])
        let next = try await result { manager.GETLink(entity.sirenLinks[1], completion: $0) }
        #expect(next.entity?.title == "43")
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "https://shop.example/api/?a=1", "https://shop.example/orders/43",
            ]
        )
        #expect(transport.requests.allSatisfy { $0.headers["Authorization"] == "Bearer 1" })
    }

    @Test func whatIsKeptIsFoundByTheMapping() async throws {
        try LPMSirenSessionStore.setGUIDMappingDictionary([
            "order": "properties.orderNumber", "items, collection": "sirenLinks[0].href",
        ])
        defer { try? LPMSirenSessionStore.setGUIDMappingDictionary([:]) }
        let manager = try manager()
        _ = try await result { manager.GETManifest(completion: $0) }
        let next = try await result {
            try await manager.GETLink(forRelationship: "next", ofEntityWithGUID: "42", completion: $0)
        }
        #expect(next.entity?.title == "43")
        let added = try await result {
            try await manager.HTTPAction(
                withName: "add",
                onEntityWithGUID: "42",
                withParameters: ["count": 2],
                completion: $0
            )
        }
        #expect(added.entity == nil && added.error == nil)
        #expect(
            transport.requests.last?.body
                == SirenBody(Array("id=42&count=2".utf8), type: "application/x-www-form-urlencoded")
        )
        #expect(throws: SirenPath.Malformed.self) { try LPMSirenSessionStore.setGUIDMappingDictionary(["a": "["]) }
    }

    @Test func whatIsNotKeptIsNotRequested() async throws {
        let manager = try manager()
        await #expect {
            try await manager.GETLink(forRelationship: "next", ofEntityWithGUID: "42") { _, _ in }
        } throws: { error in
            (error as NSError).code == SirenKitError_ErrorCode_LinkNotFound.rawValue
                && (error as NSError).domain == LPMSirenKitError.errorDomain
        }
        await #expect {
            try await manager.HTTPAction(withName: "add", onEntityWithGUID: "42") { _, _ in }
        } throws: { error in
            (error as NSError).code == SirenKitError_ErrorCode_ActionNotFound.rawValue
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func valuesAreOfTheirFieldsTypes() async throws {
        let manager = try manager()
        let entity = try #require(try await result { manager.GETManifest(completion: $0) }.entity)
        for parameters: [String: SirenInput] in [["count": "2"], ["page": "https://a.example"]] {
            #expect {
                try manager.HTTPAction(with: entity.sirenActions[0], withParameters: parameters) { _, _ in }
            } throws: { error in
                (error as NSError).code == SirenKitError_ErrorCode_FieldTypeMismatch.rawValue
            }
        }
        // What has no field, or is hidden, is dropped.
        let added = try await result {
            try manager.HTTPAction(with: entity.sirenActions[0], withParameters: ["id": "7", "x": 1], completion: $0)
        }
        #expect(added.error == nil && transport.requests.count == 2)
        #expect(transport.requests.last?.body?.pieces == [.bytes(Array("id=42".utf8))])
    }

    @Test func failuresGoToTheCompletion() async throws {
        let manager = try manager()
        let entity = try #require(try await result { manager.GETManifest(completion: $0) }.entity)
        let refused = try await result { try manager.HTTPAction(with: entity.sirenActions[1], completion: $0) }
        #expect(refused.entity?.title == "No" && (refused.error as? LPMSirenRefusal)?.answer.status == 422)
        let lost = try await result { manager.GETLink(LPMSirenLinkModel(rel: [], href: "urn:x"), completion: $0) }
        #expect(lost.entity == nil && lost.error as? SirenRequestError == .referenceInvalid("urn:x"))
    }

    @Test func requestsAreCancelled() async throws {
        let waiting = InMemoryTransport { _ in
            try await Task.sleep(for: .seconds(600))
            return SirenResponse()
        }
        let manager = try LPMSirenSessionManager(
            baseURL: #require(URL(string: "https://shop.example")),
            manifestPath: "",
            transport: waiting,
            completionQueue: queue
        )
        let cancelled = try await result { completion in
            let task = manager.GETManifest(completion: completion)
            task.cancel()
            return task
        }
        #expect(cancelled.error is CancellationError)
    }
}
