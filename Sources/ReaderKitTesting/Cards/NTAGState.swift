import ReaderKit

/// What an NTAG keeps and does; ``SimulatedNTAG`` puts a lock before it.
struct NTAGState {
    private typealias Model = SimulatedNTAG.Model

    let model: SimulatedNTAG.Model
    private(set) var memory: [UInt8]
    private let signature: [UInt8]

    private var counter = 0
    private var wrongPasswords = 0

    // What holds from one activation to the next, whatever is written meanwhile.
    private var isAuthenticated = false
    private var hasCounted = false
    private var lockedPages: Set<Int> = []
    private var configuration = Configuration()

    /// The access rules of CFG0 and CFG1.
    private struct Configuration {
        var firstProtectedPage = 0xFF
        var protectsReading = false
        var isLocked = false
        var countsReads = false
        var protectsCounter = false
        var attempts = 0
    }

    init(model: SimulatedNTAG.Model, signature: [UInt8]?) {
        self.model = model
        memory = Array(repeating: 0, count: model.pages * 4)
        let given = signature ?? Array(0..<32)
        self.signature = Array((given + Array(repeating: 0, count: 32)).prefix(32))
    }

    var uid: [UInt8] { Array(memory[0..<3] + memory[4..<8]) }

    // MARK: Content, as no reader could set it

    mutating func setUID(_ uid: [UInt8]) {
        let bytes = Array((uid + Array(repeating: 0, count: 7)).prefix(7))
        memory.replaceSubrange(0..<3, with: bytes[0..<3])
        memory[3] = 0x88 ^ bytes[0] ^ bytes[1] ^ bytes[2]
        memory.replaceSubrange(4..<8, with: bytes[3..<7])
        memory[8] = bytes[3] ^ bytes[4] ^ bytes[5] ^ bytes[6]
        memory[9] = 0x48
    }

    mutating func setFactoryContent() {
        overwrite(with: [0xE1, 0x10, model.sizeByte, 0x00] + model.factoryContent, fromPage: 3)
        if let page = model.dynamicLockPage { overwrite(with: [0, 0, 0, 0xBD], fromPage: page) }
        if model.isUltralightC {
            // The default key of the data sheet; AUTH0 30 protects nothing.
            let key: [UInt8] = [
                0x42, 0x52, 0x45, 0x41, 0x4B, 0x4D, 0x45, 0x49, 0x46, 0x59, 0x4F, 0x55, 0x43, 0x41, 0x4E, 0x21,
            ]
            overwrite(with: [0, 0, 0, 0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0] + key, fromPage: 0x28)
        }
        if let page = model.configurationPage {
            overwrite(
                with: [0x04, 0x00, 0x00, 0xFF, 0x00, 0x05, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],
                fromPage: page
            )
        }
    }

    mutating func overwrite(with bytes: [UInt8], fromPage page: Int = 0, clearingUserMemory: Bool = false) {
        if clearingUserMemory {
            for index in 16..<(model.lastUserPage + 1) * 4 { memory[index] = 0 }
        }
        guard (0..<model.pages).contains(page) else { return }
        let count = min(bytes.count, memory.count - page * 4)
        memory.replaceSubrange(page * 4..<page * 4 + count, with: bytes.prefix(count))
    }

    mutating func protect(
        password: [UInt8],
        acknowledgement: [UInt8],
        firstPage: UInt8,
        reading: Bool,
        attempts: UInt8
    ) {
        guard let page = model.configurationPage else { return }
        memory[page * 4 + 3] = firstPage
        memory[page * 4 + 4] = memory[page * 4 + 4] & 0x78 | (reading ? 0x80 : 0) | attempts & 0x07
        overwrite(with: Array(password.prefix(4)), fromPage: page + 2)
        overwrite(with: Array(acknowledgement.prefix(2)), fromPage: page + 3)
    }

    // MARK: Power

    mutating func activate() {
        deactivate()
        hasCounted = false
        lockedPages = lockedPagesOfMemory
        configuration = Configuration()
        if model.isUltralightC {
            configuration.firstProtectedPage = Int(memory[0x2A * 4])
            configuration.protectsReading = memory[0x2B * 4] & 0x01 == 0
        }
        guard let page = model.configurationPage else { return }
        let access = memory[page * 4 + 4]
        configuration.firstProtectedPage = Int(memory[page * 4 + 3])
        configuration.protectsReading = access & 0x80 != 0
        configuration.isLocked = access & 0x40 != 0
        configuration.countsReads = access & 0x10 != 0
        configuration.protectsCounter = access & 0x08 != 0
        configuration.attempts = Int(access & 0x07)
    }

    mutating func deactivate() { isAuthenticated = false }

    // MARK: Commands

