import ClubRecords
import Foundation

/// The lines that a ``MessageSocket`` answers.
enum SocketAnswer {
    static func result(_ result: RoutingResult) -> [UInt8] {
        var values: [String: FieldValue] = [
            "id": .string(result.messageID), "source": .string(result.source.kind.rawValue),
            "outcome": .string(result.outcome.name), "at": .string(RoutingTime.text(result.at)),
        ]
        values["type"] = result.type.map(FieldValue.string)
        values["sourceName"] = result.source.name.map(FieldValue.string)
        values["reason"] = result.outcome.reason.map(FieldValue.string)
        values["processor"] = result.processor.map(FieldValue.string)
        return line(values)
    }

    static func error(_ error: MessageError) -> [UInt8] {
        Self.error(code: error.code.rawValue, error.message, at: error.offset)
    }

    static func error(_ error: ClubError) -> [UInt8] {
        Self.error(code: error.kind.rawValue, error.description)
    }

    static func error(code: String, _ message: String, at offset: Int? = nil) -> [UInt8] {
        var values: [String: FieldValue] = ["code": .string(code), "message": .string(message)]
        values["offset"] = offset.map(FieldValue.int)
        return line(["error": .object(values)])
    }

    private static func line(_ values: [String: FieldValue]) -> [UInt8] {
        var json: [UInt8] = []
        JSONText.append(values, to: &json)
        json.append(UInt8(ascii: "\n"))
        return json
    }
}
