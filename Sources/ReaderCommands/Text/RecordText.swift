import ReaderKit
import ToolSupport

/// An NDEF record in words. What the card contains is quoted, so that it cannot steer a terminal.
enum RecordText {
    static func describe(_ record: NDEFRecord) -> String {
        switch record.content {
        case .empty: "empty record"
        case .text(let text): "Text (\(text.language)) \(quote(text.text))"
        case .uri(let uri): "URI \(quote(uri))"
        case .smartPoster(let poster):
            "Smart Poster \(quote(poster.uri))" + (poster.title.map { " titled \(quote($0))" } ?? "")
        case .handover(let handover):
            "Handover \(handover.kind.rawValue) \(handover.version), \(handover.carriers.count) carriers"
        case .handoverCarrier(let carrier): "Handover Carrier, \(carrier.data.utf8.count / 2) bytes"
        case .signature(let signature):
            signature.isMarker ? "Signature marker" : "Signature (\(signature.algorithm)), not verified"
        case .mime(let type, let payload): "MIME \(quote(type)), \(payload.count) bytes"
        case .absoluteURI(let uri, let payload): "absolute URI \(quote(uri)), \(payload.count) bytes"
        case .external(let domain, let type, let payload):
            "external \(quote(domain + ":" + type)), \(payload.count) bytes"
        case .androidApplication(let package): "Android application \(quote(package))"
        case .unknown(let payload): "unknown, \(payload.count) bytes"
        case .other: "\(record.tnf) \(quote(record.typeName)), \(record.payload.count) bytes"
        case .malformed(let error): "malformed: \(error)"
        }
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                quoted += "\\u{\(String(scalar.value, radix: 16))}"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + (text.unicodeScalars.count > 200 ? "…\"" : "\"")
    }
}

/// Bytes for people: address, sixteen bytes, and what they are in ASCII.
enum HexDump {
    static func lines(_ bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let address = [UInt8(truncatingIfNeeded: start >> 8), UInt8(truncatingIfNeeded: start)].hex
            return "  \(address)  \(Hex.encode(row, separator: " ").padded(to: 47))  |\(ascii(row))|"
        }
    }

    /// The printable characters; a point for each other byte.
    static func ascii(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    }
}
