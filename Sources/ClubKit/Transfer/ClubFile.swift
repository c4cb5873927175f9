import Foundation

/// The club's own form: JSON Lines of what merges, so that nothing is lost and a file that was cut off or changed is
/// noticed.
///
/// The first line is the ``Header``. Each line behind it is a ``TransferRecord``: an object with one key (`member`,
/// `card`, `visit`, `undo`, `erasure`, `audit`). The last line is the ``Trailer``, with the number of lines and the
/// SHA-256 of all bytes before it.
enum ClubFile {
    /// The version of the form that is written, and the latest that is read.
    static let version = 1

    /// The longest line, in bytes.
    static let longestLine = 4 * 1024 * 1024

    static let name = "clubkit"

    /// The first line.
    struct Header: Codable, Sendable, Hashable {
        var format = ClubFile.name
        var version = ClubFile.version
        /// The device that wrote it.
        var device: UUID
        /// ISO 8601, UTC, with milliseconds.
        var exportedAt: String
        /// The device's logical clock then.
        var clock: Int64
    }

    /// The last line.
    struct Trailer: Codable, Sendable, Hashable {
        struct Sums: Codable, Sendable, Hashable {
            /// Lines between the first and the last.
            var records: Int
            var members: Int
            var visits: Int
            /// SHA-256 in hexadecimal.
            var sha256: String
        }
        var end: Sums
    }

    static func line(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
