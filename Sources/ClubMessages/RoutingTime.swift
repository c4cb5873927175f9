import CardCore
import ClubRecords
import Foundation

/// Times in messages and in what is told of them.
enum RoutingTime {
    static func text(_ date: Date) -> String { ISO8601.text(date) }

    static func decode<Key: CodingKey>(_ container: KeyedDecodingContainer<Key>, _ key: Key) throws -> Date {
        guard let date = ISO8601.date(try container.decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "no time of ISO 8601")
        }
        return date
    }

    /// A time as others write it: text of ISO 8601 with an offset or `Z`, or a day alone, which is its beginning in UTC;
    /// or seconds since 1970. `nil` if it is none of these, or outside the years 1970 to 9999.
    static func date(_ value: FieldValue) -> Date? {
        switch value {
        case .string(var text):
            return text.withUTF8(ISODate.microseconds).map(Timestamp.date)
        case .int(let seconds):
            return date(seconds: Double(seconds))
        case .double(let seconds):
            return date(seconds: seconds)
        case .null, .bool, .array, .object:
            return nil
        }
    }

    static func date(seconds: Double) -> Date? {
        Timestamp.microseconds(Date(timeIntervalSince1970: seconds)).map(Timestamp.date)
    }
}
