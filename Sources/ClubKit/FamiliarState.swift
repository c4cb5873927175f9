import Foundation
import ReaderKit

/// What a club remembers for the names of the original library: nothing of it is stored.
struct FamiliarState: Sendable {
    var numberOfFailedOpenCaptureAttempts = 0

    /// The readers that ``Club/open(withAppKey:appId:developerId:completion:)`` serves; all of this machine until they
    /// are set.
    var capture: (any ReaderBackend)??
    /// What it started, which ``Club/close(_:)`` ends.
    var serving: Task<Void, Never>?
    /// The backends that are being served, by the number of the call.
    var services: [Int: ReaderService] = [:]
    var lastService = 0
    /// The only reader to serve; all of them if `nil`.
    var favorite: DiscoveredDeviceInfo?
    /// Who is notified of readers and taps instead of the club, if it is still there.
    var captureDelegate: CaptureDelegateReference?

    /// Tests have one of their own.
    var debugLogger = DebugLogger.shared

    var decodedDataFormat = Club.DecodedDataParseFormat.defaultRFID
    /// The tap that ``Club/onDecodedData(decodedData:device:)`` took last.
    var lastDecoded: Task<Void, Never>?

    /// What ``Club/addVersionMigration(changeBlock:)`` registered.
    var registeredMigrations: [MigrationChange] = []
    /// What ``MembershipConfiguration/migrationChanges`` was set to.
    var configuredMigrations: [MigrationChange] = []
}

/// Somebody who stands in for the club where readers are concerned, held weakly.
struct CaptureDelegateReference: @unchecked Sendable {
    // Delegates are not Sendable. This is safe to send since the club only compares the reference with nil, except on the
    // queue of setDispatchQueue, where its methods are called one at a time. The reference itself never changes, and
    // reading a weak reference is atomic.
    private(set) weak var delegate: (any CaptureMiddlewareDelegate)?

    init(_ delegate: any CaptureMiddlewareDelegate) {
        self.delegate = delegate
    }
}

extension Club {
    /// The content of ``CaptureLayerDecodedData/decodedData``. It does not affect which member is recognized.
    public enum DecodedDataParseFormat: Int, Sendable, Hashable, CaseIterable {
        /// The text that identifies the member: the card's four fields, or else the key by which the club looks the
        /// member up.
        case defaultRFID = 0
        /// The bytes of the NDEF message on the card.
        case NDEF  // swift-format-ignore: AlwaysUseLowerCamelCase
    }
}

extension CaptureLayerDecodedData {
    /// Creates the data read in a tap, in that format.
    public init(_ scan: ScanEvent, format: Club.DecodedDataParseFormat = .defaultRFID) {
        dataSourceID =
            switch scan.technology {
            case .iso14443a: .iso14443A
            case .iso14443b: .iso14443B
            case .felica: .felica
            case .iso15693: .iso15693
            default: .unspecified
            }
        dataSourceName = scan.card
        self.scan = scan
        switch format {
        case .defaultRFID:
            decodedData = Self.text(of: scan).map { Data($0.utf8) }
        case .NDEF:
            let message = scan.ndef.flatMap { try? NDEFMessage($0).encoded() }
            decodedData = message.map { Data($0) }
        }
    }

    /// The four-field text on the card if it names this member, else the member's key alone.
    private static func text(of scan: ScanEvent) -> String? {
        guard let key = scan.memberKey else { return nil }
        for case .text(let record) in (scan.ndef ?? []).map(\.content) {
            if let text = try? MembershipText(parsing: record.text), text.id == key { return record.text }
        }
        return key
    }
}
