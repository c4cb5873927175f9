import Foundation
import ReaderKit

/// A reader, as passed to ``CaptureMiddlewareDelegate``.
public struct CaptureLayerDevice: Sendable, Hashable {
    /// The reader.
    public let reader: ReaderInfo

    /// The description of the reader.
    public var deviceInfo: DeviceInfo {
        DeviceInfo(name: reader.name, guid: DiscoveredDeviceInfo(reader).identifierUUID)
    }

    /// The description of a reader.
    public struct DeviceInfo: Sendable, Hashable {
        /// The reader's name.
        public let name: String
        /// The identifier of the reader: ``DiscoveredDeviceInfo/identifierUUID``.
        public let guid: String
    }

    /// Creates a device for a reader.
    public init(_ reader: ReaderInfo) {
        self.reader = reader
    }
}

/// The result of a reader operation, in the spelling and with the numbers of the original library's reader kit.
///
/// It only reports success or failure. Errors are reported by ``ClubMiddlewareDelegate/club(_:didReceive:)``.
public enum CaptureLayerResult: Int, Sendable, Hashable, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The operation succeeded.
    case E_NOERROR = 0
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// This reader, or this build, does not support the operation.
    case E_NOTSUPPORTED = -15
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A parameter is invalid.
    case E_INVALIDPARAMETER = -18
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What the operation requires is unavailable (yet, or any more).
    case E_NOTINITIALIZED = -19
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The club could not be opened.
    case E_UNABLEINITIALIZE = -21
}

/// The data read from a card, as passed to ``CaptureMiddlewareDelegate``.
public struct CaptureLayerDecodedData: Sendable, Hashable {
    /// The bytes, in the format of ``Club/decodedDataFormat``; `nil` if the card has none.
    public var decodedData: Data?

    /// The kind of card, with the numbers of the original library's reader kit.
    public var dataSourceID: DataSourceID

    /// The name of the card's product ("NTAG213"); `nil` for data of the application's own.
    public var dataSourceName: String?

    /// The tap that the data comes from; `nil` for data of the application's own. The club counts a tap once, however
    /// often it is passed to ``Club/onDecodedData(decodedData:device:)``.
    public var scan: ScanEvent?

    /// Kinds of cards.
    public enum DataSourceID: Int, Sendable, Hashable, CaseIterable {
        /// The reader does not report the kind.
        case unspecified = 0
        /// ISO 14443 type A.
        case iso14443A = 256
        /// ISO 14443 type B.
        case iso14443B = 257
        /// FeliCa.
        case felica = 258
        /// ISO 15693.
        case iso15693 = 259
    }

    /// Creates data of the application's own, such as a barcode scanner's.
    public init(decodedData: Data?, dataSourceName: String? = nil) {
        self.decodedData = decodedData
        dataSourceID = .unspecified
        self.dataSourceName = dataSourceName
        scan = nil
    }

    /// Returns the bytes as text; `nil` if they are not UTF-8.
    public func stringFromDecodedData() -> String? { decodedData.flatMap { String(validating: $0, as: UTF8.self) } }
}

extension CaptureLayerDecodedData: Redacted {
    /// The kind of card. The content is omitted, to keep it out of logs.
    public var description: String { "data of \(dataSourceName ?? "the application")" }
}

/// The membership fields of a scanned text.
public protocol CaptureDataUserInformationProtocol {
    /// The member's id.
    var passId: String { get }
    /// The member's name; may be empty.
    var username: String { get }
    /// The number of the payload's format.
    var payloadNumber: String { get }
    /// The rest of the text.
    var payload: String { get }

    /// Parses the text; `nil` if it is no membership text.
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

    /// Parses a text of exactly four fields whose second one is a valid identifier (``ReaderKit/MembershipText``).
    /// White space around the identifier and the name is ignored. `|||` is no such text, since its identifier is empty.
    public init?(captureDataString: String) {
        guard let text = try? MembershipText(parsing: captureDataString) else { return nil }
        passId = text.id
        username = text.name
        payloadNumber = text.number
        payload = text.payload
    }
}
