/// Which commands carry keys, passwords or what they are worked out from: the one answer for traces, which never show
/// their data and their answers', and for redaction, which replaces them. In doubt a command is secret.
package struct APDUSecrets: Sendable {
    /// Whether the last command was secret, so that what goes on with it is too: `90 AF`, or GET RESPONSE of its class.
    private var isGoingOn = false

    package init() {}

    /// Whether the command is one of them. Commands are to be given in the order in which they are sent.
    package mutating func isSecret(_ command: CommandAPDU) -> Bool {
        let goesOn =
            command.cla == 0x90
            ? command.ins == DESFireInstruction.additionalFrame.rawValue : command.ins == Instruction.getResponse
        if !goesOn { isGoingOn = Self.isSecretAlone(command) }
        return isGoingOn
    }

    private static func isSecretAlone(_ command: CommandAPDU) -> Bool {
        switch command.cla {
        case 0xFF: isSecretOfReader(command)
        case 0x90: isSecretNative(command.ins)
        case 0x00...0x8F: interindustry.contains(command.ins)
        // SELECT of a SIM names a file (ETSI TS 100 977).
        case 0xA0 where command.ins == Instruction.select: false
        // What is not known may be a key.
        default: interindustry.contains(command.ins) || !command.data.isEmpty
        }
    }

    /// PUT DATA and STORE DATA are how keys get into cards.
    private static let interindustry: Set<UInt8> = [
        Instruction.verify, Instruction.withObjects(Instruction.verify), Instruction.changeReferenceData,
        Instruction.disableVerification, Instruction.enableVerification, Instruction.performSecurityOperation,
        Instruction.resetRetryCounter, Instruction.externalAuthenticate, Instruction.getChallenge,
        Instruction.generalAuthenticate, Instruction.withObjects(Instruction.generalAuthenticate),
        Instruction.internalAuthenticate, Instruction.putKey, Instruction.putData,
        Instruction.withObjects(Instruction.putData), Instruction.appendRecord,
    ]

    /// Authenticate in its forms (legacy, ISO, AES, EV2 first and following, LRP and Plus), change and roll
    /// keys, set configuration.
    private static let desfire: Set<DESFireInstruction> = [
        .authenticateDES, .authenticateISO, .authenticateAES, .plusAuthenticateFirst, .authenticateEV2First,
        .plusAuthenticateContinue, .plusAuthenticateFollowing, .authenticateEV2NonFirst, .changeKey, .changeKeyEV2,
        .rollKeySet, .changeKeySettings, .setConfiguration,
    ]

    /// Whether a native command of DESFire, wrapped in class 90 or not, is secret.
    package static func isSecretNative(_ code: UInt8) -> Bool {
        DESFireInstruction(rawValue: code).map(desfire.contains) ?? false
    }

    private static func isSecretOfReader(_ command: CommandAPDU) -> Bool {
        switch command.ins {
        // Load key; SpringCard's Classic commands, whose data may end in a key.
        case Instruction.loadKey, Instruction.classicRead, Instruction.classicWrite: return true
        // Authenticate names a block and a key by its number: version, block, kind, number (PC/SC part 3).
        case Instruction.generalAuthenticate: return command.data.count > 5
        // The data of a Classic's sector trailer hold keys, and which block it is the command does not tell of every card.
        // Fewer are a page's, which may be that of a password.
        case Instruction.updateBinary:
            return command.data.count >= 16 ? isTrailer(command) : isBehindUserMemory(command)
        // Asking for identifiers and reading.
        case Instruction.getData, Instruction.readBinary, Instruction.getResponse: return false
        // What wraps a raw frame: SpringCard, ACS, Identiv, PC/SC 3.
        case Instruction.encapsulate, Instruction.directTransmit, Instruction.passThrough,
            Instruction.transparentExchange:
            return containsSecretFrame(command.data)
        // What is not known may be a key.
        default: return !command.data.isEmpty
        }
    }

    /// The first page that is not user memory in the smallest chips (Ultralight, NTAG210): from here on there may be a
    /// password or a key, where depends on the chip.
    private static let firstOtherPage = 0x10

    private static func isBehindUserMemory(_ command: CommandAPDU) -> Bool {
        let page = Int(command.p1) << 8 | Int(command.p2)
        return page + max(0, command.data.count - 1) / 4 >= firstOtherPage
    }

    /// Whether any of the blocks is a trailer.
    private static func isTrailer(_ command: CommandAPDU) -> Bool {
        let block = Int(command.p1) << 8 | Int(command.p2)
        return (block..<(block + (command.data.count + 15) / 16)).contains(where: ClassicSize.isTrailer)
    }

    /// PWD_AUTH (1B and four bytes); 3DES and AES authentication (1A, AF); Classic authentication (60, 61 with a block and
    /// a key); writes that may be of a password. Where the frame begins depends on the wrapping, so it is
    /// looked for at each place where one may begin.
    private static func containsSecretFrame(_ data: [UInt8]) -> Bool {
        var starts = [0]
        if data.starts(with: [0xD4, 0x42]) { starts = [2] }
        if data.starts(with: [0xD4, 0x40]) { starts = [3] }
        // A data object 95 (or 93) with the frame, among others.
        for (index, byte) in data.enumerated() where byte == 0x95 || byte == 0x93 { starts += [index + 2, index + 3] }
        return starts.contains { start in
            guard start < data.count else { return false }
            return isSecretFrame(data[start...])
        }
    }

    /// Whether a card's own frame carries a password, a key or a part of an authentication.
    package static func isSecretFrame(_ frame: ArraySlice<UInt8>) -> Bool {
        guard let first = frame.first else { return false }
        // The second part of a compatible write, to a page that the first part told.
        if frame.count == 16 { return true }
        if frame.count > 4, isVicinityPassword(frame) { return true }
        if isFeliCaKey(frame.dropFirst(Int(first) == frame.count ? 1 : 0)) { return true }
        switch first {
        case 0x1B: return frame.count == 5 || frame.count == 17
        case 0x1A: return frame.count == 2
        case 0xAF: return frame.count > 1
        case 0x60, 0x61: return frame.count > 2
        case 0xA2: return frame.count == 6 && Int(frame[frame.startIndex + 1]) >= firstOtherPage
        default: return isSecretCommand(frame)
        }
    }

    /// ISO 15693, from the maker's code on: set and write password, destroy and enable privacy of NXP's chips; write and
    /// present password of ST's.
    private static func isVicinityPassword(_ frame: ArraySlice<UInt8>) -> Bool {
        let command = frame.dropFirst().prefix(2)
        guard let code = command.first, let maker = command.last else { return false }
        return maker == 0x04 ? [0xB3, 0xB4, 0xB9, 0xBA].contains(code) : maker == 0x02 && (0xB1...0xB3).contains(code)
    }

    /// Write Without Encryption of FeliCa Lite's random challenge (block 80) or card key (block 87): the code, eight bytes of
    /// identifier, a service, and the numbers of the blocks, one or two of them.
    private static func isFeliCaKey(_ frame: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(frame)
        guard bytes.count > 30, bytes[0] == 0x08, bytes[9] == 1, (1...2).contains(bytes[12]) else { return false }
        return (0..<Int(bytes[12])).contains {
            bytes[13 + 2 * $0] == 0x80 && [0x80, 0x87].contains(bytes[14 + 2 * $0])
        }
    }

    /// Whether the frame is a command that the reader carries as it is, and a secret one. What came before it is not
    /// known, so that what goes on with an authentication is one; what a reader is to do within another's command is not
    /// looked into.
    package static func isSecretCommand(_ frame: ArraySlice<UInt8>) -> Bool {
        guard let command = try? CommandAPDU(bytes: Array(frame)) else { return false }
        switch (command.cla, command.ins) {
        // The registers and settings of a PN53x say nothing of a card; what it carries stands behind them.
        case (0xD4, _): return false
        case (0x90, DESFireInstruction.additionalFrame.rawValue), (0xFF, _): return !command.data.isEmpty
        default: return isSecretAlone(command)
        }
    }
}
