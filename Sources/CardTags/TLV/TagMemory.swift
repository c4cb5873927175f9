/// The memory of a tag as a run of addresses, read byte by byte and written a unit at a time.
///
/// Whoever implements it keeps what it has read and asks the card only once, and refuses addresses that ordinary writing
/// must not touch (``TagError/guarded(attempt:reason:)``). Addresses need not be the card's own: the data blocks of a
/// MIFARE Classic's NDEF sectors count as one run from 0.
package protocol TagMemory {
    /// How many bytes are written at once, at least 2: a page or a block. Such a write happens or does not.
    var unit: Int { get }

    /// Whether the card is addressed in its own frames, which it may refuse by silence.
    var usesRawFrames: Bool { get }

    /// A byte, from what was read before or from the card.
    mutating func byte(at address: Int) throws(TagError) -> UInt8

    /// Throws if a unit must not or cannot be written. It is asked for every unit that will change before the first of
    /// them is written, so that nothing is begun that cannot be ended.
    mutating func checkWritable(unit number: Int) throws(TagError)

    /// Writes a unit.
    ///
    /// What was read of it before must be forgotten, so that it is read back from the card, also if writing failed.
    ///
    /// - Parameters:
    ///   - bytes: exactly ``unit`` bytes.
    ///   - number: the unit that begins at address `number * unit`.
    mutating func write(_ bytes: [UInt8], atUnit number: Int) throws(TagError)
}

extension TagMemory {
    /// Through the reader by default.
    package var usesRawFrames: Bool { false }

    /// Whether the byte was refused, rather than the link to the card broken.
    package func isRefusal(_ error: TagError) -> Bool {
        guard case .link(let fault) = error else { return true }
        return usesRawFrames && fault.kind == .timeout
    }

    /// Nothing is known against it by default.
    package mutating func checkWritable(unit number: Int) throws(TagError) {}
}
