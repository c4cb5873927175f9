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
        self.signature = (signature ?? Array(0..<32)).padded(to: 32)
    }

    var uid: [UInt8] { Array(memory[0..<3] + memory[4..<8]) }

    // MARK: Content, as no reader could set it

    mutating func setUID(_ uid: [UInt8]) {
        let bytes = uid.padded(to: 7)
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
        memory.overwrite(at: page * 4, with: bytes)
    }

    mutating func protect(_ pwd: [UInt8], _ pack: [UInt8], _ firstPage: UInt8, _ reading: Bool, _ attempts: UInt8) {
        guard let page = model.configurationPage else { return }
        memory[page * 4 + 3] = firstPage
        memory[page * 4 + 4] = memory[page * 4 + 4] & 0x78 | (reading ? 0x80 : 0) | attempts & 0x07
        overwrite(with: Array(pwd.prefix(4)), fromPage: page + 2)
        overwrite(with: Array(pack.prefix(2)), fromPage: page + 3)
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
        if let page = pendingPage.take() {
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
        // The form in which a reader chip is reported, that sends the two frames itself.
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

/// Counters: the three of an Ultralight EV1, the one of an NTAG, and the one in a page of an Ultralight C.
extension NTAGState {
    private static let greatest = 0xFF_FFFF

    func readCounter(_ number: Int) -> RawFrame {
        switch model.family {
        case .ultralightEV1 where counters.indices.contains(number): break
        case .ntag
        where number == 2 && configuration.countsReads && (isAuthenticated || !configuration.protectsCounter):
            break
        default: return .refusal(0)
        }
        return RawFrame([UInt8].littleEndian(counters[number], 3))
    }

    /// INCR_CNT: the value comes least significant byte first, and a byte follows that counts for nothing.
    mutating func increment(_ number: Int, _ data: [UInt8]) -> RawFrame {
        guard counters.indices.contains(number) else { return .refusal(0) }
        let value = counters[number] + data.littleEndianNumber
        guard value <= Self.greatest else { return .refusal(4) }
        counters[number] = value
        tornCounters.remove(number)
        return .acknowledgement
    }

    /// CHECK_TEARING_EVENT: `BD` if the last increment came to its end.
    func checkTearing(_ number: Int) -> RawFrame {
        guard counters.indices.contains(number) else { return .refusal(0) }
        return RawFrame([tornCounters.contains(number) ? 0x00 : 0xBD])
    }

    /// What VCSL answers: the virtual card's type, from CFG1.
    var virtualCardType: RawFrame {
        guard let page = model.configurationPage else { return .refusal(0) }
        return RawFrame([memory[page * 4 + 5]])
    }

    /// A write to the counter of an Ultralight C: the first sets it, each later one adds 1 to 15.
    mutating func count(_ data: [UInt8]) -> RawFrame {
        let place = 0x29 * 4
        let (old, value) = (memory[place..<place + 2].littleEndianNumber, data[..<2].littleEndianNumber)
        guard old == 0 || (value <= 0x0F && old + value <= 0xFFFF) else { return .refusal(0) }
        memory.overwrite(at: place, with: [UInt8].littleEndian(old + value, 2))
        return .acknowledgement
    }
}

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
        let wanted = data[..<3].littleEndianNumber
        var new = old
        for lock in model.lockBits {
            if old >> lock.frozenBy & 1 == 0 { new |= wanted & 1 << lock.place }
            new |= wanted & 1 << lock.frozenBy
        }
        memory.overwrite(at: page * 4, with: [UInt8].littleEndian(new, 3))
    }

    private func bits(_ page: Int) -> Int { memory[page * 4..<page * 4 + 3].littleEndianNumber }

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

/// The ASCII mirror of an NTAG: identifier and counter, shown in place of what is in memory.
struct NTAGMirror {
    /// Where it begins, counted in bytes from page 0; `nil` is no mirror.
    private(set) var place: Int?
    private(set) var showsIdentifier = false
    private(set) var showsCounter = false

    init() {}

    /// The mirror of CFG0: bits 7 and 6 describe what, bits 5 and 4 from which byte of the page in the third byte.
    init(_ model: SimulatedNTAG.Model, _ configuration: [UInt8]) {
        guard model.family == .ntag, configuration.count == 4 else { return }
        // Chips without a counter show the identifier wherever a page is named.
        showsIdentifier = configuration[0] & 0x40 != 0 || !model.countsReads
        showsCounter = configuration[0] & 0x80 != 0 && model.countsReads
        let length = (showsIdentifier ? 14 : 0) + (showsIdentifier && showsCounter ? 1 : 0) + (showsCounter ? 6 : 0)
        let place = Int(configuration[2]) * 4 + Int(configuration[0] >> 4 & 3)
        // It is no mirror where it begins before user memory or does not end within it.
        guard length > 0, configuration[2] > 3, place + length <= (model.lastUserPage + 1) * 4 else { return }
        self.place = place
    }
}

extension NTAGState {
    struct ShownMirror {
        var place = 0
        var text: [UInt8] = []

        /// A page with what is mirrored into it.
        func over(_ bytes: ArraySlice<UInt8>, _ page: Int) -> [UInt8] {
            bytes.enumerated().map { index, byte in
                let place = page * 4 + index - place
                return text.indices.contains(place) ? text[place] : byte
            }
        }
    }

    var mirror: ShownMirror {
        let mirror = configuration.mirror
        guard let place = mirror.place else { return ShownMirror() }
        var text = mirror.showsIdentifier ? Array(uid.hex.utf8) : []
        // A counter that is switched off, or that may not be read, is not shown; memory is.
        if mirror.showsCounter, configuration.countsReads, isAuthenticated || !configuration.protectsCounter {
            text += Array(((mirror.showsIdentifier ? "x" : "") + [UInt8].bigEndian(counters[2], 3).hex).utf8)
        }
        return ShownMirror(place: place, text: text)
    }
}
