import ReaderKit

/// What an NTAG keeps and does; ``SimulatedNTAG`` puts a lock before it.
struct NTAGState {
    private typealias Model = SimulatedNTAG.Model

    let model: SimulatedNTAG.Model
    var memory: [UInt8]
    private let signature: [UInt8]

    /// The one-way counters of 24 bits; an NTAG has the last one alone, which counts activations.
    var counters = [0, 0, 0]
    /// The counters of which an increment was torn off.
    var tornCounters: Set<Int> = []
    private var wrongPasswords = 0

    // What holds from one activation to the next, whatever is written meanwhile.
    private(set) var isAuthenticated = false
    private var hasCounted = false
    private var lockedPages: Set<Int> = []
    private(set) var configuration = Configuration()
    /// The page of a COMPATIBILITY_WRITE of which the card has acknowledged the first half.
    private var pendingPage: Int?
    private var handshake: UltralightCHandshake

    /// The access rules of CFG0 and CFG1.
    struct Configuration {
        var firstProtectedPage = 0xFF
        var protectsReading = false
        var isLocked = false
        var countsReads = false
        var protectsCounter = false
        var attempts = 0
        var mirror = NTAGMirror()
    }

    init(model: SimulatedNTAG.Model, signature: [UInt8]?, seed: UInt64) {
        self.model = model
        handshake = UltralightCHandshake(seed: seed)
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
            // Bit 2 is strong modulation, which only an NTAG has switched on.
            overwrite(
                with: [model.family == .ntag ? 0x04 : 0x00, 0x00, 0x00, 0xFF, 0x00, 0x05, 0x00, 0x00]
                    + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],
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
        configuration.countsReads = model.countsReads && access & 0x10 != 0
        configuration.protectsCounter = model.countsReads && access & 0x08 != 0
        configuration.attempts = Int(access & 0x07)
        configuration.mirror = NTAGMirror(model, Array(memory[page * 4..<page * 4 + 4]))
    }

    mutating func deactivate() {
        isAuthenticated = false
        pendingPage = nil
        handshake.end()
    }

    // MARK: Commands

    mutating func answer(_ frame: [UInt8]) -> RawFrame? {
        guard let command = frame.first else { return nil }
        let answer: RawFrame
        if let page = pendingPage {
            pendingPage = nil
            answer = frame.count == 16 ? write(page, Array(frame[..<4])) : .refusal(0)
        } else if command == 0x50 {
            deactivate()
            return nil
        } else if model.family == .ultralightC, let reply = authenticate(frame) {
            answer = reply
        } else {
            answer = self.answer(command, frame)
        }
        // A refusal sends the chip back to its idle state, which ends an authentication.
        if answer.bitsInLastByte == 4, answer != .acknowledgement { deactivate() }
        return answer
    }

    private mutating func answer(_ command: UInt8, _ frame: [UInt8]) -> RawFrame {
        switch (command, frame.count) {
        case (0x30, 2): read(Int(frame[1]))
        case (0xA2, 6): write(Int(frame[1]), Array(frame[2...]))
        case (0xA0, 2): prepareWrite(Int(frame[1]))
        // The form in which a reader chip is told, that sends the two frames itself.
        case (0xA0, 18): write(Int(frame[1]), Array(frame[2..<6]))
        case (0x60, 1) where model.version != nil: RawFrame(model.version ?? [])
        case (0x3A, 3) where model.version != nil: fastRead(Int(frame[1]), Int(frame[2]))
        case (0x39, 2): readCounter(Int(frame[1]))
        case (0xA5, 6) where model.family == .ultralightEV1: increment(Int(frame[1]), Array(frame[2..<5]))
        case (0x3E, 2) where model.family == .ultralightEV1: checkTearing(Int(frame[1]))
        case (0x4B, 21) where model.family == .ultralightEV1: virtualCardType
        case (0x3C, 2) where model.version != nil: RawFrame(signature)
        case (0x1B, 5) where model.version != nil: authenticate(password: Array(frame[1...]))
        default: .refusal(0)
        }
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
        counters[2] = min(counters[2] + 1, 0xFF_FFFF)
    }

    private mutating func read(_ first: Int) -> RawFrame {
        guard first < model.pages, mayRead(first) else { return .refusal(0) }
        countRead()
        // The address rolls over behind the last page that may be read.
        let shown = mirror
        var data: [UInt8] = []
        var page = first
        for _ in 0..<4 {
            if !mayRead(page) { page = 0 }
            data += shown.over(visible(page), page)
            page += 1
        }
        return RawFrame(data)
    }

    private mutating func fastRead(_ first: Int, _ last: Int) -> RawFrame {
        guard first <= last, last < model.pages, mayRead(last) else { return .refusal(0) }
        countRead()
        let shown = mirror
        return RawFrame((first...last).flatMap { shown.over(visible($0), $0) })
    }

    /// 3DES with a MIFARE Ultralight C; `nil` for a frame that is none of its two.
    private mutating func authenticate(_ frame: [UInt8]) -> RawFrame? {
        let key = UltralightCHandshake.key(inMemory: Array(memory[0x2C * 4..<0x30 * 4]))
        guard frame.count == 2 || frame.count == 17, let reply = handshake.answer(frame, key) else { return nil }
        isAuthenticated = reply.isDone
        return reply.frame
    }

    private mutating func authenticate(password: [UInt8]) -> RawFrame {
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

    private func mayWrite(_ page: Int) -> Bool {
        guard page >= 2, page < model.pages, !lockedPages.contains(page) else { return false }
        if page >= configuration.firstProtectedPage, !isAuthenticated { return false }
        guard let first = model.configurationPage, configuration.isLocked else { return true }
        return !(first...first + 1).contains(page)
    }

    private mutating func prepareWrite(_ page: Int) -> RawFrame {
        guard mayWrite(page) else { return .refusal(0) }
        pendingPage = page
        return .acknowledgement
    }

    private mutating func write(_ page: Int, _ data: [UInt8]) -> RawFrame {
        guard mayWrite(page) else { return .refusal(0) }
        switch page {
        case 2: writeStaticLocks(data)
        case 3: for index in 0..<4 { memory[12 + index] |= data[index] }
        case model.dynamicLockPage: writeDynamicLocks(data)
        case 0x29 where model.family == .ultralightC: return count(data)
        default: memory.replaceSubrange(page * 4..<page * 4 + 4, with: data)
        }
        return .acknowledgement
    }
}
