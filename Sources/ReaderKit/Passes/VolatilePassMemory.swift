import Foundation
import Synchronization

/// A memory that ends with the program.
public final class VolatilePassMemory: PassMemory {
    private struct State {
        var digests: [[UInt8]: Date] = [:]
        var counters: [[UInt8]: UInt32] = [:]
    }

    private let state = Mutex(State())

    /// More that may still be presented are looked through for what is too old.
    private static let manyDigests = 4096

    /// A memory of nothing.
    public init() {}

    /// Takes something that may be presented once.
    public func takeOnce(_ digest: [UInt8], until end: Date, now: Date) -> Bool {
        state.withLock { state in
            if state.digests.count >= Self.manyDigests { state.digests = state.digests.filter { $0.value >= now } }
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
