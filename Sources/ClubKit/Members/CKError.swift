import Foundation

/// An error of a pass or of a member that the application names, with a message for people.
///
/// Failures of the store are ``ClubError``, those of readers `ReaderError` of ReaderKit. No message holds an identifier
/// or a name.
public enum CKError: Error, Sendable, Hashable {
    /// A member with that identifier exists already.
    case userExistsAlready(String)
    /// There is no such member.
    case nonexistentUser(String)
    /// A card was presented, but nothing was read from it.
    case nullDecodedData(String)
    /// The data read is not UTF-8 text, or there is no message at all.
    case nonExistentUTF8DecodedDataString(String)
    /// The text is no membership text of four fields, `number|id|payload|name`, or its id is empty.
    case invalidPassInformation(String)
    /// The store is not open. Kept for source compatibility: the club itself throws ``ClubError/Kind/notOpen``.
    case invalidRealmLayer(String)

    /// A description of the error and its remedy.
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
