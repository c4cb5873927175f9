import Foundation
import SirenKit
import Synchronization

/// The original's name of an entity.
public typealias LPMSirenEntityModel = SirenEntity
/// The original's name of a link.
public typealias LPMSirenLinkModel = SirenLink
/// The original's name of an action.
public typealias LPMSirenActionModel = SirenAction
/// The original's name of a field.
public typealias LPMSirenFieldModel = SirenField

extension SirenEntity {
    /// Where one can go.
    public var sirenLinks: [LPMSirenLinkModel] { links }
    /// What one can do.
    public var sirenActions: [LPMSirenActionModel] { actions }
    /// Entities to which it is related.
    public var sirenEntities: [SirenSubEntity] { entities }
}

extension SirenAction {
    /// What may be sent.
    public var sirenFields: [LPMSirenFieldModel] { fields }
}

/// Where it is specified by what entities are known.
public enum LPMSirenSessionStore {
    private static let shared = Mutex(SirenGUIDMapping())

    /// Specifies by what entities are known, for every session manager that is created afterwards: the path of the
    /// identifier by classes, such as `["order": "properties.orderNumber", "items, collection": "href"]`.
    ///
    /// - Throws: ``SirenKit/SirenPath/Malformed`` if a path is not well formed.
    public static func setGUIDMappingDictionary(_ mapping: [String: String]) throws {
        let mapping = try SirenGUIDMapping(mapping)
        shared.withLock { $0 = mapping }
    }

    static var mapping: SirenGUIDMapping { shared.withLock { $0 } }
}

/// A request that is under way.
public struct LPMSirenTask: Sendable {
    private let task: Task<Void, Never>

    init(_ operation: @escaping @Sendable () async -> Void) { task = Task { await operation() } }

    /// Ends it; its completion gets a `CancellationError`.
    public func cancel() { task.cancel() }
}

/// Walks a Siren API under the original library's names: ``SirenKit/SirenClient`` with completions.
///
/// What is wrong before a request is thrown at once, as ``LPMSirenKitError`` or ``SirenKit/SirenRequestError``; all else
/// goes to the completion, which is called once, on ``completionQueue``.
public final class LPMSirenSessionManager: Sendable {
    /// Gets the answer's entity, and why the request failed. Both are present if the server describes the reason by an
    /// entity. Neither is present if a server did what it was asked to and reports nothing about it.
    public typealias Completion = @Sendable (LPMSirenEntityModel?, (any Error)?) -> Void

    /// The client.
    public let client: SirenClient
    /// Where completions are called.
    public let completionQueue: DispatchQueue

    /// Creates a session manager.
    ///
    /// - Parameters:
    ///   - baseURL: the API's address, of HTTP. One without a slash at its end gets one.
    ///   - manifestPath: the reference to the API's first entity; empty where the API begins at its address.
    ///   - sessionConfiguration: how the client speaks to servers. Its mapping is replaced by that of
    ///     ``LPMSirenSessionStore``.
    /// - Throws: ``SirenKit/SirenRequestError/referenceInvalid(_:)`` if the manifest has no URL of HTTP.
    public init(
        baseURL: URL,
        manifestPath: String,
        sessionConfiguration: SirenSession = SirenSession(),
        transport: any SirenTransport,
        store: any SirenStore = MemorySirenStore(),
        completionQueue: DispatchQueue = .main
    ) throws(SirenRequestError) {
        var session = sessionConfiguration
        session.mapping = LPMSirenSessionStore.mapping
        client = try SirenClient(
            baseURL: baseURL,
            manifestPath: manifestPath,
            session: session,
            transport: transport,
            store: store
        )
        self.completionQueue = completionQueue
    }

