/// A command to a SpringCard reader itself, of its class 58 (CONTROL): an instruction and its data.
///
/// As an escape command it is `58 INS data`, and the answer is a status (``ControlStatus``) and data.
public struct ControlCommand: Sendable, Hashable {
    /// The class of these commands.
    public static let classByte: UInt8 = 0x58

    /// The instruction.
    public var instruction: ControlInstruction

    /// The data of the command.
    public var data: [UInt8]

    /// Creates a command.
    public init(_ instruction: ControlInstruction, _ data: [UInt8] = []) {
        self.instruction = instruction
        self.data = data
    }

    /// The bytes of the escape command.
    public var bytes: [UInt8] { [Self.classByte, instruction.rawValue] + data }
}

extension ControlCommand: Redacted {
    /// The name of the instruction, and for registers the address. Data that may be a key are omitted.
    public var description: String {
        switch instruction {
        case .readRegister where data.count >= 2, .writeRegister where data.count >= 2:
            "\(instruction.name) \(data.prefix(2).hex)"
        default: instruction.name
        }
    }
}

extension ControlCommand {
    /// GET DATA: an item of a reader's description.
    public static func getData(_ item: UInt8) -> ControlCommand { .init(.getData, [item]) }

    /// The name of a slot, counted from 0.
    public static func slotName(_ slot: UInt8) -> ControlCommand { .init(.slotName, [slot]) }

    /// READ REGISTER. The value is empty if the register is undefined, so that its default is in force.
    public static func readRegister(_ address: UInt16) -> ControlCommand {
        .init(.readRegister, address.bigEndianPair)
    }

    /// WRITE REGISTER, in effect after a reset. An empty value removes the register, so that its default is in force.
    public static func writeRegister(_ address: UInt16, _ value: [UInt8]) -> ControlCommand {
        .init(.writeRegister, address.bigEndianPair + value)
    }

    /// Restarts the reader, which leaves the bus and returns.
    public static func reset(_ kind: ResetKind = .soft) -> ControlCommand {
        .init(.reset, kind == .hard ? [0xDE, 0xAD] : [])
    }

    /// How a reader is restarted.
    public enum ResetKind: String, Sendable, Hashable, CaseIterable {
        /// The firmware restarts.
        case soft
        /// The chip restarts, if the reader can do so.
        case hard
    }

    /// Turns the reader off.
    public static let shutdown = ControlCommand(.shutdown, [0xDE, 0xAD])

    /// Lets the reader show which one it is.
    public static let wink = ControlCommand(.wink)

    /// Plays a sequence of lights and sounds.
    public static func play(_ sequence: UInt8) -> ControlCommand { .init(.playSequence, [sequence]) }

    /// Sounds the buzzer for a number of milliseconds.
    public static func buzz(milliseconds: UInt16) -> ControlCommand {
        .init(.setBuzzer, milliseconds.bigEndianPair)
    }

    // The following are the S550's and S370's own.

    /// Asks for the firmware version of the antenna board (S550, S370).
    public static let antennaFirmware = ControlCommand(.product, [0x00, 0x00])

    /// Plays a sequence on the antenna board (S550, S370): its identifier in two bytes, or in one byte with firmware from
    /// before 2022.
    public static func playOnAntenna(_ sequence: UInt16, bytes: Int) -> ControlCommand {
        .init(.product, [0x00, 0x01] + sequence.bigEndianPair.suffix(bytes == 1 ? 1 : 2))
    }

    /// Sets the volume, 0 to 5, until the next reset (S550, S370). Register 02D8 keeps it.
    public static func volume(_ volume: UInt8) -> ControlCommand { .init(.product, [0x01, 0x00, volume]) }

    /// Sets the theme until the next reset (S550, S370). Register 02DA keeps it.
    public static func theme(_ theme: ReaderTheme) -> ControlCommand {
        .init(.product, [0x02, 0x00, 0x07, theme.common, theme.cards, theme.barcodes])
    }
}

