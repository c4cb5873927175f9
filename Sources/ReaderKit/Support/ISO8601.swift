import Foundation

/// Times as text: ISO 8601 in UTC with milliseconds, the one form in which captures and tools write them.
package enum ISO8601 {
    /// `2026-11-21T08:30:00.000Z`, rounded to the nearest millisecond.
    package static func text(_ date: Date) -> String {
        // The style cuts what is finer than a millisecond; a quarter of one keeps a rounded time from being cut below.
        let rounded = (date.timeIntervalSince1970 * 1000).rounded() / 1000 + 0.000_25
        return Date(timeIntervalSince1970: rounded).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Reads a time with a zone, with or without a fraction of a second; `nil` for anything else.
    package static func date(_ text: String) -> Date? {
        try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")))
    }
}
