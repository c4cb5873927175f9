import ReaderKit

// What the commands do that concern files.
extension DESFireState {
    mutating func runFileCommand(_ instruction: UInt8, _ payload: [UInt8]) -> Reply {
        switch instruction {
        case 0x5F: changeSettings(payload)
        case 0x6C: readValue(payload)
        case 0xBB: readRecords(payload)
        case 0xBD where !isLight, 0xAD where configuration.model != .ev1: readData(instruction, payload)
        case 0x3D where !isLight, 0x8D where configuration.model != .ev1: writeData(instruction, payload)
        case 0xF5: fileSettings(payload)
        default: .status(0x1C)
        }
    }

    private func number(_ bytes: some Collection<UInt8>) -> Int {
        bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private func index(of file: UInt8) -> Int? {
        selected.flatMap { applications[$0].files.firstIndex { $0.number == file } }
    }

    private func file(_ number: UInt8) -> SimulatedDESFireFile? {
        guard let selected, let index = index(of: number) else { return nil }
        return applications[selected].files[index]
    }

    // MARK: Rights

    /// How an access travels that one of the rights has to allow; `nil` if none does.
    private func communication(
        _ file: SimulatedDESFireFile,
        _ rights: [DESFireAccessRights.Access]
    ) -> DESFireCommunication? {
        if let key = session?.keyNumber, rights.contains(.key(key)) { return file.communication }
        return rights.contains(.free) ? .plain : nil
    }

    // MARK: Lists and settings

    func listFiles() -> Reply {
        guard let selected else { return .status(0x9D) }
        guard allows(0x02) else { return .status(refusal) }
        return .data(applications[selected].files.map(\.number))
    }

    private mutating func fileSettings(_ payload: [UInt8]) -> Reply {
        guard let (header, rest) = open(0xF5, payload, headerLength: 1) else { return .status(0x1E) }
        guard rest.isEmpty else { return .status(0x7E) }
        guard let file = file(header[0]) else { return .status(0xF0) }
        guard isLight || allows(0x02) else { return .status(refusal) }
        return .data(file.settings)
    }

    private mutating func changeSettings(_ payload: [UInt8]) -> Reply {
        guard let selected, let number = payload.first, let index = index(of: number) else { return .status(0xF0) }
        let change = applications[selected].files[index].rights.change
        let mode: DESFireCommunication
        switch change {
        case .never: return .status(0x9D)
        case .free: mode = .plain
        case .key(let key):
            guard session?.keyNumber == key else { return .status(refusal) }
            mode = .encrypted
        }
        guard let (_, data) = open(0x5F, payload, headerLength: 1, mode) else { return .status(0x1E) }
        guard data.count >= 3 else { return .status(0x7E) }
        let hasSDM = data[0] & 0x40 != 0
        guard hasSDM == (data.count > 3) else { return .status(0x9E) }
        var file = applications[selected].files[index]
        file.communication = data[0] & 3 == 3 ? .encrypted : data[0] & 3 == 1 ? .authenticated : .plain
        file.rights = DESFireAccessRights(UInt16(self.number(data[1..<3])))
        file.sdm = Array(data[3...])
        applications[selected].files[index] = file
        return .data([], mode == .plain ? .plain : .authenticated)
    }

    // MARK: Reading

    private mutating func readData(_ instruction: UInt8, _ payload: [UInt8]) -> Reply {
        guard payload.count >= 7 else { return .status(0x7E) }
        guard let file = file(payload[0]), let data = file.data else { return .status(0xF0) }
        guard let mode = communication(file, [file.rights.read, file.rights.readWrite]) else {
            return .status(refusal)
        }
        guard let (header, rest) = open(instruction, payload, headerLength: 7, mode) else { return .status(0x1E) }
        guard rest.isEmpty else { return .status(0x7E) }
        let offset = number(header[1..<4])
        let length = number(header[4..<7])
        guard offset < data.count, length <= data.count - offset else { return .status(0xBE) }
        let end = length == 0 ? data.count : offset + length
        return .data(Array(data[offset..<end]), mode, isWhole: length == 0)
    }

    private mutating func readRecords(_ payload: [UInt8]) -> Reply {
        guard payload.count >= 7 else { return .status(0x7E) }
        guard let file = file(payload[0]), case .records(let records, _, _, _) = file.content else {
            return .status(0xF0)
        }
        guard let mode = communication(file, [file.rights.read, file.rights.readWrite]) else {
            return .status(refusal)
        }
        guard let (header, rest) = open(0xBB, payload, headerLength: 7, mode) else { return .status(0x1E) }
        guard rest.isEmpty else { return .status(0x7E) }
        let offset = number(header[1..<4])
        let count = number(header[4..<7])
        guard offset < records.count, count <= records.count - offset else { return .status(0xBE) }
        let older = records.dropLast(offset)
        return .data(Array((count == 0 ? older : older.suffix(count)).joined()), mode, isWhole: count == 0)
    }

    private mutating func readValue(_ payload: [UInt8]) -> Reply {
        guard let first = payload.first else { return .status(0x7E) }
        guard let file = file(first), case .value(let value, _, _) = file.content else { return .status(0xF0) }
        let rights = [file.rights.read, file.rights.write, file.rights.readWrite]
        guard let mode = communication(file, rights) else { return .status(refusal) }
        guard let (_, rest) = open(0x6C, payload, headerLength: 1, mode) else { return .status(0x1E) }
        guard rest.isEmpty else { return .status(0x7E) }
        let bits = UInt32(bitPattern: value)
        return .data((0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }, mode)
    }

    // MARK: Writing

    /// How long the payload of a writing command gets; `nil` if the card refuses it at once.
    func lengthOfWriting(_ payload: [UInt8], _ instruction: UInt8) -> Int? {
        guard payload.count >= 7, let file = file(payload[0]),
            let mode = communication(file, [file.rights.write, file.rights.readWrite])
        else { return nil }
        let length = number(payload[4..<7])
        guard length <= configuration.memory else { return nil }
        return 7 + (session?.protectedLength(length, mode) ?? length)
    }

    /// Puts into a standard file what has come of it so far, where nothing remains to be verified.
    mutating func writeThrough(_ payload: [UInt8]) {
        guard let file = file(payload[0]), case .standard = file.content,
            communication(file, [file.rights.write, file.rights.readWrite]) == .plain
        else { return }
        store(Array(payload[7...]), in: payload[0], at: number(payload[1..<4]), length: number(payload[4..<7]))
    }

    /// Stores bytes if the whole of them, of which they may be the beginning, has room.
    @discardableResult
    private mutating func store(_ data: [UInt8], in file: UInt8, at offset: Int, length: Int) -> Bool {
        guard let selected, let index = index(of: file), data.count <= length else { return false }
        let range = offset..<offset + data.count
        switch applications[selected].files[index].content {
        case .standard(var bytes):
            guard offset + length <= bytes.count else { return false }
            bytes.replaceSubrange(range, with: data)
            applications[selected].files[index].content = .standard(bytes)
        case .backup(let bytes):
            guard offset + length <= bytes.count else { return false }
            var copy = uncommitted[file] ?? bytes
            copy.replaceSubrange(range, with: data)
            uncommitted[file] = copy
        default: return false
        }
        return true
    }

    private mutating func writeData(_ instruction: UInt8, _ payload: [UInt8]) -> Reply {
        guard payload.count >= 7 else { return .status(0x7E) }
        guard let file = file(payload[0]), file.data != nil else { return .status(0xF0) }
        guard let mode = communication(file, [file.rights.write, file.rights.readWrite]) else {
            return .status(refusal)
        }
        guard let (header, data) = open(instruction, payload, headerLength: 7, mode) else { return .status(0x1E) }
        guard data.count == number(header[4..<7]), !data.isEmpty else { return .status(0x7E) }
        guard store(data, in: header[0], at: number(header[1..<4]), length: data.count) else { return .status(0xBE) }
        return .data([], mode == .plain ? .plain : .authenticated)
    }

    mutating func commit() -> Reply {
        guard let selected else { return .status(0x9D) }
        guard !uncommitted.isEmpty else { return .status(0x0C) }
        for (number, bytes) in uncommitted {
            guard let index = index(of: number) else { continue }
            applications[selected].files[index].content = .backup(bytes)
        }
        uncommitted = [:]
        return .data([])
    }

    // MARK: ISO/IEC 7816-4

    mutating func answerISO(_ command: CommandAPDU) -> [UInt8] {
        switch command.ins {
        case 0xA4: selectISO(command)
        case 0xB0: readBinary(command)
        case 0xD6: updateBinary(command)
        default: Status.unknownInstruction
        }
    }

    private mutating func selectISO(_ command: CommandAPDU) -> [UInt8] {
        guard command.p2 == 0x00 || command.p2 == 0x0C else { return Status.wrongP1P2 }
        switch command.p1 {
        case 0x04:
            guard let index = applications.firstIndex(where: { !$0.name.isEmpty && $0.name == command.data }) else {
                return Status.notFound
            }
            forget()
            selected = index
            return Status.success
        case 0x00, 0x02:
            guard let selected, command.data.count == 2 else { return Status.notFound }
            let id = UInt16(command.data[0]) << 8 | UInt16(command.data[1])
            guard let file = applications[selected].files.first(where: { $0.isoFile == id }) else {
                return Status.notFound
            }
            isoFile = file.number
            return Status.success
        default: return Status.wrongP1P2
        }
    }

    private func readBinary(_ command: CommandAPDU) -> [UInt8] {
        guard let isoFile, let file = file(isoFile), let data = file.data else { return Status.notAllowed }
        guard file.rights.isFreeToRead else { return Status.security }
        let offset = Int(command.p1) << 8 | Int(command.p2)
        guard offset < data.count, command.p1 & 0x80 == 0 else { return Status.wrongParameters }
        guard let expected = command.expectedLength else { return Status.wrongLength }
        let there = data.count - offset
        let status = expected < 256 && expected > there ? Status.endOfData : Status.success
        return Array(data[offset..<offset + min(expected, there, 256)]) + status
    }

    private mutating func updateBinary(_ command: CommandAPDU) -> [UInt8] {
        guard let isoFile, let file = file(isoFile), file.data != nil else { return Status.notAllowed }
        guard file.rights.isFreeToWrite else { return Status.security }
        guard command.p1 & 0x80 == 0, !command.data.isEmpty else { return Status.wrongParameters }
        let offset = Int(command.p1) << 8 | Int(command.p2)
        return store(command.data, in: isoFile, at: offset, length: command.data.count)
            ? Status.success : Status.wrongParameters
    }
}
