import CardCore

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
                        readAccess: access(container[offset + 4 + sizeLength]),
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
