import ReaderKit

// What the commands do that concern the card and its applications.
extension DESFireState {
    private static let lightCommands: Set<UInt8> = [0x51, 0x5F, 0x60, 0x64, 0x8D, 0xAD, 0xF5]

    mutating func run(_ instruction: UInt8, _ payload: [UInt8]) throws(Refusal) -> Reply {
        if isLight, !Self.lightCommands.contains(instruction) { throw Refusal(0x1C) }
        switch instruction {
        case 0x45, 0x60, 0x6A, 0x6E, 0x6F, 0xC7:
            try header(instruction, payload, 0)
            return try runWithoutData(instruction)
        case 0x51: return try fixedUID(payload)
        case 0x5A: return try select(payload)
        case 0x64: return try keyVersion(payload)
        case 0xCA: return try createApplication(payload)
        case 0xCD: return try createFile(payload)
        default: return try runFileCommand(instruction, payload)
        }
    }

    private mutating func runWithoutData(_ instruction: UInt8) throws(Refusal) -> Reply {
        switch instruction {
        case 0x45: try keySettings()
        case 0x60: .data(version)
        case 0x6A: try listApplications()
        case 0x6E: .data([UInt8].littleEndian(freeMemory, 3))
        case 0x6F: try listFiles()
        default: try commit()
        }
    }

    // MARK: The card

    private var version: [UInt8] {
        let hardwareAndSoftware: [UInt8] =
            switch configuration.model {
            case .ev1: [0x04, 1, 1, 0x01, 0, 0x1A, 5, 0x04, 1, 1, 0x01, 4, 0x1A, 5]
            case .ev2: [0x04, 1, 1, 0x12, 0, 0x1A, 5, 0x04, 1, 1, 0x02, 1, 0x1A, 5]
            case .ev3: [0x04, 1, 1, 0x33, 0, 0x1A, 5, 0x04, 1, 1, 0x03, 0, 0x1A, 5]
            case .light: [0x04, 8, 1, 0x30, 0, 0x13, 5, 0x04, 8, 1, 0x00, 2, 0x13, 5]
            case .ntag424: [0x04, 4, 2, 0x30, 0, 0x11, 5, 0x04, 4, 2, 0x01, 2, 0x11, 5]
            }
        let uid = configuration.showsRandomUID ? [UInt8](repeating: 0, count: 7) : configuration.uid
        // Batch CF 39 D4 49 80, week 34 of 2020.
        return hardwareAndSoftware + uid + [0xCF, 0x39, 0xD4, 0x49, 0x80, 0x34, 0x20]
    }

    private mutating func fixedUID(_ payload: [UInt8]) throws(Refusal) -> Reply {
        guard session != nil else { throw Refusal(0xAE) }
        _ = try open(0x51, payload, headerLength: 0, .encrypted)
        return .data(configuration.uid, .encrypted)
    }

    private func keySettings() throws(Refusal) -> Reply {
        try require(0x02)
        guard let selected else { return .data([configuration.options, configuration.masterKey == nil ? 0x01 : 0x81]) }
        let application = applications[selected]
        return .data([application.options, 0x80 | UInt8(application.keys.count & 0x0F)])
    }

    private mutating func keyVersion(_ payload: [UInt8]) throws(Refusal) -> Reply {
        let key = try header(0x64, payload, 1)[0]
        guard Int(key) < selected.map({ applications[$0].keys.count }) ?? 1 else { throw Refusal(0x40) }
        return .data([0x00])
    }

    // MARK: Applications

    private func listApplications() throws(Refusal) -> Reply {
        guard selected == nil else { throw Refusal(0x9D) }
        try require(0x02)
        return .data(applications.flatMap { [UInt8].littleEndian(Int($0.id), 3) })
    }

    private mutating func select(_ payload: [UInt8]) throws(Refusal) -> Reply {
        guard payload.count == 3 else { throw Refusal(0x7E) }
        let id = UInt32(payload.littleEndianNumber)
        let index = applications.firstIndex { $0.id == id }
        guard id == 0 || index != nil else { throw Refusal(0xA0) }
        forget()
        selected = index
        return .bare([])
    }

    private mutating func createApplication(_ payload: [UInt8]) throws(Refusal) -> Reply {
        guard selected == nil else { throw Refusal(0x9D) }
        let header = try header(0xCA, payload, payload.count - sessionCodeLength)
        guard header.count >= 5 else { throw Refusal(0x7E) }
        try require(0x04)
        let hasISO = header[4] & 0x20 != 0
        guard header.count == 5 || hasISO && (7...23).contains(header.count) else { throw Refusal(0x7E) }
        // AES keys are the only ones that this card keeps.
        guard header[4] & 0xC0 == 0x80, header[4] & 0x0F <= 14 else { throw Refusal(0x9E) }
        let id = UInt32(header[..<3].littleEndianNumber)
        let name = Array(header.dropFirst(7))
        guard id != 0, !applications.contains(where: { $0.id == id || !name.isEmpty && $0.name == name }) else {
            throw Refusal(0xDE)
        }
        guard freeMemory >= 32 else { throw Refusal(0x0E) }
        let keys = [SecretKey](repeating: .factory, count: Int(header[4] & 0x0F))
        applications.append(SimulatedDESFireApplication(id: id, name: name, keys: keys, options: header[3], files: []))
        return .data([])
    }

    private mutating func createFile(_ payload: [UInt8]) throws(Refusal) -> Reply {
        let selected = try application()
        let header = try header(0xCD, payload, payload.count - sessionCodeLength)
        guard header.count == 7 || header.count == 9 else { throw Refusal(0x7E) }
        try require(0x04)
        let isoFile = header.count == 9 ? UInt16(header[1..<3].littleEndianNumber) : nil
        let tail = Array(header.suffix(6))
        let size = tail[3...].littleEndianNumber
        let files = applications[selected].files
        guard header[0] <= 31, size > 0 else { throw Refusal(0x9E) }
        guard !files.contains(where: { $0.number == header[0] || isoFile != nil && $0.isoFile == isoFile }) else {
            throw Refusal(0xDE)
        }
        guard size <= configuration.memory, freeMemory >= (size + 31) / 32 * 32 else { throw Refusal(0x0E) }
        applications[selected].files.append(
            SimulatedDESFireFile(
                header[0],
                .standard([UInt8](repeating: 0, count: size)),
                isoFile: isoFile,
                communication: DESFireCommunication(bits: tail[0]),
                rights: DESFireAccessRights(UInt16(tail[1..<3].littleEndianNumber))
            )
        )
        return .data([])
    }

    /// How many bytes of a code an administrative command carries in this session.
    private var sessionCodeLength: Int { session?.signsCommands == true ? 8 : 0 }
}
