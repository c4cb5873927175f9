import CardCore
import Testing

@testable import ReaderKit

/// The tables of what readers are told and what they answer: bytes and meaning.
@Suite struct ControlTablesTests {
    // MARK: Commands

    private static let commands: [(command: ControlCommand, bytes: String, description: String)] = [
        (.getData(0x00), "582000", "GET DATA"),
        (.getData(0xBC), "5820BC", "GET DATA"),
        (.slotName(1), "582101", "GET SLOT NAME"),
        (.readRegister(0x02D8), "588102D8", "READ REGISTER 02D8"),
        (.writeRegister(0x02D8, [0x03]), "588202D803", "WRITE REGISTER 02D8"),
        (.writeRegister(0x02D8, []), "588202D8", "WRITE REGISTER 02D8"),
        (
            .writeRegister(0x02F4, [UInt8](repeating: 0xA5, count: 16)), "588202F4" + "A5".repeated(16),
            "WRITE REGISTER 02F4"
        ),
        (.reset(), "588E", "RESET"),
        (.reset(.hard), "588EDEAD", "RESET"),
        (.shutdown, "58AFDEAD", "SHUTDOWN"),
        (.wink, "589F", "WINK"),
        (.play(0x24), "589024", "PLAY SEQUENCE"),
        (.buzz(milliseconds: 300), "5893012C", "SET BUZZER"),
        (.antennaFirmware, "58880000", "PRODUCT SPECIFIC"),
        (.playOnAntenna(0x24, bytes: 1), "5888000124", "PRODUCT SPECIFIC"),
        (.playOnAntenna(0x0124, bytes: 2), "588800010124", "PRODUCT SPECIFIC"),
        (.volume(5), "5888010005", "PRODUCT SPECIFIC"),
        (.theme(ReaderTheme(common: 2, cards: 2, barcodes: 3)), "5888020007020203", "PRODUCT SPECIFIC"),
    ]

    @Test(arguments: commands.indices) func command(_ index: Int) {
        let (command, bytes, description) = Self.commands[index]
        #expect(command.bytes.hex == bytes)
        #expect("\(command)" == description)
    }

