import Synchronization

/// What a simulated reader keeps from one command to the next: the keys loaded into it, the FeliCa service selected, and
/// whether a transparent session is open.
///
/// One reader value may serve several slots, so each card has its own; that of cards long gone is dropped.
final class SimulatedReaderMemory: Sendable, Hashable {
    struct Session {
        var keys: [UInt8: [UInt8]] = [:]
        var service: UInt16?
        var isTransparent = false
    }

    private let sessions = Mutex<[ObjectIdentifier: Session]>([:])

    private static let mostCards = 64

    subscript(card: any SimulatedCard) -> Session {
        get { sessions.withLock { $0[ObjectIdentifier(card)] ?? Session() } }
        set {
            sessions.withLock {
                if $0.count >= SimulatedReaderMemory.mostCards { $0 = [:] }
                $0[ObjectIdentifier(card)] = newValue
            }
        }
    }

    /// The memory makes no difference between two readers of the same habits.
    static func == (_: SimulatedReaderMemory, _: SimulatedReaderMemory) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
