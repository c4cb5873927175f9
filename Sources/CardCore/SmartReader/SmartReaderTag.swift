/// One tag as a reader in Smart Reader mode reports it.
public struct SmartReaderTag: Sendable, Hashable {
    /// The reader's interface: a number in two hexadecimal digits, or a name such as `13.56`.
    public var interface: String?

    /// The radio protocol: a number in two hexadecimal digits, or a name such as `NFC-A`.
    public var radioProtocol: String?

    /// Which of its templates the reader used. 1 to 4 are templates as numbered in the reader, which mean nothing
    /// by themselves; from 0x13 on it is what a template looks for (register 03t0), where somebody has put that in the
    /// number's place (``SmartReaderConfiguration/templates``). 0 is none, or that of Bluetooth.
    public var template: UInt8?

    /// The strength of the signal as the reader reports it; `nil` if absent.
    public var rssi: Int?

    /// The identifier of the tag, or what the template made of it: mostly hexadecimal.
    public var id: String

    /// Whether the tag came or went; `nil` if the reader does not follow that.
    public var move: Move?

    /// What the template read, as text or in hexadecimal.
    public var data: String?

    /// Particulars of the tag or its data.
    public var details: String?

    /// The reader's clock, as it writes it. Only JSON has it.
    public var uptime: String?

    /// What a tag did.
    public enum Move: String, Sendable, Hashable, CaseIterable {
        /// It came.
        case insert = "I"
        /// It went.
        case remove = "R"
        /// It came and went.
        case insertAndRemove = "IR"
    }

    /// A tag as a reader reports it.
    public init(
        interface: String? = nil,
        radioProtocol: String? = nil,
        template: UInt8? = nil,
        rssi: Int? = nil,
        id: String,
        move: Move? = nil,
        data: String? = nil,
        details: String? = nil,
        uptime: String? = nil
    ) {
        self.interface = interface
        self.radioProtocol = radioProtocol
        self.template = template
        self.rssi = rssi
        self.id = id
        self.move = move
        self.data = data
        self.details = details
        self.uptime = uptime
    }
}

extension SmartReaderTag: Redacted {
    /// The template and the move. What identifies a person is left out.
    public var description: String {
        let template = template.map { " by template \(Hex.encode([$0]))" } ?? ""
        return "tag\(template)\(move.map { " (\($0))" } ?? "")"
    }
}

extension SmartReaderTag {
    /// The radio technology that the protocol identifies, as far as it is known.
    ///
    /// Of the numbers only those of types A and B are sure. 04 stands for ISO 15693 elsewhere in the reader's
    /// configuration, so it counts where the identifier looks like one.
    public var technology: Technology? {
        guard let radioProtocol else { return nil }
        if let known = Self.protocols.first(where: { $0.name == radioProtocol || $0.number == radioProtocol }) {
            guard known.technology == .iso15693, radioProtocol == known.number else { return known.technology }
            let bytes = identifierBytes
            return bytes?.count == 8 && (bytes?.first == 0xE0 || bytes?.last == 0xE0) ? .iso15693 : nil
        }
        return switch radioProtocol {
        case "NFC-T1T": .iso14443a
        case "ST-SR": .iso14443b
        case "NFC-F": .felica
        default: nil
        }
    }

    /// The identifier's bytes, if it is hexadecimal and not longer than ``SmartReaderLimits/identifierLength``.
    public var identifierBytes: [UInt8]? {
        guard let bytes = try? Hex.decode(id), (1...SmartReaderLimits.identifierLength).contains(bytes.count)
        else { return nil }
        return bytes
    }

    /// The protocols that have both a name and a number.
    static let protocols: [(name: String, number: String, technology: Technology)] = [
        ("NFC-A", "01", .iso14443a), ("NFC-B", "02", .iso14443b), ("NFC-V", "04", .iso15693),
    ]
}
