import CardCore
import ReaderKitTesting
import Testing

@testable import ReaderKit

@Suite struct ReaderSettingsTests {
    private static func control(_ s550: SimulatedS550) throws -> ReaderControl {
        let name = "SpringCard H518 [CCID] (000A1B2C) 00 00"
        let backend = SimulatedBackend(readers: [name], reader: SimulatedReader(control: s550))
        return try ReaderControl(ReaderInfo(name: name, backend: .simulated), of: backend)
    }

    @Test func roundTrip() async throws {
        let registers: [UInt16: [UInt8]] = [
            0x02C0: [0x02], 0x02D8: [0x03], 0x0310: [0xD1], 0x0312: [0x41, 0x42],
            0x0318: [UInt8](repeating: 7, count: 32),
        ]
        let settings = try await Self.control(SimulatedS550(registers: registers)).settings()
        #expect(settings.firmware == "springcore/h518/s550")
        #expect(settings.values.count == ReaderRegister.readable.count)
        #expect(settings.text.hasPrefix("settings 1\nfirmware: springcore/h518/s550\n0200 -  # Identifier"))
        #expect(settings.text.contains("\n02D8 03  # Sound\n") && settings.text.contains("\n0312 4142  # Template 1"))
        #expect(!settings.text.contains("0318"))
        #expect(try ReaderSettings(parsing: Array(settings.text.utf8)) == settings)
    }

    @Test func restore() async throws {
        let wanted = try await Self.control(SimulatedS550(registers: [0x02C0: [0x02], 0x02D8: [0x03], 0x02D0: [0x01]]))
            .settings()
        let other = SimulatedS550(registers: [0x02C0: [0x02], 0x02D8: [0x01], 0x0310: [0xD1]])
        let control = try Self.control(other)
        let differences = try await control.differences(from: wanted)
        #expect(differences.map(\.register.hex) == ["02D0", "02D8", "0310"])
        #expect(differences.map(\.wanted) == [[0x01], [0x03], []])
        #expect(differences.map(\.present) == [[], [0x01], [0xD1]])
        #expect(try await control.restore(wanted) == differences)
        #expect(other[0x02D8] == [0x03] && other[0x0310] == nil && other[0x02D0] == [0x01])
        #expect(try await control.restore(wanted) == [])
    }

    /// What may lock the reader out is written last, and without confirmation nothing is.
    @Test func dangerous() async throws {
        let wanted = ReaderSettings(values: [.profile: [0x04], .sound: [0x01], .theme: [1, 1, 1]])
        let s550 = SimulatedS550()
        let control = try Self.control(s550)
        let error = await #expect(throws: ControlError.self) { try await control.restore(wanted) }
        #expect(error?.code == "unconfirmed" && s550[0x02D8] == nil)
        #expect(try await control.restore(wanted, confirmed: true).map(\.register.hex) == ["02D8", "02DA", "02C0"])
        #expect(s550[0x02C0] == [0x04])
    }