    mutating func answer(_ frame: [UInt8]) -> RawFrame? {
        guard let command = frame.first else { return nil }
        if command == 0x50 { return halt() }
        let answer: RawFrame
        switch (command, frame.count) {
        case (0x30, 2): answer = read(Int(frame[1]))
        case (0xA2, 6): answer = write(Int(frame[1]), Array(frame[2...]))
        case (0x60, 1) where model.version != nil: answer = RawFrame(model.version ?? [])
        case (0x3A, 3) where model.version != nil: answer = fastRead(Int(frame[1]), Int(frame[2]))
        case (0x39, 2) where model.version != nil: answer = readCounter(frame[1])
        case (0x3C, 2) where model.version != nil: answer = RawFrame(signature)
        case (0x1B, 5) where model.version != nil: answer = authenticate(Array(frame[1...]))
        default: answer = .refusal(0)
        }
        // A refusal sends the chip back to its idle state, which ends an authentication.
        if answer.bitsInLastByte == 4, answer != .acknowledgement { isAuthenticated = false }
        return answer
    }

    private mutating func halt() -> RawFrame? {
        isAuthenticated = false
        return nil
    }

    private func mayRead(_ page: Int) -> Bool {
        page < model.endOfReading
            && (isAuthenticated || !configuration.protectsReading || page < configuration.firstProtectedPage)
    }

    /// A page as a reader sees it: password and its acknowledgement read as zero.
    private func visible(_ page: Int) -> ArraySlice<UInt8> {
        if let first = model.configurationPage, page >= first + 2 { return [0, 0, 0, 0] }
        return memory[page * 4..<page * 4 + 4]
    }

    private mutating func countRead() {
        guard configuration.countsReads, !hasCounted else { return }
        hasCounted = true
        counter = min(counter + 1, 0xFF_FFFF)
    }

    private mutating func read(_ first: Int) -> RawFrame {
        guard first < model.pages, mayRead(first) else { return .refusal(0) }
        countRead()
        // The address rolls over behind the last page that may be read.
        var data: [UInt8] = []
        var page = first
        for _ in 0..<4 {
            if !mayRead(page) { page = 0 }
            data += visible(page)
            page += 1
        }
        return RawFrame(data)
    }

    private mutating func fastRead(_ first: Int, _ last: Int) -> RawFrame {
        guard first <= last, last < model.pages, mayRead(last) else { return .refusal(0) }
        countRead()
        return RawFrame((first...last).flatMap { visible($0) })
    }

    private func readCounter(_ number: UInt8) -> RawFrame {
        guard number == 0x02, configuration.countsReads, isAuthenticated || !configuration.protectsCounter else {
            return .refusal(0)
        }
        return RawFrame([UInt8(counter & 0xFF), UInt8(counter >> 8 & 0xFF), UInt8(counter >> 16 & 0xFF)])
    }

    private mutating func authenticate(_ password: [UInt8]) -> RawFrame {
        guard let page = model.configurationPage else { return .refusal(0) }
        if configuration.attempts > 0, wrongPasswords >= configuration.attempts { return .refusal(4) }
        guard Array(memory[(page + 2) * 4..<(page + 3) * 4]) == password else {
            wrongPasswords += 1
            return .refusal(0)
        }
        wrongPasswords = 0
        isAuthenticated = true
        return RawFrame(Array(memory[(page + 3) * 4..<(page + 3) * 4 + 2]))
    }

    private mutating func write(_ page: Int, _ data: [UInt8]) -> RawFrame {
        guard page >= 2, page < model.pages, !lockedPages.contains(page) else { return .refusal(0) }
        if page >= configuration.firstProtectedPage, !isAuthenticated { return .refusal(0) }
        if page == 2 {
            writeStaticLocks(data)
        } else if page == 3 {
            for index in 0..<4 { memory[12 + index] |= data[index] }
        } else if page == model.dynamicLockPage {
            writeDynamicLocks(data)
        } else {
            if let first = model.configurationPage, page < first + 2, page >= first, configuration.isLocked {
                return .refusal(0)
            }
            memory.replaceSubrange(page * 4..<page * 4 + 4, with: data)
        }
        return .acknowledgement
    }

    // MARK: Locks

    /// Lock bits are only ever set, and not where a block-locking bit has frozen them.
    private mutating func writeStaticLocks(_ data: [UInt8]) {
        let old = memory[10]
        var frozen0: UInt8 = 0
        var frozen1: UInt8 = 0
        if old & 0x01 != 0 { frozen0 |= 0x08 }
        if old & 0x02 != 0 { (frozen0, frozen1) = (frozen0 | 0xF0, frozen1 | 0x03) }
        if old & 0x04 != 0 { frozen1 |= 0xFC }
        memory[10] |= data[2] & ~frozen0
        memory[11] |= data[3] & ~frozen1
    }

    private mutating func writeDynamicLocks(_ data: [UInt8]) {
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

    private var lockedPagesOfMemory: Set<Int> {
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
