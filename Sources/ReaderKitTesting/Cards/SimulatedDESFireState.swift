import ReaderKit

/// What a DESFire keeps and does: the frames, the session, and what concerns the card and its applications.
struct DESFireState {
    let configuration: SimulatedDESFire.Configuration
    var applications: [SimulatedDESFireApplication]
    var session: DESFireCardSession?
    private(set) var shownUID: [UInt8]
    private(set) var failedAuthentications = 0

    /// The index of the selected application; `nil` is the card itself.
    var selected: Int?
    var isoFile: UInt8?
    /// What was written to backup files and is not committed, by file number.
    var uncommitted: [UInt8: [UInt8]] = [:]

    private var pending = Pending.nothing
    private var random: SeededNumbers

    private enum Pending {
        case nothing
        case parts([[UInt8]])
        case input(UInt8, [UInt8])
        case proof(instruction: UInt8, keyNumber: UInt8, SecretKey, challenge: [UInt8], sent: [UInt8])
    }

    /// The outcome of a command: data and how it is protected.
    enum Reply {
        case data([UInt8], DESFireCommunication = .authenticated, isWhole: Bool = false)
        /// Needs no session, ends the one there was.
        case bare([UInt8])
    }

    struct Refusal: Error {
        let status: UInt8

        init(_ status: UInt8) { self.status = status }
    }

    init(_ configuration: SimulatedDESFire.Configuration) {
        self.configuration = configuration
        applications = configuration.applications
        shownUID = configuration.uid
        random = SeededNumbers(seed: configuration.seed)
    }

    var isLight: Bool { configuration.model == .light || configuration.model == .ntag424 }

    // MARK: Power

    mutating func powerOn() {
        forget()
        guard configuration.showsRandomUID else { return }
        shownUID = [0x08] + random.bytes(3)
    }

    mutating func forget() {
        selected = nil
        isoFile = nil
        session = nil
        uncommitted = [:]
        pending = .nothing
    }

    // MARK: Frames

    mutating func answer(_ command: CommandAPDU) -> [UInt8] {
        switch command.cla {
        case 0x00:
            pending = .nothing
            return answerISO(command)
        case 0x90:
            guard command.p1 == 0, command.p2 == 0 else { return [0x91, 0x9E] }
            return answerNative(command.ins, command.data)
        default: return Status.unknownClass
        }
    }

    private mutating func answerNative(_ instruction: UInt8, _ data: [UInt8]) -> [UInt8] {
        let before = pending
        pending = .nothing
        switch (instruction, before) {
        case (0xAF, .parts(let parts)) where data.isEmpty: return send(parts)
        case (0xAF, .input(let first, let received)): return take(first, received + data)
        case (0xAF, .proof(let first, let number, let key, let challenge, let sent)):
            return finish(first, number, key, challenge, sent, data)
        case (0xAF, _): return fail(0x1C)
        case (0xAA, _) where !isLight, (0x71, _) where configuration.model != .ev1:
            return challenge(instruction, data)
        default: return take(instruction, data)
        }
    }

    private mutating func take(_ instruction: UInt8, _ payload: [UInt8]) -> [UInt8] {
        if instruction == 0x3D || instruction == 0x8D, let needed = lengthOfWriting(payload, instruction) {
            guard payload.count <= needed else { return fail(0x7E) }
            if payload.count < needed {
                writeThrough(payload)
                pending = .input(instruction, payload)
                return [0x91, 0xAF]
            }
        }
        do throws(Refusal) {
            switch try run(instruction, payload) {
            case .bare(let data):
                session = nil
                return send([data])
            case .data(let data, let mode, let isWhole):
                let sent = session?.wrap(data, mode, isWhole: isWhole) ?? data
                if instruction == 0x60 { return send([Array(sent[..<7]), Array(sent[7..<14]), Array(sent[14...])]) }
                let starts = stride(from: 0, to: max(1, sent.count), by: 59)
                return send(isLight ? [sent] : starts.map { Array(sent[$0..<min($0 + 59, sent.count)]) })
            }
        } catch {
            return fail(error.status)
        }
    }

    private mutating func send(_ parts: [[UInt8]]) -> [UInt8] {
        guard let first = parts.first else { return [0x91, 0x00] }
        guard parts.count > 1 else { return first + [0x91, 0x00] }
        pending = .parts(Array(parts.dropFirst()))
        return first + [0x91, 0xAF]
    }

