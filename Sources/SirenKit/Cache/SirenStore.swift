import Foundation
import Synchronization

/// What is kept of an entity, so that one can go on from it without asking for it again: its links, its actions and what it
/// is related to. Its properties are never kept.
public struct SirenRecord: Sendable, Hashable {
    /// How much of the entity a document had.
    public enum Extent: Int, Sendable, Hashable {
        /// A link to it.
        case link
        /// It, within another.
        case embedded
        /// It, as the document's own.
        case document
    }

    /// By what the entity is known. Two are the same if their bytes are, as UTF-8.
    public var guid: String
    /// The API whose client keeps it, by ``SirenClient/manifestURL``. What is kept of one API is not found for another.
    public var api: URL
    /// The document from which this is.
    public var url: URL
    /// Whether the API itself states this: the document came from the manifest's origin or one
    /// of ``SirenSession/furtherOrigins``.
    public var isTrusted: Bool
    /// How much of the entity the document had.
    public var extent: Extent
    /// Links, actions, and entities as links, with absolute references.
    public var entity: SirenEntity
    /// The value by which the server distinguishes versions of the document.
    public var entityTag: String?
    /// When the document last changed, as the server states it.
    public var lastModified: String?
    /// When the document came.
    public var at: Date
    /// Until when links and actions count as fresh.
    public var expires: Date

    /// Creates a record.
    public init(
        guid: String,
        api: URL,
        url: URL,
        isTrusted: Bool,
        extent: Extent,
        entity: SirenEntity,
        entityTag: String? = nil,
        lastModified: String? = nil,
        at: Date,
        expires: Date
    ) {
        self.guid = guid
        self.api = api
        self.url = url
        self.isTrusted = isTrusted
        self.extent = extent
        self.entity = entity
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.at = at
        self.expires = expires
    }

    /// Whether it takes the place of another of the same GUID and API. What is trusted always replaces what is not, which never
    /// replaces it; else what had less of the entity does so only when the other is no longer fresh.
    public func replaces(_ other: SirenRecord) -> Bool {
        guard isTrusted == other.isTrusted else { return isTrusted }
        return extent.rawValue >= other.extent.rawValue || other.expires < at
    }

    /// About how many bytes it takes in a store.
    ///
    /// - Parameter count: how many its entity takes.
    package func size(ofEntity count: Int) -> Int {
        [guid, api.absoluteString, url.absoluteString, entityTag ?? "", lastModified ?? ""]
            .reduce(count) { $0 + $1.utf8.count }
    }
}

/// Keeps what is known of entities, for one API or several. Each call is whole or has no effect, also where the process is
/// killed.
public protocol SirenStore: Sendable {
    /// Keeps records, as far as each replaces the one of its GUID and API (``SirenRecord/replaces(_:)``). No other record is kept
    /// between that decision and what follows from it.
    func keep(_ records: [SirenRecord]) async throws

    /// What is kept of an entity.
    func record(guid: String, api: URL) async throws -> SirenRecord?

    /// The server reports that a document still holds.
    func renew(url: URL, api: URL, at: Date, expires: Date) async throws

    /// Forgets what is from a document.
    func forget(url: URL, api: URL) async throws

    /// Forgets everything, or, if specified, only what is from one origin, and of one API.
    ///
    /// - Parameter origin: a URL of which only scheme, host and port count.
    func wipe(origin: URL?, api: URL?) async throws
}

/// Keeps records as long as the process runs.
public final class MemorySirenStore: SirenStore {
    private let capacity: Int
    private let bytes: Int
    private let records = Mutex<[[UInt8]: (record: SirenRecord, size: Int)]>([:])

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - capacity: how many records are kept at most; those that are not trusted go first, and the oldest.
    ///   - bytes: how many bytes they may have at most, as JSON.
    public init(capacity: Int = 10_000, bytes: Int = 16 << 20) { (self.capacity, self.bytes) = (capacity, bytes) }

