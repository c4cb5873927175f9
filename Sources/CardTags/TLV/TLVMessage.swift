/// The block of a data area that holds the message.
package struct TLVMessage {
    /// How many bytes the message has.
    package let length: Int
    /// Stands before the block's type byte, with everything excluded that does not belong to the area.
    private let block: TLVCursor
    /// Stands before the message.
    private let value: TLVCursor
    /// How many bytes there are from the type byte to the end of the area.
    private let left: Int

    /// How many NULLs are looked at behind the message for a block of somebody else's.
    private static let longestGap = 2048
    /// Any byte that is neither NULL nor terminator: what shows that a message was being written.
    private static let mark: UInt8 = 0xFF

    init(length: Int, block: TLVCursor, value: TLVCursor) {
        self.length = length
        self.block = block
        self.value = value
        left = block.left
    }

    /// The longest message that fits up to the end of the area.
    var capacity: Int { TLVArea.capacity(of: left) }

    /// Reads the message. Its length is the tag's word: the caller has compared it with a limit.
    package func read(from memory: inout some TagMemory) throws(TagError) -> [UInt8] {
        var cursor = value
        return try TLVArea.readValue(length, &cursor, in: &memory)
    }

    /// Whether writing was interrupted: the length is 0, and behind it stands neither terminator nor NULL nor the end of
    /// the area, nor a well-formed run of blocks that begins with a proprietary one. A NULL counts as what is left of a
    /// length if `FF` follows it.
    func isInterrupted(in memory: inout some TagMemory) throws(TagError) -> Bool {
        guard length == 0 else { return false }
        var cursor = value
        guard let next = cursor.advance() else { return false }
        switch try memory.byte(at: next) {
        case TLVArea.Block.terminator: return false
        case TLVArea.Block.null:
            // The long form of length 255 is FF 00 FF. Where a unit ends behind its first byte, the other two can stand
            // there before or after their time; no block begins with FF.
            guard next % memory.unit == 0, let following = cursor.advance() else { return false }
            return try memory.byte(at: following) == 0xFF
        case TLVArea.Block.proprietary: return try !isRunOfBlocks(value, in: &memory)
        default: return true
        }
    }

    // MARK: Writing

    /// Writes a message in place of this one.
    ///
    /// First the unit with the length is written with length 0 and what follows it as it was, so that an interrupted tag
    /// shows (`03 00` and neither `FE` nor `00`). Then come the units behind, which are read back, and last that one
    /// unit again: with it the new message is there at once. A terminator follows if there is room. Bytes of these units
    /// that belong to others are kept, unchanged units are not written, and a message that differs in the last unit only
    /// takes a single write.
    ///
    /// Where the tag refuses a unit in the middle, as if it were locked, the old message is put back.
    ///
    /// Blocks behind the message (proprietary, or a second message) end the room, and NULLs fill it up to them, since the
    /// standards let nobody but their owner remove them. What follows an interrupted message cannot be distinguished
    /// from what is left of an older one, and neither can a run of blocks that is not well-formed: both count as free.
    ///
    /// - Throws: ``TagError``; ``TagError/tooLarge(length:capacity:)`` before anything was written.
    func write(_ message: [UInt8], to memory: inout some TagMemory) throws(TagError) {
        guard message.count <= capacity else { throw .tooLarge(length: message.count, capacity: capacity) }
        var content = [TLVArea.Block.message]
        if message.count < 0xFF {
            content.append(UInt8(message.count))
        } else {
            content += [0xFF, UInt8(message.count >> 8), UInt8(message.count & 0xFF)]
        }
        let headerLength = content.count
        content += message
        let room = try room(for: content.count + 1, in: &memory)
        guard content.count <= room else {
            throw .tooLarge(length: message.count, capacity: TLVArea.capacity(of: room))
        }
        if room < left {
            content += Array(repeating: TLVArea.Block.null, count: room - content.count)
        } else if content.count < room {
            content.append(TLVArea.Block.terminator)
        }

        var cursor = block
        let plan = try TLVPlan(content, along: &cursor, in: &memory)
        try plan.check(in: &memory)
        var header = block
        guard header.advance() != nil, let lengthAddress = header.advance() else { return }
        let behind = header.advance()
        let gate = lengthAddress / plan.size
        func notWritten(_ index: Int) -> TagError { .notWritten(offset: max(0, index - headerLength)) }

        var closed: [UInt8] = []
        for unit in plan.units where unit.number == gate { closed = unit.old }
        if plan.units.contains(where: { $0.isChanged && $0.number != gate }) {
            let before = closed
            closed[lengthAddress % plan.size] = 0
            if length > 0, let behind, behind / plan.size == gate,
                [TLVArea.Block.null, TLVArea.Block.terminator].contains(closed[behind % plan.size])
            {
                closed[behind % plan.size] = TLVMessage.mark
            }
            if closed != before { try memory.write(closed, atUnit: gate) }
            let others = plan.units.filter { $0.isChanged && $0.number != gate }
            var written = 0
            do throws(TagError) {
                for unit in others {
                    try memory.write(unit.new, atUnit: unit.number)
                    written += 1
                }
                if let index = try plan.firstDifference(in: &memory, where: { $0.number != gate }) {
                    throw notWritten(index)
                }
            } catch {
                // The tag is there and refuses: it may keep what it had. A tag that left shows as interrupted.
                if error.readerError == nil {
                    for unit in others.prefix(written + 1).reversed() {
                        try? memory.write(unit.old, atUnit: unit.number)
                    }
                    if (try? plan.isAsBefore(in: &memory, except: gate)) == true {
                        try? memory.write(before, atUnit: gate)
                    }
                }
                throw error
            }
        }
        for unit in plan.units where unit.number == gate && unit.new != closed {
            try memory.write(unit.new, atUnit: gate)
        }
        if let index = try plan.firstDifference(in: &memory, where: { $0.number == gate }) { throw notWritten(index) }
    }

    /// How many bytes from the type byte on may be used. Behind the message, ``longestGap`` NULLs are looked at, and as
    /// many bytes as are `needed`.
    private func room(for needed: Int, in memory: inout some TagMemory) throws(TagError) -> Int {
        var cursor = value
        cursor.skip(length)
        var used = left - cursor.left
        let reach = max(needed, used + TLVMessage.longestGap)
        var isFirst = true
        while used < reach {
            let before = cursor
            guard let position = cursor.advance() else { return left }
            let tag: UInt8
            do {
                tag = try memory.byte(at: position)
            } catch .link(let error) {
                throw .link(error)
            } catch {
                // What cannot be read is no block either; that it can be written is found out before anything is.
                return left
            }
            if tag == TLVArea.Block.terminator { return left }
            if tag != TLVArea.Block.null {
                // Right behind an empty message stands what is left of an older one, unless it is clearly a block.
                if isFirst, length == 0, tag != TLVArea.Block.proprietary { return left }
                return try isRunOfBlocks(before, in: &memory) ? used : left
            }
            used += 1
            isFirst = false
        }
        return left
    }

    /// Whether nothing but blocks of known types follows, to a terminator or the end of the area, or as far as
    /// ``TLVArea/longestSearch`` goes.
    private func isRunOfBlocks(_ start: TLVCursor, in memory: inout some TagMemory) throws(TagError) -> Bool {
        var cursor = start
        var looked = 0
        while looked < TLVArea.longestSearch, let position = cursor.advance() {
            let tag = try memory.byte(at: position)
            looked += 1
            switch tag {
            case TLVArea.Block.null: continue
            case TLVArea.Block.terminator: return true
            case TLVArea.Block.lockControl, TLVArea.Block.memoryControl, TLVArea.Block.message,
                TLVArea.Block.proprietary:
                let length: Int
                do {
                    length = try TLVArea.readLength(of: tag, at: position, &cursor, in: &memory)
                } catch .corrupt {
                    return false
                }
                looked += length < 0xFF ? 1 : 3
                guard length <= cursor.left else { return false }
                if tag == TLVArea.Block.lockControl || tag == TLVArea.Block.memoryControl, length != 3 { return false }
                cursor.skip(length)
            default: return false
            }
        }
        return true
    }
}
