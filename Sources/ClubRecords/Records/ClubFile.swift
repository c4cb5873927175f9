import Foundation

/// The club's own form: JSON Lines of what merges, so that nothing is lost and a file that was cut off or changed is
/// noticed.
///
/// The first line is the ``Header``. Each line behind it is a ``TransferRecord``: an object with one key (`member`,
/// `card`, `visit`, `undo`, `reset`, `event`, `execution`, `settlement`, `erasure`, `audit`). Erasures stand before all others, in the order of their salts, so that
/// members are looked through once for each. The last line is the ``Trailer``, with the number of lines and the
/// SHA-256 of all bytes before it.
///
/// Whoever may write a file must not be able to keep a kiosk busy for hours, so a record beyond the limits below is
/// skipped, and the import says why. They are far from what a club comes to: ten thousand totals are those of a file
/// that was imported every day for 27 years.
package enum ClubFile {
    /// The version of the form that is written, and the latest that is read.
    static let version = 1

    /// The longest line, in bytes.
    package static let longestLine = 4 * 1024 * 1024

    /// How deep the JSON of a line may be nested: as deep as a value of any file, behind the six levels in which a
    /// member's values stand.
    static let depth = JSONReader.depth + 6

    /// How many creations, totals of files, sales of visits, removals of visits and values a member may have of each.
    package static let mostParts = 10_000

    /// How many devices' erasures are taken in, each of which hashes with a salt of its own: whoever is looked for
    /// among those who were erased has to be hashed with all of them. No club has so many.
    package static let mostSalts = 64

    /// How many particulars an entry of the audit log may have.
    static let mostParticulars = 100

    static let name = "clubkit"

    /// The first line.
    package struct Header: Codable, Sendable, Hashable {
        package var format = ClubFile.name
        package var version = ClubFile.version
        /// The device that wrote it.
        package var device: UUID
        /// ISO 8601, UTC, with milliseconds.
        package var exportedAt: String
        /// The device's logical clock then.
        package var clock: Int64

        package init(device: UUID, exportedAt: String, clock: Int64) {
            self.device = device
            self.exportedAt = exportedAt
            self.clock = clock
        }
    }

    /// The last line.
    package struct Trailer: Codable, Sendable, Hashable {
        package struct Sums: Codable, Sendable, Hashable {
            /// Lines between the first and the last.
            package var records: Int
            package var members: Int
            package var visits: Int
            /// SHA-256 in hexadecimal.
            package var sha256: String

            package init(records: Int, members: Int, visits: Int, sha256: String) {
                self.records = records
                self.members = members
                self.visits = visits
                self.sha256 = sha256
            }
        }
        package var end: Sums

        package init(end: Sums) {
            self.end = end
        }
    }

    /// JSON with sorted keys, so that equal values are equal bytes.
    package static func line(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
