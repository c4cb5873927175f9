/// A Type 2 chip whose memory is known page by page. The layouts are those of the chips' data sheets.
struct Type2Product: Sendable, Hashable {
    /// The name for people.
    let name: String
    /// Type and size in the answer to GET_VERSION; `nil` for chips that do not know it.
    var version: [UInt8]?
    /// The last page of user memory; the first is 4.
    let lastUserPage: Int
    /// The size byte of its capability container: the data area in units of 8 bytes.
    let sizeByte: UInt8
    /// The blocks that a formatted tag has before its message.
    var blocks: [UInt8] = []
    /// The lock bits behind user memory, or `nil` for chips that have but those of page 2.
    var locks: DynamicLocks?
    /// The pages of an Ultralight C's counter, authentication settings and key.
    var authenticationPages: ClosedRange<Int>?

    /// Lock bits in a page of their own.
    struct DynamicLocks: Sendable, Hashable {
        /// The bits that lock pages of user memory, in the first three bytes of the page.
        let pages: [UInt8]
        /// The bits that make those unchangeable.
        let blocks: [UInt8]
    }

    /// The page of the dynamic lock bits.
    var lockPage: Int? { locks.map { _ in lastUserPage + 1 } }

    /// CFG0, which is followed by CFG1, PWD and PACK; `nil` for chips without a password.
    var configurationPage: Int? { version.map { _ in (lockPage ?? lastUserPage) + 1 } }

    /// How many pages it has.
    var pages: Int { (authenticationPages?.upperBound ?? configurationPage.map { $0 + 3 } ?? lastUserPage) + 1 }

    /// The capability container of a formatted tag that may be written: mapping version 1.0.
    var container: [UInt8] { [Type2Tag.magic, 0x10, sizeByte, 0x00] }

    static let ultralight = Type2Product(name: "MIFARE Ultralight", lastUserPage: 0x0F, sizeByte: 0x06)
    static let ultralightC = Type2Product(
        name: "MIFARE Ultralight C",
        lastUserPage: 0x27,
        sizeByte: 0x12,
        blocks: [0x01, 0x03, 0xA0, 0x10, 0x44],
        locks: DynamicLocks(pages: [0xEE, 0, 0], blocks: [0x11, 0, 0]),
        authenticationPages: 0x29...0x2F
    )
    static let ultralightEV1Small = small("MIFARE Ultralight EV1 (MF0UL11)", type: 0x03)
    static let ultralightEV1Large = large("MIFARE Ultralight EV1 (MF0UL21)", type: 0x03)
    static let ntag213 = Type2Product(
        name: "NTAG213",
        version: [0x04, 0x0F],
        lastUserPage: 0x27,
        sizeByte: 0x12,
        blocks: [0x01, 0x03, 0xA0, 0x0C, 0x34],
        locks: DynamicLocks(pages: [0xFF, 0x0F, 0], blocks: [0, 0, 0x3F])
    )
    static let ntag215 = Type2Product(
        name: "NTAG215",
        version: [0x04, 0x11],
        lastUserPage: 0x81,
        sizeByte: 0x3E,
        locks: DynamicLocks(pages: [0xFF, 0, 0], blocks: [0, 0, 0x0F])
    )
    static let ntag216 = Type2Product(
        name: "NTAG216",
        version: [0x04, 0x13],
        lastUserPage: 0xE1,
        sizeByte: 0x6D,
        locks: DynamicLocks(pages: [0xFF, 0x3F, 0], blocks: [0, 0, 0x7F])
    )

    private static let withVersion = [
        ultralightEV1Small, ultralightEV1Large, small("NTAG210", type: 0x04), large("NTAG212", type: 0x04), ntag213,
        ntag215, ntag216,
    ]

    private static func small(_ name: String, type: UInt8) -> Type2Product {
        Type2Product(name: name, version: [type, 0x0B], lastUserPage: 0x0F, sizeByte: 0x06)
    }

    private static func large(_ name: String, type: UInt8) -> Type2Product {
        Type2Product(
            name: name,
            version: [type, 0x0E],
            lastUserPage: 0x23,
            sizeByte: 0x10,
            blocks: [0x01, 0x03, 0x90, 0x0A, 0x34],
            locks: DynamicLocks(pages: [0xFF, 0x03, 0], blocks: [0, 0, 0x1F])
        )
    }

    /// The chip that answers GET_VERSION so; `nil` for any that is not known.
    ///
    /// The bytes are: header, vendor (04 NXP), type (03 Ultralight, 04 NTAG), subtype, major and minor version, size,
    /// protocol.
    static func named(byVersion version: [UInt8]) -> Type2Product? {
        // Other versions are other chips, with locks of their own: Ultralight Nano and AES, NTAG210 micro, NTAG I2C.
        guard version.count == 8, version[1] == 0x04, version[4] == 0x01 else { return nil }
        return withVersion.first { $0.version == [version[2], version[6]] }
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
            switch try Type2Link(link.channel).command([0x60], "ask the tag for its version") {
            case .data(let version): return Type2Product.named(byVersion: version)
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
