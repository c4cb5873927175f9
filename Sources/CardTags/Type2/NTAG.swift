import CardCore

/// What NTAG21x and MIFARE Ultralight EV1 chips can do beyond being a Type 2 tag: version, counters, originality
/// signature and password.
///
/// All of it takes raw frames: a reader that carries none throws ``TagError/unsupported(_:attempt:)``, and so does a chip
/// that does not know GET_VERSION.
public struct NTAG {
    private let channel: any CardChannel
    private let link: Type2Link
    /// Passwords that were sent and not accepted, which are not sent again.
    private var failedPasswords: Set<[UInt8]> = []

    /// A chip at the other end of a channel.
    public init(_ channel: any CardChannel) {
        self.channel = channel
        link = Type2Link(channel)
    }

    /// A chip's description of itself.
    public struct Version: Sendable, Hashable {
        /// The eight bytes of the answer.
        public let bytes: [UInt8]

        /// The name of the chip, such as `NTAG213`, or `nil` if it is not one whose pages are known.
        ///
        /// It is the chip's own word, which a copy can repeat.
        public var product: String? { Type2Version.product(answer: bytes)?.name }
    }

    /// Asks for the version (GET_VERSION, `60`).
    ///
    /// - Throws: ``TagError``; ``TagError/unsupported(_:attempt:)`` for a chip that does not know the command. Such a
    ///   chip then waits to be selected again, see ``CardChannel/reset()``.
    public func version() throws(TagError) -> Version {
        let attempt = "ask the tag for its version"
        guard let bytes = try ask([0x60], count: 8, attempt) else { throw .unsupported(.type2, attempt: attempt) }
        return Version(bytes: bytes)
    }

    /// An answer of that length; `nil` if the tag refuses.
    private func ask(_ command: [UInt8], count: Int, _ attempt: String) throws(TagError) -> [UInt8]? {
        guard case .data(let bytes) = try link.command(command, attempt) else { return nil }
        guard bytes.count == count else { throw NTAG.wrongLength(bytes, attempt) }
        return bytes
    }

    /// Reads a counter (READ_CNT, `39`).
    ///
    /// - Parameter number: 2 on an NTAG21x, whose only counter counts the first read after each time it was powered; 0, 1
    ///   or 2 on an Ultralight EV1.
    /// - Returns: 0 to 16 777 215.
    /// - Throws: ``TagError``; ``TagError/protected(attempt:status:)`` if the counter is off or takes a password.
    public func counter(_ number: UInt8 = 2) throws(TagError) -> Int {
        let attempt = "read the counter of the tag"
        guard let bytes = try ask([0x39, number], count: 3, attempt) else {
            throw .protected(attempt: attempt, status: nil)
        }
        return bytes.littleEndianNumber
    }

    /// Reads the originality signature (READ_SIG, `3C`).
    ///
    /// - Throws: ``TagError``; ``TagError/protected(attempt:status:)`` if the chip has none or does not give it.
    public func signature() throws(TagError) -> OriginalitySignature {
        let attempt = "read the signature of the tag"
        guard let signature = try ask([0x3C, 0x00], count: 32, attempt).flatMap(OriginalitySignature.init) else {
            throw .protected(attempt: attempt, status: nil)
        }
        return signature
    }

    /// Sends the password (PWD_AUTH, `1B`). The tag is open until it is powered anew or refuses a command.
    ///
    /// It is sent once, and never again if it was refused: a chip can be set (AUTHLIM) to stay closed for ever after 1 to
    /// 7 wrong passwords. That limit is read first, where it may be read, so that a refusal describes how many attempts
    /// are left; earlier conversations may have used some of them up.
    ///
    /// - Parameters:
    ///   - password: 4 bytes.
    ///   - expected: PACK, the 2 bytes by which the tag shows that it knows the password; `nil` takes any.
    /// - Returns: PACK.
    /// - Throws: ``TagError``; ``TagError/wrongKey(attempt:attemptsLeft:)`` if the tag refuses it, or had refused it
    ///   before and is not asked again.
    @discardableResult
    public mutating func authenticate(
        password: [UInt8],
        expecting expected: [UInt8]? = nil
    ) throws(TagError) -> [UInt8] {
        let attempt = "give the tag its password"
        guard password.count == 4 else {
            throw .guarded(attempt: attempt, reason: "a password has 4 bytes, not \(password.count)")
        }
        guard !failedPasswords.contains(password) else { throw .wrongKey(attempt: attempt, attemptsLeft: nil) }
        let limit = try attemptLimit()
        // Whatever happens now: it counts as tried until the tag has taken it.
        failedPasswords.insert(password)
        switch try link.command([0x1B] + password, attempt) {
        case .data(let acknowledgement) where acknowledgement.count == 2:
            guard expected == nil || expected == acknowledgement else {
                throw .link(
                    ReaderError(
                        .invalidAnswer,
                        attempting: attempt,
                        detail: "the tag takes the password but acknowledges it with other bytes than expected",
                        advice: "It may be a copy that takes any password. Use another tag."
                    )
                )
            }
            failedPasswords.remove(password)
            return acknowledgement
        case .data(let bytes): throw NTAG.wrongLength(bytes, attempt)
        case .refusal(let code):
            try? channel.reset()
            let left = limit.map { code == 4 ? 0 : max(0, $0 - failedPasswords.count) }
            throw .wrongKey(attempt: attempt, attemptsLeft: left)
        }
    }

    /// AUTHLIM: how many wrong passwords the tag allows; `nil` if it sets no limit or does not report it.
    private func attemptLimit() throws(TagError) -> Int? {
        guard let page = Type2Version.product(answer: try version().bytes)?.configurationPage,
            let address = UInt8(exactly: page + 1)
        else { return nil }
        guard case .data(let bytes) = try link.command([0x30, address], "read the configuration of the tag"),
            bytes.count == 16
        else {
            // Protected; the tag waits to be selected again.
            try? channel.reset()
            return nil
        }
        let limit = Int(bytes[0] & 0x07)
        return limit == 0 ? nil : limit
    }

    private static func wrongLength(_ bytes: [UInt8], _ attempt: String) -> TagError {
        StorageLink.broken(attempt, "the tag answers with \(bytes.count) bytes")
    }
}
