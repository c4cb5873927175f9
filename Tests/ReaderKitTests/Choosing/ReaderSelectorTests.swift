import Captures
import CardCore
import Foundation
import Testing

@testable import ReaderKit

@Suite("Which readers are meant")
struct ReaderSelectorTests {
    private static let pcsc = ReaderInfo(
        name: "SpringCard H518 [CCID] (000A1B2C) 00 00",
        backend: .pcsc,
        serial: "000A1B2C"
    )
    private static let nfc = ReaderInfo(name: "pn532_uart:/dev/ttyUSB0", backend: .nfc)
    private static let line = ReaderInfo(name: "/dev/ttyACM0", backend: .smartReader)
    private static let recorded = ReaderInfo(recordedName: "SpringCard H518")

    @Test(
        "What a person writes, and what it means",
        arguments: [
            ("SpringCard", .named("SpringCard"), [pcsc, recorded]),
            ("springcard h518 [", .named("springcard h518 ["), [pcsc]),
            ("000A1B2C", .named("000A1B2C"), [pcsc]),
            ("000a1b2c", .named("000a1b2c"), []),
            ("pn532_uart:/dev/ttyUSB0", .named("pn532_uart:/dev/ttyUSB0"), [nfc]),
            ("pcsc:", .pcsc(name: nil), [pcsc]),
            ("PCSC:Spring", .pcsc(name: "Spring"), [pcsc]),
            ("pcsc:000A1B2C", .pcsc(name: "000A1B2C"), [pcsc]),
            ("pcsc:Other", .pcsc(name: "Other"), []),
            ("nfc:", .nfc(connection: nil), [nfc]),
            ("nfc:pn532_uart:/dev/ttyUSB0", .nfc(connection: "pn532_uart:/dev/ttyUSB0"), [nfc]),
            ("nfc:pn532_uart:/dev/ttyUSB", .nfc(connection: "pn532_uart:/dev/ttyUSB"), []),
            ("smart-reader:", .smartReader(path: nil), [line]),
            ("smart-reader:/dev/ttyACM0", .smartReader(path: "/dev/ttyACM0"), [line]),
            ("smart-reader:/dev/ttyACM1", .smartReader(path: "/dev/ttyACM1"), []),
            ("replay:day.capture", .replay(path: "day.capture"), [recorded]),
            // A star is any part of a name.
            ("*h518*", .named("*h518*"), [pcsc, recorded]), ("pcsc:*[CCID]*", .pcsc(name: "*[CCID]*"), [pcsc]),
            ("SpringCard*00", .named("SpringCard*00"), [pcsc]),
            ("*SpringCard H518", .named("*SpringCard H518"), [recorded]),
            ("*", .named("*"), [pcsc, nfc, line, recorded]), ("*00*00*00*00", .named("*00*00*00*00"), []),
            ("pcsc:*PICC*", .pcsc(name: "*PICC*"), []),
            // What is left out, and what chooses cards.
            ("not:*H518*", .not(.named("*H518*")), [nfc, line]),
            ("not:pcsc:", .not(.pcsc(name: nil)), [nfc, line, recorded]),
            ("NOT:000A1B2C", .not(.named("000A1B2C")), [nfc, line, recorded]),
            ("technology:felica", .technology(.felica), [pcsc, nfc, line, recorded]),
            ("Technology:ISO14443A", .technology(.iso14443a), [pcsc, nfc, line, recorded]),
        ] as [(String, ReaderSelector, [ReaderInfo])]
    )
    func meaning(_ text: String, _ selector: ReaderSelector, _ readers: [ReaderInfo]) throws {
        #expect(ReaderSelector(text) == selector)
        #expect([Self.pcsc, Self.nfc, Self.line, Self.recorded].filter(selector.matches) == readers)
        // The ways are written in small letters.
        #expect(ReaderSelector(selector.description) == selector)
    }

    @Test(
        "What names nothing",
        arguments: [
            "", "replay:", "Replay:", "not:", "not:replay:a", "not:not:a", "not:technology:felica", "technology:",
            "technology:contact",
        ]
    )
    func nothing(_ text: String) {
        #expect(ReaderSelector(text) == nil)
    }