/// The looks and sounds of an S550 or S370, each by its number.
public struct ReaderTheme: Sendable, Hashable {
    /// The theme of what is common.
    public var common: UInt8
    /// The theme of what concerns cards.
    public var cards: UInt8
    /// The theme of what concerns barcodes.
    public var barcodes: UInt8

    /// Creates a theme.
    public init(common: UInt8, cards: UInt8, barcodes: UInt8) {
        self.common = common
        self.cards = cards
        self.barcodes = barcodes
    }
}

/// An instruction of class 58.
public struct ControlInstruction: RawRepresentable, Sendable, Hashable {
    /// The code.
    public var rawValue: UInt8

    /// Creates an instruction.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The instruction's name in SpringCard's documentation; "unknown instruction" and the code for others.
    public var name: String { Self.names[rawValue] ?? "unknown instruction \([rawValue].hex)" }

    static let getData = ControlInstruction(0x20)
    static let slotName = ControlInstruction(0x21)
    static let readRegister = ControlInstruction(0x81)
    static let writeRegister = ControlInstruction(0x82)
    static let product = ControlInstruction(0x88)
    static let reset = ControlInstruction(0x8E)
    static let playSequence = ControlInstruction(0x90)
    static let setColour = ControlInstruction(0x91)
    static let setLights = ControlInstruction(0x92)
    static let setBuzzer = ControlInstruction(0x93)
    static let sound = ControlInstruction(0x94)
    static let wink = ControlInstruction(0x9F)
    static let shutdown = ControlInstruction(0xAF)
    static let legacyBuzzer = ControlInstruction(0x1C)
    static let legacyLights = ControlInstruction(0x1E)

    private static let names: [UInt8: String] = [
        0x0D: "WRITE REGISTER (legacy)", 0x0E: "READ REGISTER (legacy)", 0x12: "I2C READ", 0x13: "I2C WRITE",
        0x14: "GET MODE", 0x15: "GET GPIOS", 0x16: "SET GPIOS", 0x17: "GET CONTROLS", 0x1C: "SET BUZZER (legacy)",
        0x1E: "SET LEDS (legacy)", 0x20: "GET DATA", 0x21: "GET SLOT NAME", 0x22: "STOP SLOT", 0x23: "START SLOT",
        0x24: "CONTROL SLOT", 0x62: "NFC POLLER", 0x63: "NFC LISTENER", 0x64: "NFC HCE STOP", 0x65: "NFC HCE START",
        0x70: "MICORE", 0x80: "READ FREE REGISTER", 0x81: "READ REGISTER", 0x82: "WRITE REGISTER",
        0x83: "LOAD FACTORY CONFIG", 0x84: "SAVE FACTORY CONFIG", 0x85: "GET DATETIME", 0x86: "SET DATETIME",
        0x88: "PRODUCT SPECIFIC", 0x8A: "LOGGING", 0x8C: "SUSPEND", 0x8D: "RESUME", 0x8E: "RESET",
        0x8F: "RELOAD CONFIG", 0x90: "PLAY SEQUENCE", 0x91: "SET LED RGB", 0x92: "SET LEDS", 0x93: "SET BUZZER",
        0x94: "SET SOUND", 0x95: "SET VIBRATOR", 0x97: "SET LIGHT", 0x98: "PLAY SEQUENCE STRING",
        0x9A: "AUTO DIMM LIGHT", 0x9B: "AUTO SEQUENCES", 0x9F: "WINK", 0xA0: "READER STOP", 0xA1: "READER START",
        0xAE: "DISCONNECT", 0xAF: "SHUTDOWN",
    ]
}

extension UInt16 {
    /// Both bytes, the most significant first.
    var bigEndianPair: [UInt8] { [UInt8(self >> 8), UInt8(truncatingIfNeeded: self)] }
}
