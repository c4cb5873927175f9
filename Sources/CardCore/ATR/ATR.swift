/// A card's answer to reset (ISO/IEC 7816-3, section 8), as PC/SC reports it or builds it for contactless cards.
///
/// ```text
/// TS T0 [TA1 TB1 TC1 TD1 [TA2 TB2 TC2 TD2 …]] T1 … TK [TCK]
/// ```
///
/// The high half of T0 and of each TD names which of the next four interface bytes follow, the low half of T0 the
/// number K of historical bytes, the low half of TD a protocol. The checksum TCK is there if a protocol other than T=0
/// is.
public struct ATR: Sendable, Hashable {
    /// The bytes that belong to the ATR, 2...33.
    public let bytes: [UInt8]

    /// The interface bytes, one group for T0 and one for each TD, in order.
    public let interfaceBytes: [InterfaceGroup]

    /// The transmission protocols, in the order in which they are offered and each once; `[0]` when none is named.
    ///
    /// T=15 is no protocol but introduces global interface bytes, and is left out.
    public let protocols: [Int]

    /// The historical bytes T1 to TK, 0...15.
    public let historicalBytes: [UInt8]

    /// The checksum, or `nil` if absent.
    public let tck: UInt8?

    /// Whether the checksum is right: the exclusive or of all bytes from T0 to TCK is 0. `false` also if the checksum is
    /// missing, and `nil` if there should be none.
    public let isTCKValid: Bool?

    /// What is unusual about it without making it unreadable.
    public let warnings: [Warning]

    /// The interface bytes that one T0 or TD announces.
    public struct InterfaceGroup: Sendable, Hashable {
        /// TA of the group, if there is one.
        public var ta: UInt8?
        /// TB of the group, if there is one.
        public var tb: UInt8?
        /// TC of the group, if there is one.
        public var tc: UInt8?
        /// TD of the group, which announces the next, if there is one.
        public var td: UInt8?
    }

    /// Something unusual. Real readers and cards do all of it, and pcscd does not check it either.
    public enum Warning: Sendable, Hashable {
        /// The checksum is wrong.
        case wrongTCK(expected: UInt8, actual: UInt8)
        /// The checksum is missing at the end of an ATR that is otherwise complete. Some readers leave it out.
        case missingTCK(expected: UInt8)
        /// That many zero bytes followed the ATR and were trimmed.
        case zeroPadding(count: Int)
        /// That many other bytes followed the ATR and were trimmed.
        case trailingBytes(count: Int)
    }

    /// Reads an ATR; padding after it is trimmed with a warning.
    ///
    /// - Throws: ``ATRError`` with the offset at which the bytes stop being an ATR.
    public init(_ rawBytes: [UInt8]) throws(ATRError) {
        var reader = Reader(bytes: rawBytes)
        let ts = try reader.next("TS")
        guard ts == 0x3B || ts == 0x3F else {
            let message = "could not read the ATR: it begins with \(Hex.encode([ts])), not with 3B or 3F"
            throw ATRError(.invalidTS, offset: 0, message: message)
        }
        let t0 = try reader.next("T0")
        var groups: [InterfaceGroup] = []
        var named: [Int] = []
        var announced: UInt8? = t0
        // The reader refuses a 34th byte, so this ends.
        while let announcer = announced {
            let number = groups.count + 1
            var group = InterfaceGroup()
            if announcer & 0x10 != 0 { group.ta = try reader.next("TA\(number)") }
            if announcer & 0x20 != 0 { group.tb = try reader.next("TB\(number)") }
            if announcer & 0x40 != 0 { group.tc = try reader.next("TC\(number)") }
            if announcer & 0x80 != 0 { group.td = try reader.next("TD\(number)") }
            if let td = group.td { named.append(Int(td & 0x0F)) }
            if announcer & 0xF0 != 0 { groups.append(group) }
            announced = group.td
        }
        var historical: [UInt8] = []
        let count = Int(t0 & 0x0F)
        for index in 0..<count { historical.append(try reader.next("historical byte \(index + 1) of \(count)")) }
        var warnings: [Warning] = []
        if named.contains(where: { $0 != 0 }) {
            let expected = rawBytes[1..<reader.offset].reduce(0, ^)
            tck = try reader.isAtEnd ? nil : reader.next("TCK")
            isTCKValid = tck == expected
            if let tck, tck != expected { warnings.append(.wrongTCK(expected: expected, actual: tck)) }
            if tck == nil { warnings.append(.missingTCK(expected: expected)) }
        } else {
            tck = nil
            isTCKValid = nil
        }
        let rest = rawBytes[reader.offset...]
        if !rest.isEmpty {
            let zeros = rest.allSatisfy { $0 == 0 }
            warnings.append(zeros ? .zeroPadding(count: rest.count) : .trailingBytes(count: rest.count))
        }
        self.warnings = warnings
        bytes = Array(rawBytes[..<reader.offset])
        interfaceBytes = groups
        historicalBytes = historical
        var protocols: [Int] = []
        for number in named where number != 15 && !protocols.contains(number) { protocols.append(number) }
        self.protocols = protocols.isEmpty ? [0] : protocols
    }

