import CardCore
import CardTags

/// What pages and blocks of a tag's memory hold.
enum BlockFields {
    /// What is read from a block on, or written to it, as fields; the message is the last, once all of it is known.
    static func make(
        _ content: [UInt8],
        fromBlock block: Int,
        at offset: Int,
        _ state: inout ConversationState
    ) -> [ExplainedField] {
        guard !content.isEmpty else { return [] }
        let type = state.tagType
        var fields: [ExplainedField] = []
        switch type {
        case .type2: fields = pages(content, block, offset)
        case .mifareClassic: fields = sectors(content, block, offset)
        case .type3 where block == 0: fields = attributes(content, offset)
        case .type5 where block == 0: fields = vicinity(content, offset)
        default: break
        }
        if fields.isEmpty {
            let (name, text) = (name(of: type, block, content.count), ExplanationText.ascii(content))
            fields = [ExplainedField(name, at: offset, content, text: text)]
        }
        state.memory?.note(content, fromBlock: block)
        switch state.memory?.newMessage() {
        case .success(let message): fields.append(NDEFFields.message(message, at: nil))
        case .failure(let error): fields.append(ExplainedField(name: "NDEF message", length: 0, meaning: "\(error)"))
        case nil: break
        }
        return fields
    }

    /// `pages 4 to 7`.
    static func name(of type: TagType?, _ first: Int, _ count: Int) -> String {
        let (noun, unit) =
            switch type {
            case .type2: ("page", 4)
            case .type5: ("block", 4)
            default: ("block", 16)
            }
        let last = first + max(0, count - 1) / unit
        return last == first ? "\(noun) \(first)" : "\(noun)s \(first) to \(last)"
    }

    // MARK: Type 2

    private static func pages(_ content: [UInt8], _ first: Int, _ offset: Int) -> [ExplainedField] {
        guard first < 4 else { return [] }
        var reader = FieldReader(content, at: offset)
        var page = first
        while page < 4, reader.left > 0 {
            switch page {
            case 0:
                reader.take("identifier", 3) { _ in "its first part" }
                reader.take("check byte", 1)
            case 1: reader.take("identifier", 4) { _ in "its second part" }
            case 2:
                reader.take("check byte", 1)
                reader.take("internal", 1)
                reader.take("lock bits", 2) {
                    $0.allSatisfy { $0 == 0 } ? "nothing is locked" : "some pages are locked for ever"
                }
            default: reader.take("capability container", 4, container)
            }
            page += 1
        }
        reader.rest(name(of: .type2, 4, reader.left))
        return reader.fields
    }

    private static func container(_ bytes: [UInt8]) -> String {
        guard bytes[0] == Type2Tag.magic else { return "none: there is no NDEF on the tag" }
        let version = TagArea.Version(byte: bytes[1])
        let access = [0x00: "free to read and write", 0x0F: "read only"][bytes[3]] ?? "access \([bytes[3]].hex)"
        return "NDEF, version \(version), \(Int(bytes[2]) * 8) bytes, \(access)"
    }

    // MARK: MIFARE Classic

    private static func sectors(_ content: [UInt8], _ first: Int, _ offset: Int) -> [ExplainedField] {
        var reader = FieldReader(content, at: offset)
        var block = first
        while reader.left > 0 {
            if ClassicSize.isTrailer(block), reader.left >= 16 {
                reader.take("key A of block \(block)", 6) { _ in "a key; a card gives zeros in its place" }
                reader.take("access bits", 3)
                reader.take("general purpose byte", 1)
                reader.take("key B of block \(block)", 6) { _ in "a key, or data" }
            } else if block == 0, reader.left >= 16 {
                reader.take("block 0", 16) { _ in "the identifier, and what the maker wrote" }
            } else if ClassicSize.directorySectors.contains(ClassicSize.sector(ofBlock: block)) {
                reader.take("block \(block)", min(16, reader.left)) { _ in "the directory of applications" }
            } else {
                reader.take("block \(block)", min(16, reader.left))
            }
            block += 1
        }
        return reader.fields
    }

    // MARK: Type 3 and Type 5

    private static func attributes(_ content: [UInt8], _ offset: Int) -> [ExplainedField] {
        guard let block = Type3Attributes(block: content) else { return [] }
        var reader = FieldReader(content, at: offset)
        reader.take("version", 1) { "\(TagArea.Version(byte: $0[0]))" }
        reader.take("blocks in a read", 1) { "\($0[0])" }
        reader.take("blocks in a write", 1) { "\($0[0])" }
        reader.take("blocks", 2) { _ in "\(block.blocks)" }
        reader.take("reserved", 4)
        reader.take("being written", 1) { $0[0] == 0 ? "no" : "yes: the message is not whole" }
        reader.take("access", 1) { $0[0] == 0 ? "read only" : "free to write" }
        reader.take("length of the message", 3) { _ in ExplanationText.count(block.length) }
        reader.take("checksum", 2) { _ in "right" }
        reader.rest(name(of: .type3, 1, reader.left))
        return reader.fields
    }

    private static func vicinity(_ content: [UInt8], _ offset: Int) -> [ExplainedField] {
        guard content.count >= 4, content[0] == 0xE1 || content[0] == 0xE2 else { return [] }
        var reader = FieldReader(content, at: offset)
        reader.take("capability container", 4) { bytes in
            "NDEF, " + (bytes[2] == 0 ? "its size stands behind it" : "\(Int(bytes[2]) * 8) bytes")
        }
        reader.rest(name(of: .type5, 1, reader.left))
        return reader.fields
    }
}
