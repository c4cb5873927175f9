/// Tells commands that carry keys, passwords or what they are worked out from. Their data, and the answers', are never
/// traced.
package struct APDUSecrets: Sendable {
    /// Whether the last command of class 90 began an authentication, which `90 AF` goes on with.
    private var isAuthenticating = false

    package init() {}

    /// Whether the command is one of them. Commands are to be given in the order in which they are sent.
    package mutating func isSecret(_ command: CommandAPDU) -> Bool {
        switch command.cla {
        case 0xFF: return Self.isSecretOfReader(command)
        case 0x90:
            if command.ins != 0xAF { isAuthenticating = Self.desfire.contains(command.ins) }
            return isAuthenticating
        case 0x00...0x7F, 0x80...0x8F:
            return Self.interindustry.contains(command.ins)
        default: return false
        }
    }

    /// VERIFY, CHANGE REFERENCE DATA, DISABLE and ENABLE VERIFICATION, RESET RETRY COUNTER, PERFORM SECURITY OPERATION,
    /// EXTERNAL, GENERAL and INTERNAL AUTHENTICATE, GET CHALLENGE; PUT KEY of GlobalPlatform.
    private static let interindustry: Set<UInt8> = [
        0x20, 0x21, 0x24, 0x26, 0x28, 0x2A, 0x2C, 0x82, 0x84, 0x86, 0x87, 0x88, 0xD8,
    ]

    /// Authenticate in its forms (legacy, ISO, AES, EV2 first and following, LRP and Plus), change key in its two forms.
    private static let desfire: Set<UInt8> = [0x0A, 0x1A, 0xAA, 0x70, 0x71, 0x72, 0x76, 0x77, 0xC4, 0xC6, 0x54, 0x5C]

    private static func isSecretOfReader(_ command: CommandAPDU) -> Bool {
        switch command.ins {
        // Load key, authenticate; SpringCard's Classic commands, whose data may end in a key.
        case 0x82, 0x86, 0x88, 0xF3, 0xF4: return true
        // The data of a Classic's sector trailer hold keys, and which block it is the command does not tell of every card.
        case 0xD6: return command.data.count >= 16 && isTrailer(command)
        // What wraps a raw frame: SpringCard, ACS, Identiv, PC/SC 3.
        case 0xFE, 0x00, 0xEF, 0xC2: return containsSecretFrame(command.data)
        default: return false
        }
    }

    private static func isTrailer(_ command: CommandAPDU) -> Bool {
        let block = Int(command.p1) << 8 | Int(command.p2)
        return block < 128 ? block % 4 == 3 : block % 16 == 15
    }

    /// PWD_AUTH (1B and four bytes), the writing of password pages cannot be told; 3DES and AES authentication (1A, AF);
    /// Classic authentication (60, 61 with a block and a key). Where the frame begins depends on the wrapping, so it is
    /// looked for at each place where one may begin.
    private static func containsSecretFrame(_ data: [UInt8]) -> Bool {
        var starts = [0]
        if data.starts(with: [0xD4, 0x42]) { starts = [2] }
        if data.starts(with: [0xD4, 0x40]) { starts = [3] }
        // A data object 95 with the frame, among others.
        for (index, byte) in data.enumerated() where byte == 0x95 { starts += [index + 2, index + 3] }
        return starts.contains { start in
            guard start < data.count else { return false }
            return isSecretFrame(data[start...])
        }
    }

    /// Whether a card's own frame carries a password, a key or a part of an authentication.
    package static func isSecretFrame(_ frame: ArraySlice<UInt8>) -> Bool {
        guard let first = frame.first else { return false }
        switch first {
        case 0x1B: return frame.count == 5
        case 0x1A: return frame.count == 2
        case 0xAF: return frame.count > 1
        case 0x60, 0x61: return frame.count > 2
        // Write of a page behind the user memory of an NTAG21x or a key page of an Ultralight C or AES.
        case 0xA2: return frame.count == 6 && frame[frame.startIndex + 1] >= 0x28
        default: return false
        }
    }
}
