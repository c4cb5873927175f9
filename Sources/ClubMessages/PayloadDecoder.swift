import ClubRecords
import Foundation

/// Reads payloads as the types that processors want.
///
/// It is strict, unlike ``RecordDecoder``: a member's record may be older than one of its fields, but a message that does
/// not say what it must is not to be acted on.
enum PayloadDecoder {
    static func decode<Payload: Decodable>(_ type: Payload.Type, from payload: FieldValue) throws -> Payload {
        if type == FieldValue.self, let payload = payload as? Payload { return payload }
        var json: [UInt8] = []
        JSONText.append(payload, to: &json)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let date = RoutingTime.date(try container.decode(FieldValue.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no time")
            }
            return date
        }
        return try decoder.decode(type, from: Data(json))
    }
}
