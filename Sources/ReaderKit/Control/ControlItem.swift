/// An item of a reader's description, by the identifier that GET DATA takes.
public enum ControlItem: UInt8, Sendable, Hashable, CaseIterable {
    /// Vendor and product.
    case deviceName = 0x00
    /// The vendor.
    case vendor = 0x01
    /// The product.
    case product = 0x02
    /// The serial number.
    case serial = 0x03
    /// The vendor's and the product's USB numbers.
    case usbIdentifier = 0x04
    /// The product's version.
    case version = 0x05
    /// The firmware's revision.
    case firmwareRevision = 0x06
    /// The firmware: `springcore/h518/s550`.
    case firmware = 0x07
    /// Who built the firmware.
    case builder = 0x08
    /// When the firmware was built.
    case buildDate = 0x09
    /// The Ethernet address.
    case ethernetAddress = 0x0A
    /// The Bluetooth address.
    case bluetoothAddress = 0x0B
    /// The Bluetooth name.
    case bluetoothName = 0x0C
    /// The unique identifier of the device.
    case uniqueIdentifier = 0x0D
    /// The identifier of the configuration (register 0200).
    case configurationIdentifier = 0x0E
    /// The hardware (register 0108).
    case hardware = 0x0F
    /// The version of the NFC library.
    case nfcLibrary = 0x10
    /// The version of the smart-card library.
    case smartCardLibrary = 0x11
    /// The version of the Bluetooth library.
    case bluetoothLibrary = 0x12
    /// The version of the network library.
    case networkLibrary = 0x13
    /// The version of the kernel.
    case kernelVersion = 0x17
    /// The name of the network stack.
    case networkStack = 0x1B
    /// The name of the kernel.
    case kernel = 0x1F
    /// The firmware of the antenna board.
    case antennaFirmware = 0x20
    /// The hardware version of the antenna board.
    case antennaHardware = 0x21
    /// The configuration of the antenna board.
    case antennaConfiguration = 0x22
    /// The sequences of the antenna board.
    case antennaSequences = 0x23
    /// The NFC chip.
    case nfcChip = 0x30
    /// The version of the NFC chip.
    case nfcChipVersion = 0x31
    /// The smart-card chip.
    case smartCardChip = 0x32
    /// The Bluetooth chip.
    case bluetoothChip = 0x34
    /// The number of slots, one byte.
    case rawSlotCount = 0x80
    /// The serial number in bytes.
    case rawSerial = 0x83
    /// The USB numbers of vendor and product in bytes.
    case rawUSBIdentifier = 0x84
    /// The version in bytes.
    case rawVersion = 0x85
    /// The battery's state (``ReaderBattery``), as SpringCard's chapter GET BATTERY DATA numbers it; no S550 confirmed it yet.
    case battery = 0xBC

    /// Whether the value is text; else bytes.
    public var isText: Bool { rawValue < 0x80 }

    /// Whether the value distinguishes this device from all others.
    public var isUnique: Bool {
        switch self {
        case .serial, .ethernetAddress, .bluetoothAddress, .bluetoothName, .uniqueIdentifier, .rawSerial: true
        default: false
        }
    }

    /// The item's name in JSON.
    public var name: String { "\(self)" }
}

/// What a reader reports of itself.
public struct ReaderIdentity: Sendable, Hashable {
    /// The items that the reader has.
    public var items: [ControlItem: [UInt8]]

    /// The names of its slots, in their order.
    public var slots: [String]

    /// The profile in which it starts (register 02C0); `nil` if the register is undefined, or may not be read.
    public var profile: ReaderProfile?

    /// The firmware version of the antenna board, as it reports it itself (S550, S370).
    public var antennaFirmware: String?

    /// The item as text: its characters, or hexadecimal for bytes and for what is not printable. `nil` if it is absent.
    public func text(_ item: ControlItem) -> String? { items[item].map { item.isText ? Self.text($0) : $0.hex } }

    static func text(_ bytes: [UInt8]) -> String {
        let bytes = bytes.last == 0 ? bytes.dropLast() : bytes[...]
        return bytes.allSatisfy { (0x20...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : bytes.hex
    }

    /// Whether the reader is a Socket Mobile S550 by its firmware.
    public var isS550: Bool { text(.firmware)?.lowercased().hasPrefix("springcore/h518/s550") ?? false }

    /// The year in which the firmware was built, if the reader reports it.
    var buildYear: Int? {
        guard let text = text(.buildDate) else { return nil }
        return text.split { !$0.isNumber }.lazy.compactMap { Int($0.prefix(4)) }.first { (2015..<2100).contains($0) }
    }
}

/// How a SpringCore reader appears to a computer: bits 2 to 0 of register 02C0.
public enum ReaderProfile: UInt8, Sendable, Hashable, CaseIterable {
    /// SpringCore Direct, for vendor tools.
    case direct = 0
    /// SpringProx, a serial line of an older protocol.
    case springProx = 1
    /// A reader for PC/SC, as this package requires it.
    case pcsc = 2
    /// A keyboard.
    case keyboard = 3
    /// A Smart Reader on a serial line.
    case smartReader = 4
    /// ST's protocol for UHF readers, on a serial line.
    case stUHF = 5
    /// A disk.
    case massStorage = 6
    /// NXP's NFC Cockpit, on a serial line.
    case nfcCockpit = 7

    /// The profile that a value of register 02C0 chooses; `nil` if the register is undefined or was not read.
    public init?(register value: [UInt8]?) {
        guard let first = value?.first else { return nil }
        self.init(rawValue: first & 0x07)
    }

    /// The profile's name in JSON and on command lines.
    public var name: String { "\(self)" }
}

/// The state of a reader's battery.
public struct ReaderBattery: Sendable, Hashable {
    /// The charge in percent, 0 to 100.
    public var percent: Int
    /// The voltage in volts.
    public var volts: Double
    /// The temperature in degrees Celsius.
    public var celsius: Double
    /// The accumulator, a raw value that grows with use.
    public var accumulator: UInt16
    /// The current, a raw value; discharging if negative.
    public var current: Int16

    /// Whether the cell counts as new.
    public var isNew: Bool { accumulator < 0x8000 }

    /// Reads the nine bytes of GET DATA. `nil` if they cannot be a battery's state: another length, more than 100 %, less
    /// than 2 V or more than 6 V, a temperature outside -40 to 100 °C.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 9 else { return nil }
        func word(_ index: Int) -> UInt16 { UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]) }
        percent = Int(bytes[0])
        volts = Double(word(1)) / 100
        celsius = Double(Int16(bitPattern: word(3))) / 100
        accumulator = word(5)
        current = Int16(bitPattern: word(7))
        guard percent <= 100, (2...6).contains(volts), (-40...100).contains(celsius) else { return nil }
    }
}
