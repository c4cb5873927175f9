import CardCore

/// One question for passes: GET VAS DATA, `80 CA 01 P2 Lc … 00`.
public struct AppleVASRequest: Sendable, Hashable {
    /// What is asked for.
    public var content: Content

    /// What the reader may do besides.
    public var mode: Mode

    /// Whether further questions come in the same tap.
    public var hasMore: Bool

    /// A random number of four bytes that the phone is given (tag 9F28), or `nil` for none. Nothing depends on it.
    public var nonce: [UInt8]?

    /// What is asked for.
    public enum Content: Sendable, Hashable {
        /// The pass of a merchant: the SHA-256 of its pass type identifier, 32 bytes.
        case pass(merchantID: [UInt8])
        /// Nothing: the phone is offered an address at which there is a pass to be had.
        case signUp(url: String)
    }

    /// How passes and payment go together (the low bits of tag 9F26).
    public enum Mode: UInt8, Sendable, Hashable, CaseIterable {
        /// A pass or a payment.
        case passOrPayment = 0
        /// Passes and a payment.
        case passAndPayment = 1
        /// Passes only.
        case passOnly = 2
        /// A payment only.
        case paymentOnly = 3
    }

    /// A question.
    public init(_ content: Content, mode: Mode = .passOnly, hasMore: Bool = false, nonce: [UInt8]? = nil) {
        self.content = content
        self.mode = mode
        self.hasMore = hasMore
        self.nonce = nonce
    }

    /// The command.
    ///
    /// - Throws: ``APDUError`` if an identifier or a number has not its length, or the address is too long.
    public func command() throws(APDUError) -> CommandAPDU {
        var objects = [BERTLV(0x9F22, [0x01, 0x00])]
        if let nonce {
            try Self.check(nonce.count == 4, "a nonce of \(nonce.count) bytes: it has 4")
            objects.append(BERTLV(0x9F28, nonce))
        }
        objects.append(BERTLV(0x9F26, [0x00, 0x80, 0x00, (hasMore ? 0x80 : 0) | mode.rawValue]))
        let p2: UInt8
        switch content {
        case .pass(let id):
            try Self.check(id.count == 32, "a merchant id of \(id.count) bytes: it has 32")
            objects.insert(BERTLV(0x9F25, id), at: 1)
            p2 = 0x01
        case .signUp(let url):
            let bytes = Array(url.utf8)
            try Self.check(
                !bytes.isEmpty && bytes.allSatisfy { (0x21..<0x7F).contains($0) },
                "an address that is empty or not ASCII"
            )
            objects.append(BERTLV(0x9F29, bytes))
            p2 = 0x00
        }
        let data = (try? objects.encoded()) ?? []
        try Self.check((1...255).contains(data.count), "an address that is too long: all together is 255 bytes")
        return try CommandAPDU(cla: 0x80, ins: 0xCA, p1: 0x01, p2: p2, data: data, expectedLength: 256)
    }

    private static func check(_ isRight: Bool, _ what: String) throws(APDUError) {
        guard !isRight else { return }
        throw APDUError(.parameterOutOfRange, offset: 5, message: "could not make GET VAS DATA with \(what)")
    }
}
