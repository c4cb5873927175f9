import Foundation
import ReaderKit

/// A reader, as the callbacks of ``CaptureMiddlewareDelegate`` name it.
public struct CaptureLayerDevice: Sendable, Hashable {
    /// The reader.
    public let reader: ReaderInfo

    /// What is known of the reader.
    public var deviceInfo: DeviceInfo {
        DeviceInfo(name: reader.name, guid: DiscoveredDeviceInfo(reader).identifierUUID)
    }

    /// What is known of a reader.
    public struct DeviceInfo: Sendable, Hashable {
        /// The reader's name.
        public let name: String
        /// Tells it from the other ones: ``DiscoveredDeviceInfo/identifierUUID``.
        public let guid: String
    }

    /// A reader.
    public init(_ reader: ReaderInfo) {
        self.reader = reader
    }
}

/// How something of the readers' side went, in the spelling and with the numbers of the original library's reader kit.
///
/// It only reports whether it went well. What went wrong is reported as an error, by
/// ``ClubMiddlewareDelegate/club(_:didReceive:)``.
public enum CaptureLayerResult: Int, Sendable, Hashable, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// It went well.
    case E_NOERROR = 0
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// This reader, or this build, cannot do it.
    case E_NOTSUPPORTED = -15
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// A value that was given cannot be used.
    case E_INVALIDPARAMETER = -18
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What it needs is not there (yet, or any more).
    case E_NOTINITIALIZED = -19
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The club could not be opened.
    case E_UNABLEINITIALIZE = -21
}

/// What was read from a card, as the callbacks of ``CaptureMiddlewareDelegate`` hand it out.
public struct CaptureLayerDecodedData: Sendable, Hashable {
    /// The bytes, as ``Club/decodedDataFormat`` says; `nil` when the card holds nothing of the kind.
    public var decodedData: Data?

    /// The kind of card, with the numbers of the original library's reader kit.
    public var dataSourceID: DataSourceID

    /// The name of the card's product ("NTAG213"), or `nil` for data of the application's own.
    public var dataSourceName: String?

    /// The tap that it comes from, or `nil` for data of the application's own. The club counts a tap once, however often
    /// it is handed back by ``Club/onDecodedData(decodedData:device:)``.
    public var scan: ScanEvent?

    /// Kinds of cards.
    public enum DataSourceID: Int, Sendable, Hashable, CaseIterable {
        /// The reader does not tell.
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

    /// Data of the application's own, such as a barcode scanner's.
    public init(decodedData: Data?, dataSourceName: String? = nil) {
        self.decodedData = decodedData
        dataSourceID = .unspecified
        self.dataSourceName = dataSourceName
        scan = nil
    }

    /// The bytes as text, or `nil` where they are none in UTF-8.
    public func stringFromDecodedData() -> String? {
        decodedData.flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension CaptureLayerDecodedData: Redacted {
    /// The kind of card. What it says is left out, so that it does not end up in a log by accident.
    public var description: String { "data of \(dataSourceName ?? "the application")" }
}

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
