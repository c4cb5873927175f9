/// A register of a SpringCore reader: a setting in its non-volatile memory, in effect after a reset.
///
/// The table is that of the S550 (`springcore/h518/s550`); other SpringCore readers share most of it. What is not in it is
/// ``Kind/undocumented``: it may hold a key, so it is never read.
public struct ReaderRegister: Sendable, Hashable {
    /// The address, 0000 to FFFF.
    public let address: UInt16

    /// The register at an address.
    public init(_ address: UInt16) {
        self.address = address
    }

    /// Parses four hexadecimal digits, with or without `0x`.
    public init?(_ text: some StringProtocol) {
        let digits = text.lowercased().hasPrefix("0x") ? text.dropFirst(2) : text[...]
        guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let address = UInt16(digits, radix: 16) else {
            return nil
        }
        self.init(address)
    }

    /// What a register is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// 0100 to 01FF: set when the reader was made.
        case constant
        /// A setting.
        case setting
        /// A setting of one of the four templates of a Smart Reader, 0310 to 034F.
        case template
        /// 0400 to 04FF: counts of what happened.
        case statistic
        /// A key, or what may be one. It is written only.
        case key
        /// Not known: it may hold anything. It is written only.
        case undocumented
    }

    /// What the register is.
    public var kind: Kind {
        switch address {
        case 0x0100...0x01FF: return .constant
        case 0x0400...0x04FF: return .statistic
        // The keys of master cards, of the host's sessions, and what belongs to them.
        case 0x02F3...0x02FF: return .key
        case 0x0310...0x034F:
            // 0 the cards, 1 to 4 how and what; from 5 on keys, or commands that may carry one.
            return address & 0x0F < 5 ? .template : .key
        default: return Self.settings[address] == nil ? .undocumented : .setting
        }
    }

    /// Whether the register holds a key, or may hold one. Such a register is never read, shown or kept.
    public var holdsKeys: Bool { kind == .key || kind == .undocumented }

    /// Whether the register is a setting.
    public var isWritable: Bool { kind != .constant && kind != .statistic }

    /// The name.
    public var name: String {
        switch kind {
        case .constant: "Constant"
        case .statistic: "Statistic"
        case .undocumented: "Undocumented"
        case .setting: Self.settings[address]?.name ?? ""
        case .key where address >> 8 == 0x02: "Security"
        case .key: "Template \(address >> 4 & 0x0F), key or data"
        case .template: "Template \(address >> 4 & 0x0F), \(Self.template[Int(address & 0x0F)].name)"
        }
    }

    /// The lengths that a value may have, in bytes; an empty one restores the default.
    public var lengths: ClosedRange<Int> {
        switch kind {
        case .setting: Self.settings[address]?.lengths ?? 0...Self.longest
        case .template: Self.template[Int(address & 0x0F)].lengths
        default: 0...Self.longest
        }
    }

    /// The longest value of any register.
    public static let longest = 64

    /// The value in force where the register is undefined, as the maker documents it for the S550; `nil` if unknown.
    public var defaultValue: [UInt8]? { kind == .setting ? Self.settings[address]?.initial : nil }

    /// What a wrong value does to the reader: the end of a sentence after "since". `nil` for a register that leaves the
    /// reader reachable in any case.
    public var danger: String? {
        switch kind {
        case .key: address >> 8 == 0x02 ? "a key that nobody knows locks the settings of the reader for good" : nil
        case .undocumented: "nothing is known of what it does"
        default: Self.settings[address]?.danger
        }
    }

    /// Whether a wrong value may make the reader unreachable.
    public var mayLockOut: Bool { danger != nil }

    /// Every documented register that may be read and written, in ascending order.
    public static var readable: [ReaderRegister] {
        let templates: [UInt16] = (1...4).flatMap { number in (0...4).map { 0x0300 | number << 4 | $0 } }
        return (settings.keys.sorted() + templates).map(ReaderRegister.init(_:))
    }

    // MARK: The table

    private struct Setting: Sendable {
        var name: String
        var lengths: ClosedRange<Int>
        var initial: [UInt8]?
        var danger: String?

        /// A setting of a fixed length.
        init(_ name: String, _ initial: [UInt8], danger: String? = nil) {
            self.init(name, initial.count...initial.count, initial, danger: danger)
        }

        init(_ name: String, _ lengths: ClosedRange<Int>, _ initial: [UInt8]? = nil, danger: String? = nil) {
            self.name = name
            self.lengths = lengths
            self.initial = initial
            self.danger = danger
        }
    }

    private static let template: [Setting] = [
        Setting("which cards", 0...16), Setting("format", 0...3), Setting("prefix", 0...8),
        Setting("where the data is", 0...10), Setting("options", 0...4),
    ]

    /// By springcard/springcore-xmlfiles, `xmls/socket-mobile-s550.xml` 1.31, and SpringCard's chapters of the
    /// configuration. Without those that may hold a secret: of an integrator (0208, 024B, 024C), commands (02CF), anything
    /// (02D9).
    private static let settings: [UInt16: Setting] = [
        0x0200: Setting("Identifier of the configuration", 0...16),
        0x0201: Setting("Inventory number", 0...64),
        0x0202: Setting("Location", 0...64),
        0x0230: Setting(
            "Contactless interface",
            [0x01],
            danger: "without bit 0 it reads no card, and a card is the only way in if the driver passes nothing"
        ),
        0x0231: Setting(
            "Card technologies in PC/SC",
            [0x14, 0xE7],
            danger: "without any it reads no card, and a card is the only way in if the driver passes nothing"
        ),
        0x0232: Setting("Bit rates in PC/SC", [0x00, 0x00]),
        0x0233: Setting("Protocol level in PC/SC", [0x00]),
        0x0234: Setting("Rules of contactless answers to reset", [0x00]),
        0x0237: Setting("Compliance of the radio interface", [0x00]),
        0x0238: Setting("Power of the radio interface", [0x00, 0x00, 0x00]),
        0x0239: Setting("Frame of Enhanced Contactless Polling", 0...20, [0x6A, 0x01, 0x00, 0x00, 0x02]),
        0x023A: Setting("Options of NFC-A", [0x00]),
        0x023B: Setting("Options of NFC-B", [0x00, 0x00]),
        0x023C: Setting("Options of NFC-F", [0x00, 0xFF, 0xFF, 0x01, 0x00, 0x0B, 0x00, 0x09]),
        0x023D: Setting("Options of NFC-V", [0x00, 0x00]),
        0x023E: Setting("Timings of the radio interface", [0x00, 0x00, 0x00, 0x00]),
        0x023F: Setting("Analogue test", [0x00, 0x00, 0x00]),
        0x0240: Setting("Bluetooth power", [0x80]),
        0x0241: Setting("Bluetooth timings", [0x00, 0x06, 0x00, 0x06, 0x00, 0x00, 0x00, 0x64]),
        0x0242: Setting("Bluetooth time limit of registration", [0x1E]),
        0x0243: Setting("Bluetooth extra options", [0x00, 0x85, 0x00]),
        0x0248: Setting("Bluetooth channels", [0x77]),
        0x0249: Setting("Beacon number", [0x00, 0x00, 0x00, 0x00]),
        0x024A: Setting("Beacon identifier", 16...16),
        0x0271: Setting("Main contact slot", [0x83, 0x95]),
        0x0272: Setting("First SAM slot", [0x92, 0x95]),
        0x0273: Setting("Other SAM slots", [0x92, 0x95]),
        0x0279: Setting("Default bytes of answers to reset", [0x00]),
        0x027A: Setting("Timings of T=0", [0x00, 0x00]),
        0x027B: Setting("Timings of T=1", [0x00, 0x00]),
        0x027C: Setting("Options of T=0", [0x00, 0x00]),
        0x027F: Setting("Options of contact slots", [0xC0]),
        0x02A0: Setting("Smart Reader features", [0x00, 0x03, 0x00, 0x02, 0x00]),
        0x02A1: Setting("Smart Reader timings", [0x0A, 0x1E]),
        0x02A6: Setting("Keyboard layout", [0x00]),
        0x02A7: Setting("Keyboard options", [0x22]),
        0x02A8: Setting("Prefix in keyboard mode", 0...8),
        0x02A9: Setting("Suffix in keyboard mode", 0...8, [0x0A]),
        0x02B0: Setting(
            "Slots that are announced",
            [0x00],
            danger: "a slot that is not announced is no reader to PC/SC any more, the contactless one included"
        ),
        0x02B1: Setting("Names and order of slots", [0x00]),
        0x02B2: Setting("Options of the contactless slot", [0x00]),
        0x02BC: Setting(
            "Driver support",
            [0x00],
            danger: "bit 0 hides the reader's interface from pcscd"
        ),
        0x02BE: Setting("CCID timers", [UInt8](repeating: 0, count: 8)),
        0x02BF: Setting(
            "Class of the reader's own commands",
            [0xFF],
            danger: "with another value than FF the reader no longer answers FF commands, so that no card is identified"
        ),
        0x02C0: Setting(
            "Profile",
            [0x00],
            danger:
                "with another profile than 02 (PC/SC) pcscd loses the reader, and only the vendor's tools bring it back"
        ),
        0x02C1: Setting("USB options", [0x00], danger: "bit 7 turns USB off, and bit 3 what the vendor's tools use"),
        0x02C2: Setting("Bluetooth options", [0x20], danger: "bit 7 turns Bluetooth off, which may be the last way in"),
        0x02C4: Setting("Profile additions", [0x00], danger: "it may override the profile"),
        0x02C5: Setting(
            "Battery",
            3...5,
            [0x00, 0x05, 0x78, 0x5A, 0x64],
            danger: "it decides whether the reader starts by itself when power comes, and when it goes off"
        ),
        0x02C6: Setting("Battery storage", [0x00, 0x00, 0x00]),
        0x02CD: Setting("Trace level", [0x00, 0x00, 0x00, 0x00]),
        0x02CE: Setting("Trace options", [0x00]),
        0x02D0: Setting("User interface", [0x00]),
        0x02D1: Setting("Light ramp", [0x00]),
        0x02D2: Setting("Coloured lights", [0x92, 0xA1]),
        0x02D3: Setting("Brightness", [0x64, 0x4B, 0x0A]),
        0x02D7: Setting("Auxiliary lights", [0x00]),
        0x02D8: Setting("Sound", [0x05]),
        0x02DA: Setting("Theme", [0x02, 0x02, 0x03]),
        0x02E0: Setting("Card emulation", [0x00]),
        0x02EB: Setting("Bytes for peer-to-peer", 0...16),
        0x02EC: Setting("Answer to select in emulation", 0...16),
        0x02ED: Setting("Message in emulation", 0...64),
        0x02F0: Setting(
            "Access conditions",
            [0x00, 0x00, 0x00, 0x00],
            danger: "access conditions can lock the settings for good"
        ),
        0x02F1: Setting("Failed authentications", [0x00, 0x00], danger: "a low limit locks the reader soon"),
        0x02F2: Setting(
            "Master cards",
            [0x00],
            danger: "it can shut out the master cards that would mend the settings"
        ),
    ]

    /// The profile, 02C0.
    public static let profile = ReaderRegister(0x02C0)
    /// The volume that stays, 02D8.
    public static let sound = ReaderRegister(0x02D8)
    /// The theme that stays, 02DA.
    public static let theme = ReaderRegister(0x02DA)
}

extension ReaderRegister: CustomStringConvertible {
    /// The address and the name, as `02D8 (Sound)`.
    public var description: String { "\(hex) (\(name))" }

    /// The address in four digits.
    public var hex: String { address.bigEndianPair.hex }
}

extension ReaderRegister: Comparable {
    /// By address.
    public static func < (one: ReaderRegister, other: ReaderRegister) -> Bool { one.address < other.address }
}