    @Test("Without a choice every reader is meant; with several, those that one of them means")
    func several() {
        let all = [Self.pcsc, Self.nfc, Self.line]
        #expect(all.filter(ReaderSelection().matches) == all)
        let two = ReaderSelection([.nfc(connection: nil), .smartReader(path: "/dev/ttyACM0")])
        #expect(all.filter(two.matches) == [Self.nfc, Self.line])
        // What is left out is left out of all, or of those that are named; cards choose no reader.
        let picc = ReaderInfo(name: "ACS Dual [PICC] 00 00", backend: .pcsc)
        let sam = ReaderInfo(name: "ACS Dual [SAM] 00 01", backend: .pcsc)
        func meant(_ selectors: [ReaderSelector]) -> [ReaderInfo] {
            (all + [picc, sam]).filter(ReaderSelection(selectors).matches)
        }
        let noSAM = ReaderSelector.not(.named("*SAM*"))
        #expect(meant([noSAM]) == all + [picc])
        #expect(meant([.named("ACS"), noSAM]) == [picc])
        #expect(meant([noSAM, .not(.nfc(connection: nil)), .technology(.felica)]) == [Self.pcsc, Self.line, picc])
        #expect(meant([.technology(.felica)]) == all + [picc, sam])
        let chosen = ReaderSelection([.technology(.felica), .technology(.iso15693), noSAM])
        #expect(chosen.technologies == [.felica, .iso15693] && chosen.named.isEmpty)
    }

    @Test("The backend that is made serves the ways that are meant, and no other")
    func backends() throws {
        func kinds(_ selectors: ReaderSelector...) throws -> [BackendKind] {
            let backend = try ReaderSelection(selectors).makeBackend()
            return (backend as? CombinedBackend)?.parts.map(\.kind) ?? [backend.kind]
        }
        #if PCSC && NFC
        #expect(try kinds() == [.pcsc, .nfc, .smartReader])
        // What is opened is taken from other programs, so a name opens only what it can mean. Lines that come later may
        // have any serial number; one that is not meant is not opened.
        #expect(try kinds(.named("SpringCard")) == [.pcsc, .smartReader])
        #expect(try kinds(.named("pn532_uart:")) == [.pcsc, .nfc, .smartReader])
        #expect(try kinds(.named("a")) == [.pcsc, .nfc, .smartReader])
        #expect(try kinds(.named("*PICC*")) == [.pcsc, .smartReader])
        #expect(try kinds(.named("*pn532*")) == [.pcsc, .nfc, .smartReader])
        #expect(try kinds(.pcsc(name: nil)) == [.pcsc])
        #expect(try kinds(.nfc(connection: nil)) == [.nfc])
        #expect(try kinds(.nfc(connection: "pn532_uart:/dev/a"), .nfc(connection: "pn532_uart:/dev/b")) == [.nfc])
        #expect(try kinds(.smartReader(path: "/dev/a"), .pcsc(name: "A")) == [.pcsc, .smartReader])
        #expect(try kinds(.not(.named("*SAM*")), .technology(.felica)) == [.pcsc, .nfc, .smartReader])
        #expect(try kinds(.not(.nfc(connection: nil)), .not(.smartReader(path: nil))) == [.pcsc])
        #endif
    }

    @Test("A recording is replayed by itself")
    func recordings() throws {
        #expect(try ReaderSelection([.named("A")]).recordings() == nil)
        #expect(try ReaderSelection([.replay(path: "a"), .replay(path: "b")]).recordings() == ["a", "b"])
        let mixed = ReaderSelection([.replay(path: "a"), .pcsc(name: nil)])
        let error = #expect(throws: ReaderError.self) { try mixed.recordings() }
        #expect(error?.kind == .unsupported)
        #expect(throws: ReaderError.self) { try mixed.makeBackend() }
        #expect(throws: CaptureFileError.self) {
            try ReaderSelection([.replay(path: "/nowhere.capture")]).makeBackend()
        }
    }

    @Test("How Smart Readers are set goes with the choice")
    func settings() throws {
        let settings = SmartReaderConfiguration(
            sources: [.standardInput],
            speed: 9_600,
            format: .mk1,
            templates: [1: 0xD1]
        )
        let selection = ReaderSelection([.smartReader(path: "/dev/a")], smartReaders: settings)
        let backend = try #require(try selection.makeBackend() as? SmartReaderBackend)
        var expected = settings
        expected.sources = [.serial("/dev/a")]
        #expect(backend.configuration == expected)
        #expect(
            try #require(ReaderSelection([.smartReader(path: nil)]).makeBackend() as? SmartReaderBackend)
                .configuration.folder == .standard
        )
    }
}
