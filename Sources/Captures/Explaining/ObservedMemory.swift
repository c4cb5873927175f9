import CardCore
import CardTags
import NDEFCodec

/// The memory of a tag without files as far as a conversation has shown it, and whether a whole message is in it.
struct ObservedMemory: TagMemory, Sendable {
    let tagType: TagType
    let unit: Int
    private var bytes: [Int: UInt8] = [:]
    /// How many bytes are known that may belong to a message.
    private var known = 0
    /// How many have to be known before a message is looked for again.
    private var wanted = 1
    /// How often a message was looked for in vain although enough bytes were known.
    private var attempts = 0
    /// Whether anything is new or another since a message was looked for.
    private var isChanged = false
    private var told: [UInt8]?

    /// A message that was not found so often is not looked for any more: the work is bounded by the conversation.
    private static let mostAttempts = 256
    private static let end = 1 << 20

    /// `nil` for tags that are no run of blocks, or none that is followed here.
    init?(_ tagType: TagType) {
        self.tagType = tagType
        guard let unit = [.type2: 4, .type5: 4, .type3: 16, .mifareClassic: 16][tagType] else { return nil }
        self.unit = unit
    }

    /// A byte that is not known is one that is not given.
    func byte(at address: Int) throws(TagError) -> UInt8 {
        guard let byte = bytes[address] else { throw .protected(attempt: "read the memory", status: nil) }
        return byte
    }

    mutating func write(_ bytes: [UInt8], atUnit number: Int) throws(TagError) {
        throw .guarded(attempt: "write", reason: "it is but remembered")
    }

    /// Where a block begins, in addresses of the message's area for MIFARE Classic; `nil` for what is outside.
    private func address(ofBlock block: Int) -> Int? {
        guard tagType == .mifareClassic else { return block * unit }
        return ClassicSize.dataAddress(ofBlock: block)
    }

    private var firstOfMessage: Int {
        switch tagType {
        case .type2, .type3: 16
        case .type5: bytes[2] == 0 ? 8 : 4
        default: 0
        }
    }

    mutating func note(_ content: some Collection<UInt8>, fromBlock block: Int) {
        var place = content.startIndex
        var number = block
        while place < content.endIndex {
            let end = content.index(place, offsetBy: unit, limitedBy: content.endIndex) ?? content.endIndex
            if let address = address(ofBlock: number), address >= 0, address < Self.end {
                for (index, byte) in content[place..<end].enumerated() {
                    let before = bytes.updateValue(byte, forKey: address + index)
                    if before == nil, address + index >= firstOfMessage { known += 1 }
                    if before != byte { isChanged = true }
                }
            }
            place = end
            number += 1
        }
    }

    /// The message, once all of it is known, and once for each that there is.
    mutating func newMessage() -> Result<[UInt8], TagError>? {
        guard isChanged, known >= wanted, attempts < Self.mostAttempts else { return nil }
        isChanged = false
        do throws(TagError) {
            guard let message = try message(), !message.isEmpty, message != told, isMeant(message) else { return nil }
            told = message
            return .success(message)
        } catch {
            // A Classic's sectors may hold anything.
            guard case .corrupt = error, tagType != .mifareClassic else { return nil }
            attempts = Self.mostAttempts
            return .failure(error)
        }
    }

    private func isMeant(_ message: [UInt8]) -> Bool {
        tagType != .mifareClassic || NDEFMessage.decodeLeniently(message, limits: .maximum).fault == nil
    }

    private mutating func message() throws(TagError) -> [UInt8]? {
        switch tagType {
        case .type3:
            let block = (0..<16).compactMap { bytes[$0] }
            guard block.count == 16, let attributes = Type3Attributes(block: block) else { return nil }
            wanted = min(attributes.length, attributes.capacity)
            guard known >= wanted else { return nil }
            attempts += 1
            var message: [UInt8] = []
            for address in 16..<(16 + wanted) { message.append(try byte(at: address)) }
            return message
        case .type2, .type5, .mifareClassic:
            guard let area else { return nil }
            var memory = self
            guard let place = try area.find(in: &memory) else { return nil }
            wanted = place.length
            guard known >= wanted else { return nil }
            attempts += 1
            return try place.read(from: &memory)
        case .type1, .type4: return nil
        }
    }

    private var area: TLVArea? {
        switch tagType {
        case .type2:
            guard bytes[12] == Type2Tag.magic, let size = bytes[14] else { return nil }
            return TLVArea(type: .type2, start: 16, end: 16 + 8 * Int(size))
        case .type5:
            guard let magic = bytes[0], magic == 0xE1 || magic == 0xE2, let size = bytes[2] else { return nil }
            guard size == 0 else { return TLVArea(type: .type5, start: 4, end: 4 + 8 * Int(size)) }
            guard let high = bytes[6], let low = bytes[7] else { return nil }
            return TLVArea(type: .type5, start: 8, end: 8 + 8 * (Int(high) << 8 | Int(low)))
        case .mifareClassic: return TLVArea(type: .mifareClassic, start: 0, end: ClassicSize.endOfData)
        case .type1, .type3, .type4: return nil
        }
    }
}
