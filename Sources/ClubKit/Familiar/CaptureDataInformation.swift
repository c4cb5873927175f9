import ReaderKit

/// What a scanned text says of a member.
public protocol CaptureDataUserInformationProtocol {
    /// The member's id.
    var passId: String { get }
    /// The member's name; may be empty.
    var username: String { get }
    /// The number of the payload's format.
    var payloadNumber: String { get }
    /// The rest of the text.
    var payload: String { get }

    /// Reads the text, or gives `nil` if it is none.
    init?(captureDataString: String)
}

/// The four fields of a membership text, `number|id|payload|name`.
public struct CaptureDataInformation: CaptureDataUserInformationProtocol, Sendable, Hashable {
    /// The second field, never empty.
    public let passId: String
    /// The fourth field; may be empty.
    public let username: String
    /// The first field. It is not stored.
    public let payloadNumber: String
    /// The third field. It is not stored.
    public let payload: String

    /// Reads a text of exactly four fields whose second one can be an id (``ReaderKit/MembershipText``). White space
    /// round the id and the name does not count. `|||` is no such text, since its id is empty.
    public init?(captureDataString: String) {
        guard let text = try? MembershipText(parsing: captureDataString) else { return nil }
        passId = text.id
        username = text.name
        payloadNumber = text.number
        payload = text.payload
    }
}