    /// Hands out one byte after the other, within the bytes that are there and the greatest length.
    private struct Reader {
        let bytes: [UInt8]
        var offset = 0
        var isAtEnd: Bool { offset == bytes.count }

        mutating func next(_ name: String) throws(ATRError) -> UInt8 {
            guard offset < ReaderLimits.atrLength else {
                let message = "could not read the ATR: with \(name) it has more than \(ReaderLimits.atrLength) bytes"
                throw ATRError(.tooLong, offset: offset, message: message)
            }
            guard offset < bytes.count else {
                let message = "could not read the ATR: it ends after \(offset) bytes, before \(name)"
                throw ATRError(offset == 0 ? .empty : .truncated, offset: offset, message: message)
            }
            defer { offset += 1 }
            return bytes[offset]
        }
    }
}

extension ATR: CustomStringConvertible {
    /// Its bytes, without what was trimmed: `3B 80 80 01 01`.
    public var description: String { Hex.encode(bytes, separator: " ") }
}

extension ATR.Warning: CustomStringConvertible {
    /// The warning as a sentence.
    public var description: String {
        switch self {
        case .wrongTCK(let expected, let actual):
            "The checksum is \(Hex.encode([actual])) and should be \(Hex.encode([expected]))."
        case .missingTCK(let expected): "The checksum is missing; it should be \(Hex.encode([expected]))."
        case .zeroPadding(let count): "\(count) zero bytes after the ATR were trimmed."
        case .trailingBytes(let count): "\(count) bytes after the ATR were trimmed."
        }
    }
}

extension ATR {
    /// Whether a contactless reader built it: `3B 8n 80 01`, n historical bytes and TCK (PC/SC part 3, section
    /// 3.1.3.2.3). A contact card with just these interface bytes would look the same; none is known.
    public var isContactless: Bool {
        bytes.count >= 4 && bytes[0] == 0x3B && bytes[1] & 0xF0 == 0x80 && bytes[2] == 0x80 && bytes[3] == 0x01
    }

    /// Whether it is that of a card with contacts, of a module in the reader (SAM) or of an empty slot (`3B00`): without any
    /// form in which readers report contactless cards.
    package var isOfContacts: Bool {
        !isContactless && StorageCard(historicalBytes: historicalBytes) == nil
            && !begins(as: Self.otherContactless) && !isOfLowFrequency
    }

    /// Whether it is one that readers of 125 kHz make up, for cards that hold a number and nothing else.
    package var isOfLowFrequency: Bool { begins(as: Self.lowFrequency) }

