import ClubRecords
import Synchronization

/// Stands for one registration of a processor, to take it back by ``MessageRouter/unregister(_:)-(ProcessorRegistration)``.
public struct ProcessorRegistration: Sendable, Hashable {
    /// Greater for a later one, in the whole program, so that one router's means nothing to another.
    let number: Int

    private static let last = Atomic(0)

    static func next() -> ProcessorRegistration {
        ProcessorRegistration(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}
