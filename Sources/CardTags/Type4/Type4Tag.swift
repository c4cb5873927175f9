import CardCore
import NDEFCodec

/// A Type 4 tag (NFC Forum, Type 4 Tag, mapping versions 1 to 3): a smart card with the NDEF application, such as
/// NTAG 4xx, DESFire or a phone.
public struct Type4Tag: NDEFTag {
    /// The kind of tag.
    public let type = TagType.type4

    /// The file that describes the others.
    static let containerFile: UInt16 = 0xE103
    /// The shortest capability container.
    package static let containerLength = 15
    /// The file identifiers that no NDEF file may have.
    static let reservedFiles: Set<UInt16> = [0x0000, 0xE102, 0xE103, 0x3F00, 0x3FFF, 0xFFFF]

    var files: Type4Files
    let channel: any CardChannel
    let messageLength: Int

    /// A card at the other end of the channel.
    ///
    /// - Parameters:
    ///   - channel: any channel that carries APDUs to the card.
    ///   - limits: ``NDEFLimits/message`` is the longest message to accept.
    ///   - longestAnswer: the most data bytes that the reader passes in one answer, 15...256. The card's own limit (MLe)
    ///     is obeyed as well.
    public init(_ channel: any CardChannel, limits: NDEFLimits = .default, longestAnswer: Int = 255) {
        let capabilities = channel.capabilities
        // Short commands only: they pass everywhere, and a long message takes but a few more of them.
        files = Type4Files(
            channel,
            chunk: min(max(min(longestAnswer, capabilities.longestResponse - 2), Type4Tag.containerLength), 256),
            writeChunk: min(max(capabilities.longestCommand - 5, 1), 255)
        )
        self.channel = channel
        messageLength = limits.message
    }

    /// Reads the message.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        guard let file = try openFile() else { return .absent(.type4) }
        let length = try readLength(of: file)
        guard length > 0 else {
            var isInterrupted = false
            do throws(TagError) {
                isInterrupted = try self.isInterrupted(file)
            } catch {
                // A card or a recording that does not return the byte behind has an empty message all the same. That
                // the card left is another matter.
                if case .link = error { throw error }
            }
            return TagContent(type: .type4, ndef: .empty, area: file.area, isInterrupted: isInterrupted)
        }
        guard length <= file.area.capacity else {
            throw .corrupt(
                .init(.lengthOverCapacity(length: length, capacity: file.area.capacity), offset: 0, file: file.id)
            )
        }
        guard length <= messageLength else { throw .tooLong(length: length, limit: messageLength) }
        let message = try files.read(length, at: file.lengthSize, of: file.id)
        return TagContent(type: .type4, ndef: .message(message), area: file.area)
    }

    // MARK: Parts

    /// The file of the message, as the capability container describes it.
    struct MessageFile {
        var id: UInt16
        /// How many bytes the message's length has at the start of the file.
        var lengthSize: Int
        var area: TagArea
        /// Where the byte of the write access stands in the capability container.
        var writeAccessOffset: Int
        /// How many bytes the capability container has.
        var containerLength: Int
    }

    /// Selects the application, reads the container and selects the file of the message; `nil` for a card without the
    /// application.
    mutating func openFile() throws(TagError) -> MessageFile? {
        guard try files.selectApplication(), try files.select(Type4Tag.containerFile) else { return nil }
        let file = try readContainer()
        guard try files.select(file.id) else {
            throw .refused(attempt: "select the file \([file.id].hex) of the message", status: .fileNotFound)
        }
        return file
    }

    mutating func readLength(of file: MessageFile) throws(TagError) -> Int {
        try files.read(file.lengthSize, at: 0, of: file.id).number(at: 0, count: file.lengthSize)
    }

    /// Whether an empty message has something behind its length: then it was being written.
    mutating func isInterrupted(_ file: MessageFile) throws(TagError) -> Bool {
        try files.read(1, at: file.lengthSize, of: file.id) != [0x00]
    }

    private mutating func readContainer() throws(TagError) -> MessageFile {
        func corrupt(_ reason: TagError.Corruption.Reason, at offset: Int) -> TagError {
            .corrupt(.init(reason, offset: offset, file: Type4Tag.containerFile))
        }
        var bytes = try files.read(Type4Tag.containerLength, at: 0, of: Type4Tag.containerFile)
        let length = bytes.number(at: 0, count: 2)
        guard length >= Type4Tag.containerLength else { throw corrupt(.shortContainer(length: length), at: 0) }
        let version = TagArea.Version(byte: bytes[2])
        guard (1...3).contains(version.major) else { throw .unsupportedVersion(.type4, version) }
        let longestAnswer = bytes.number(at: 3, count: 2)
        guard longestAnswer >= Type4Tag.containerLength else {
            throw corrupt(.smallCommands(length: longestAnswer), at: 3)
        }
        files.limit(answers: longestAnswer, commands: bytes.number(at: 5, count: 2))

        let isExtended: Bool
        switch (bytes[7], bytes[8]) {
        case (0x04, 6): isExtended = false
        case (0x06, 8): isExtended = true
        case (0x04, _), (0x06, _): throw corrupt(.fileControlLength(Int(bytes[8])), at: 8)
        default: throw corrupt(.noFileControl, at: 7)
        }
        if isExtended {
            guard length >= 17 else { throw corrupt(.shortContainer(length: length), at: 0) }
            bytes += try files.read(2, at: Type4Tag.containerLength, of: Type4Tag.containerFile)
        }
        let id = UInt16(truncatingIfNeeded: bytes.number(at: 9, count: 2))
        guard !Type4Tag.reservedFiles.contains(id) else { throw corrupt(.reservedFile(id), at: 9) }
        let lengthSize = isExtended ? 4 : 2
        let size = bytes.number(at: 11, count: lengthSize)
        guard size > lengthSize else { throw corrupt(.smallFile(size: size), at: 11) }
        let access = 11 + lengthSize
        return MessageFile(
            id: id,
            lengthSize: lengthSize,
            area: TagArea(
                capacity: size - lengthSize,
                version: version,
                readAccess: .init(bytes[access], never: 0xFF),
                writeAccess: .init(bytes[access + 1], never: 0xFF)
            ),
            writeAccessOffset: access + 1,
            containerLength: length
        )
    }
}

