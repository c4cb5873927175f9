/// How the lights and the buzzer of a reader are controlled: readers of one make share a dialect.
///
/// | Dialect | Light | Buzzer | With a card, by a command APDU |
/// |---|---|---|---|
/// | SpringCore (S550, Puck, H518 …) | `58 91 red green blue` | `58 93 ms` | `FF F0 00 58 Lc INS data 00` or `FF F0 58 INS Lc data` |
/// | CSB6 (CSB6, H663, Prox'N'Roll …) | `58 1E red green blue` | `58 1C ms` | `FF F0 00 00 Lc INS data` |
/// | ACR122U | `FF 00 40 lights 04 …` | the same | the same |
public enum ControlDialect: String, Sendable, Hashable, CaseIterable {
    /// SpringCard's readers since 2018, the S550 among them.
    case springCore
    /// SpringCard's readers before that.
    case csb6
    /// ACS' ACR122U.
    case acr122

    /// The dialect of a reader by its name; `nil` if the name identifies none.
    public init?(reader name: String) {
        let name = name.lowercased()
        guard let (_, dialect) = Self.readers.first(where: { name.contains($0.0) }) else { return nil }
        self = dialect
    }

    /// By libccid's names; the first match counts.
    private static let readers: [(String, ControlDialect)] = [
        ("csb6", .csb6), ("h663", .csb6), ("h512", .csb6), ("prox'n'roll", .csb6), ("nfc'roll", .csb6),
        ("crazywriter", .csb6), ("easyfinger", .csb6),
        ("springcard", .springCore), ("socket mobile", .springCore),
        ("acr122", .acr122), ("touchatag", .acr122),
    ]

    /// The name for people.
    public var name: String {
        switch self {
        case .springCore: "SpringCore"
        case .csb6: "CSB6"
        case .acr122: "ACR122U"
        }
    }

    /// The ways that its commands take, the best first.
    var ways: [ControlWay] {
        switch self {
        case .springCore: [.escape, .controlInstruction, .controlClass]
        case .csb6: [.escape, .controlLegacy]
        case .acr122: [.escape, .apdu]
        }
    }

    /// A command that changes nothing, and that every reader of the dialect answers.
    var probe: ControlMessage {
        switch self {
        case .springCore, .csb6: .control(.getData(ControlItem.deviceName.rawValue))
        // The firmware's version.
        case .acr122: .apdu([0xFF, 0x00, 0x48, 0x00, 0x00])
        }
    }

    /// The command that sets the lights.
    func light(_ light: ReaderLight) throws(ControlError) -> ControlMessage {
        switch (self, light) {
        case (.springCore, .colour(let red, let green, let blue)):
            return .control(.init(.setColour, [red, green, blue]))
        case (.springCore, .pattern(let pattern)): return .control(.init(.setColour, [pattern.rawValue]))
        case (.springCore, .ramp(let patterns)):
            return .control(.init(.setLights, try Self.checked(patterns, 1...4)))
        // The sequence of a reader that waits for cards.
        case (.springCore, .automatic): return .control(.play(ReaderSequence.active.rawValue))
        case (.csb6, .colour(let red, let green, let blue)):
            return .control(.init(.legacyLights, [red, green, blue].map { $0 == 0 ? 0x00 : 0x01 }))
        case (.csb6, .pattern(let pattern)):
            return .control(.init(.legacyLights, [UInt8](repeating: pattern.legacy, count: 3)))
        case (.csb6, .ramp(let patterns)):
            return .control(.init(.legacyLights, try Self.checked(patterns, 2...3) { $0.legacy }))
        case (.csb6, .automatic): return .control(.init(.legacyLights))
        case (.acr122, .colour(let red, let green, let blue)):
            // It has a red light and a green one. Bits 2 and 3 state that bits 0 and 1 count.
            guard blue == 0 || red > 0 || green > 0 else { throw unsupported("show blue") }
            return .apdu(Self.acr122(0x0C | (red > 0 ? 0x01 : 0) | (green > 0 ? 0x02 : 0)))
        case (.acr122, .automatic): return .apdu(Self.acr122(0x0C))
        case (.acr122, .pattern(.off)): return .apdu(Self.acr122(0x0C))
        case (.acr122, .pattern(.on)): return .apdu(Self.acr122(0x0F))
        case (.acr122, .pattern), (.acr122, .ramp): throw unsupported("show a pattern")
        }
    }

