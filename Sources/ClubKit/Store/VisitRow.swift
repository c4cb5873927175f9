import Foundation

/// A visit, as the ledger keeps it.
struct VisitRow: Sendable, Hashable {
    var eventID: UUID
    var stamp: Stamp
    /// Microseconds since 1970.
    var at: Int64
    var reader: String
    var backend: String
    /// The time of the creation of the member under which it was made.
    var born: Int64
    var source = Visit.Source.card
    var reason: String?
    var actor: String?
}
