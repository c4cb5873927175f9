import Foundation

/// What can be wrong with a pass or a member that the application names, with a message for people.
///
/// Failures of the store are ``ClubError``, those of readers `ReaderError` of ReaderKit. No message holds an identifier
/// or a name.
public enum CKError: Error, Sendable, Hashable {
    /// A member with that identifier is there already.
    case userExistsAlready(String)
    /// There is no such member.
    case nonexistentUser(String)
    /// A card came, and nothing was read from it.
    case nullDecodedData(String)
    /// What was read is no text in UTF-8, or no message at all.
    case nonExistentUTF8DecodedDataString(String)
    /// The text is no membership text of four fields, `number|id|payload|name`, or its id is empty.
    case invalidPassInformation(String)
    /// The store is not open. Kept for programs that look for it: the club itself throws ``ClubError/Kind/notOpen``.
    case invalidRealmLayer(String)

    /// What happened and what can be done.
    public var message: String {
        switch self {
        case .userExistsAlready(let message), .nonexistentUser(let message), .nullDecodedData(let message),
            .nonExistentUTF8DecodedDataString(let message), .invalidPassInformation(let message),
            .invalidRealmLayer(let message):
            message
        }
    }
}

extension CKError {
    /// What was wrong with what a tap brought, as the original reports it at the tap; `nil` if nothing was.
    init?(_ outcome: Receipt.Outcome) {
        guard case .rejected(let reason) = outcome else { return nil }
        switch reason.code {
        case .card(.invalidPass), .invalidIdentifier: self = .invalidPassInformation(reason.message)
        case .card(.ndefMalformed): self = .nonExistentUTF8DecodedDataString(reason.message)
        case .card(.cardRemoved), .noIdentifier: self = .nullDecodedData(reason.message)
        default: return nil
        }
    }
}

extension CKError: CustomStringConvertible, LocalizedError {
    /// The same as ``message``.
    public var description: String { message }

    /// The same as ``message``.
    public var errorDescription: String? { message }
}
