import CardCore
import CardTags

/// What an Android phone reports about Smart Tap when asked for `OSE.VAS.01`.
public struct SmartTapApplication: Sendable, Hashable {
    /// The oldest and the newest version that it speaks, as numbers of two bytes.
    public var versions: ClosedRange<UInt16>

    /// Whether its own SELECT may be left out.
    public var allowsSkippingSelect: Bool

    /// What the terminal signs to show that it is there now: 32 bytes, or `nil` if SELECT returns it.
    public var nonce: [UInt8]?

    /// The phone's key of this tap, a compressed point, if it is sent this early.
    public var ephemeralKey: [UInt8]?

}

extension SmartTapApplication {
    /// The version of the protocol that is spoken here: 2.1, in its own numbering 1.
    static let version: UInt16 = 0x0001

    /// The name of Smart Tap 2.
    package static let identifier: [UInt8] = [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x11]

    /// Reads the template 6F. Whatever is missing is what phones of some time leave out.
    ///
    /// - Throws: ``SmartTapError/unsupported`` if Smart Tap 2.1 is not offered.
    public init(_ template: BERTLV) throws(SmartTapError) {
        let entries = (template.find(0xA5, 0xBF0C)?.objects ?? []).filter { $0.tag == 0x61 }
        // Phones that list nothing may have it all the same; SELECT shows it.
        let entry = entries.first { $0.find(0x4F)?.value == Self.identifier }
        guard entries.isEmpty || entry != nil else { throw .unsupported }
        let details = entry?.find(0x73)
        func value(_ object: BERTLV?, _ count: Int) -> [UInt8]? {
            object?.value.flatMap { $0.count == count ? $0 : nil }
        }
        func number(_ tag: BERTag) -> UInt16? {
            value(details?.find(tag), 2).map { UInt16($0[0]) << 8 | UInt16($0[1]) }
        }
        let (oldest, newest) = (number(0xDF6D) ?? 0, number(0xDF4D) ?? Self.version)
        guard oldest <= Self.version, newest >= Self.version else { throw .unsupported }
        versions = oldest...newest
        allowsSkippingSelect = (details?.find(0xDF62)?.value?.first ?? 0) & 0x01 != 0
        nonce = value(template.find(0xC2) ?? details?.find(0xDF6E), 32)
        ephemeralKey = value(template.find(0xC3) ?? details?.find(0xDF6B), 33)
    }

    /// SELECT of Smart Tap 2: `00 A4 04 00 09 A000000476D0000111 00`.
    static let select = CommandAPDU(trusted: 0x00, Instruction.select, 0x04, 0x00, identifier, 256)

    /// The number to sign, from the answer to ``select``: the two versions, then a record `mdn`.
    static func nonce(selected data: [UInt8]) throws(SmartTapError) -> [UInt8] {
        guard data.count > 4 else { throw .malformed(.selection) }
        let versions = (UInt16(data[0]) << 8 | UInt16(data[1]), UInt16(data[2]) << 8 | UInt16(data[3]))
        guard versions.0 <= version, versions.1 >= version else { throw .unsupported }
        let nonce = try SmartTapRecords.read(data[4...]).first(named: "mdn")?.primitive
        guard let nonce, nonce.count == 32 else { throw .malformed(.nonce) }
        return nonce
    }
}