    @Test func instructions() {
        let names = (UInt8.min...UInt8.max).map { ControlInstruction(rawValue: $0).name }
        #expect(Set(names).count == 256 && names.count { !$0.hasPrefix("unknown instruction ") } == 48)
        #expect(names[0x77] == "unknown instruction 77")
        let expected: [UInt8: String] = [
            0x20: "GET DATA", 0x81: "READ REGISTER", 0x82: "WRITE REGISTER", 0x8E: "RESET", 0x90: "PLAY SEQUENCE",
            0x91: "SET LED RGB", 0x92: "SET LEDS", 0x93: "SET BUZZER", 0x9F: "WINK", 0xAF: "SHUTDOWN",
        ]
        for (code, name) in expected { #expect(ControlInstruction(rawValue: code).name == name) }
    }

    // MARK: Ways

    /// One command in each way, and what comes back.
    @Test func ways() {
        let message = ControlMessage.control(.getData(0x00))
        let wink = ControlMessage.control(.wink)
        let expected: [ControlWay: (String, String)] = [
            .escape: ("582000", "589F"), .controlInstruction: ("FFF0005802200000", "FFF00058019F00"),
            .controlClass: ("FFF058200100", "FFF0589F"), .controlLegacy: ("FFF00000022000", "FFF00000019F"),
            .apdu: ("582000", "589F"),
        ]
        for way in ControlWay.allCases {
            #expect(way.bytes(message).hex == expected[way]?.0, "\(way)")
            #expect(way.bytes(wink).hex == expected[way]?.1, "\(way)")
            #expect(way.needsCard == (way != .escape))
        }
    }

    /// The answer, what is made of it by escape, and through a card.
    private static let answers: [(answer: String, escape: String, card: String)] = [
        ("", "invalidAnswer", "invalidAnswer"),
        ("00", "", "invalidAnswer"),
        ("0041", "41", "refused"),
        ("17", "refused 17", "invalidAnswer"),
        ("419000", "refused 41", "41"),
        ("9000", "refused 90", ""),
        ("9017", "refused 90", "refused 17"),
        ("6F16", "refused 6F", "refused 16"),
        ("6D00", "refused 6D", "refused"),
    ]

    @Test(arguments: answers.indices) func answer(_ index: Int) throws {
        let (answer, escape, card) = Self.answers[index]
        let bytes = try Hex.decode(answer)
        func outcome(_ way: ControlWay) -> String {
            do throws(ControlError) {
                return try way.data(of: bytes, to: .control(.getData(0))).hex
            } catch {
                if case .refused(_, let status) = error { return "refused \([status.rawValue].hex)" }
                return error.code
            }
        }
        #expect(outcome(.escape) == escape)
        for way in [ControlWay.controlInstruction, .controlClass, .controlLegacy] { #expect(outcome(way) == card) }
    }

    // MARK: Status

    @Test func status() {
        let expected: [UInt8: String] = [
            0x00: "OK", 0x16: "access denied", 0x17: "unknown command", 0x1B: "time-out", 0x24: "card command failed",
            0x25: "unknown status", 0xFF: "unknown status",
        ]
        for (code, name) in expected {
            #expect(ControlStatus(rawValue: code).name.lowercased() == name.lowercased(), "\(code)")
        }
        #expect("\(ControlStatus.unknownCommand)".hasSuffix("(17)"))
        for code in UInt8.min...UInt8.max {
            let status = ControlStatus(rawValue: code)
            #expect(!status.name.isEmpty && status.advice.hasSuffix("."))
        }
    }

    @Test func errors() {
        let errors: [(ControlError, String)] = [
            (.escapeDisabled(reader: "R", nil), "escapeDisabled"), (.unknownReader("R"), "unknownReader"),
            (.unsupported("show blue", .acr122), "unsupported"), (.refused("WINK", .unknownCommand), "refused"),
            (.refusedByCard("WINK", .classNotSupported), "refused"), (.invalidAnswer("WINK"), "invalidAnswer"),
            (.holdsKeys(0x02F4), "holdsKeys"), (.notWritable(0x0108), "notWritable"),
            (.outOfRange("could not do so: 7"), "outOfRange"),
            (.unconfirmed(0x02C0, consequence: "so"), "unconfirmed"), (.otherFirmware, "otherFirmware"),
            (.notKept(0x02D8), "notKept"),
        ]
        for (error, code) in errors {
            #expect(error.code == code)
            #expect(!error.message.hasSuffix(".") && error.hint.hasSuffix("."), "\(error)")
        }
        #expect("\(ControlError.escapeDisabled(reader: "R", nil))".contains("ifdDriverOptions"))
    }

    // MARK: Registers

    @Test func registers() {
        let expected: [(UInt16, ReaderRegister.Kind, Int?, String?)] = [
            (0x00FF, .undocumented, nil, nil), (0x0108, .constant, nil, nil), (0x0200, .setting, nil, nil),
            (0x0231, .setting, 2, "14E7"), (0x0239, .setting, nil, "6A01000002"), (0x02B0, .setting, 1, "00"),
            (0x02BF, .setting, 1, "FF"), (0x02C0, .setting, 1, "00"), (0x02C2, .setting, 1, "20"),
            (0x02C5, .setting, nil, "0005785A64"), (0x02CF, .undocumented, nil, nil), (0x02D8, .setting, 1, "05"),
            (0x02DA, .setting, 3, "020203"), (0x02F0, .setting, 4, "00000000"), (0x02F2, .setting, 1, "00"),
            (0x02F3, .key, nil, nil), (0x02F4, .key, nil, nil), (0x02FF, .key, nil, nil),
            (0x0300, .undocumented, nil, nil), (0x0310, .template, nil, nil), (0x0314, .template, nil, nil),
            (0x0315, .key, nil, nil), (0x0318, .key, nil, nil), (0x031B, .key, nil, nil), (0x034F, .key, nil, nil),
            (0x0350, .undocumented, nil, nil), (0x0400, .statistic, nil, nil), (0x0500, .undocumented, nil, nil),
        ]
        for (address, kind, length, initial) in expected {
            let register = ReaderRegister(address)
            #expect(register.kind == kind, "\(register)")
            #expect(register.defaultValue?.hex == initial, "\(register)")
            if let length { #expect(register.lengths == length...length, "\(register)") }
            #expect(register.holdsKeys == (kind == .key || kind == .undocumented))
            #expect(register.isWritable == (kind != .constant && kind != .statistic))
            #expect(!register.name.isEmpty)
        }
    }

    @Test func dangers() {
        let dangerous = ReaderRegister.readable.filter(\.mayLockOut).map(\.hex)
        #expect(
            dangerous == [
                "0230", "0231", "02B0", "02BC", "02BF", "02C0", "02C1", "02C2", "02C4", "02C5", "02F0", "02F1", "02F2",
            ]
        )
        #expect(ReaderRegister(0x02F4).mayLockOut && ReaderRegister(0x02CF).mayLockOut)
        #expect(!ReaderRegister(0x0318).mayLockOut && !ReaderRegister(0x02D8).mayLockOut)
    }

    @Test func readableRegisters() {
        let readable = ReaderRegister.readable
        #expect(readable == readable.sorted() && Set(readable).count == readable.count)
        #expect(
            readable.allSatisfy { !$0.holdsKeys && $0.isWritable && $0.lengths.upperBound <= ReaderRegister.longest }
        )
        #expect(
            readable.allSatisfy { register in register.defaultValue.map { register.lengths.contains($0.count) } ?? true
            }
        )
    }