    /// Keeps records, as far as each replaces the one of its GUID and API.
    public func keep(_ new: [SirenRecord]) {
        let new = new.map { (record: $0, size: $0.size(ofEntity: $0.entity.json.count)) }
        records.withLock { records in
            for new in new {
                let key = Self.key(new.record.api, new.record.guid)
                if records[key].map({ new.record.replaces($0.record) }) ?? true { records[key] = new }
            }
            var size = records.values.reduce(0) { $0 + $1.size }
            guard records.count > capacity || size > bytes else { return }
            // More than necessary, so that not every further record sorts them all.
            let first = records.sorted { one, other in
                let (one, other) = (one.value.record, other.value.record)
                return one.isTrusted == other.isTrusted ? one.at < other.at : other.isTrusted
            }
            for (key, held) in first where records.count > capacity - capacity / 10 || size > bytes / 10 * 9 {
                records[key] = nil
                size -= held.size
            }
        }
    }

    /// What is kept of an entity.
    public func record(guid: String, api: URL) -> SirenRecord? {
        records.withLock { $0[Self.key(api, guid)]?.record }
    }

    /// Bytes, since for Swift two texts may be equal that servers hold apart. A URL has no space.
    private static func key(_ api: URL, _ guid: String) -> [UInt8] { Array("\(api.absoluteString) \(guid)".utf8) }

    /// The server reports that a document still holds.
    public func renew(url: URL, api: URL, at: Date, expires: Date) {
        records.withLock { records in
            for (key, held) in records where held.record.url == url && held.record.api == api {
                records[key]?.record.at = at
                records[key]?.record.expires = expires
            }
        }
    }

    /// Forgets what is from a document.
    public func forget(url: URL, api: URL) { forget { $0.url == url && $0.api == api } }

    /// Forgets everything, or, if specified, only what is from one origin, and of one API.
    public func wipe(origin: URL? = nil, api: URL? = nil) {
        forget { (origin == nil || $0.url.origin == origin?.origin) && (api == nil || $0.api == api) }
    }

    private func forget(_ isMeant: (SirenRecord) -> Bool) {
        records.withLock { records in records = records.filter { !isMeant($0.value.record) } }
    }
}

extension SirenEntity {
    /// What is kept of a document's entities.
    ///
    /// - Parameters:
    ///   - identities: by what they are known.
    ///   - record: a record of the document, for what all have in common.
    static func records(
        _ identities: SirenGUIDMapping.Identities,
        like record: SirenRecord,
        storesValues: Bool
    ) -> [SirenRecord] {
        identities.all.compactMap { identity in
            guard let guid = identity.guid else { return nil }
            var record = record
            record.guid = guid
            switch identity.subject {
            case .link(let link):
                record.extent = .link
                record.entity = SirenEntity(classes: link.classes, links: [link.kept(as: ["self"])])
            case .representation(let entity, _):
                record.extent = identity.path == "$" ? .document : .embedded
                record.entity = entity.kept(storesValues: storesValues)
            }
            if record.extent != .document { (record.entityTag, record.lastModified) = (nil, nil) }
            return record
        }
    }

    /// Without properties, and with links in place of the entities within it. Its links and actions keep their titles;
    /// other titles and unknown members are left out, but for those of fields, where their constraints are.
    private func kept(storesValues: Bool) -> SirenEntity {
        let related: [SirenSubEntity] = entities.compactMap { sub in
            switch sub {
            case .link(let link): .link(link.kept(as: link.rel))
            case .representation(let entity, let rel):
                entity.links.first(rel: "self").map { link in
                    .link(SirenLink(rel: rel, href: link.href, classes: entity.classes, type: link.type))
                }
            }
        }
        let actions = actions.filter { storesValues || $0.fields.allSatisfy { $0.value == nil } }.map { action in
            var action = action
            action.otherMembers = [:]
            return action
        }
        return SirenEntity(
            classes: classes,
            entities: related,
            links: links.map { $0.kept(as: $0.rel, title: $0.title) },
            actions: actions
        )
    }
}

extension SirenLink {
    fileprivate func kept(as rel: [String], title: String? = nil) -> SirenLink {
        SirenLink(rel: rel, href: href, classes: classes, title: title, type: type)
    }
}

extension SirenEntity {
    /// The entity as JSON, whatever the schema states about it.
    package var json: [UInt8] { SirenValue.object(json(rel: nil)).json }
}
