import ClubRecords
import Crypto
import Foundation

/// Identifiers that follow from what they are of, so that one tap never gives two of them, on whatever device and
/// however often it is told of.
package enum ScenarioIdentifiers {
    /// Of what a scenario is charged with at a visit.
    package static func execution(of scenario: String, for subject: TransferRecord.Subject.Kind, at visit: UUID) -> UUID
    {
        uuid("execution", [subject.rawValue, scenario], visit)
    }

    /// Of a visit as an event of a group or the kiosk.
    package static func event(of subject: TransferRecord.Subject, at visit: UUID) -> UUID {
        uuid("event", [subject.kind, subject.text], visit)
    }

    private static func uuid(_ what: String, _ parts: [String], _ visit: UUID) -> UUID {
        var hash = SHA256()
        withUnsafeBytes(of: visit.uuid) { hash.update(bufferPointer: $0) }
        for part in [what] + parts {
            hash.update(data: Array(part.utf8))
            // No byte of UTF-8, so that two parts are never one.
            hash.update(data: [0xFF])
        }
        return UUID(hash.finalize())
    }
}
