import Foundation

/// Remembers what was presented before, which alone tells a fresh tap from a recorded one where a pass cannot.
///
/// What is taken is taken for good, also if the tap that it came with is not recorded afterwards.
public protocol PassMemory: Sendable {
    /// Takes something that may be presented once.
    ///
    /// - Parameters:
    ///   - digest: what it is known by.
    ///   - end: until when it has to be remembered; after that it is refused for its age.
    ///   - now: the moment of the tap.
    /// - Returns: whether it is new.
    /// - Throws: if it cannot be remembered; the pass is then not accepted.
    func takeOnce(_ digest: [UInt8], until end: Date, now: Date) throws -> Bool

    /// Takes a counter that has to grow.
    ///
    /// - Returns: whether it is greater than all that were taken for that name.
    /// - Throws: as ``takeOnce(_:until:now:)``.
    func takeCounter(_ value: UInt32, of name: [UInt8]) throws -> Bool
}