extension [UInt8] {
    /// A number of up to 4 bytes, most significant first; bytes that are missing count as 0.
    package func number(at offset: Int, count: Int) -> Int {
        (offset..<offset + count).reduce(0) { $0 << 8 | (indices.contains($1) ? Int(self[$1]) : 0) }
    }
}

extension Type4Tag {
    /// How many bytes of a file one part of a dump has.
    private static let partLength = 16

    /// Reads the capability container and the files that it names, as far as they may be read without a key, and of each
    /// file as many bytes as a message may have.
    ///
    /// - Throws: ``TagError`` if the link to the card fails.
    public mutating func dump() throws(TagError) -> TagDump {
        guard try files.selectApplication(), try files.select(Type4Tag.containerFile) else {
            return TagDump(type: .type4, parts: [])
        }
        let head = try files.read(Type4Tag.containerLength, at: 0, of: Type4Tag.containerFile)
        let length = head.number(at: 0, count: 2)
        files.limit(
            answers: max(Type4Tag.containerLength, head.number(at: 3, count: 2)),
            commands: head.number(at: 5, count: 2)
        )
        let container =
            try head
            + readAsMuch(
                min(length, Type4Tag.longestContainer) - head.count,
                at: head.count,
                of: Type4Tag.containerFile
            )
        var parts = Type4Tag.parts(of: container, file: Type4Tag.containerFile, note: "capability container")
        for file in Type4Tag.namedFiles(container) {
            let name = "file \([file.id].hex)"
            guard file.readAccess == .free, try isSelected(file.id) else {
                parts.append(.init(name, nil, note: "\(file.note), protected or missing"))
                continue
            }
            let bytes = try readAsMuch(min(file.size, messageLength + 4), at: 0, of: file.id)
            parts +=
                bytes.isEmpty
                ? [.init(name, nil, note: "\(file.note), protected or missing")]
                : Type4Tag.parts(of: bytes, file: file.id, note: file.note)
        }
        return TagDump(type: .type4, parts: parts)
    }

    /// The longest capability container that is read.
    private static let longestContainer = 256

    private struct NamedFile {
        var id: UInt16
        var size: Int
        var readAccess: TagArea.Access
        var note: String
    }

    /// The files of the control blocks 04, 05 and 06, as far as these are well-formed.
    private static func namedFiles(_ container: [UInt8]) -> [NamedFile] {
        var files: [NamedFile] = []
        var offset = 7
        while offset + 2 <= container.count {
            let (tag, length) = (container[offset], Int(container[offset + 1]))
            guard offset + 2 + length <= container.count else { break }
            let sizeLength = tag == 0x06 ? 4 : 2
            if 0x04...0x06 ~= tag, length == sizeLength + 4 {
                files.append(
                    NamedFile(
                        id: UInt16(truncatingIfNeeded: container.number(at: offset + 2, count: 2)),
                        size: container.number(at: offset + 4, count: sizeLength),
                        readAccess: .init(container[offset + 4 + sizeLength], never: 0xFF),
                        note: tag == 0x05 ? "proprietary file" : "message"
                    )
                )
            }
            offset += 2 + length
        }
        return files
    }

    /// A file that the card refuses to select is missing for a dump, and no error.
    private mutating func isSelected(_ file: UInt16) throws(TagError) -> Bool {
        do {
            return try files.select(file)
        } catch .link(let error) {
            throw .link(error)
        } catch {
            return false
        }
    }

    /// Up to so many bytes; fewer where the file ends or is protected before.
    private mutating func readAsMuch(_ count: Int, at start: Int, of file: UInt16) throws(TagError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            do {
                bytes += try files.read(min(files.chunk, count - bytes.count), at: start + bytes.count, of: file)
            } catch .link(let error) {
                throw .link(error)
            } catch {
                break
            }
        }
        return bytes
    }

    private static func parts(of bytes: [UInt8], file: UInt16, note: String) -> [TagDump.Part] {
        stride(from: 0, to: bytes.count, by: partLength).map { start in
            TagDump.Part(
                "file \([file].hex), byte \(start)",
                Array(bytes[start..<min(start + partLength, bytes.count)]),
                note: note
            )
        }
    }
}

