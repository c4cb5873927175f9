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
        case .readRegister, .writeRegister:
            "\(instruction.name) " + (data.count < 2 ? "" : Hex.encode(data.prefix(2)))
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

    /// The instruction's name in SpringCard's documentation; "unknown" for others.
    public var name: String { Self.table[rawValue]?.name ?? "unknown instruction \(Hex.encode([rawValue]))" }

    /// The instruction's effect; `nil` for an unknown one.
    public var meaning: String? { Self.table[rawValue]?.meaning }

    /// Every known instruction.
    public static var all: [ControlInstruction] { table.keys.sorted().map(ControlInstruction.init(_:)) }

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

    private static let table: [UInt8: (name: String, meaning: String)] = [
        0x0D: ("WRITE REGISTER (legacy)", "writes a register of a CSB6 or H663"),
        0x0E: ("READ REGISTER (legacy)", "reads a register of a CSB6 or H663"),
        0x12: ("I2C READ", "reads from the I2C bus"),
        0x13: ("I2C WRITE", "writes to the I2C bus"),
        0x14: ("GET MODE", "reads the pins that choose the mode"),
        0x15: ("GET GPIOS", "reads the general inputs"),
        0x16: ("SET GPIOS", "sets the general outputs"),
        0x17: ("GET CONTROLS", "reads the control pins"),
        0x1C: ("SET BUZZER (legacy)", "sounds the buzzer of a CSB6 or H663"),
        0x1E: ("SET LEDS (legacy)", "sets the lights of a CSB6 or H663"),
        0x20: ("GET DATA", "reads an item of the reader's description"),
        0x21: ("GET SLOT NAME", "reads the name of a slot"),
        0x22: ("STOP SLOT", "stops a slot"),
        0x23: ("START SLOT", "starts a slot"),
        0x24: ("CONTROL SLOT", "controls a slot"),
        0x62: ("NFC POLLER", "lets the reader look for cards"),
        0x63: ("NFC LISTENER", "lets the reader be a card"),
        0x64: ("NFC HCE STOP", "ends card emulation"),
        0x65: ("NFC HCE START", "begins card emulation"),
        0x70: ("MICORE", "talks to the contactless chip"),
        0x80: ("READ FREE REGISTER", "reads a register that everybody may read"),
        0x81: ("READ REGISTER", "reads a register"),
        0x82: ("WRITE REGISTER", "writes a register, in effect after a reset"),
        0x83: ("LOAD FACTORY CONFIG", "restores the factory's settings"),
        0x84: ("SAVE FACTORY CONFIG", "makes the present settings the factory's"),
        0x85: ("GET DATETIME", "reads the clock"),
        0x86: ("SET DATETIME", "sets the clock"),
        0x88: ("PRODUCT SPECIFIC", "a command of the product's own"),
        0x8A: ("LOGGING", "controls the log"),
        0x8C: ("SUSPEND", "enters USB suspend"),
        0x8D: ("RESUME", "leaves USB suspend"),
        0x8E: ("RESET", "restarts the reader"),
        0x8F: ("RELOAD CONFIG", "puts written registers into effect"),
        0x90: ("PLAY SEQUENCE", "plays a sequence of lights and sounds"),
        0x91: ("SET LED RGB", "sets the colour or the pattern of the light"),
        0x92: ("SET LEDS", "sets the patterns of up to four lights"),
        0x93: ("SET BUZZER", "sounds the buzzer for some milliseconds"),
        0x94: ("SET SOUND", "plays a sound"),
        0x95: ("SET VIBRATOR", "vibrates"),
        0x97: ("SET LIGHT", "sets the brightness of all lights"),
        0x98: ("PLAY SEQUENCE STRING", "plays a sequence that comes with the command"),
        0x9A: ("AUTO DIMM LIGHT", "dims the lights while the reader is not used, or does not"),
        0x9B: ("AUTO SEQUENCES", "plays sequences by itself, or does not"),
        0x9F: ("WINK", "shows which reader it is"),
        0xA0: ("READER STOP", "stops the engine of a Smart Reader"),
        0xA1: ("READER START", "starts the engine of a Smart Reader"),
        0xAE: ("DISCONNECT", "drops the Bluetooth link"),
        0xAF: ("SHUTDOWN", "turns the reader off"),
    ]
}

extension UInt16 {
    /// Both bytes, the most significant first.
    var bigEndianPair: [UInt8] { [UInt8(self >> 8), UInt8(truncatingIfNeeded: self)] }
}
