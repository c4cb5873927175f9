/// The lock bytes: bits that are only ever set, and not where a block-locking bit has frozen them.
extension NTAGState {
    mutating func writeStaticLocks(_ data: [UInt8]) {
        let old = memory[10]
        var frozen0: UInt8 = 0
        var frozen1: UInt8 = 0
        if old & 0x01 != 0 { frozen0 |= 0x08 }
        if old & 0x02 != 0 { (frozen0, frozen1) = (frozen0 | 0xF0, frozen1 | 0x03) }
        if old & 0x04 != 0 { frozen1 |= 0xFC }
        memory[10] |= data[2] & ~frozen0
        memory[11] |= data[3] & ~frozen1
    }

    mutating func writeDynamicLocks(_ data: [UInt8]) {
        guard let page = model.dynamicLockPage else { return }
        let old = bits(page)
        let wanted = Int(data[0]) | Int(data[1]) << 8 | Int(data[2]) << 16
        var new = old
        for lock in model.lockBits {
            if old >> lock.frozenBy & 1 == 0 { new |= wanted & 1 << lock.place }
            new |= wanted & 1 << lock.frozenBy
        }
        for index in 0..<3 { memory[page * 4 + index] = UInt8(truncatingIfNeeded: new >> (8 * index)) }
    }

    private func bits(_ page: Int) -> Int {
        (0..<3).reduce(0) { $0 | Int(memory[page * 4 + $1]) << (8 * $1) }
    }

    /// The pages that cannot be written, by the lock bytes as they stand in memory.
    var lockedPagesOfMemory: Set<Int> {
        var pages: Set<Int> = []
        for page in 3...15 {
            let byte = page < 8 ? memory[10] : memory[11]
            if byte >> (page % 8) & 1 == 1 { pages.insert(page) }
        }
        guard let lockPage = model.dynamicLockPage else { return pages }
        for lock in model.lockBits where bits(lockPage) >> lock.place & 1 == 1 { pages.formUnion(lock.locked) }
        return pages
    }
}
