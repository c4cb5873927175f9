/// A card's answer to reset (ISO/IEC 7816-3, section 8), as PC/SC reports it or builds it for contactless cards.
///
/// ```text
/// TS T0 [TA1 TB1 TC1 TD1 [TA2 TB2 TC2 TD2 …]] T1 … TK [TCK]
/// ```
///
/// The high half of T0 and of each TD says which of the next four interface bytes follow, the low half of T0 the number
/// K of historical bytes, the low half of TD a protocol. The checksum TCK is there if a protocol other than T=0 is.
public struct ATR: Sendable, Hashable {
    /// The bytes that belong to the ATR, 2...33.
    public let bytes: [UInt8]

    /// The bytes as they were given, with padding and whatever else followed.
    public let rawBytes: [UInt8]

    /// The interface bytes, one group for T0 and one for each TD, in order.
    public let interfaceBytes: [InterfaceGroup]

    /// The transmission protocols, in the order in which they are offered and each once; `[0]` when none is named.
    ///
    /// T=15 is no protocol but introduces global interface bytes, and is left out.
    public let protocols: [Int]

    /// The historical bytes T1 to TK, 0...15.
    public let historicalBytes: [UInt8]

    /// The checksum, or `nil` where there is none.
    public let tck: UInt8?

    /// Whether the checksum is right: all bytes from T0 to TCK, by exclusive or, give 0. `nil` where there is none.
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

        /// A group.
        public init(ta: UInt8? = nil, tb: UInt8? = nil, tc: UInt8? = nil, td: UInt8? = nil) {
            self.ta = ta
            self.tb = tb
            self.tc = tc
            self.td = td
        }
    }

    /// Something unusual. Real readers and cards do all of it, and pcscd does not check it either.
    public enum Warning: Sendable, Hashable {
        /// The checksum is wrong.
        case wrongTCK(expected: UInt8, actual: UInt8)
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
            throw ATRError(
                .invalidTS,
                offset: 0,
                message: "could not read the ATR: it begins with \(Hex.encode([ts])), not with 3B or 3F"
            )
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
        for index in 0..<count {
            historical.append(try reader.next("historical byte \(index + 1) of \(count)"))
        }
        var warnings: [Warning] = []
        if named.contains(where: { $0 != 0 }) {
            let expected = rawBytes[1..<reader.offset].reduce(0, ^)
            let actual = try reader.next("TCK")
            tck = actual
            isTCKValid = actual == expected
            if actual != expected { warnings.append(.wrongTCK(expected: expected, actual: actual)) }
        } else {
            tck = nil
            isTCKValid = nil
        }
        let rest = rawBytes[reader.offset...]
        if !rest.isEmpty {
            let zeros = rest.allSatisfy { $0 == 0 }
            warnings.append(zeros ? .zeroPadding(count: rest.count) : .trailingBytes(count: rest.count))
        }
        self.rawBytes = rawBytes
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

        mutating func next(_ name: String) throws(ATRError) -> UInt8 {
            guard offset < ReaderLimits.atrLength else {
                throw ATRError(
                    .tooLong,
                    offset: offset,
                    message: "could not read the ATR: with \(name) it has more than \(ReaderLimits.atrLength) bytes"
                )
            }
            guard offset < bytes.count else {
                throw ATRError(
                    offset == 0 ? .empty : .truncated,
                    offset: offset,
                    message: "could not read the ATR: it ends after \(offset) bytes, before \(name)"
                )
            }
            defer { offset += 1 }
            return bytes[offset]
        }
    }
}

extension ATR: CustomStringConvertible {
    /// Its bytes, without what was trimmed: `3B 80 80 01 01`.
    public var description: String {
        Hex.encode(bytes, separator: " ")
    }
}

extension ATR.Warning: CustomStringConvertible {
    /// The warning as a sentence.
    public var description: String {
        switch self {
        case .wrongTCK(let expected, let actual):
            "The checksum is \(Hex.encode([actual])) and should be \(Hex.encode([expected]))."
        case .zeroPadding(let count): "\(count) zero bytes after the ATR were trimmed."
        case .trailingBytes(let count): "\(count) bytes after the ATR were trimmed."
        }
    }
}
