/// A member as an object, for applications that extend the record with values of their own.
///
/// Subclass it, give the subclass its own `CodingKeys` and override ``encode(to:)``, `init(from:)` and
/// ``variableNamesAsStrings()``, calling `super` first; then register it by
/// ``Club/setCustomMembershipUser(classType:)``. A class written for the original library loses the word
/// `@objcMembers`, as there is no Objective-C here:
///
/// ```swift
/// class CustomMembershipUser: MembershipUser {
///     var emailAddress: String?
///
///     enum CodingKeys: String, CodingKey, CaseIterable {
///         case emailAddress
///     }
///
///     override class func variableNamesAsStrings() -> [String] {
///         super.variableNamesAsStrings() + CodingKeys.allCases.map(\.rawValue)
///     }
///
///     required init(from decoder: any Decoder) throws {
///         try super.init(from: decoder)
///         let container = try decoder.container(keyedBy: CodingKeys.self)
///         emailAddress = try container.decode(String.self, forKey: .emailAddress)
///     }
///
///     override func encode(to encoder: any Encoder) throws {
///         try super.encode(to: encoder)
///         var container = encoder.container(keyedBy: CodingKeys.self)
///         try container.encode(emailAddress, forKey: .emailAddress)
///     }
/// }
/// ```
///
/// The club makes its objects by decoding. Where the record has no value yet (the member is new, or older than the
/// field), its decoder answers with an empty value: `""`, 0, `false`, no elements.
///
/// An object is a copy of its own: changing it changes nothing in the club, except in ``Club/update(user:withChanges:)``.
/// It is not `Sendable`; ``Member`` is. It is isolated to no actor, and so is a subclass, also in a module whose code is
/// isolated to the main actor by default.
nonisolated open class MembershipUser: Codable, IdentifiableUserProtocol {
    /// The identifier of the member: that on the pass, or the card's UID in upper-case hexadecimal.
    public var userId: String?

    /// The member's name; empty if the card has none.
    public var username: String?

    /// When the member was created, in seconds since 1970 (UTC).
    public var timeStampAdded: Double = 0

    /// The number of counted visits.
    public var numVisits: Int = 0

    /// The time of the latest counted visit, in seconds since 1970 (UTC); 0 if there was none.
    public var timeStampOfLastVisit: Double = 0

    /// The identifier of the record in a file of the original library from version 1.0.32 on, else ``userId``. It
    /// cannot be changed and has no column in exports.
    public var memberId: String? { formerMemberID ?? userId }

    /// The same as ``userId``: the identifier on the member's pass.
    public var passId: String? { userId }

    private(set) var formerMemberID: String?

    /// The keys of the five base values, in the order of the columns of an export.
    public enum CodingKeys: String, CodingKey, CaseIterable {
        /// The key of ``MembershipUser/userId``.
        case userId
        /// The key of ``MembershipUser/username``.
        case username
        /// The key of ``MembershipUser/timeStampAdded``.
        case timeStampAdded
        /// The key of ``MembershipUser/numVisits``.
        case numVisits
        /// The key of ``MembershipUser/timeStampOfLastVisit``.
        case timeStampOfLastVisit
    }

    /// Creates a record whose values are all empty.
    ///
    /// - Throws: the error of a subclass's `init(from:)` for a record without values.
    public convenience init() throws {
        try self.init(from: RecordDecoder([:]))
    }

    /// Decodes the base values. Numbers may be text, as in files of the original library; text that is no number, and a
    /// missing value, count as 0. Identifiers and names may be missing or `null`. Without `userId`, the `passId` of
    /// later versions of the original library is used.
    public required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        userId = try container.decodeIfPresent(String.self, forKey: .userId)
        username = try container.decodeIfPresent(String.self, forKey: .username)
        timeStampAdded = Self.number(in: container, forKey: .timeStampAdded)
        numVisits = Int(exactly: Self.number(in: container, forKey: .numVisits).rounded(.towardZero)) ?? 0
        timeStampOfLastVisit = Self.number(in: container, forKey: .timeStampOfLastVisit)
        let later = try decoder.container(keyedBy: FieldKey.self)
        if userId == nil { userId = try later.decodeIfPresent(String.self, forKey: .passId) }
        formerMemberID = try later.decodeIfPresent(String.self, forKey: .memberId)
    }

    /// Writes the base values, missing ones as `null`.
    open func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(userId, forKey: .userId)
        try container.encode(username, forKey: .username)
        try container.encode(timeStampAdded, forKey: .timeStampAdded)
        try container.encode(numVisits, forKey: .numVisits)
        try container.encode(timeStampOfLastVisit, forKey: .timeStampOfLastVisit)
    }

    /// The names of the values, in the order of the columns of an export.
    open class func variableNamesAsStrings() -> [String] {
        CodingKeys.allCases.map(\.rawValue)
    }

    /// `userId`: what a record is looked up by. Overriding it has no effect.
    open class func primaryKey() -> String? { CodingKeys.userId.rawValue }

    /// The class's name, for ``Migration``. Overriding it has no effect.
    open class func className() -> String { String(describing: self) }

    private static func number(in container: KeyedDecodingContainer<CodingKeys>, forKey key: CodingKeys) -> Double {
        let number = try? container.decodeIfPresent(Double.self, forKey: key)
        let value = number ?? (try? container.decodeIfPresent(String.self, forKey: key)).flatMap { Double($0) }
        guard let value, value.isFinite else { return 0 }
        return value
    }
}

