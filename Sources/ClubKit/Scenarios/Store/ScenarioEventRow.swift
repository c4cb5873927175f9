import Foundation

/// An event, as the store keeps it.
struct ScenarioEventRow: Sendable, Hashable {
    var eventID: UUID
    var stamp: Stamp
    var key: SubjectKey
    var name: String
    /// Microseconds since 1970.
    var at: Int64
    /// The visit that it stands for, with which it ends.
    var visit: UUID?
    /// Whether the visit was undone, which may be all that is left of the undoing.
    var isUndone = false
}
