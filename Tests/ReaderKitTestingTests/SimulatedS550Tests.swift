import ReaderKit
import ReaderKitTesting
import Testing

/// What the simulated reader answers itself, byte by byte.
@Suite struct SimulatedS550Tests {
    private static let answers: [(command: String, answer: String?)] = [
        ("582007", "00737072696E67636F72652F683531382F73353530"), ("582080", "0002"), ("58207F", "17"), ("5820", "0C"),
        ("582100", "00436F6E746163746C657373"), ("582102", "0D"), ("588102C0", "0002"), ("588102D8", "00"),
        ("588102", "0C"), ("588202D803", "00"), ("58820108AA", "16"), ("58880000", "00322E3033"),
        ("588800010024", "00"),
        ("5888000124", "0C"), ("5888010005", "00"), ("5888010006", "0D"), ("5888020007020203", "00"),
        ("58887777", "17"),
        ("588E", "00"), ("588EDEAD", "00"), ("588EFADA", "17"), ("588F", "00"), ("589024", "00"), ("5891FF8000", "00"),
        ("589104", "00"), ("589201020304", "00"), ("58920102030405", "0C"), ("5893012C", "00"), ("589F", "00"),
        ("581E010101", "17"), ("581C0064", "17"), ("5AFF", "17"), ("58", "17"), ("", "17"), ("58AFDEAD", nil),
    ]

    @Test(arguments: answers.indices) func escape(_ index: Int) throws {
        let (command, answer) = Self.answers[index]
        let s550 = SimulatedS550()
        #expect(s550.receive(escape: try Hex.decode(command))?.hex == answer)
        #expect(s550.isOff == (answer == nil))
    }

    private static let forms: [(form: SimulatedS550.Form, command: String, answer: String)] = [
        (.instruction, "FFF000580220000000", "6700"), (.instruction, "FFF00058028102", "900C"),
        (.instruction, "FFF0005803810" + "2C000", "029000"), (.instruction, "FFF000580220" + "7F00", "9017"),
        (.instruction, "FFF058200100", "6B00"), (.instruction, "FFF00058", "6700"), (.instruction, "FFF000", "6700"),
        (.class, "FFF0588102" + "02C0", "029000"), (.class, "FFF058" + "9F", "9000"), (.class, "FFF05820017F", "9017"),
        (.class, "FFF00058022000" + "00", "9017"), (.class, "FFF05820022000FF00", "6700"),
    ]

    @Test(arguments: forms.indices) func apdu(_ index: Int) throws {
        let (form, command, answer) = Self.forms[index]
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0x00, 0x00]))
        card.powerOn()
        let reader = SimulatedReader(control: SimulatedS550(form: form))
        #expect(reader.transmit(try Hex.decode(command), to: card)?.hex == answer)
        // The card is still a card.
        #expect(reader.transmit([0xFF, 0xCA, 0x00, 0x00, 0x00], to: card)?.suffix(2) == [0x90, 0x00])
        #expect(
            SimulatedReader().transmit(try Hex.decode(command), to: card)?.hex == (command.count < 8 ? "6700" : "6D00")
        )
    }

    @Test func settingsAreInForceAfterAReset() throws {
        let s550 = SimulatedS550()
        _ = s550.receive(escape: [0x58, 0x82, 0x02, 0xF0, 0x00, 0x30, 0x00, 0x00])
        #expect(s550.receive(escape: [0x58, 0x81, 0x02, 0xD8]) == [0x00])
        _ = s550.receive(escape: [0x58, 0x8E])
        #expect(s550.receive(escape: [0x58, 0x81, 0x02, 0xD8]) == [0x16])
        #expect(s550.receive(escape: [0x58, 0x82, 0x02, 0xF0]) == [0x16])
        _ = s550.receive(escape: [0x58, 0xAF, 0xDE, 0xAD])
        #expect(s550.receive(escape: [0x58, 0x9F]) == nil)
        s550.turnOn()
        #expect(s550.receive(escape: [0x58, 0x9F]) == [0x00])
    }
}
