import CardCore
import CardPasses
import Foundation

extension CaptureRedaction {
    /// Returns whether replays of a capture and its redaction have the same kind of taps: the same cards, kinds of
    /// identifiers, forms of records, passes and problems, and the same taps by the same member.
    public static func replaysAlike(_ original: Capture, _ redacted: Capture) async -> Bool {
        let (before, after) = (await taps(original), await taps(redacted))
        guard before.count == after.count else { return false }
        guard zip(before, after).allSatisfy({ shape($0) == shape($1) }) else { return false }
        return members(before) == members(after)
    }

    private static func taps(_ capture: Capture) async -> [ScanEvent] {
        let backend = ReplayBackend([capture]) { _ in Date(timeIntervalSince1970: 0) }
        var taps: [ScanEvent] = []
        for await case .scan(let tap) in CardScanner(backend).events() { taps.append(tap) }
        return taps
    }

    private static func shape(_ tap: ScanEvent) -> [String] {
        var parts = [
            tap.reader, tap.technology?.rawValue ?? "", tap.card, tap.uid?.kind.rawValue ?? "none",
            tap.uid.map { "\($0.bytes.count)" } ?? "", tap.atr?.hex ?? "", tap.memberKey == nil ? "nobody" : "member",
            tap.memberName == nil ? "" : "named",
        ]
        parts += tap.passes.map { "\($0.kind.rawValue) \($0.assurance.rawValue) \($0.id.utf8.count)" }
        parts += tap.problems.map(\.code.rawValue)
        parts.append(tap.ndef == nil ? "no NDEF" : "NDEF")
        for record in tap.ndef ?? [] {
            parts.append("\(record.tnf) \(record.type.count) \(record.id?.count ?? -1) \(record.payload.count)")
            if record.tnf != .absoluteURI { parts.append(record.type.hex) }
        }
        return parts
    }

    /// The members by the order in which they come first.
    private static func members(_ taps: [ScanEvent]) -> [Int?] {
        var order: [String: Int] = [:]
        return taps.map { tap in
            tap.memberKey.map { key in
                let index = order[key] ?? order.count
                order[key] = index
                return index
            }
        }
    }
}
