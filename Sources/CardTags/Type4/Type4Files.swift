import CardCore

/// Selects and reads files of a card with the NDEF application, with the cards' habits in mind.
package struct Type4Files {
    /// How many times a card may answer with less than the shortest chunk before reading is given up.
    static let shortAnswers = 256

    /// The most bytes to ask for at once.
    private(set) var chunk: Int
    /// The most bytes to write at once, data objects included.
    private(set) var writeChunk: Int

    private let link: StorageLink
    /// Whether the card takes SELECT with P2 = 0C (no answer wanted); the first mapping version knew only 00.
    private var selectsWithoutAnswer = true
    /// Whether the card knows SELECT, as far as it was asked.
    private(set) var knowsSelect = true
    private var shortAnswersLeft = Type4Files.shortAnswers

    /// Whether the card has once refused a write of as many bytes as it states that it takes.
    private var hasShortenedWrites = false

    init(_ channel: any CardChannel, chunk: Int, writeChunk: Int) {
        link = StorageLink(channel)
        self.chunk = chunk
        self.writeChunk = writeChunk
    }

    /// Obeys the limits that the card sets for READ BINARY (MLe) and UPDATE BINARY (MLc).
    mutating func limit(answers: Int, commands: Int) {
        chunk = min(chunk, answers)
        writeChunk = min(writeChunk, commands)
    }

    /// Selects the NDEF application; `false` if the card has none.
    ///
    /// Cards of the first mapping version know the older name, and some of them no SELECT with Le (NFC Forum Type 4 1.0): a
    /// command that is refused for its form is sent in the next one. That the next form is not known at all is then no word
    /// on the application.
    mutating func selectApplication() throws(TagError) -> Bool {
        let attempt = "select the NDEF application"
        var refusal: StatusWord?
        for name in [CommandAPDU.selectNDEFApplication, .selectNDEFApplicationVersion1] {
            var forms: [(p2: UInt8, length: Int?)] = [(0x00, 256), (0x00, nil), (0x0C, nil)]
            var status = StatusWord.success
            var ofTheForm: StatusWord?
            while !forms.isEmpty {
                let (p2, length) = forms.removeFirst()
                // The answer's data are of no use: a length that is named is one form of several.
                let command = CommandAPDU(trusted: name.cla, name.ins, name.p1, p2, name.data, length)
                status = try link.send(command, asIs: true).statusWord
                if case .wrongLength(let right) = status.classification, length == 256, right < 256 {
                    forms.insert((p2, right), at: 0)
                }
                guard Type4Files.isOfTheForm(status) || (ofTheForm != nil && Type4Files.isUnknown(status)) else {
                    ofTheForm = nil
                    break
                }
                ofTheForm = ofTheForm ?? status
            }
            status = ofTheForm ?? status
            switch MessageQuestion.application.meaning(of: status) {
            case .present: return true
            case .absent: break
            case .protected: throw .protected(attempt: attempt, status: status)
            case .notAsked: refusal = refusal ?? status
            case .corrupt, .unsupported, .failed: throw .refused(attempt: attempt, status: status)
            }
            // A card that knows no SELECT knows the older name no better.
            knowsSelect = !Type4Files.isUnknown(status)
            if !knowsSelect { break }
        }
        if let refusal { throw .notAsked(.type4, attempt: attempt, status: refusal) }
        return false
    }

    /// Whether a status word refuses a command for its lengths or for P1 and P2, so that another form may be taken.
    private static func isOfTheForm(_ status: StatusWord) -> Bool {
        status.sw1 == 0x67 || status.sw1 == 0x6C || [0x6A80, 0x6A86, 0x6A87, 0x6B00].contains(status.rawValue)
    }

    private static func isUnknown(_ status: StatusWord) -> Bool {
        status == .instructionNotSupported || status == .classNotSupported
    }

    /// Selects a file; `false` if the card does not have it.
    mutating func select(_ file: UInt16) throws(TagError) -> Bool {
        let attempt = "select the file \([file].hex)"
        let name = CommandAPDU.select(fileID: file)
        let forms: [(p2: UInt8, length: Int?)] = [(0x0C, nil), (0x00, nil), (0x00, 256)]
        var status = StatusWord.success
        // Some cards call a file missing that is to be selected without an answer; it is if they take no other form.
        var isMissing = false
        for (p2, length) in forms.dropFirst(selectsWithoutAnswer ? 0 : 1) {
            status = try link.send(CommandAPDU(trusted: name.cla, name.ins, name.p1, p2, name.data, length)).statusWord
            switch MessageQuestion.container.meaning(of: status) {
            case .present:
                selectsWithoutAnswer = p2 == 0x0C
                return true
            case .absent where p2 == 0x00: return false
            case .protected: throw .protected(attempt: attempt, status: status)
            case .absent: isMissing = true
            // Another form may be taken.
            case .corrupt, .notAsked, .unsupported, .failed:
                isMissing = isMissing && (Type4Files.isOfTheForm(status) || Type4Files.isUnknown(status))
            }
        }
        if isMissing { return false }
        throw .refused(attempt: attempt, status: status)
    }

    /// Reads exactly so many bytes of the selected file, in chunks.
    mutating func read(_ count: Int, at start: Int, of file: UInt16) throws(TagError) -> [UInt8] {
        let attempt = "read the file \([file].hex)"
        var bytes: [UInt8] = []
        while bytes.count < count {
            let offset = start + bytes.count
            let missing = count - bytes.count
            let (data, status, asked) = try readChunk(min(missing, chunk), at: offset, attempt)
            guard status.isSuccess || status == .endReached else {
                switch status {
                case .securityStatusNotSatisfied: throw .protected(attempt: attempt, status: status)
                case .wrongP1P2: throw .corrupt(.init(.endsEarly(missing: missing), offset: offset, file: file))
                default: throw .refused(attempt: attempt, status: status)
                }
            }
            guard !data.isEmpty else { throw .corrupt(.init(.endsEarly(missing: missing), offset: offset, file: file)) }
            if data.count < asked {
                // A card or reader that returns less than was asked for is not asked for more than that again.
                chunk = max(data.count, Type4Tag.containerLength)
                if data.count < min(asked, Type4Tag.containerLength) { shortAnswersLeft -= 1 }
                guard shortAnswersLeft >= 0 else {
                    throw .link(
                        ReaderError(.limitExceeded, attempting: attempt, detail: "the card gives it in too small parts")
                    )
                }
            }
            bytes += data.prefix(missing)
        }
        return bytes
    }

    /// Reads at most so many bytes, and describes how many were asked for.
    private func readChunk(
        _ count: Int,
        at offset: Int,
        _ attempt: String
    ) throws(TagError) -> (data: ArraySlice<UInt8>, status: StatusWord, asked: Int) {
        if offset <= 0x7FFF {
            guard let command = try? CommandAPDU.readBinary(offset: offset, length: count) else {
                throw .refused(attempt: attempt, status: .wrongP1P2)
            }
            let answer = try link.send(command)
            return (answer.data[...], answer.statusWord, count)
        }
        // Higher offsets take a data object; the answer is one too, and its header counts in its length.
        let length = min(count + (count > 127 ? 3 : 2), chunk)
        let asked = length - (length > 129 ? 3 : 2)
        guard let command = try? CommandAPDU.readBinary(objectOffset: offset, length: length) else {
            throw .refused(attempt: attempt, status: .wrongP1P2)
        }
        let answer = try link.send(command)
        return (Type4Files.objectValue(answer.data), answer.statusWord, asked)
    }

    /// The value of a data object `53` that fills the answer, or the answer itself: some cards leave the header out.
    package static func objectValue(_ data: [UInt8]) -> ArraySlice<UInt8> {
        guard data.count >= 2, data[0] == 0x53 else { return data[...] }
        switch data[1] {
        case 0..<0x80 where Int(data[1]) == data.count - 2: return data[2...]
        case 0x81 where data.count >= 3 && Int(data[2]) == data.count - 3: return data[3...]
        case 0x82 where data.count >= 4 && Int(data[2]) << 8 | Int(data[3]) == data.count - 4: return data[4...]
        default: return data[...]
        }
    }

    // MARK: Writing

    /// What a card that refuses a write for its length is offered instead: what the oldest cards take.
    private static let smallWrite = 52

    /// Writes bytes of the selected file, in chunks.
    ///
    /// - Parameter inOneCommand: whether the bytes must not be torn apart, as those of a length.
    mutating func write(_ bytes: [UInt8], at start: Int, of file: UInt16, inOneCommand: Bool = false) throws(TagError) {
        let attempt = "write the file \([file].hex)"
        var written = 0
        while written < bytes.count {
            let offset = start + written
            // Above 7FFF an offset object of 5 bytes and the header of a data object of 2 or 3 come first.
            let overhead = offset <= 0x7FFF ? 0 : writeChunk - 7 > 127 ? 8 : 7
            let room = writeChunk - overhead
            let count = min(room, bytes.count - written)
            guard room > 0, !inOneCommand || count == bytes.count else {
                throw .corrupt(.init(.smallCommands(length: writeChunk), offset: 5, file: Type4Tag.containerFile))
            }
            let status = try update(Array(bytes[written..<written + count]), at: offset, attempt)
            if status == .wrongLength, !hasShortenedWrites, writeChunk > Type4Tag.containerLength, !inOneCommand {
                hasShortenedWrites = true
                writeChunk = max(Type4Tag.containerLength, min(writeChunk / 2, Type4Files.smallWrite))
                continue
            }
            guard status.isSuccess else {
                switch status {
                case .securityStatusNotSatisfied, .conditionsNotSatisfied, .commandNotAllowed:
                    throw .protected(attempt: attempt, status: status)
                default: throw .refused(attempt: attempt, status: status)
                }
            }
            written += count
        }
    }

    private func update(_ bytes: [UInt8], at offset: Int, _ attempt: String) throws(TagError) -> StatusWord {
        let command: CommandAPDU?
        if offset <= 0x7FFF {
            command = try? CommandAPDU.updateBinary(offset: offset, data: bytes)
        } else {
            command = Type4Files.updateBinary(objectOffset: offset, data: bytes)
        }
        guard let command else { throw .refused(attempt: attempt, status: .wrongP1P2) }
        return try link.send(command).statusWord
    }

    /// UPDATE BINARY with data objects: `00 D7 00 00 Lc 54 03 offset 53 length data`.
    static func updateBinary(objectOffset offset: Int, data: [UInt8]) -> CommandAPDU? {
        guard (0...0xFF_FFFF).contains(offset), data.count <= 0xFF else { return nil }
        let place = [0x54, 0x03] + [16, 8, 0].map { UInt8(truncatingIfNeeded: offset >> $0) }
        let header: [UInt8] = data.count > 127 ? [0x53, 0x81, UInt8(data.count)] : [0x53, UInt8(data.count)]
        let instruction = Instruction.withObjects(Instruction.updateBinary)
        return CommandAPDU(trusted: 0x00, instruction, 0, 0, place + header + data)
    }
}

extension [UInt16] {
    /// Upper-case hexadecimal, four digits a number.
    var hex: String { flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }.hex }
}
