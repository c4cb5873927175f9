import ReaderKit

// What the commands do that concern files.
extension DESFireState {
    mutating func runFileCommand(_ instruction: UInt8, _ payload: [UInt8]) throws(Refusal) -> Reply {
        switch instruction {
        case 0x5F: try changeSettings(payload)
        case 0x6C: try readValue(payload)
        case 0xBB: try readRecords(payload)
        case 0xBD where !isLight, 0xAD where configuration.model != .ev1: try readData(instruction, payload)
        case 0x3D where !isLight, 0x8D where configuration.model != .ev1: try writeData(instruction, payload)
        case 0xF5: try fileSettings(payload)
        default: throw Refusal(0x1C)
        }
    }

    private func index(of file: UInt8) -> Int? {
        selected.flatMap { applications[$0].files.firstIndex { $0.number == file } }
    }

    private func file(_ number: UInt8) -> SimulatedDESFireFile? {
        guard let selected, let index = index(of: number) else { return nil }
        return applications[selected].files[index]
    }

    private func file(in payload: [UInt8], atLeast length: Int) throws(Refusal) -> SimulatedDESFireFile {
        guard payload.count >= length else { throw Refusal(0x7E) }
        guard let file = file(payload[0]) else { throw Refusal(0xF0) }
        return file
    }

    // MARK: Rights

    /// How an access travels that one of the rights has to allow; `nil` if none does.
    private func communication(
        _ file: SimulatedDESFireFile,
        _ rights: DESFireAccessRights.Access...
    ) -> DESFireCommunication? {
        if let key = session?.keyNumber, rights.contains(.key(key)) { return file.communication }
        return rights.contains(.free) ? .plain : nil
    }

    private func reading(_ file: SimulatedDESFireFile) throws(Refusal) -> DESFireCommunication {
        guard let mode = communication(file, file.rights.read, file.rights.readWrite) else { throw refusal }
        return mode
    }

    private func writing(_ file: SimulatedDESFireFile) -> DESFireCommunication? {
        communication(file, file.rights.write, file.rights.readWrite)
    }

    // MARK: Lists and settings

    func listFiles() throws(Refusal) -> Reply {
        let selected = try application()
        try require(0x02)
        return .data(applications[selected].files.map(\.number))
    }

    private mutating func fileSettings(_ payload: [UInt8]) throws(Refusal) -> Reply {
        let file = try file(in: header(0xF5, payload, 1), atLeast: 1)
        if !isLight { try require(0x02) }
        return .data(file.settings)
    }

    private mutating func changeSettings(_ payload: [UInt8]) throws(Refusal) -> Reply {
        guard let selected, let number = payload.first, let index = index(of: number) else { throw Refusal(0xF0) }
        let mode: DESFireCommunication
        switch applications[selected].files[index].rights.change {
        case .never: throw Refusal(0x9D)
        case .free: mode = .plain
        case .key(let key):
            guard session?.keyNumber == key else { throw refusal }
            mode = .encrypted
        }
        let data = try open(0x5F, payload, headerLength: 1, mode).data
        guard data.count >= 3 else { throw Refusal(0x7E) }
        let hasSDM = data[0] & 0x40 != 0
        guard hasSDM == (data.count > 3) else { throw Refusal(0x9E) }
        var file = applications[selected].files[index]
        file.communication = DESFireCommunication(bits: data[0])
        file.rights = DESFireAccessRights(UInt16(data[1..<3].littleEndianNumber))
        file.sdm = Array(data[3...])
        applications[selected].files[index] = file
        return .data([], mode == .plain ? .plain : .authenticated)
    }

    // MARK: Reading

    /// Offset and length in the header of a command, of which so much is there.
    private func range(_ header: [UInt8], of count: Int) throws(Refusal) -> (offset: Int, length: Int) {
        let (offset, length) = (header[1..<4].littleEndianNumber, header[4..<7].littleEndianNumber)
        guard offset < count, length <= count - offset else { throw Refusal(0xBE) }
        return (offset, length)
    }

    private mutating func readData(_ instruction: UInt8, _ payload: [UInt8]) throws(Refusal) -> Reply {
        let file = try file(in: payload, atLeast: 7)
        guard let data = file.data else { throw Refusal(0xF0) }
        let mode = try reading(file)
        let (offset, length) = try range(header(instruction, payload, 7, mode), of: data.count)
        let end = length == 0 ? data.count : offset + length
        return .data(Array(data[offset..<end]), mode, isWhole: length == 0)
    }

    private mutating func readRecords(_ payload: [UInt8]) throws(Refusal) -> Reply {
        let file = try file(in: payload, atLeast: 7)
        guard case .records(let records, _, _, _) = file.content else { throw Refusal(0xF0) }
        let mode = try reading(file)
        let (offset, count) = try range(header(0xBB, payload, 7, mode), of: records.count)
        let older = records.dropLast(offset)
        return .data(Array((count == 0 ? older : older.suffix(count)).joined()), mode, isWhole: count == 0)
    }

    private mutating func readValue(_ payload: [UInt8]) throws(Refusal) -> Reply {
        let file = try file(in: payload, atLeast: 1)
        guard case .value(let value, _, _) = file.content else { throw Refusal(0xF0) }
        guard let mode = communication(file, file.rights.read, file.rights.write, file.rights.readWrite) else {
            throw refusal
        }
        try header(0x6C, payload, 1, mode)
        return .data([UInt8].littleEndian(Int(value), 4), mode)
    }

    // MARK: Writing

    /// How long the payload of a writing command gets; `nil` if the card refuses it at once.
    func lengthOfWriting(_ payload: [UInt8], _ instruction: UInt8) -> Int? {
        guard payload.count >= 7, let file = file(payload[0]), let mode = writing(file) else { return nil }
        let length = payload[4..<7].littleEndianNumber
        guard length <= configuration.memory else { return nil }
        return 7 + (session?.protectedLength(length, mode) ?? length)
    }

    /// Puts into a standard file what has come of it so far, where nothing remains to be verified.
    mutating func writeThrough(_ payload: [UInt8]) {
        guard let file = file(payload[0]), case .standard = file.content, writing(file) == .plain else { return }
        let (offset, length) = (payload[1..<4].littleEndianNumber, payload[4..<7].littleEndianNumber)
        store(Array(payload[7...]), in: payload[0], at: offset, length: length)
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

    private mutating func writeData(_ instruction: UInt8, _ payload: [UInt8]) throws(Refusal) -> Reply {
        let file = try file(in: payload, atLeast: 7)
        guard file.data != nil else { throw Refusal(0xF0) }
        guard let mode = writing(file) else { throw refusal }
        let (header, data) = try open(instruction, payload, headerLength: 7, mode)
        guard data.count == header[4..<7].littleEndianNumber, !data.isEmpty else { throw Refusal(0x7E) }
        guard store(data, in: file.number, at: header[1..<4].littleEndianNumber, length: data.count) else {
            throw Refusal(0xBE)
        }
        return .data([], mode == .plain ? .plain : .authenticated)
    }

    mutating func commit() throws(Refusal) -> Reply {
        let selected = try application()
        guard !uncommitted.isEmpty else { throw Refusal(0x0C) }
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
