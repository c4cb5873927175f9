/// A Type 2 chip whose memory is known page by page. The layouts are those of the chips' data sheets.
struct Type2Product: Sendable, Hashable {
    /// The name for people.
    let name: String
    /// The size of user memory in bytes. It begins at page 4.
    let memory: Int
    /// The size byte of its capability container: the data area in units of 8 bytes.
    let sizeByte: UInt8
    /// The blocks that a formatted tag has before its message.
    var blocks: [UInt8] = []
    /// The lock bits behind user memory, or `nil` for chips that have but those of page 2.
    var locks: DynamicLocks?
    /// The pages of an Ultralight C's counter, authentication settings and key.
    var authenticationPages: ClosedRange<Int>?
    /// Whether it has a configuration with a password, as all of these have that know GET_VERSION.
    var hasPassword = true

    /// Lock bits in a page of their own.
    struct DynamicLocks: Sendable, Hashable {
        /// The bits that lock pages of user memory, in the first three bytes of the page.
        let pages: [UInt8]
        /// The bits that make those unchangeable.
        let blocks: [UInt8]
    }

    /// The last page of user memory.
    var lastUserPage: Int { 3 + memory / 4 }

    /// The page of the dynamic lock bits.
    var lockPage: Int? { locks.map { _ in lastUserPage + 1 } }

    /// CFG0, which is followed by CFG1, PWD and PACK; `nil` for chips without a password.
    var configurationPage: Int? { hasPassword ? (lockPage ?? lastUserPage) + 1 : nil }

    /// How many pages it has.
    var pages: Int { (authenticationPages?.upperBound ?? configurationPage.map { $0 + 3 } ?? lastUserPage) + 1 }

    /// The capability container of a formatted tag that may be written: mapping version 1.0.
    var container: [UInt8] { [Type2Tag.magic, 0x10, sizeByte, 0x00] }

    static let ultralight = Type2Product(name: "MIFARE Ultralight", memory: 48, sizeByte: 0x06, hasPassword: false)
    static let ultralightC = Type2Product(
        name: "MIFARE Ultralight C",
        memory: 144,
        sizeByte: 0x12,
        blocks: [0x01, 0x03, 0xA0, 0x10, 0x44],
        locks: DynamicLocks(pages: [0xEE, 0, 0], blocks: [0x11, 0, 0]),
        authenticationPages: 0x29...0x2F,
        hasPassword: false
    )
    static let ultralightEV1Small = Type2Product(name: "MIFARE Ultralight EV1 (MF0UL11)", memory: 48, sizeByte: 0x06)
    static let ultralightEV1Large = large("MIFARE Ultralight EV1 (MF0UL21)")
    static let ntag210 = Type2Product(name: "NTAG210", memory: 48, sizeByte: 0x06)
    static let ntag212 = large("NTAG212")
    static let ntag213 = Type2Product(
        name: "NTAG213",
        memory: 144,
        sizeByte: 0x12,
        blocks: [0x01, 0x03, 0xA0, 0x0C, 0x34],
        locks: DynamicLocks(pages: [0xFF, 0x0F, 0], blocks: [0, 0, 0x3F])
    )
    static let ntag215 = Type2Product(
        name: "NTAG215",
        memory: 504,
        sizeByte: 0x3E,
        locks: DynamicLocks(pages: [0xFF, 0, 0], blocks: [0, 0, 0x0F])
    )
    static let ntag216 = Type2Product(
        name: "NTAG216",
        memory: 888,
        sizeByte: 0x6D,
        locks: DynamicLocks(pages: [0xFF, 0x3F, 0], blocks: [0, 0, 0x7F])
    )

    private static func large(_ name: String) -> Type2Product {
        Type2Product(
            name: name,
            memory: 128,
            sizeByte: 0x10,
            blocks: [0x01, 0x03, 0x90, 0x0A, 0x34],
            locks: DynamicLocks(pages: [0xFF, 0x03, 0], blocks: [0, 0, 0x1F])
        )
    }
}

/// What chips answer to GET_VERSION, and which ones they are: the one table of them.
struct Type2Version: Sendable {
    /// 03 Ultralight, 04 NTAG.
    let type: UInt8
    /// Mostly the capacitance of the antenna; empty: any.
    let subtypes: [UInt8]
    let major: UInt8
    let size: UInt8
    /// The name for people.
    let name: String
    /// The size of user memory in bytes.
    let memory: Int
    /// `nil` where only the name is known, since other major versions have locks and settings of their own, or where another
    /// row of the same type, version and size has it (NTAG213F, NTAG216F).
    let product: Type2Product?

    private init(_ type: UInt8, _ subtypes: [UInt8], _ major: UInt8, _ size: UInt8, _ product: Type2Product) {
        (self.type, self.subtypes, self.major, self.size) = (type, subtypes, major, size)
        (name, memory, self.product) = (product.name, product.memory, product)
    }

