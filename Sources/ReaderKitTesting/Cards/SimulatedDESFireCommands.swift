import ReaderKit

// What the commands do that concern the card and its applications.
extension DESFireState {
    private static let lightCommands: Set<UInt8> = [0x51, 0x5F, 0x60, 0x64, 0x8D, 0xAD, 0xF5]

    /// Carries a native command out.
    mutating func run(_ instruction: UInt8, _ payload: [UInt8]) -> Reply {
        if isLight, !Self.lightCommands.contains(instruction) { return .status(0x1C) }
        switch instruction {
        case 0x45: return withoutData(instruction, payload) { $0.keySettings() }
        case 0x51: return fixedUID(payload)
        case 0x5A: return select(payload)
        case 0x60: return withoutData(instruction, payload) { .data($0.version) }
        case 0x64: return keyVersion(payload)
        case 0x6A: return withoutData(instruction, payload) { $0.listApplications() }
        case 0x6E: return withoutData(instruction, payload) { .data($0.bytes($0.freeMemory, 3)) }
        case 0x6F: return withoutData(instruction, payload) { $0.listFiles() }
        case 0xC7: return withoutData(instruction, payload) { $0.commit() }
        case 0xCA: return createApplication(payload)
        case 0xCD: return createFile(payload)
        default: return runFileCommand(instruction, payload)
        }
    }

    private mutating func withoutData(
        _ instruction: UInt8,
        _ payload: [UInt8],
        _ body: (inout DESFireState) -> Reply
    ) -> Reply {
        guard let (_, data) = open(instruction, payload, headerLength: 0) else { return .status(0x1E) }
        guard data.isEmpty else { return .status(0x7E) }
        return body(&self)
    }

    private func bytes(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private func number(_ bytes: some Collection<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    // MARK: The card

    private var version: [UInt8] {
        let hardware: [UInt8]
        let software: [UInt8]
        switch configuration.model {
        case .ev1: (hardware, software) = ([0x04, 1, 1, 0x01, 0, 0x1A, 5], [0x04, 1, 1, 0x01, 4, 0x1A, 5])
        case .ev2: (hardware, software) = ([0x04, 1, 1, 0x12, 0, 0x1A, 5], [0x04, 1, 1, 0x02, 1, 0x1A, 5])
        case .ev3: (hardware, software) = ([0x04, 1, 1, 0x33, 0, 0x1A, 5], [0x04, 1, 1, 0x03, 0, 0x1A, 5])
        case .light: (hardware, software) = ([0x04, 8, 1, 0x30, 0, 0x13, 5], [0x04, 8, 1, 0x00, 2, 0x13, 5])
        case .ntag424: (hardware, software) = ([0x04, 4, 2, 0x30, 0, 0x11, 5], [0x04, 4, 2, 0x01, 2, 0x11, 5])
        }
        let uid = configuration.showsRandomUID ? [UInt8](repeating: 0, count: 7) : configuration.uid
        // Batch CF 39 D4 49 80, week 34 of 2020.
        return hardware + software + uid + [0xCF, 0x39, 0xD4, 0x49, 0x80, 0x34, 0x20]
    }

    private mutating func fixedUID(_ payload: [UInt8]) -> Reply {
        guard session != nil else { return .status(0xAE) }
        guard open(0x51, payload, headerLength: 0, .encrypted) != nil else { return .status(0x1E) }
        return .data(configuration.uid, .encrypted)
    }

    private func keySettings() -> Reply {
        guard let selected else {
            guard allows(0x02) else { return .status(refusal) }
            return .data([configuration.options, configuration.masterKey == nil ? 0x01 : 0x81])
        }
        guard allows(0x02) else { return .status(refusal) }
        let application = applications[selected]
        return .data([application.options, 0x80 | UInt8(application.keys.count & 0x0F)])
    }

    private mutating func keyVersion(_ payload: [UInt8]) -> Reply {
        guard let (header, data) = open(0x64, payload, headerLength: 1) else { return .status(0x1E) }
        guard data.isEmpty else { return .status(0x7E) }
        let count = selected.map { applications[$0].keys.count } ?? 1
        return Int(header[0]) < count ? .data([0x00]) : .status(0x40)
    }

    // MARK: Applications

    private func listApplications() -> Reply {
        guard selected == nil else { return .status(0x9D) }
        guard allows(0x02) else { return .status(refusal) }
        return .data(applications.flatMap { bytes(Int($0.id), 3) })
    }

    private mutating func select(_ payload: [UInt8]) -> Reply {
        guard payload.count == 3 else { return .status(0x7E) }
        let id = UInt32(number(payload))
        let index = applications.firstIndex { $0.id == id }
        guard id == 0 || index != nil else { return .status(0xA0) }
        forget()
        selected = index
        return .bare([])
    }

    private mutating func createApplication(_ payload: [UInt8]) -> Reply {
        guard selected == nil else { return .status(0x9D) }
        guard let (header, rest) = open(0xCA, payload, headerLength: payload.count - sessionCodeLength) else {
            return .status(0x1E)
        }
        guard rest.isEmpty, header.count >= 5 else { return .status(0x7E) }
        guard allows(0x04) else { return .status(refusal) }
        let hasISO = header[4] & 0x20 != 0
        guard header.count == 5 || hasISO && (7...23).contains(header.count) else { return .status(0x7E) }
        // AES keys are the only ones that this card keeps.
        guard header[4] & 0xC0 == 0x80, header[4] & 0x0F <= 14 else { return .status(0x9E) }
        let id = UInt32(number(header[..<3]))
        let name = Array(header.dropFirst(7))
        guard id != 0, !applications.contains(where: { $0.id == id || !name.isEmpty && $0.name == name }) else {
            return .status(0xDE)
        }
        guard freeMemory >= 32 else { return .status(0x0E) }
        let keys = [SecretKey](repeating: .factory, count: Int(header[4] & 0x0F))
        applications.append(
            SimulatedDESFireApplication(id: id, name: name, keys: keys, options: header[3], files: [])
        )
        return .data([])
    }

    private mutating func createFile(_ payload: [UInt8]) -> Reply {
        guard let selected else { return .status(0x9D) }
        guard let (header, rest) = open(0xCD, payload, headerLength: payload.count - sessionCodeLength) else {
            return .status(0x1E)
        }
        guard rest.isEmpty, header.count == 7 || header.count == 9 else { return .status(0x7E) }
        guard allows(0x04) else { return .status(refusal) }
        let isoFile = header.count == 9 ? UInt16(number(header[1..<3])) : nil
        let tail = Array(header.suffix(6))
        let size = number(tail[3...])
        let files = applications[selected].files
        guard header[0] <= 31, size > 0 else { return .status(0x9E) }
        guard !files.contains(where: { $0.number == header[0] || isoFile != nil && $0.isoFile == isoFile }) else {
            return .status(0xDE)
        }
        guard size <= configuration.memory, freeMemory >= (size + 31) / 32 * 32 else { return .status(0x0E) }
        applications[selected].files.append(
            SimulatedDESFireFile(
                header[0],
                .standard([UInt8](repeating: 0, count: size)),
                isoFile: isoFile,
                communication: tail[0] & 3 == 3 ? .encrypted : tail[0] & 3 == 1 ? .authenticated : .plain,
                rights: DESFireAccessRights(UInt16(number(tail[1..<3])))
            )
        )
        return .data([])
    }

    /// How many bytes of a code an administrative command carries in this session.
    private var sessionCodeLength: Int { session?.signsCommands == true ? 8 : 0 }
}
