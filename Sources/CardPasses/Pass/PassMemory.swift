import Foundation
import Synchronization

/// Remembers what was presented before, which alone distinguishes a fresh tap from a recorded one where a pass cannot.
///
/// What is taken is taken for good, also if the tap that it came with is not recorded afterwards.
public protocol PassMemory: Sendable {
    /// Takes something that may be presented once, at the moment of the tap.
    ///
    /// - Parameter end: until when it has to be remembered; after that it is refused for its age.
    /// - Returns: whether it is new.
    /// - Throws: if it cannot be remembered; the pass is then not accepted.
    func takeOnce(_ digest: [UInt8], until end: Date, now: Date) throws -> Bool

    /// Takes a counter that has to grow.
    ///
    /// - Returns: whether it is greater than all that were taken for that name.
    /// - Throws: as ``takeOnce(_:until:now:)``.
    func takeCounter(_ value: UInt32, of name: [UInt8]) throws -> Bool
}

/// A memory that ends with the program.
public final class VolatilePassMemory: PassMemory {
    private struct State {
        var digests: [[UInt8]: Date] = [:]
        var counters: [[UInt8]: UInt32] = [:]
        /// With more digests than that, those that are too old are looked for.
        var many = 4096
    }

    private let state = Mutex(State())

    /// A memory of nothing.
    public init() {}

    /// Takes something that may be presented once.
    public func takeOnce(_ digest: [UInt8], until end: Date, now: Date) -> Bool {
        state.withLock { state in
            if state.digests.count >= state.many {
                state.digests = state.digests.filter { $0.value >= now }
                state.many = max(4096, 2 * state.digests.count)
            }
            return state.digests.updateValue(end, forKey: digest) == nil
        }
    }

    /// Takes a counter that has to grow.
    public func takeCounter(_ value: UInt32, of name: [UInt8]) -> Bool {
        state.withLock { state in
            guard state.counters[name].map({ value > $0 }) ?? true else { return false }
            state.counters[name] = value
            return true
        }
    }
}