    mutating func fail(_ status: UInt8) -> [UInt8] {
        session = nil
        uncommitted = [:]
        return [0x91, status]
    }

    // MARK: Authentication

    private mutating func challenge(_ instruction: UInt8, _ data: [UInt8]) -> [UInt8] {
        session = nil
        guard data.count >= 1, instruction == 0x71 || data.count == 1 else { return fail(0x7E) }
        let number = data[0]
        let key: SecretKey
        if let selected {
            let keys = applications[selected].keys
            guard keys.indices.contains(Int(number)) else { return fail(0x40) }
            key = keys[Int(number)]
        } else {
            guard number == 0 else { return fail(0x40) }
            guard let master = configuration.masterKey else { return fail(0xAE) }
            key = master
        }
        let challenge = random.bytes(16)
        guard let sent = try? AES128.encrypt(challenge, key) else { return fail(0x97) }
        pending = .proof(instruction: instruction, keyNumber: number, key, challenge: challenge, sent: sent)
        return sent + [0x91, 0xAF]
    }

    private mutating func finish(
        _ instruction: UInt8,
        _ number: UInt8,
        _ key: SecretKey,
        _ challenge: [UInt8],
        _ sent: [UInt8],
        _ data: [UInt8]
    ) -> [UInt8] {
        guard data.count == 32 else { return fail(0x7E) }
        let isEV1 = instruction == 0xAA
        let clear = (try? AES128.decrypt(data, key, vector: isEV1 ? sent : AES128.zeroBlock)) ?? []
        let readers = Array(clear.prefix(16))
        guard clear.count == 32, Array(clear[16...]) == Array(challenge[1...]) + [challenge[0]] else {
            failedAuthentications += 1
            return fail(0xAE)
        }
        let rotated = Array(readers[1...]) + [readers[0]]
        let proof: [UInt8]?
        if isEV1 {
            session = DESFireCardSession(keyNumber: number, readers: readers, cards: challenge)
            proof = try? AES128.encrypt(rotated, key, vector: Array(data.suffix(16)))
        } else {
            let transaction = random.bytes(4)
            session = DESFireCardSession(
                keyNumber: number,
                key: key,
                readers: readers,
                cards: challenge,
                transaction: transaction
            )
            let capabilities = [UInt8](repeating: 0, count: 12)
            proof = try? AES128.encrypt(transaction + rotated + capabilities, key)
        }
        return (proof ?? []) + [0x91, 0x00]
    }

    // MARK: What a command may do

    /// The header of a command, and the session's data behind it, or what stands there without one. It fails where the
    /// card sees a forgery.
    mutating func open(
        _ instruction: UInt8,
        _ payload: [UInt8],
        headerLength: Int,
        _ mode: DESFireCommunication = .authenticated
    ) throws(Refusal) -> (header: [UInt8], data: [UInt8]) {
        guard headerLength >= 0, payload.count >= headerLength else { throw Refusal(0x1E) }
        let header = Array(payload[..<headerLength])
        guard session != nil else { return (header, Array(payload[headerLength...])) }
        guard let data = session?.unwrap(instruction, payload, headerLength: headerLength, mode) else {
            throw Refusal(0x1E)
        }
        return (header, data)
    }

    @discardableResult
    mutating func header(
        _ instruction: UInt8,
        _ payload: [UInt8],
        _ length: Int,
        _ mode: DESFireCommunication = .authenticated
    ) throws(Refusal) -> [UInt8] {
        let (header, data) = try open(instruction, payload, headerLength: length, mode)
        guard data.isEmpty else { throw Refusal(0x7E) }
        return header
    }

    func application() throws(Refusal) -> Int {
        guard let selected else { throw Refusal(0x9D) }
        return selected
    }

    func require(_ option: UInt8) throws(Refusal) {
        let options = selected.map { applications[$0].options } ?? configuration.options
        guard options & option != 0 || session?.keyNumber == 0 else { throw refusal }
    }

    /// The refusal of a command that is not allowed: it takes a key, or another one.
    var refusal: Refusal { Refusal(session == nil ? 0xAE : 0x9D) }

    var freeMemory: Int {
        let files = applications.flatMap(\.files).reduce(0) { $0 + $1.footprint }
        return max(0, configuration.memory - files - 32 * applications.count)
    }
}
