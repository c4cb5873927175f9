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
    public init(
        _ channel: any CardChannel,
        limits: NDEFLimits = .default,
        longestAnswer: Int = 255
    ) {
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
    ///
    /// - Throws: ``TagError``.
    public mutating func readNDEF() throws(TagError) -> TagContent {
        guard let file = try openFile() else { return .absent(.type4) }
        let length = try readLength(of: file)
        guard length > 0 else {
            var isInterrupted = false
            do throws(TagError) {
                isInterrupted = try self.isInterrupted(file)
            } catch {
                // A card or a recording that does not give the byte behind has an empty message all the same. That the
                // card left is another matter.
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
                readAccess: Type4Tag.access(bytes[access]),
                writeAccess: Type4Tag.access(bytes[access + 1])
            ),
            writeAccessOffset: access + 1,
            containerLength: length
        )
    }

    package static func access(_ byte: UInt8) -> TagArea.Access {
        switch byte {
        case 0x00: .free
        case 0xFF: .never
        default: .proprietary(byte)
        }
    }
}

extension [UInt8] {
    /// A number of up to 4 bytes, most significant first; bytes that are missing count as 0.
    package func number(at offset: Int, count: Int) -> Int {
        (offset..<offset + count).reduce(0) { $0 << 8 | (indices.contains($1) ? Int(self[$1]) : 0) }
    }
}
