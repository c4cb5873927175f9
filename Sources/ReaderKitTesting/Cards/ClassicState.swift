import ReaderKit

/// What a MIFARE Classic keeps and does; ``SimulatedMIFAREClassic`` puts a lock before it.
struct ClassicState {
    let uid: [UInt8]
    private(set) var memory: [UInt8]

    private var phase = Phase.halted
    /// A command of which the card has acknowledged the first half.
    private var pending: Pending?
    /// What INCREMENT, DECREMENT and RESTORE leave behind and TRANSFER writes.
    private var transferBuffer: ClassicValue?

    private enum Pending {
        case write(block: Int)
        case value(command: UInt8, block: Int)
    }

    private enum Phase: Hashable {
        /// Off, or sent to sleep by a wrong key or a refused command: silent until it is powered anew.
        case halted
        /// Selected, with no sector open.
        case selected
        /// Open for one sector with one key.
        case open(sector: Int, side: ClassicKey.Side)
    }

    init(uid: [UInt8], memory: [UInt8]) {
        self.uid = uid
        self.memory = memory
    }

    // MARK: Content, as no reader could set it

    subscript(block: Int) -> [UInt8] {
        get { Array(memory[block * 16..<block * 16 + 16]) }
        set { memory.replaceSubrange(block * 16..<block * 16 + 16, with: newValue) }
    }

    // MARK: Power

    mutating func activate() {
        deactivate()
        phase = .selected
    }

    mutating func deactivate() {
        phase = .halted
        pending = nil
        transferBuffer = nil
    }

    // MARK: Commands

    mutating func answer(_ frame: [UInt8]) -> RawFrame? {
        guard phase != .halted, let command = frame.first else { return nil }
        if let half = pending.take() { return finish(half, frame) }
        switch (command, frame.count) {
        case (0x60, 12), (0x61, 12): return authenticate(frame)
        case (0x30, 2): return read(Int(frame[1]))
        case (0xA0, 2): return prepareWrite(Int(frame[1]))
        case (0xA0, 18): return write(Int(frame[1]), Array(frame[2...]))
        case (0xC0...0xC2, 2): return prepareValue(command, Int(frame[1]))
        case (0xC0...0xC2, 6):
            // The form in which a reader chip is reported, which sends the two frames and hears nothing to the second.
            guard change(command, Int(frame[1]), Array(frame[2...])) else { return refuse() }
            return .acknowledgement
        case (0xB0, 2): return transfer(Int(frame[1]))
        default: return halt()
        }
    }

    /// The card answers no more until it is selected anew.
    private mutating func halt(_ answer: RawFrame? = nil) -> RawFrame? {
        deactivate()
        return answer
    }

    /// A refusal of four bits, which report whether there is something to transfer. The card then waits to be selected
    /// anew.
    private mutating func refuse() -> RawFrame? { halt(.refusal(transferBuffer == nil ? 0x04 : 0x00)) }

    private mutating func finish(_ half: Pending, _ frame: [UInt8]) -> RawFrame? {
        switch half {
        case .write(let block): return frame.count == 16 ? write(block, frame) : halt()
        case .value(let command, let block):
            guard frame.count == 4 else { return halt() }
            // Where it goes well the card states nothing.
            return change(command, block, frame) ? nil : refuse()
        }
    }

    /// The access bits of a sector, or `nil` if they contradict each other: then nothing opens it any more.
    private func conditions(_ sector: Int) -> AccessConditions? {
        let trailer = self[ClassicSize.trailer(ofSector: sector)]
        return try? AccessConditions(bytes: Array(trailer[6..<9]))
    }

    private mutating func authenticate(_ frame: [UInt8]) -> RawFrame? {
        let block = Int(frame[1])
        guard block * 16 < memory.count, let side = ClassicKey.Side(rawValue: frame[0]) else { return halt() }
        let sector = ClassicSize.sector(ofBlock: block)
        let trailer = self[ClassicSize.trailer(ofSector: sector)]
        let key = side == .a ? trailer[0..<6] : trailer[10..<16]
        guard conditions(sector) != nil, key.elementsEqual(frame[2..<8]), frame[8...].elementsEqual(uid.suffix(4))
        else { return halt() }
        phase = .open(sector: sector, side: side)
        return .acknowledgement
    }

    /// The conditions and the key of the open sector, if the block lies in it and the key counts.
    private func access(to block: Int) -> (conditions: AccessConditions, side: ClassicKey.Side)? {
        guard case .open(let sector, let side) = phase, block * 16 < memory.count,
            ClassicSize.sector(ofBlock: block) == sector, let conditions = conditions(sector),
            side == .a || conditions.keyBAuthenticates
        else { return nil }
        return (conditions, side)
    }