    /// The command that sounds the buzzer.
    func buzz(milliseconds: UInt16) -> ControlMessage {
        switch self {
        case .springCore: .control(.buzz(milliseconds: milliseconds))
        case .csb6: .control(.init(.legacyBuzzer, milliseconds.bigEndianPair))
        // In tenths of a second: once, the buzzer during the first half, no light.
        case .acr122: .apdu(Self.acr122(0x00, [UInt8(min((Int(milliseconds) + 99) / 100, 255)), 0x00, 0x01, 0x01]))
        }
    }

    func unsupported(_ attempt: String) -> ControlError { .unsupported(attempt, self) }

    private static func acr122(_ lights: UInt8, _ blinking: [UInt8] = [0, 0, 0, 0]) -> [UInt8] {
        [0xFF, 0x00, 0x40, lights, 0x04] + blinking
    }

    private static func checked(
        _ patterns: [LightPattern],
        _ counts: ClosedRange<Int>,
        _ code: (LightPattern) -> UInt8 = \.rawValue
    ) throws(ControlError) -> [UInt8] {
        guard counts.contains(patterns.count) else {
            let limits = "\(counts.lowerBound) to \(counts.upperBound)"
            throw .outOfRange("could not set the lights: it takes \(limits) patterns, not \(patterns.count)")
        }
        return patterns.map(code)
    }
}

/// The way that commands take to a reader itself.
public enum ControlWay: String, Sendable, Hashable, CaseIterable {
    /// Escape commands (`SCardControl`), without a card. The driver has to allow them.
    case escape
    /// Within a command APDU to the card on the reader, `FF F0 00 58 Lc INS data 00`.
    case controlInstruction
    /// Within a command APDU to the card on the reader, `FF F0 58 INS Lc data`.
    case controlClass
    /// Within a command APDU to the card on the reader, `FF F0 00 00 Lc INS data`.
    case controlLegacy
    /// As a command APDU to the card on the reader.
    case apdu

    /// Whether the way needs a card on the reader.
    public var needsCard: Bool { self != .escape }

    /// The bytes that go this way.
    func bytes(_ message: ControlMessage) -> [UInt8] {
        guard case .control(let command) = message else { return message.bytes }
        let (code, data) = (command.instruction.rawValue, command.data)
        let length = UInt8(min(data.count, 254))
        switch self {
        case .escape, .apdu: return command.bytes
        case .controlInstruction: return [0xFF, 0xF0, 0x00, ControlCommand.classByte, length + 1, code] + data + [0x00]
        case .controlClass: return [0xFF, 0xF0, ControlCommand.classByte, code] + (data.isEmpty ? [] : [length] + data)
        case .controlLegacy: return [0xFF, 0xF0, 0x00, 0x00, length + 1, code] + data
        }
    }

    /// The data of an answer that came this way.
    func data(of answer: [UInt8], to message: ControlMessage) throws(ControlError) -> [UInt8] {
        if case .control = message, self == .escape {
            guard let status = answer.first else { throw .invalidAnswer("\(message)") }
            guard status == 0 else { throw .refused("\(message)", ControlStatus(status)) }
            return Array(answer.dropFirst())
        }
        if case .apdu(let command) = message, command[2] == 0x48 {
            // The one answer without a status word.
            guard answer.starts(with: Array("ACR122".utf8)) else { throw .invalidAnswer("\(message)") }
            return answer
        }
        guard let response = try? ResponseAPDU(bytes: answer) else { throw .invalidAnswer("\(message)") }
        let word = response.statusWord
        // The second byte is the state of the lights.
        if case .apdu = message, word.sw1 == 0x90 { return response.data }
        if word == .success { return response.data }
        if case .control = message, let status = word.readerStatus {
            throw .refused("\(message)", ControlStatus(status))
        }
        throw .refusedByCard("\(message)", word)
    }
}

/// What is sent to a reader: a command of class 58, or an APDU that the reader takes for itself.
enum ControlMessage: Sendable, Hashable {
    case control(ControlCommand)
    case apdu([UInt8])

    var bytes: [UInt8] {
        switch self {
        case .control(let command): command.bytes
        case .apdu(let bytes): bytes
        }
    }
}