extension Type4Tag {
    /// Writes a message in place of the one that is there; see ``NDEFTag/writeNDEF(_:)``.
    ///
    /// The length is set to 0, the message is written and read back, and the length comes last, in one command. A zero
    /// behind an empty message distinguishes it from an interrupted one.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        try write(message, to: file)
    }

    /// Makes a tag whose writing was interrupted a clean empty one.
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        guard try readLength(of: file) == 0, try isInterrupted(file) else { return .notNeeded }
        try write([], to: file)
        return .repaired
    }

    /// Makes the NDEF application with an empty message on a card that has none, where its maker's commands are known.
    ///
    /// A card that has the application is left as it is, with its message; only a length that cannot be is set to 0.
    public mutating func formatNDEF() throws(TagError) {
        guard let file = try openFile() else {
            guard try DESFireNDEF.isOfThisKind(channel) else {
                let reason = "it has no NDEF application, and its kind is not known to make one on"
                throw .cannotFormat(.type4, reason: reason)
            }
            return try DESFireNDEF.format(over: channel)
        }
        let length: Int
        do {
            length = try readLength(of: file)
        } catch .protected {
            // Whatever it holds is somebody's.
            return
        }
        if length > file.area.capacity { try write([], to: file) }
    }

    /// Makes the message unchangeable for ever: the capability container states from then on that it may not be written
    /// (NFC Forum, Type 4 Tag: read-only state), or, where the container cannot be written, the card's own command takes
    /// the right away.
    ///
    /// Whoever keeps to the standard does not write the message from then on. A card that goes on taking writes to its
    /// container can be unlocked by a program that does not; ``keepsLock()`` reports whether the card keeps its lock.
    ///
    /// - Throws: ``TagError``; ``TagError/wrongCard(expected:)`` before anything was written.
    public mutating func lock(_ confirmation: PermanentLock) throws(TagError) {
        try confirmation.check(over: channel, type: .type4)
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        guard file.area.writeAccess != .never else { return }
        if try readLength(of: file) == 0, try isInterrupted(file) {
            throw .guarded(attempt: "lock the tag", reason: "writing it was interrupted: write or repair it first")
        }
        guard try files.select(Type4Tag.containerFile) else { throw .notFormatted(.type4) }
        do {
            try files.write([0xFF], at: file.writeAccessOffset, of: Type4Tag.containerFile)
        } catch .link(let error) {
            throw .link(error)
        } catch {
            guard file.id == DESFireNDEF.messageElementaryFile, try DESFireNDEF.isOfThisKind(channel) else {
                throw .unsupported(.type4, attempt: "lock the tag")
            }
            return try DESFireNDEF.lock(nil, over: channel, key: nil)
        }
        guard try openFile()?.area.writeAccess == .never else { throw .notWritten(offset: file.writeAccessOffset) }
    }

    /// Whether the card itself keeps a locked tag locked, and not the word of its capability container alone.
    ///
    /// The byte that states that nobody may write is written once more as it is: a card that takes it would take
    /// another one too.
    ///
    /// - Returns: `false` for a card that takes the byte, and for a tag that is not locked; nothing is written to that.
    public mutating func keepsLock() throws(TagError) -> Bool {
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        guard file.area.writeAccess == .never else { return false }
        guard try files.select(Type4Tag.containerFile) else { throw .notFormatted(.type4) }
        do {
            try files.write([0xFF], at: file.writeAccessOffset, of: Type4Tag.containerFile)
            return false
        } catch .link(let error) {
            throw .link(error)
        } catch {
            return true
        }
    }

    private mutating func write(_ message: [UInt8], to file: MessageFile) throws(TagError) {
        guard message.count <= file.area.capacity else {
            throw .tooLarge(length: message.count, capacity: file.area.capacity)
        }
        guard file.area.writeAccess == .free else { throw .readOnly(.type4) }
        func length(_ count: Int) -> [UInt8] {
            (0..<file.lengthSize).map { UInt8(truncatingIfNeeded: count >> (8 * (file.lengthSize - 1 - $0))) }
        }
        let start = file.lengthSize
        if try files.read(start, at: 0, of: file.id) != length(0) {
            try files.write(length(0), at: 0, of: file.id, inOneCommand: true)
        }
        let content = message.isEmpty ? [0x00] : message
        try files.write(content, at: start, of: file.id)
        let found: [UInt8]
        do {
            found = try files.read(content.count, at: start, of: file.id)
        } catch .protected where file.area.readAccess != .free {
            // Whoever may write but not read has the card's word alone.
            found = content
        }
        guard found == content else {
            throw .notWritten(offset: zip(found, content).enumerated().first { $1.0 != $1.1 }?.offset ?? 0)
        }
        guard !message.isEmpty else { return }
        try files.write(length(message.count), at: 0, of: file.id, inOneCommand: true)
        guard try readLength(of: file) == message.count else { throw .notWritten(offset: 0) }
    }
}