    private func data(_ block: Int, _ conditions: AccessConditions) -> AccessConditions.DataAccess {
        let blocks = ClassicSize.blocks(ofSector: ClassicSize.sector(ofBlock: block))
        let group = AccessConditions.group(ofBlock: block - blocks.lowerBound, of: blocks.count)
        return conditions.data[min(group, 2)]
    }

    private mutating func read(_ block: Int) -> RawFrame? {
        guard let (conditions, side) = access(to: block) else { return refuse() }
        guard ClassicSize.isTrailer(block) else {
            guard data(block, conditions).read.contains(side) else { return refuse() }
            return RawFrame(self[block])
        }
        let trailer = self[block]
        let none = [UInt8](repeating: 0, count: 6)
        let access: [UInt8] =
            conditions.trailer.accessRead.contains(side) ? Array(trailer[6..<10]) : [0, 0, 0, 0]
        let keyB: [UInt8] = conditions.trailer.keyBRead.contains(side) ? Array(trailer[10...]) : none
        return RawFrame(none + access + keyB)
    }

    private mutating func prepareWrite(_ block: Int) -> RawFrame? {
        guard access(to: block) != nil else { return refuse() }
        pending = .write(block: block)
        return .acknowledgement
    }

    private mutating func write(_ block: Int, _ bytes: [UInt8]) -> RawFrame? {
        guard block != 0, let (conditions, side) = access(to: block) else { return refuse() }
        guard ClassicSize.isTrailer(block) else {
            guard data(block, conditions).write.contains(side) else { return refuse() }
            self[block] = bytes
            return .acknowledgement
        }
        // Each part has a right of its own; what may not be written stays.
        let rights = conditions.trailer
        var trailer = self[block]
        var isAllowed = false
        func take(_ range: Range<Int>, _ keys: AccessConditions.Keys) {
            guard keys.contains(side) else { return }
            trailer.replaceSubrange(range, with: bytes[range])
            isAllowed = true
        }
        take(0..<6, rights.keyAWrite)
        take(6..<10, rights.accessWrite)
        take(10..<16, rights.keyBWrite)
        guard isAllowed else { return refuse() }
        self[block] = trailer
        return .acknowledgement
    }

    // MARK: Values

    private mutating func prepareValue(_ command: UInt8, _ block: Int) -> RawFrame? {
        guard mayChangeValue(command, block) else { return refuse() }
        pending = .value(command: command, block: block)
        return .acknowledgement
    }

    private func mayChangeValue(_ command: UInt8, _ block: Int) -> Bool {
        guard !ClassicSize.isTrailer(block), let (conditions, side) = access(to: block) else { return false }
        let rights = data(block, conditions)
        return (command == 0xC1 ? rights.increment : rights.decrement).contains(side)
    }

    /// INCREMENT (`C1`), DECREMENT (`C0`) or RESTORE (`C2`), whose result goes into the transfer buffer.
    private mutating func change(_ command: UInt8, _ block: Int, _ operand: [UInt8]) -> Bool {
        guard mayChangeValue(command, block), var value = ClassicValue(self[block]) else { return false }
        let amount = Int32(truncatingIfNeeded: operand.littleEndianNumber)
        switch command {
        case 0xC1: value.number &+= amount
        case 0xC0: value.number &-= amount
        default: break
        }
        transferBuffer = value
        return true
    }

    private mutating func transfer(_ block: Int) -> RawFrame? {
        guard block != 0, mayChangeValue(0xB0, block), let value = transferBuffer else { return refuse() }
        self[block] = value.bytes
        return .acknowledgement
    }
}

/// What a value block of a MIFARE Classic holds: a number, thrice, once inverted, and a byte of its own, four times.
struct ClassicValue: Sendable, Hashable {
    var number: Int32
    var address: UInt8

    init(_ number: Int32, address: UInt8) {
        self.number = number
        self.address = address
    }

    /// Reads a block; `nil` if its copies contradict each other, or it has not 16 bytes.
    init?(_ block: [UInt8]) {
        guard block.count == 16 else { return nil }
        self.init(Int32(truncatingIfNeeded: block[..<4].littleEndianNumber), address: block[12])
        guard bytes == block else { return nil }
    }

    var bytes: [UInt8] {
        let plain = [UInt8].littleEndian(Int(number), 4)
        return plain + plain.map { ~$0 } + plain + [address, ~address, address, ~address]
    }
}