    @Test func addresses() {
        #expect(ReaderRegister("02d8")?.address == 0x02D8 && ReaderRegister("0x02D8")?.address == 0x02D8)
        for text in ["", "2D8", "002D8", "02DG", "+2D8", "０２Ｄ８", "0x2D8"] {
            #expect(ReaderRegister(text) == nil, "\(text)")
        }
    }

    // MARK: Items

    @Test func items() {
        let expected: [ControlItem: UInt8] = [
            .deviceName: 0x00, .vendor: 0x01, .product: 0x02, .serial: 0x03, .usbIdentifier: 0x04, .version: 0x05,
            .firmwareRevision: 0x06, .firmware: 0x07, .builder: 0x08, .buildDate: 0x09, .ethernetAddress: 0x0A,
            .bluetoothAddress: 0x0B, .bluetoothName: 0x0C, .uniqueIdentifier: 0x0D, .configurationIdentifier: 0x0E,
            .hardware: 0x0F, .nfcLibrary: 0x10, .smartCardLibrary: 0x11, .bluetoothLibrary: 0x12,
            .networkLibrary: 0x13, .kernelVersion: 0x17, .networkStack: 0x1B, .kernel: 0x1F, .antennaFirmware: 0x20,
            .antennaHardware: 0x21, .antennaConfiguration: 0x22, .antennaSequences: 0x23, .nfcChip: 0x30,
            .nfcChipVersion: 0x31, .smartCardChip: 0x32, .bluetoothChip: 0x34, .rawSlotCount: 0x80, .rawSerial: 0x83,
            .rawUSBIdentifier: 0x84, .rawVersion: 0x85, .battery: 0xBC,
        ]
        #expect(Set(ControlItem.allCases) == Set(expected.keys))
        for (item, code) in expected { #expect(item.rawValue == code && item.isText == (code < 0x80)) }
        let unique = ControlItem.allCases.filter(\.isUnique).map(\.rawValue)
        #expect(unique == [0x03, 0x0A, 0x0B, 0x0C, 0x0D, 0x83])
    }

    @Test(arguments: [
        ("530199099212340040", true), ("000190000000000000", true), ("64025801F4FFFF8000", true),
        ("65019909921234004", false), ("650199099212340040", false), ("5300C7099212340040", false),
        ("530259099212340040", false), ("53019909921234004000", false), ("5301992711FFFF0000", false),
        ("530199F05F12340040", false), ("", false),
    ])
    func battery(_ hex: String, isValid: Bool) {
        let battery = (try? Hex.decode(hex)).flatMap { ReaderBattery($0) }
        #expect((battery != nil) == isValid)
    }

    @Test func batteryValues() throws {
        let battery = try #require(ReaderBattery([0x53, 0x01, 0x8E, 0xFF, 0x38, 0x80, 0x00, 0xFF, 0xC0]))
        #expect(battery.percent == 83 && battery.volts == 3.98 && battery.celsius == -2 && battery.current == -64)
        #expect(battery.accumulator == 0x8000 && !battery.isNew)
    }

    // MARK: Dialects

    @Test(arguments: [
        ("SpringCard H518 [CCID] (000A1B2C) 00 00", ControlDialect.springCore),
        ("Socket Mobile S550 00 00", .springCore), ("SpringCard Puck [CCID] 00 00", .springCore),
        ("SpringCard Prox'N'Roll [Prox'N'Roll Contactless] 00 00", .csb6), ("SpringCard CSB6 Basic 00 00", .csb6),
        ("SpringCard H663 Series 00 00", .csb6), ("ACS ACR122U PICC Interface 00 00", .acr122),
        ("ACS ACR1252 Dual Reader 00 00", nil), ("Virtual PCD 00 00", nil), ("", nil),
    ])
    func dialect(_ name: String, expected: ControlDialect?) { #expect(ControlDialect(reader: name) == expected) }

    private static let lights: [(ReaderLight, [ControlDialect: String])] = [
        (.red, [.springCore: "5891FF0000", .csb6: "581E010000", .acr122: "FF00400D0400000000"]),
        (.green, [.springCore: "589100FF00", .csb6: "581E000100", .acr122: "FF00400E0400000000"]),
        (.blue, [.springCore: "58910000FF", .csb6: "581E000001"]),
        (.orange, [.springCore: "5891FF6000", .csb6: "581E010100", .acr122: "FF00400F0400000000"]),
        (.white, [.springCore: "5891FFFFFF", .csb6: "581E010101", .acr122: "FF00400F0400000000"]),
        (.off, [.springCore: "5891000000", .csb6: "581E000000", .acr122: "FF00400C0400000000"]),
        (.automatic, [.springCore: "589021", .csb6: "581E", .acr122: "FF00400C0400000000"]),
        (.pattern(.on), [.springCore: "589101", .csb6: "581E010101", .acr122: "FF00400F0400000000"]),
        (.pattern(.off), [.springCore: "589100", .csb6: "581E000000", .acr122: "FF00400C0400000000"]),
        (.pattern(.slow), [.springCore: "589104", .csb6: "581E020202"]),
        (.pattern(.fast), [.springCore: "589107", .csb6: "581E040404"]),
        (.pattern(.breathing), [.springCore: "58910F", .csb6: "581E050505"]),
        (.ramp([.on, .off]), [.springCore: "58920100", .csb6: "581E0100"]),
        (.ramp([.on, .on, .on, .on]), [.springCore: "589201010101"]),
        (.ramp([.on]), [.springCore: "589201"]),
        (.ramp([]), [:]),
        (.ramp([.on, .on, .on, .on, .on]), [:]),
    ]

    @Test(arguments: lights.indices) func light(_ index: Int) {
        let (light, expected) = Self.lights[index]
        for dialect in ControlDialect.allCases {
            #expect((try? dialect.light(light))?.bytes.hex == expected[dialect], "\(dialect)")
        }
    }

    @Test(arguments: [
        (UInt16(0), "58930000", "581C0000", "FF0040000400000101"),
        (1, "58930001", "581C0001", "FF0040000401000101"),
        (100, "58930064", "581C0064", "FF0040000401000101"), (101, "58930065", "581C0065", "FF0040000402000101"),
        (65_535, "5893FFFF", "581CFFFF", "FF00400004FF000101"),
    ])
    func buzzer(_ milliseconds: UInt16, springCore: String, csb6: String, acr122: String) {
        #expect(ControlDialect.springCore.buzz(milliseconds: milliseconds).bytes.hex == springCore)
        #expect(ControlDialect.csb6.buzz(milliseconds: milliseconds).bytes.hex == csb6)
        #expect(ControlDialect.acr122.buzz(milliseconds: milliseconds).bytes.hex == acr122)
    }

    @Test func patternsAndSequences() {
        #expect((UInt8.min...UInt8.max).count { LightPattern(rawValue: $0).isKnown } == 3 + 8 * 9)
        let patterns: [UInt8: Bool] = [
            0x00: true, 0x01: true, 0x02: true, 0x0A: true, 0x0B: false, 0x0F: true, 0x10: false, 0x14: true,
            0x1F: false, 0x7A: true, 0x82: false, 0xFF: false,
        ]
        for (code, isKnown) in patterns { #expect(LightPattern(rawValue: code).isKnown == isKnown, "\(code)") }
        let sequences: [String: UInt8] = [
            "blackout": 0x00, "noMainboard": 0x01, "noBattery": 0x02, "hardwareError": 0x03, "cancel": 0x05,
            "startup": 0x06, "shutdown": 0x07, "pleaseWait": 0x08, "bootloaderWaiting": 0x09, "upgrading": 0x0A,
            "upgraded": 0x0B, "configurationCleared": 0x0C, "selfTest": 0x0D, "wink": 0x0E, "inactive": 0x20,
            "active": 0x21, "discover": 0x22, "tagPresent": 0x23, "tagRead": 0x24, "failure": 0x25,
        ]
        #expect(ReaderSequence.all.count == sequences.count)
        for (name, code) in sequences {
            #expect(ReaderSequence(name: name)?.rawValue == code && ReaderSequence(rawValue: code).name == name)
        }
        #expect(ReaderSequence(name: "none") == nil && ReaderSequence(rawValue: 0x04).name == nil)
    }

    @Test func profiles() {
        #expect(
            ReaderProfile.allCases.map(\.name) == [
                "direct", "springProx", "pcsc", "keyboard", "smartReader", "stUHF", "massStorage", "nfcCockpit",
            ]
        )
        #expect(ReaderProfile.pcsc.rawValue == 2)
        #expect(ReaderProfile(register: [0x42]) == .pcsc && ReaderProfile(register: [0x00]) == .direct)
        #expect(ReaderProfile(register: []) == nil && ReaderProfile(register: nil) == nil)
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