    /// The value of the header `Authorization` of every later request to the manifest's origin; `nil` for none.
    public var authorizationHeaderValue: String? {
        get { client.authorizationHeaderValue }
        set { client.authorizationHeaderValue = newValue }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Asks for the API's first entity.
    @discardableResult
    public func GETManifest(
        withParameters parameters: [String: SirenInput]? = nil,
        completion: @escaping Completion
    ) -> LPMSirenTask {
        request(completion) { try await $0.manifest(parameters: parameters ?? [:]) }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Follows a link.
    @discardableResult
    public func GETLink(
        _ link: LPMSirenLinkModel,
        withParameters parameters: [String: SirenInput]? = nil,
        completion: @escaping Completion
    ) -> LPMSirenTask {
        request(completion) { try await $0.follow(link, parameters: parameters ?? [:]) }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Follows a link of an entity of which something is kept.
    ///
    /// - Throws: ``LPMSirenKitError`` with the code ``SirenKitError_ErrorCode_LinkNotFound`` if no such link is kept. No
    ///   server is asked then, and the completion is not called.
    @discardableResult
    public func GETLink(
        forRelationship relationship: String,
        ofEntityWithGUID guid: String,
        withParameters parameters: [String: SirenInput]? = nil,
        completion: @escaping Completion
    ) async throws -> LPMSirenTask {
        _ = try await coded { try await client.link(rel: relationship, ofEntityWithGUID: guid) }
        return request(completion) {
            try await $0.follow(rel: relationship, ofEntityWithGUID: guid, parameters: parameters ?? [:])
        }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Submits an action.
    ///
    /// - Throws: ``LPMSirenKitError`` with the code ``SirenKitError_ErrorCode_FieldTypeMismatch`` if a value is not of its
    ///   field's type. No server is asked then, and the completion is not called.
    @discardableResult
    public func HTTPAction(
        with action: LPMSirenActionModel,
        withParameters parameters: [String: SirenInput]? = nil,
        completion: @escaping Completion
    ) throws -> LPMSirenTask {
        try check(action, parameters)
        return request(completion) { try await $0.submit(action, parameters: parameters ?? [:]) }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Submits an action of an entity of which something is kept.
    ///
    /// - Throws: ``LPMSirenKitError`` with the code ``SirenKitError_ErrorCode_ActionNotFound`` if no such action is kept, or
    ///   ``SirenKitError_ErrorCode_FieldTypeMismatch`` if a value is not of its field's type. No server is asked then, and
    ///   the completion is not called.
    @discardableResult
    public func HTTPAction(
        withName name: String,
        onEntityWithGUID guid: String,
        withParameters parameters: [String: SirenInput]? = nil,
        completion: @escaping Completion
    ) async throws -> LPMSirenTask {
        let action = try await coded { try await client.action(named: name, onEntityWithGUID: guid) }
        try check(action, parameters)
        return request(completion) {
            try await $0.submit(actionNamed: name, onEntityWithGUID: guid, parameters: parameters ?? [:])
        }
    }

    private func check(_ action: LPMSirenActionModel, _ parameters: [String: SirenInput]?) throws {
        do {
            _ = try action.form(parameters ?? [:])
        } catch {
            throw LPMSirenKitError(error) ?? error as any Error
        }
    }

    private func coded<Value>(_ find: () async throws -> Value) async throws -> Value {
        do {
            return try await find()
        } catch let error as SirenRequestError {
            throw LPMSirenKitError(error) ?? error as any Error
        }
    }

    private func request(
        _ completion: @escaping Completion,
        _ operation: @escaping @Sendable (SirenClient) async throws -> SirenAnswer
    ) -> LPMSirenTask {
        LPMSirenTask { [client, completionQueue] in
            let (entity, error): (LPMSirenEntityModel?, (any Error)?)
            do {
                let answer = try await operation(client)
                (entity, error) = (answer.entity, answer.outcome == .failed ? LPMSirenRefusal(answer: answer) : nil)
            } catch let failure {
                (entity, error) = (nil, failure)
            }
            completionQueue.async { completion(entity, error) }
        }
    }
}
