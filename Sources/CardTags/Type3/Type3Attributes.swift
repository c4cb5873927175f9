/// The attribute block of a Type 3 tag, block 0: how the message is read and written, and how long it is.
package struct Type3Attributes: Hashable {
    /// The version of the mapping.
    var version: UInt8
    /// Nbr: how many blocks one command may read.
    var blocksPerRead: UInt8
    /// Nbw: how many blocks one command may write.
    var blocksPerWrite: UInt8
    /// Nmaxb: how many blocks there are for the message.
    package var blocks: UInt16
    /// Four bytes whose use is not assigned; they are kept as they are.
    var reserved: [UInt8]
    /// WriteF: `00`, or `0F` while a message is being written.
    var writeFlag: UInt8
    /// RWFlag: `00` read only, `01` writable.
    var accessFlag: UInt8
    /// Ln: how many bytes the message has.
    package var length: Int

    /// The value of ``writeFlag`` while a message is being written.
    static let writing: UInt8 = 0x0F

    /// The sum of the first 14 bytes.
    static func checksum(_ block: some Sequence<UInt8>) -> UInt16 { block.prefix(14).reduce(0) { $0 &+ UInt16($1) } }

    /// Whether a block with a wrong checksum was one of attributes all the same: by its version where the card's answer to a
    /// poll states that it is of the NDEF system, else by all in it that the standard fixes.
    static func isDamaged(_ block: [UInt8], inSystem: Bool) -> Bool {
        guard block.count >= 16, [1, 2].contains(block[0] >> 4) else { return false }
        return inSystem
            || (1...15).contains(block[1]) && block[5..<9].allSatisfy { $0 == 0 } && [0, writing].contains(block[9])
                && block[10] <= 1
    }

    /// Reads a block of 16 bytes; `nil` if there are fewer or its checksum is wrong.
    package init?(block: [UInt8]) {
        guard block.count >= 16,
            Type3Attributes.checksum(block) == UInt16(block[14]) << 8 | UInt16(block[15])
        else { return nil }
        version = block[0]
        blocksPerRead = block[1]
        blocksPerWrite = block[2]
        blocks = UInt16(block[3]) << 8 | UInt16(block[4])
        reserved = Array(block[5..<9])
        writeFlag = block[9]
        accessFlag = block[10]
        length = Int(block[11]) << 16 | Int(block[12]) << 8 | Int(block[13])
    }

    /// The block of 16 bytes.
    var block: [UInt8] {
        var bytes = [version, blocksPerRead, blocksPerWrite, UInt8(blocks >> 8), UInt8(blocks & 0xFF)]
        bytes += reserved
        bytes += [writeFlag, accessFlag]
        bytes += [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
        let sum = Type3Attributes.checksum(bytes)
        return bytes + [UInt8(sum >> 8), UInt8(sum & 0xFF)]
    }

    /// The longest message, in bytes.
    package var capacity: Int { min(Int(blocks) * 16, 0xFF_FFFF) }

    /// Whether a message was being written when the tag left.
    var isInterrupted: Bool { writeFlag != 0 }

    /// Who may write the message.
    var writeAccess: TagArea.Access {
        accessFlag == 0x00 ? .never : accessFlag == 0x01 ? .free : .proprietary(accessFlag)
    }

    /// The place for the message.
    var area: TagArea { TagArea(capacity: capacity, version: .init(byte: version), writeAccess: writeAccess) }
}