    private init(_ type: UInt8, _ subtypes: [UInt8], _ major: UInt8, _ size: UInt8, _ name: String, memory: Int) {
        (self.type, self.subtypes, self.major, self.size) = (type, subtypes, major, size)
        (self.name, self.memory, product) = (name, memory, nil)
    }

    private static let all: [Type2Version] = [
        .init(0x03, [], 0x01, 0x0B, .ultralightEV1Small),
        .init(0x03, [], 0x01, 0x0E, .ultralightEV1Large),
        .init(0x03, [], 0x02, 0x0B, "MIFARE Ultralight Nano", memory: 40),
        .init(0x03, [], 0x04, 0x0F, "MIFARE Ultralight AES", memory: 144),
        .init(0x04, [], 0x01, 0x0B, .ntag210),
        .init(0x04, [], 0x02, 0x0B, "NTAG210 micro", memory: 48),
        .init(0x04, [], 0x01, 0x0E, .ntag212),
        .init(0x04, [0x01, 0x02, 0x03], 0x01, 0x0F, .ntag213),
        .init(0x04, [0x04], 0x01, 0x0F, "NTAG213F", memory: 144),
        .init(0x04, [], 0x03, 0x0F, "NTAG213 TT", memory: 144),
        .init(0x04, [0x01, 0x02, 0x03], 0x01, 0x11, .ntag215),
        .init(0x04, [0x01, 0x02, 0x03], 0x01, 0x13, .ntag216),
        .init(0x04, [0x04], 0x01, 0x13, "NTAG216F", memory: 888),
        .init(0x04, [0x05], 0x02, 0x13, "NTAG I2C 1K", memory: 888),
        .init(0x04, [0x05], 0x02, 0x15, "NTAG I2C 2K", memory: 1904),
        .init(0x04, [], 0x04, 0x0F, "NTAG 223 DNA", memory: 144),
        .init(0x04, [], 0x04, 0x10, "NTAG 224 DNA", memory: 208),
    ]

    /// The versions that an answer may be of, without regard to the subtype.
    ///
    /// The bytes are: header, vendor (04 NXP), type, subtype, major and minor version, size, protocol.
    private static func matching(_ answer: [UInt8]) -> [Type2Version] {
        guard answer.count == 8, answer[1] == 0x04 else { return [] }
        return all.filter { [$0.type, $0.major, $0.size] == [answer[2], answer[4], answer[6]] }
    }

    /// The version of an answer; `nil` if absent.
    init?(answer: [UInt8]) {
        let matching = Self.matching(answer)
        guard answer.first == 0x00,
            let version = matching.first(where: { $0.subtypes.isEmpty || $0.subtypes.contains(answer[3]) })
        else { return nil }
        self = version
    }

    /// The chip of that answer whose pages are known; `nil` if absent. A subtype changes no page, so any will do: an
    /// NTAG213F is found as NTAG213.
    static func product(answer: [UInt8]) -> Type2Product? { matching(answer).lazy.compactMap(\.product).first }
}

extension Type2Memory {
    /// Finds out which chip it is: by GET_VERSION where the reader carries raw frames, by the size of its memory else.
    ///
    /// Pages that are kept by a password seem to be missing, so a size alone is a guess: where it matters it must agree
    /// with the capability container.
    ///
    /// - Returns: `nil` for a chip that is not known.
    /// - Throws: ``TagError`` if the link fails.
    mutating func identify() throws(TagError) -> Type2Product? {
        if let product { return product }
        product = try knownProduct()
        return product
    }

    private mutating func knownProduct() throws(TagError) -> Type2Product? {
        var hasNoVersion = false
        do {
            switch try Type2Link(link.channel).command([0x60], "ask the tag for its version") {
            case .data(let version): return Type2Version.product(answer: version)
            case .refusal: hasNoVersion = true
            }
        } catch .unsupported {
            // Then its size must identify it.
        } catch {
            // Chips without this command may stay silent.
            guard let kind = error.readerError?.kind, kind == .timeout || kind == .communication else { throw error }
            hasNoVersion = true
        }
        // A tag that was asked for what it does not know waits to be selected again.
        if hasNoVersion { try? link.channel.reset() }
        _ = try readWholeHeader()
        // The chips by the first page that each does not return. An Ultralight C keeps its key at 2C to itself.
        let layouts: [(missing: Int, found: Type2Product?)] = [
            (0x10, .ultralight), (0x14, .ultralightEV1Small), (0x29, .ultralightEV1Large), (0x2A, nil),
            (0x2C, .ultralightC), (0x2D, .ntag213), (0x86, nil), (0x87, .ntag215), (0xE6, nil), (0xE7, .ntag216),
        ]
        for layout in layouts where try !gives(layout.missing) {
            guard let found = layout.found, !hasNoVersion || found == .ultralight || found == .ultralightC else {
                return nil
            }
            // A smaller chip, such as an Ultralight Nano, refuses the missing page too. Four pages in a row, since some
            // of those behind its end may show its first pages again.
            for page in found.lastUserPage - 3...found.lastUserPage where try !gives(page) { return nil }
            return found
        }
        return nil
    }
}
