/// The contents of a sector's trailer, without its keys.
struct ClassicSector: Hashable {
    var access: AccessConditions
    /// The general purpose byte.
    var purpose: UInt8

    /// The general purpose byte of an NDEF sector, version 1.0, that anybody may read and write.
    static let writablePurpose: UInt8 = 0x40
    /// The same, which nobody may write.
    static let lockedPurpose: UInt8 = 0x43

    /// Reads a trailer; `nil` if its access bits contradict each other, as no card returns them.
    init?(trailer: [UInt8]) {
        guard trailer.count == 16, let access = try? AccessConditions(bytes: Array(trailer[6..<9])) else { return nil }
        self.access = access
        purpose = trailer[9]
    }

    init(_ access: AccessConditions, purpose: UInt8) {
        self.access = access
        self.purpose = purpose
    }

    /// A formatted sector with an NDEF message.
    static let ndef = ClassicSector(.ndef, purpose: writablePurpose)
    /// A locked sector with an NDEF message.
    static let locked = ClassicSector(.locked, purpose: lockedPurpose)
    /// Sector 0 with a directory, `C1` or `C2`: valid, for several applications, version 1 or 2.
    static func directory(version: Int) -> ClassicSector {
        ClassicSector(.directory, purpose: version == 2 ? 0xC2 : 0xC1)
    }

    /// The trailer with those keys.
    func trailer(_ keyA: ClassicKey, _ keyB: ClassicKey) -> [UInt8] {
        keyA.bytes + access.bytes + [purpose] + keyB.bytes
    }

    // MARK: Of sector 0

    /// The version of the directory, if there is one (DA). With any of bits 5 to 2, which are reserved, the byte is something
    /// else, such as `FF` in place of the factory's `69`.
    var directoryVersion: Int? { purpose & 0xBC == 0x80 ? Int(purpose & 0x03) : nil }

    // MARK: Of NDEF sectors

    /// The version of the mapping.
    var mappingVersion: TagArea.Version { .init(major: Int(purpose >> 6), minor: Int(purpose >> 4 & 0x03)) }

    /// Who may read the message.
    var readAccess: TagArea.Access {
        let bits = purpose >> 2 & 0x03
        return bits == 0 ? .free : .proprietary(bits)
    }

    /// Who may write the message.
    var writeAccess: TagArea.Access {
        if access.data.contains(where: { $0.write.isEmpty }) { return .never }
        return .init(purpose & 0x03, never: 0x03)
    }

    /// The keys that may write every data block.
    var dataWrite: AccessConditions.Keys { access.data.reduce(.either) { $0.intersection($1.write) } }
}