    private func begins(as starts: [[UInt8?]]) -> Bool {
        starts.contains { start in
            bytes.count >= start.count && zip(start, bytes).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    /// How answers to reset begin that readers of before PC/SC 2 make up for contactless cards, as the public list of
    /// pcsc-tools has them; `nil` stands for any byte.
    private static let otherContactless: [[UInt8?]] = [
        [0x3B, 0x04, 0x41, 0x11], [0x3B, 0x09, 0x41, 0x04, 0x11], [0x3B, 0x0F, 0xFF, 0xC1],
        [0x3B, nil, 0x91, 0x00, 0xFF, 0x91, 0x81, 0x71], [0x3B, 0x9F, 0x11, 0x81, 0x11, 0x3D],
        [0x3B, 0x88, 0x01, 0x00, 0x03],
    ]

    /// The same of readers of 125 kHz (HID Prox).
    private static let lowFrequency: [[UInt8?]] = [
        [0x3B, 0x05, 0x00], [0x3B, 0x06, 0x00], [0x3B, 0x06, 0x01], [0x3B, 0x06, 0x02], [0x3B, 0x06, 0x04],
        [0x3B, 0x06, 0x14],
    ]

    /// The details of a storage card, or `nil` if the ATR is not a storage card's.
    public var storageCard: StorageCard? { isContactless ? StorageCard(historicalBytes: historicalBytes) : nil }

    /// The radio technology, or `nil` for a contact card and if the ATR does not identify it.
    ///
    /// A storage card's ATR names its standard, or a card of one standard alone. The ATR of an ISO 14443-4 card does not,
    /// but type B always has eight historical bytes: four of application data, three of protocol information from ATQB,
    /// and one whose high half is MBLI and whose low half is 0. Eight bytes are therefore taken for type B if
    /// - the last byte's low half is 0,
    /// - the protocol information is a valid one: bit rates without their reserved bit 4, a protocol type that states
    ///   ISO 14443-4 and has its reserved bit 4 clear, frame size code 0...12, waiting time 0...14, and
    /// - they do not parse as the compact TLV objects of a type A card's historical bytes, category 80.
    ///
    /// Any other eight bytes, and any other number of bytes, are taken for type A.
    public var technology: Technology? {
        guard isContactless else { return nil }
        if let storageCard { return storageCard.technology }
        return historicalBytesLookLikeTypeB ? .iso14443b : .iso14443a
    }

    /// The name of the card, as far as its ATR identifies it.
    ///
    /// - Storage cards: the name of the table of PC/SC part 3, a maker's own name, or "unknown ISO 14443 A card (…)".
    /// - ISO 14443-4: "MIFARE DESFire" for its historical byte `80`, else "ISO 14443-4 A" or "ISO 14443-4 B". Phones and
    ///   bank cards share ATRs with each other and with many cards, so this names a kind, not a product.
    /// - Otherwise "contact card".
    public var cardName: String {
        guard isContactless else { return "contact card" }
        if let storageCard { return storageCard.displayName }
        // DESFire's ATS, 06 75 77 81 02 80, has one historical byte; some readers report the whole of it.
        if [[0x80], [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]].contains(historicalBytes) { return "MIFARE DESFire" }
        return technology == .iso14443b ? "ISO 14443-4 B" : "ISO 14443-4 A"
    }

    private var historicalBytesLookLikeTypeB: Bool {
        let bytes = historicalBytes
        guard bytes.count == 8, bytes[7] & 0x0F == 0 else { return false }
        let bitRates = bytes[4], frame = bytes[5], timing = bytes[6]
        return bitRates & 0x08 == 0 && frame & 0x09 == 0x01 && frame >> 4 <= 12 && timing >> 4 <= 14
            && !Self.isCompactTLV(bytes)
    }

    /// Whether bytes are category 80 and compact TLV objects to the end (ISO/IEC 7816-4, section 12.1.1).
    private static func isCompactTLV(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == 0x80 else { return false }
        var offset = 1
        while offset < bytes.count {
            // Tag 0 is not used: padding or something else.
            guard bytes[offset] >> 4 != 0 else { return false }
            offset += 1 + Int(bytes[offset] & 0x0F)
        }
        return offset == bytes.count
    }
}

/// Bytes are not an answer to reset.
public typealias ATRError = InputError<ATRErrorCode>

/// What can be wrong with an ATR. A bad checksum is none of these; see ``ATR/warnings``.
public enum ATRErrorCode: String, InputErrorCode {
    /// No bytes at all.
    case empty
    /// The first byte is neither `3B` nor `3F`.
    case invalidTS
    /// It ends before everything that it announces, but for the checksum.
    case truncated
    /// It announces more than ``ReaderLimits/atrLength`` bytes.
    case tooLong

    /// What a person can do about it.
    public var hint: String {
        switch self {
        case .empty: "Give the bytes that the reader reports; a powered card always has an ATR."
        case .invalidTS: "An ATR begins with 3B or 3F; check that no byte before it or of it was lost."
        case .truncated: "Check that all of the ATR is there; 'readerctl watch' shows what the reader reports."
        case .tooLong: "Check that the bytes are an ATR; if a reader reports them, it or the card is faulty."
        }
    }
}