    /// A reader that leaves midway has what was written, and the same call writes the rest.
    @Test func interrupted() async throws {
        let wanted = ReaderSettings(values: [.profile: [0x04], .sound: [0x01], .theme: [1, 1, 1]])
        let s550 = SimulatedS550()
        let control = try Self.control(s550)
        var written: [String] = []
        await #expect(throws: ReaderError.self) {
            try await control.restore(wanted, confirmed: true) { differences in
                #expect(differences.map(\.register.hex) == ["02C0", "02D8", "02DA"] && s550[0x02D8] == nil)
            } written: { difference in
                written.append(difference.register.hex)
                if written.count == 2 { s550.turnOff() }
            }
        }
        #expect(written == ["02D8", "02DA"] && s550[0x02C0] == [0x02])
        s550.turnOn()
        #expect(try await control.restore(wanted, confirmed: true).map(\.register.hex) == ["02C0"])
    }

    /// Settings of another kind of reader are written only if that is confirmed.
    @Test func otherFirmware() async throws {
        let s550 = SimulatedS550()
        let control = try Self.control(s550)
        let wanted = ReaderSettings(firmware: "springcore/h518/puck", values: [.sound: [0x01]])
        await #expect(throws: ControlError.otherFirmware) { try await control.restore(wanted) }
        #expect(s550[0x02D8] == nil)
        #expect(try await control.restore(wanted, confirmed: true).count == 1)
        // Nothing differs, so nothing is asked.
        #expect(try await control.restore(wanted).isEmpty)
    }

    /// A value of another length than documented is left out, so that the file can be restored.
    @Test func otherLengths() async throws {
        let registers: [UInt16: [UInt8]] = [
            0x02D8: [0x03, 0x04], 0x02D0: [0x01], 0x0312: [UInt8](repeating: 7, count: 9),
        ]
        let settings = try await Self.control(SimulatedS550(registers: registers)).settings()
        #expect(settings.values[.sound] == nil && settings.values[ReaderRegister(0x0312)] == nil)
        #expect(settings.values.count == ReaderRegister.readable.count - 2)
        #expect(try ReaderSettings(parsing: Array(settings.text.utf8)) == settings)
    }

    /// Whoever makes settings cannot bring a key into them.
    @Test func withoutKeys() {
        let keys: [UInt16] = [0x02F4, 0x0318, 0x02CF, 0x0108]
        let values = Dictionary(uniqueKeysWithValues: keys.map { (ReaderRegister($0), [UInt8(0xA5)]) })
        #expect(ReaderSettings(values: values).values.isEmpty)
    }

    /// A register that is undefined has its default.
    @Test func defaults() {
        let (register, other) = (ReaderRegister.sound, ReaderRegister(0x0312))
        func differ(_ wanted: [ReaderRegister: [UInt8]], _ present: [ReaderRegister: [UInt8]]) -> Int {
            ReaderSettings(values: wanted).differences(from: ReaderSettings(values: present)).count
        }
        #expect(differ([register: []], [register: [0x05]]) == 0 && differ([register: [0x05]], [register: []]) == 0)
        #expect(differ([register: []], [register: [0x04]]) == 1 && differ([register: [0x04]], [register: []]) == 1)
        #expect(differ([other: []], [other: []]) == 0 && differ([other: []], [other: [0x41]]) == 1)
        #expect(differ([register: [0x05]], [:]) == 1 && differ([:], [register: [0x05]]) == 0)
    }

    private static let malformed: [(file: String, line: Int, message: String)] = [
        ("", 1, "begins with"), ("settings 2\n", 1, "begins with"), ("# only\n02D8 03\n", 2, "begins with"),
        ("settings 1\n2D8 03", 2, "four hexadecimal digits"), ("settings 1\n02D803", 2, "four hexadecimal digits"),
        ("settings 1\n02D8", 2, "four hexadecimal digits"), ("settings 1\n\n02D8 0304", 3, "no value of 2 bytes"),
        ("settings 1\n02D8 3", 2, "not hexadecimal"), ("settings 1\n02D8 xx", 2, "not hexadecimal"),
        ("settings 1\n02D8 03\n02d8 04", 3, "stands here again"),
        ("settings 1\n02F4 A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5", 2, "holds a key"),
        ("settings 1\n0318 A5A5", 2, "holds a key"),
        ("settings 1\n02CF 00", 2, "holds a key"), ("settings 1\n0108 00", 2, "cannot be changed"),
        ("settings 1\nfirmware: a\nfirmware: b", 3, "four hexadecimal digits"),
    ]

    @Test(arguments: malformed.indices) func malformedFile(_ index: Int) {
        let (file, line, message) = Self.malformed[index]
        let error = #expect(throws: SettingsError.self) { try ReaderSettings(parsing: Array(file.utf8)) }
        #expect(error?.line == line)
        #expect(error?.message.contains(message) == true)
        #expect(error?.description.contains("A5A5") == false)
    }

    @Test func limits() {
        #expect(throws: SettingsError.self) {
            try ReaderSettings(parsing: [UInt8](repeating: 0x0A, count: ReaderSettings.longest + 1))
        }
        #expect(throws: SettingsError.self) { try ReaderSettings(parsing: [0xFF, 0xFE]) }
    }

    @Test func comments() throws {
        let file = "# mine\n\n settings 1 # begin\r\n  firmware: x y  \r\n02da 01 02 03 # theme\r\n02D8 -"
        let settings = try ReaderSettings(parsing: Array(file.utf8))
        #expect(settings.firmware == "x y" && settings.values == [.theme: [1, 2, 3], .sound: []])
    }

    /// Bytes at random never trap, and what is read is never a key.
    @Test func randomFiles() {
        var numbers = SeededNumbers(seed: 550)
        let letters = Array("settings 1\n02DF8 3A-#:x".utf8)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...60, using: &numbers)
            let body = (0..<count).map { _ in letters.randomElement(using: &numbers) ?? 0 }
            let settings = try? ReaderSettings(parsing: Array("settings 1\n".utf8) + body)
            #expect(settings?.values.keys.allSatisfy { !$0.holdsKeys } ?? true)
        }
    }
}
