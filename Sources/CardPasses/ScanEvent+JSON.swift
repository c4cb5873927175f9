import CardCore
import Foundation
import NDEFCodec

extension ScanEvent: Codable {
    private enum Key: String, CodingKey {
        case event, id, at, reader, backend, technology, card, uid, uidKind, atr, ndef, passes, objects, memberKey,
            memberName
        case problems, durationMs
    }

    /// The object that the tools print for a tap: bytes as upper-case hexadecimal, times in UTC with milliseconds,
    /// absent values left out.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode("scan", forKey: .event)
        try object.encode(id.uuidString, forKey: .id)
        try object.encode(ISO8601.text(at), forKey: .at)
        try object.encode(reader, forKey: .reader)
        try object.encode(backend, forKey: .backend)
        try object.encodeIfPresent(technology, forKey: .technology)
        try object.encode(card, forKey: .card)
        try object.encodeIfPresent(uid?.hex, forKey: .uid)
        try object.encodeIfPresent(uid?.kind, forKey: .uidKind)
        try object.encodeIfPresent(atr?.hex, forKey: .atr)
        try object.encodeIfPresent(ndef, forKey: .ndef)
        try object.encode(passes, forKey: .passes)
        if !objects.isEmpty { try object.encode(objects, forKey: .objects) }
        try object.encodeIfPresent(memberKey, forKey: .memberKey)
        try object.encodeIfPresent(memberName, forKey: .memberName)
        if !problems.isEmpty { try object.encode(problems, forKey: .problems) }
        try object.encode((duration.seconds * 10_000).rounded() / 10, forKey: .durationMs)
    }

    /// Reads the object back. Keys that are not known are passed over.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        func bytes(_ key: Key) throws -> [UInt8]? {
            guard let text = try object.decodeIfPresent(String.self, forKey: key) else { return nil }
            do {
                return try Hex.decode(text)
            } catch {
                throw DecodingError.dataCorruptedError(forKey: key, in: object, debugDescription: "\(error)")
            }
        }
        guard try object.decode(String.self, forKey: .event) == "scan" else {
            throw DecodingError.dataCorruptedError(forKey: .event, in: object, debugDescription: "not a scan event")
        }
        guard let at = ISO8601.date(try object.decode(String.self, forKey: .at)) else {
            throw DecodingError.dataCorruptedError(forKey: .at, in: object, debugDescription: "not an ISO 8601 time")
        }
        let technology = try object.decodeIfPresent(Technology.self, forKey: .technology)
        self.init(
            id: try object.decode(UUID.self, forKey: .id),
            at: at,
            reader: try object.decode(String.self, forKey: .reader),
            backend: try object.decode(BackendKind.self, forKey: .backend),
            technology: technology,
            card: try object.decodeIfPresent(String.self, forKey: .card) ?? "unknown",
            uid: try bytes(.uid).map { CardUID($0, technology: technology) },
            atr: try bytes(.atr),
            ndef: try object.decodeIfPresent([NDEFRecord].self, forKey: .ndef),
            passes: try object.decodeIfPresent([Pass].self, forKey: .passes) ?? [],
            objects: try object.decodeIfPresent([SmartTapObject].self, forKey: .objects) ?? [],
            memberKey: try object.decodeIfPresent(String.self, forKey: .memberKey),
            memberName: try object.decodeIfPresent(String.self, forKey: .memberName),
            problems: try object.decodeIfPresent([Problem].self, forKey: .problems) ?? [],
            duration: .seconds((try object.decodeIfPresent(Double.self, forKey: .durationMs) ?? 0) / 1000)
        )
    }
}
