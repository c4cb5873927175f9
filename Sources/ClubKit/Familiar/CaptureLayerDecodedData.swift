import Foundation
import ReaderKit

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

    /// What was read in a tap, in that format.
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

    /// The bytes as text, or `nil` where they are none in UTF-8.
    public func stringFromDecodedData() -> String? {
        decodedData.flatMap { String(validating: $0, as: UTF8.self) }
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

extension CaptureLayerDecodedData: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind of card. What it says is left out, so that it does not end up in a log by accident.
    public var description: String { "data of \(dataSourceName ?? "the application")" }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
