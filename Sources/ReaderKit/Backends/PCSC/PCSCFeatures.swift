/// What a reader's driver reports about itself: the features of PC/SC part 10, and attributes.
///
/// Nothing here goes to the card or over the wire: pcscd and the driver answer from what they know.
package enum PCSCFeatures {
    /// `CM_IOCTL_GET_FEATURE_REQUEST`
    static let request: UInt32 = 0x4200_0D48
    /// `FEATURE_GET_TLV_PROPERTIES`
    static let properties: UInt8 = 0x12
    /// `PCSCv2_PART10_PROPERTY_dwMaxAPDUDataSize`
    static let maxAPDUDataSize: UInt8 = 0x0A
    /// `FEATURE_CCID_ESC_COMMAND`, which a driver has only while it passes such commands.
    static let escape: UInt8 = 0x13
    /// `SCARD_CTL_CODE(1)`, which libccid passes to the reader as an escape command.
    static let escapeCode: UInt32 = 0x4200_0001
    /// `PCSCv2_PART10_PROPERTY_wIdVendor`
    private static let vendor: UInt8 = 0x0B
    /// `PCSCv2_PART10_PROPERTY_wIdProduct`
    private static let product: UInt8 = 0x0C
    /// `SCARD_ATTR_MAXINPUT`: the longest block that goes to the reader in one piece.
    static let maxInput: UInt32 = 0x0007_A007

    /// The control code of a feature, in the answer to ``request``: tag, length 4, code with its first byte first.
    static func controlCode(of feature: UInt8, in answer: [UInt8]) -> UInt32? {
        guard let value = value(of: feature, in: answer), value.count == 4 else { return nil }
        return value.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A property, in the answer to ``properties``: tag, length, number with its last byte first.
    static func property(_ tag: UInt8, in answer: [UInt8]) -> UInt32? { value(of: tag, in: answer).flatMap(number) }

    /// Asks a driver by `SCardControl` without data for the USB numbers of vendor and product, if it reports them, and
    /// whether it passes escape commands.
    package static func read(_ control: (UInt32) -> [UInt8]) -> (product: [UInt32]?, passesEscape: Bool) {
        let features = control(request)
        let known = controlCode(of: properties, in: features).map(control) ?? []
        let numbers = [property(vendor, in: known), property(product, in: known)].compactMap(\.self)
        return (numbers.count == 2 ? numbers : nil, controlCode(of: escape, in: features) != nil)
    }

    /// A number of one to four bytes, its last byte first.
    static func number(_ bytes: [UInt8]) -> UInt32? {
        (1...4).contains(bytes.count) ? bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil
    }

    private static func value(of tag: UInt8, in answer: [UInt8]) -> [UInt8]? {
        var rest = answer[...]
        while rest.count >= 2, let found = rest.popFirst(), let length = rest.popFirst() {
            guard rest.count >= Int(length) else { return nil }
            if found == tag { return Array(rest.prefix(Int(length))) }
            rest = rest.dropFirst(Int(length))
        }
        return nil
    }

    /// What the reader carries, by the property ``maxAPDUDataSize`` (0 for short APDUs only, else the most data of an
    /// APDU) and the attribute ``maxInput``; `nil` is not reported.
    static func capabilities(dataSize: UInt32?, input: UInt32?) -> ChannelCapabilities {
        switch dataSize {
        case 0?: return .shortAPDUs
        case let size? where size > 256:
            let data = Int(min(size, 65_536))
            return ChannelCapabilities(
                // Header, three bytes of Lc and two of Le; Lc counts to 65 535.
                longestCommand: 4 + 3 + min(data, 65_535) + 2,
                longestResponse: data + 2,
                extendedLength: true
            )
        default:
            // Only trying shows it. A block that is longer than short commands need shows that more passes in one piece.
            let length = min(max(Int(input ?? 261), 5), 65_544)
            return ChannelCapabilities(
                longestCommand: length,
                longestResponse: length <= 261 ? 258 : min(length, ReaderLimits.responseLength),
                extendedLength: nil
            )
        }
    }
}
