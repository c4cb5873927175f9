/// A Type 2 chip whose memory is known page by page.
struct Type2Product: Sendable, Hashable {
    /// The name for people.
    let name: String
    /// How many pages it has.
    let pages: Int
    /// The last page of user memory; the first is 4.
    let lastUserPage: Int
    /// The size byte of its capability container: the data area in units of 8 bytes.
    let sizeByte: UInt8
    /// The blocks that a formatted tag has before its message.
    let blocks: [UInt8]
    /// The lock bits behind user memory, or `nil` for chips that have but those of page 2.
    let dynamicLocks: DynamicLocks?
    /// CFG0, which is followed by CFG1, PWD and PACK; `nil` for chips without a password.
    let configurationPage: Int?
    /// The pages of an Ultralight C's counter, authentication settings and key.
    let authenticationPages: ClosedRange<Int>?

    /// Lock bits in a page of their own.
    struct DynamicLocks: Sendable, Hashable {
        let page: Int
        /// The bits that lock pages of user memory, in the first three bytes of the page.
        let locks: [UInt8]
        /// The bits that make those unchangeable.
        let blockLocks: [UInt8]
    }

    private init(
        _ name: String,
        pages: Int,
        lastUserPage: Int,
        sizeByte: UInt8,
        blocks: [UInt8] = [],
        dynamicLocks: DynamicLocks? = nil,
        configurationPage: Int? = nil,
        authenticationPages: ClosedRange<Int>? = nil
    ) {
        self.name = name
        self.pages = pages
        self.lastUserPage = lastUserPage
        self.sizeByte = sizeByte
        self.blocks = blocks
        self.dynamicLocks = dynamicLocks
        self.configurationPage = configurationPage
        self.authenticationPages = authenticationPages
    }

    /// The capability container of a formatted tag that may be written: mapping version 1.0.
    var container: [UInt8] { [Type2Tag.magic, 0x10, sizeByte, 0x00] }

    // The layouts are those of the chips' data sheets.
    static let ultralight = Type2Product("MIFARE Ultralight", pages: 16, lastUserPage: 0x0F, sizeByte: 0x06)
    static let ultralightC = Type2Product(
        "MIFARE Ultralight C",
        pages: 48,
        lastUserPage: 0x27,
        sizeByte: 0x12,
        blocks: [0x01, 0x03, 0xA0, 0x10, 0x44],
        dynamicLocks: DynamicLocks(page: 0x28, locks: [0xEE, 0, 0], blockLocks: [0x11, 0, 0]),
        authenticationPages: 0x29...0x2F
    )
    static let ultralightEV1Small = Type2Product(
        "MIFARE Ultralight EV1 (MF0UL11)",
        pages: 20,
        lastUserPage: 0x0F,
        sizeByte: 0x06,
        configurationPage: 0x10
    )
    static let ultralightEV1Large = Type2Product(
        "MIFARE Ultralight EV1 (MF0UL21)",
        pages: 41,
        lastUserPage: 0x23,
        sizeByte: 0x10,
        blocks: [0x01, 0x03, 0x90, 0x0A, 0x34],
        dynamicLocks: DynamicLocks(page: 0x24, locks: [0xFF, 0x03, 0], blockLocks: [0, 0, 0x1F]),
        configurationPage: 0x25
    )
    static let ntag210 = Type2Product(
        "NTAG210",
        pages: 20,
        lastUserPage: 0x0F,
        sizeByte: 0x06,
        configurationPage: 0x10
    )
    static let ntag212 = Type2Product(
        "NTAG212",
        pages: 41,
        lastUserPage: 0x23,
        sizeByte: 0x10,
        blocks: [0x01, 0x03, 0x90, 0x0A, 0x34],
        dynamicLocks: DynamicLocks(page: 0x24, locks: [0xFF, 0x03, 0], blockLocks: [0, 0, 0x1F]),
        configurationPage: 0x25
    )
    static let ntag213 = Type2Product(
        "NTAG213",
        pages: 45,
        lastUserPage: 0x27,
        sizeByte: 0x12,
        blocks: [0x01, 0x03, 0xA0, 0x0C, 0x34],
        dynamicLocks: DynamicLocks(page: 0x28, locks: [0xFF, 0x0F, 0], blockLocks: [0, 0, 0x3F]),
        configurationPage: 0x29
    )
    static let ntag215 = Type2Product(
        "NTAG215",
        pages: 135,
        lastUserPage: 0x81,
        sizeByte: 0x3E,
        dynamicLocks: DynamicLocks(page: 0x82, locks: [0xFF, 0, 0], blockLocks: [0, 0, 0x0F]),
        configurationPage: 0x83
    )
    static let ntag216 = Type2Product(
        "NTAG216",
        pages: 231,
        lastUserPage: 0xE1,
        sizeByte: 0x6D,
        dynamicLocks: DynamicLocks(page: 0xE2, locks: [0xFF, 0x3F, 0], blockLocks: [0, 0, 0x7F]),
        configurationPage: 0xE3
    )

    /// The chip that answers GET_VERSION so; `nil` for any that is not known.
    ///
    /// The bytes are: header, vendor (04 NXP), type (03 Ultralight, 04 NTAG), subtype, major and minor version, size,
    /// protocol.
    static func named(byVersion version: [UInt8]) -> Type2Product? {
        // Other versions are other chips, with locks of their own: Ultralight Nano and AES, NTAG210 micro, NTAG I2C.
        guard version.count == 8, version[1] == 0x04, version[4] == 0x01 else { return nil }
        return switch (version[2], version[6]) {
        case (0x03, 0x0B): ultralightEV1Small
        case (0x03, 0x0E): ultralightEV1Large
        case (0x04, 0x0B): ntag210
        case (0x04, 0x0E): ntag212
        case (0x04, 0x0F): ntag213
        case (0x04, 0x11): ntag215
        case (0x04, 0x13): ntag216
        default: nil
        }
    }
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
            switch try Type2Link(channel).command([0x60], "ask the tag for its version") {
            case .data(let version): return Type2Product.named(byVersion: version)
            case .refusal: hasNoVersion = true
            }
        } catch .unsupported {
            // Then its size must tell.
        } catch {
            // Chips without this command may stay silent.
            guard let kind = error.readerError?.kind, kind == .timeout || kind == .communication else { throw error }
            hasNoVersion = true
        }
        if hasNoVersion { reselect() }
        _ = try readWholeHeader()
        // The chips by the first page that each does not give. An Ultralight C keeps its key at 2C to itself.
        let layouts: [(missing: Int, found: Type2Product?)] = [
            (0x10, .ultralight), (0x14, .ultralightEV1Small), (0x29, .ultralightEV1Large), (0x2A, nil),
            (0x2C, .ultralightC), (0x2D, .ntag213), (0x86, nil), (0x87, .ntag215), (0xE6, nil), (0xE7, .ntag216),
        ]
        for layout in layouts where try !gives(layout.missing) {
            guard let found = layout.found, !hasNoVersion || found == .ultralight || found == .ultralightC else {
                return nil
            }
            // A smaller chip, such as an Ultralight Nano, does not give the missing page either. Four pages in a row, since
            // some of those behind its end may show its first pages again.
            for page in found.lastUserPage - 3...found.lastUserPage where try !gives(page) { return nil }
            return found
        }
        return nil
    }

    /// A tag that was asked for what it does not know waits to be selected again.
    private func reselect() { try? channel.reset() }
}