// Not a member of the class, so that a subclass may have a value named `id`.
extension Identifiable where Self: MembershipUser {
    /// The same as ``MembershipUser/userId``; empty if that is `nil`.
    public var id: String { userId ?? "" }
}

extension MembershipUser: Identifiable {
    /// The type of ``MembershipUser/userId``.
    public typealias ID = String
}

extension MembershipUser {
    class func object(of member: Member) throws(ClubError) -> Self {
        do {
            return try self.init(from: RecordDecoder(member.record))
        } catch {
            // The error may quote values of the member; its kind and the name of the field do not.
            let detail = RecordDecoder.summary(error)
            throw ClubError(.unreadableRecord, attempting: "make a member's record", detail: detail)
        }
    }

    /// The names of the values of that class, in the order of the columns of an export: those that
    /// ``variableNamesAsStrings()`` returns, then those that the class writes besides, so that a class which does not
    /// override it loses none.
    class var columnNames: [String] {
        // A class may refuse a record without values.
        let written = (try? RecordEncoder.record(of: self.init(from: RecordDecoder([:]))).names) ?? []
        var seen: Set<String> = []
        return (variableNamesAsStrings() + written).filter { seen.insert($0).inserted }
    }

    /// What the object holds, by name. Throws ``ClubError/Kind/unreadableRecord`` if its `encode(to:)` throws.
    func record(attempting attempt: String) throws(ClubError) -> [String: FieldValue] {
        do {
            var record = try RecordEncoder.record(of: self).fields
            let name = FieldKey.memberId.stringValue
            if let formerMemberID, record[name] == nil { record[name] = .string(formerMemberID) }
            return record
        } catch {
            throw ClubError(.unreadableRecord, attempting: attempt, detail: RecordEncoder.summary(error))
        }
    }
}

extension RecordEncoder {
    /// What went wrong and at which field, without the values that an encoding error quotes.
    static func summary(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return "it threw \(type(of: error))" }
        let path = context.codingPath.map { PlainText.line($0.stringValue) }.joined(separator: ".")
        return "the field '\(path)' cannot be stored"
    }
}

/// The common interface of types that represent a member.
public protocol IdentifiableUserProtocol: AnyObject {
    /// The identifier of the member's record in the original library from version 1.0.32 on.
    var memberId: String? { get }

    /// The identifier on the member's pass: the same as ``MembershipUser/userId``.
    var passId: String? { get }

    /// The member's name; empty if the card has none.
    var username: String? { get }

    /// When the member was created, in seconds since 1970 (UTC).
    var timeStampAdded: Double { get }
}

/// Why a member changed.
public enum MembershipUpdateReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// A tap was counted.
    case visit
    /// A visit was recorded by hand.
    case manualVisit
    /// A visit was undone.
    case undo
    /// The member's values, cards or status were edited.
    case edit
    /// Another device's records, a file, or another member were merged into this one.
    case merge
}