extension ControlMessage: CustomStringConvertible {
    var description: String {
        switch self {
        case .control(let command): command.description
        case .apdu(let bytes): Hex.encode(bytes.prefix(4), separator: " ")
        }
    }
}

/// The state of a reader's lights. What the firmware shows by itself replaces it at the next card, unless bit 0 of
/// register 02D0 assigns the lights to the computer.
public enum ReaderLight: Sendable, Hashable {
    /// A colour, each part from 0 to 255; all 0 is off. Readers without colours turn on each light whose part is not 0.
    case colour(red: UInt8, green: UInt8, blue: UInt8)
    /// A pattern of all lights.
    case pattern(LightPattern)
    /// A pattern for each light, the first one first.
    case ramp([LightPattern])
    /// What the firmware shows by itself while it waits for cards.
    case automatic

    /// Off.
    public static let off = ReaderLight.colour(red: 0, green: 0, blue: 0)
    /// Red.
    public static let red = ReaderLight.colour(red: 255, green: 0, blue: 0)
    /// Green.
    public static let green = ReaderLight.colour(red: 0, green: 255, blue: 0)
    /// Blue.
    public static let blue = ReaderLight.colour(red: 0, green: 0, blue: 255)
    /// Orange; on readers with a red and a green light both.
    public static let orange = ReaderLight.colour(red: 255, green: 96, blue: 0)
    /// White.
    public static let white = ReaderLight.colour(red: 255, green: 255, blue: 255)
}

/// How a light behaves in time, by SpringCore's code.
public struct LightPattern: RawRepresentable, Sendable, Hashable {
    /// The code.
    public var rawValue: UInt8

    /// Creates a pattern.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Off.
    public static let off = LightPattern(0x00)
    /// On.
    public static let on = LightPattern(0x01)
    /// Blinking once a second.
    public static let slow = LightPattern(0x04)
    /// Blinking five times a second.
    public static let fast = LightPattern(0x07)
    /// Growing brighter and darker.
    public static let breathing = LightPattern(0x0F)

    /// Whether SpringCore has the pattern: off, on, breathing, and eight shapes at nine rates.
    public var isKnown: Bool {
        [0x00, 0x01, 0x0F].contains(rawValue) || rawValue < 0x80 && (0x02...0x0A).contains(rawValue & 0x0F)
    }

    /// The code of a CSB6: off, on, slow, automatic, fast, heartbeat.
    var legacy: UInt8 {
        switch rawValue {
        case 0x00: 0x00
        case 0x01: 0x01
        case 0x0F: 0x05
        default: rawValue & 0x0F < 0x06 ? 0x02 : 0x04
        }
    }
}

/// A sequence of lights and sounds that SpringCore readers have, by its number.
public struct ReaderSequence: RawRepresentable, Sendable, Hashable {
    /// The number.
    public var rawValue: UInt8

    /// Creates a sequence.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Finds a sequence by its name.
    public init?(name: String) {
        guard let entry = Self.names.first(where: { $0.value == name }) else { return nil }
        self.init(entry.key)
    }

    /// Whoever is there is to wait.
    public static let pleaseWait = ReaderSequence(0x08)
    /// The reader waits for cards.
    public static let active = ReaderSequence(0x21)
    /// A card is there.
    public static let tagPresent = ReaderSequence(0x23)
    /// A card was read.
    public static let tagRead = ReaderSequence(0x24)
    /// A card could not be read.
    public static let failure = ReaderSequence(0x25)

    /// The name; `nil` for an unknown one.
    public var name: String? { Self.names[rawValue] }

    /// Every known sequence.
    public static var all: [ReaderSequence] { names.keys.sorted().map(ReaderSequence.init(_:)) }

    private static let names: [UInt8: String] = [
        0x00: "blackout", 0x01: "noMainboard", 0x02: "noBattery", 0x03: "hardwareError", 0x05: "cancel",
        0x06: "startup", 0x07: "shutdown", 0x08: "pleaseWait", 0x09: "bootloaderWaiting", 0x0A: "upgrading",
        0x0B: "upgraded", 0x0C: "configurationCleared", 0x0D: "selfTest", 0x0E: "wink", 0x20: "inactive",
        0x21: "active", 0x22: "discover", 0x23: "tagPresent", 0x24: "tagRead", 0x25: "failure",
    ]
}
