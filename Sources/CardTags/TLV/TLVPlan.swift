/// The units of a memory that bytes along a cursor touch: what is there, and what will be.
struct TLVPlan {
    /// A unit. Bytes that are not written keep their value.
    struct Unit {
        let number: Int
        let old: [UInt8]
        var new: [UInt8]
        /// The index of the first written byte of this unit.
        let first: Int

        var isChanged: Bool { old != new }
    }

    /// The units in the order in which the bytes run through them.
    private(set) var units: [Unit] = []
    /// How many bytes a unit has.
    let size: Int

    /// Reads what is there, so that a memory that is smaller than stated shows before anything is written.
    ///
    /// - Parameters:
    ///   - content: the bytes to write; what does not fit along the cursor is left out.
    ///   - cursor: stands before the first byte.
    ///   - memory: where they go.
    init(_ content: [UInt8], along cursor: inout TLVCursor, in memory: inout some TagMemory) throws(TagError) {
        size = max(1, memory.unit)
        for (index, byte) in content.enumerated() {
            guard let address = cursor.advance() else { return }
            let number = address / size
            if units.last?.number != number {
                var old: [UInt8] = []
                for place in number * size..<(number + 1) * size { old.append(try memory.byte(at: place)) }
                units.append(Unit(number: number, old: old, new: old, first: index))
            }
            units[units.count - 1].new[address % size] = byte
        }
    }

    /// Throws if any of the units to write must not be written, or is not there.
    func check(in memory: inout some TagMemory) throws(TagError) {
        for unit in units where unit.isChanged { try memory.checkWritable(unit: unit.number) }
    }

    /// Whether all units but one hold what was there before.
    func isAsBefore(in memory: inout some TagMemory, except gate: Int) throws(TagError) -> Bool {
        for unit in units where unit.isChanged && unit.number != gate {
            for (offset, byte) in unit.old.enumerated() where try memory.byte(at: unit.number * size + offset) != byte {
                return false
            }
        }
        return true
    }

    /// The index of the first byte in the specified units that is not as planned, or `nil`.
    func firstDifference(in memory: inout some TagMemory, where isMeant: (Unit) -> Bool) throws(TagError) -> Int? {
        for unit in units where unit.isChanged && isMeant(unit) {
            for (offset, byte) in unit.new.enumerated() {
                let address = unit.number * size + offset
                if try memory.byte(at: address) != byte { return unit.first + offset }
            }
        }
        return nil
    }
}
