import Foundation
import ReaderKit
import ReaderKitTesting
import Synchronization
import TestSupport
import Testing
import ToolSupport

@testable import ReaderCommands

/// Every command of `readerctl s550` in this process, against a simulated S550 behind the functions of libpcsclite.
@Suite(.timeLimit(.minutes(5))) struct S550CommandTests {
    static let reader = "SpringCard H518 [CCID] (000A1B2C) 00 00"

    /// Keys that stand in the reader, and must never come out of it.
    static let plantedKeys: [UInt16: [UInt8]] = [
        0x02F4: [UInt8](repeating: 0xA5, count: 16), 0x02FC: [UInt8](repeating: 0xA6, count: 32),
        0x0315: [UInt8](repeating: 0xA7, count: 32), 0x0328: [UInt8](repeating: 0xA8, count: 32),
        0x034B: [UInt8](repeating: 0xA9, count: 32), 0x02CF: [UInt8](repeating: 0xAB, count: 16),
        0x024C: [UInt8](repeating: 0xAC, count: 16),
    ]

    static func showsKey(_ text: String) -> Bool {
        let text = text.uppercased()
        return plantedKeys.values.contains { text.contains($0.prefix(4).hex) }
    }

    static func s550(_ passesEscape: Bool = true, form: SimulatedS550.Form = .instruction) -> SimulatedS550 {
        var registers = plantedKeys
        registers[0x02C0] = [0x02]
        registers[0x02D8] = [0x03]
        registers[0x0310] = [0xD1]
        return SimulatedS550(passesEscape: passesEscape, form: form, registers: registers)
    }

    struct Outcome {
        var lines: [[String: Any]]
        var text: String
        var error: (any Error)?
        var status: Int32
    }

    /// Runs a command with the reader that is given.
    static func run(
        _ command: any S550Command,
        _ s550: SimulatedS550,
        card: (any SimulatedCard)? = nil
    ) async throws -> Outcome {
        #if PCSC
        let backend = PCSCBackend(library: s550.library(named: reader, card: card))
        let info = ReaderInfo(name: reader, backend: .pcsc, serial: "000A1B2C")
        #else
        let backend = SimulatedBackend(readers: [reader], reader: SimulatedReader(control: s550))
        let info = ReaderInfo(name: reader, backend: .simulated)
        #endif
        let control = try ReaderControl(info, of: backend)
        let printed = Mutex<[String]>([])
        let out = Output(json: true) { line in printed.withLock { $0.append(line) } }
        var failure: (any Error)?
        do {
            try await out.tellingErrors { try await command.perform(control, out) }
        } catch {
            failure = error
        }
        let lines = printed.withLock { $0 }
        return Outcome(
            lines: lines.compactMap(Tool.object),
            text: lines.joined(separator: "\n") + (failure.map { "\n\($0)" } ?? ""),
            error: failure,
            status: failure.map { ToolFailure.exitCode(for: $0).rawValue } ?? 0
        )
    }

    private func card() throws -> any SimulatedCard {
        try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0x00, 0x00]))
    }

    // MARK: Every command

    private static let signals: [(arguments: [String], event: String, actions: [SimulatedS550.Action])] = [
        (["wink"], "winked", [.winked]),
        (["led", "green"], "lit", [.lit([0x00, 0xFF, 0x00])]),
        (["led", "FF8000"], "lit", [.lit([0xFF, 0x80, 0x00])]),
        (["led", "automatic"], "lit", [.played(0x21, onAntenna: false)]),
        (["led", "--pattern", "slow"], "lit", [.lit([0x04])]),
        (["led", "--pattern", "on", "off", "14"], "lit", [.litEach([0x01, 0x00, 0x14])]),
        (["sound"], "sounded", [.buzzed(100)]),
        (["sound", "--milliseconds", "300"], "sounded", [.buzzed(300)]),
        (["sound", "--data", "0102"], "sounded", [.sounded([1, 2])]),
        (["volume", "4"], "volume", [.volume(4)]),
        (["theme", "1", "2", "3"], "theme", [.theme([1, 2, 3])]),
        (["sequence", "tagRead"], "played", [.played(0x24, onAntenna: false)]),
        (["sequence", "25"], "played", [.played(0x25, onAntenna: false)]),
        (["sequence", "--antenna", "0124"], "played", [.played(0x0124, onAntenna: true)]),
        (["reset"], "restarted", [.restarted(hard: false)]),
        (["reset", "--hard"], "restarted", [.restarted(hard: true)]),
        (["shutdown", "--yes"], "shutDown", [.shutDown]),
    ]

    @Test(arguments: signals.indices) func signal(_ index: Int) async throws {
        let (arguments, event, actions) = Self.signals[index]
        for (passesEscape, form, way) in [
            (true, SimulatedS550.Form.instruction, "escape"), (false, .instruction, "controlInstruction"),
            (false, .class, "controlClass"),
        ] {
            let s550 = Self.s550(passesEscape, form: form)
            let outcome = try await Self.run(try command(arguments), s550, card: passesEscape ? nil : try card())
            #expect(outcome.status == 0, "\(outcome.text)")
            #expect(outcome.lines.count == 1)
            #expect(outcome.lines.first?["event"] as? String == event)
            #expect(outcome.lines.first?["way"] as? String == way)
            #expect(outcome.lines.first?["reader"] as? String == Self.reader)
            #expect(s550.actions == actions)
            #expect(!Self.showsKey(outcome.text))
        }
    }

    /// A command of the tool, as it is parsed.
    private func command(_ arguments: [String]) throws -> any S550Command {
        try #require(try S550Commands.parseAsRoot(arguments) as? any S550Command)
    }

    @Test func info() async throws {
        let outcome = try await Self.run(try command(["info"]), Self.s550())
        let line = try #require(outcome.lines.first)
        #expect(line["dialect"] as? String == "springCore" && line["isS550"] as? Bool == true)
        #expect(line["profile"] as? String == "pcsc" && line["slots"] as? [String] == ["Contactless", "SAM"])
        #expect(line["antennaFirmware"] as? String == "2.03")
        let items = try #require(line["items"] as? [String: String])
        #expect(items["firmware"] == "springcore/h518/s550" && items["rawSlotCount"] == "02" && items["battery"] == nil)
        let battery = try #require(line["battery"] as? [String: Any])
        #expect(battery["percent"] as? Int == 83 && battery["volts"] as? Double == 3.98)
        let other = SimulatedS550(batteryItem: 0x40)
        #expect(try await Self.run(try command(["info"]), other).lines.first?["battery"] == nil)
        let found = try await Self.run(try command(["info", "--battery-item", "40"]), other).lines.first
        #expect((found?["battery"] as? [String: Any])?["percent"] as? Int == 83)
    }

    @Test func keeping() async throws {
        let s550 = Self.s550()
        #expect(try await Self.run(try command(["volume", "1", "--keep"]), s550).lines.first?["kept"] as? Bool == true)
        _ = try await Self.run(try command(["theme", "1", "1", "2", "--keep"]), s550)
        #expect(s550[0x02D8] == [1] && s550[0x02DA] == [1, 1, 2])
    }

    // MARK: Registers

    @Test func readRegisters() async throws {
        let s550 = Self.s550()
        let one = try await Self.run(try command(["register", "read", "02D8", "02DA"]), s550)
        #expect(one.lines.map { $0["value"] as? String } == ["03", nil])
        #expect(one.lines.map { $0["default"] as? String } == ["05", "020203"])
        let all = try await Self.run(try command(["register", "read"]), s550)
        #expect(all.status == 0 && all.lines.count == ReaderRegister.readable.count && !Self.showsKey(all.text))
        for key in Self.plantedKeys.keys {
            let address = String(format: "%04X", key)
            let outcome = try await Self.run(try command(["register", "read", address]), s550)
            #expect(outcome.status == 1 && !Self.showsKey(outcome.text))
            #expect((outcome.lines.first?["error"] as? [String: Any])?["code"] as? String == "holdsKeys")
            let several = try await Self.run(try command(["register", "read", address, "02D8"]), s550)
            #expect(several.status == 0 && several.lines.count == 2 && !Self.showsKey(several.text))
        }
    }

    @Test func writeRegisters() async throws {
        let s550 = Self.s550()
        let outcome = try await Self.run(try command(["register", "write", "02D8", "01"]), s550)
        #expect(outcome.lines.first?["before"] as? String == "03" && outcome.lines.first?["value"] as? String == "01")
        #expect(outcome.lines.first?["takesEffect"] as? String == "afterReset")
        #expect(s550[0x02D8] == [1])
        #expect(try await Self.run(try command(["register", "write", "02D8", "--erase"]), s550).status == 0)
        #expect(s550[0x02D8] == nil)
        #expect(try await Self.run(try command(["register", "write", "02D8", "0102"]), s550).status == 64)
        #expect(try await Self.run(try command(["register", "write", "0108", "01"]), s550).status == 1)
    }

    @Test(arguments: ["02B0", "02BC", "02BF", "02C0", "02C1", "02C2"]) func dangerous(_ address: String) async throws {
        let s550 = Self.s550()
        let number = try #require(UInt16(address, radix: 16))
        let before = s550[number]
        let refused = try await Self.run(try command(["register", "write", address, "04"]), s550)
        #expect(refused.status == 64 && s550[number] == before)
        let error = try #require(refused.lines.first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "unconfirmed")
        #expect((error["message"] as? String)?.contains(try #require(ReaderRegister(number).danger)) == true)
        let written = try await Self.run(try command(["register", "write", address, "04", "--yes"]), s550)
        #expect(written.status == 0 && s550[number] == [0x04])
        #expect(written.lines.first?["before"] as? String == before?.hex)
    }

    /// A key is written, and comes out nowhere.
    @Test func writeKeys() async throws {
        let (s550, scratch) = (Self.s550(), try ScratchFolder())
        let key = [UInt8](repeating: 0xA7, count: 32)
        let file = try scratch.write(key.hex + "\n", to: "key")
        let outcome = try await Self.run(try command(["register", "write", "0318", "--value-file", file]), s550)
        #expect(outcome.status == 0 && s550[0x0318] == key && !Self.showsKey(outcome.text))
        #expect(outcome.lines.first?["value"] == nil && outcome.lines.first?["before"] == nil)
        // Of the host's sessions, which can lock the settings.
        #expect(try await Self.run(try command(["register", "write", "02F4", key.hex]), s550).status == 64)
        let confirmed = try await Self.run(try command(["register", "write", "02F4", key.hex, "--yes"]), s550)
        #expect(confirmed.status == 0 && s550[0x02F4] == key && !Self.showsKey(confirmed.text))
        let malformed = try scratch.write("A7A7A7A7 no key", to: "malformed")
        let failed = try await Self.run(try command(["register", "write", "0318", "--value-file", malformed]), s550)
        #expect(failed.status == 65 && !Self.showsKey(failed.text))
    }

    @Test func profile() async throws {
        let s550 = Self.s550()
        #expect(try await Self.run(try command(["profile"]), s550).lines.first?["profile"] as? String == "pcsc")
        let refused = try await Self.run(try command(["profile", "smartReader"]), s550)
        #expect(refused.status == 64 && s550[0x02C0] == [0x02])
        let outcome = try await Self.run(try command(["profile", "smartreader", "--yes"]), s550)
        #expect(outcome.lines.first?["before"] as? String == "pcsc" && s550[0x02C0] == [0x04])
        #expect(try await Self.run(try command(["profile", "pcsc"]), s550).status == 0)
        #expect(try await Self.run(try command(["shutdown"]), s550).status == 64)
        #expect(!s550.isOff)
    }

    // MARK: Files

    @Test func config() async throws {
        let (s550, scratch) = (Self.s550(), try ScratchFolder())
        let file = scratch.file("reader.settings")
        let saved = try await Self.run(try command(["config", "save", file]), s550)
        #expect(saved.status == 0 && saved.lines.first?["registers"] as? Int == ReaderRegister.readable.count)
        #expect(!Self.showsKey(try String(contentsOfFile: file, encoding: .utf8)))
        #expect(try await Self.run(try command(["config", "save", file]), s550).status == 74)
        #expect(try await Self.run(try command(["config", "save", "--force", file]), s550).status == 0)
        #expect(try await Self.run(try command(["config", "diff", file]), s550).status == 0)

        let other = SimulatedS550(registers: Self.plantedKeys.merging([0x02C0: [0x42], 0x02D8: [0x01]]) { $1 })
        let diff = try await Self.run(try command(["config", "diff", file]), other)
        #expect(diff.status == 1 && diff.lines.compactMap { $0["register"] as? String } == ["02C0", "02D8", "0310"])
        #expect(diff.lines.map { $0["value"] as? String } == ["42", "01", nil])
        #expect(diff.lines.map { $0["wanted"] as? String } == ["02", "03", "D1"])
        let refused = try await Self.run(try command(["config", "restore", file]), other)
        #expect(refused.status == 64 && other[0x02D8] == [0x01])
        let restored = try await Self.run(try command(["config", "restore", "--yes", file]), other)
        #expect(restored.lines.compactMap { $0["register"] as? String } == ["02D8", "0310", "02C0"])
        #expect(restored.lines.allSatisfy { $0["event"] as? String == "restored" })
        #expect(other[0x02C0] == [0x02] && other[0x0310] == [0xD1])
        #expect(try await Self.run(try command(["config", "diff", file]), other).status == 0)
        for outcome in [saved, diff, refused, restored] { #expect(!Self.showsKey(outcome.text)) }

        #expect(try await Self.run(try command(["config", "save", "/dev/full", "--force"]), other).status == 74)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        let malformed = try scratch.write("settings 1\n02F4 A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5\n", to: "malformed")
        let failed = try await Self.run(try command(["config", "restore", malformed]), other)
        #expect(failed.status == 65 && !Self.showsKey(failed.text))
        for hostile in ["settings 1\n02D8 0", "settings 1\n02D8", String(repeating: "#", count: 70_000)] {
            let file = try scratch.write(hostile, to: "hostile")
            #expect(try await Self.run(try command(["config", "restore", "--yes", file]), other).status == 65)
        }
        #expect(try await Self.run(try command(["config", "diff", scratch.file("none")]), other).status == 66)
    }

    /// What was written is printed at once, so that somebody knows it when the reader is unplugged.
    @Test func restoreFails() async throws {
        let (s550, scratch) = (Self.s550(), try ScratchFolder())
        let file = try scratch.write("settings 1\n02D8 01\n02DA 010101\n02F0 00000000\n", to: "settings")
        // The theme is refused.
        s550.lockedRegister = 0x02DA
        let outcome = try await Self.run(try command(["config", "restore", "--yes", file]), s550)
        #expect(outcome.status == 1 && outcome.lines.compactMap { $0["register"] as? String } == ["02D8"])
        #expect((outcome.lines.last?["error"] as? [String: Any])?["code"] as? String == "refused")
        s550.lockedRegister = nil
        let again = try await Self.run(try command(["config", "restore", "--yes", file]), s550)
        #expect(again.status == 0 && again.lines.compactMap { $0["register"] as? String } == ["02DA"])
        let other = try scratch.write("settings 1\nfirmware: springcore/h518/puck\n02D8 02\n", to: "other")
        #expect(try await Self.run(try command(["config", "restore", other]), s550).status == 64)
        #expect(s550[0x02D8] == [1])
    }

    /// Of several readers one has to be named; the slots of one device are one reader.
    @Test func severalReaders() throws {
        let backend = SimulatedBackend()
        func name(_ present: [String], _ arguments: [String] = []) throws -> String {
            let readers = present.map { ReaderStatus(reader: ReaderInfo(name: $0, backend: .pcsc)) }
            return try ReaderSelection(ReaderOptions.parse(arguments).chosen).control(among: readers, of: backend)
                .reader.name
        }
        let (one, two) = ("SpringCard H518 [CCID] (0001) 00 00", "SpringCard H518 [CCID] (0002) 01 00")
        #expect(try name(["Other 02 00", one, "SpringCard H518 [CCID] (0001) 00 01"]) == one)
        #expect(try name(["Other 02 00"], ["--reader", "Other"]) == "Other 02 00")
        let error = #expect(throws: ToolFailure.self) { try name([one, two]) }
        #expect(error?.exit.rawValue == 64 && error?.message.contains(two) == true)
        #expect(throws: ReaderError.self) { try name(["Other 02 00"]) }
        #expect(throws: ReaderError.self) { try name([]) }
    }

    /// A malformed key on the command line is not repeated.
    @Test func malformedKeyInArguments() {
        do {
            _ = try S550Commands.parseAsRoot(["register", "write", "0318", "A7A7A7A7XX"])
            Issue.record("taken")
        } catch {
            #expect(!Self.showsKey(S550Commands.fullMessage(for: error)))
        }
    }

    // MARK: What cannot be done

    @Test func escapeDisabled() async throws {
        let outcome = try await Self.run(try command(["wink"]), Self.s550(false))
        #expect(outcome.status == 1)
        let error = try #require(outcome.lines.first?["error"] as? [String: Any])
        #expect(error["code"] as? String == "escapeDisabled")
        #expect((error["message"] as? String)?.contains("ifdDriverOptions") == true)
    }

    @Test func absentReader() async throws {
        let s550 = Self.s550()
        _ = try await Self.run(try command(["shutdown", "--yes"]), s550)
        #expect(try await Self.run(try command(["wink"]), s550).status == 69)
    }

    @Test(arguments: [
        ["volume", "6"], ["volume"], ["led"], ["led", "green", "--pattern", "on"], ["led", "--pattern", "0B"],
        ["led", "teal"], ["sound", "--milliseconds", "65536"], ["sound", "--data", ""], ["sequence", "none"],
        ["sequence", "124"], ["sequence", "+1"], ["sequence", "--antenna", "tagRead"], ["led", "--pattern", "+1"],
        ["info", "--battery-item", "4041"], ["info", "--battery-item", ""], ["register", "read", "2D8"],
        ["register", "write", "02D8"], ["register", "write", "02D8", "01", "--erase"], ["profile", "none"],
        ["theme", "1", "2"], ["theme", "1", "2", "256"], ["config", "save"], ["verify"],
    ])
    func usage(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try S550Commands.parseAsRoot(arguments) }
    }

    // MARK: The report

    @Test func verify() async throws {
        let (scratch, card) = (try ScratchFolder(), try card())
        let s550 = SimulatedS550(batteryItem: 0x41, registers: Self.plantedKeys.merging([0x02C0: [0x02]]) { $1 })
        let file = scratch.file("report.txt")
        let outcome = try await Self.run(try command(["verify", "--shutdown", file]), s550, card: card)
        #expect(outcome.status == 0, "\(outcome.text)")
        let findings = Dictionary(
            outcome.lines.compactMap { line -> (String, String)? in
                guard let question = line["question"] as? String else { return nil }
                return (question, line["answer"] as? String ?? "")
            },
            uniquingKeysWith: { $1 }
        )
        #expect(
            findings.keys.sorted() == [
                "battery", "escape", "firmware", "form", "sequence", "session", "shutdown", "usb", "vicinity",
            ]
        )
        #expect(findings["escape"] == "reported, answered 00 and 18 bytes")
        #expect(
            findings["form"] == "FF F0 00 58: 00 9000 and 18 bytes, 7F 9017, INS 7F 9017; "
                + "FF F0 58: 00 6B00, 7F 6B00, INS 7F 6B00"
        )
        #expect(findings["battery"] == "41 says 83 %, 3.98 V")
        #expect(findings["sequence"] == "bytes 1 refused: byte count (0C), 2 taken")
        #expect(findings["session"] == "FF C2 answered 6D00")
        #expect(findings["vicinity"] == "not asked: the card is none of ISO 15693")
        #expect(findings["shutdown"] == "accepted, and the reader left")
        let report = try String(contentsOfFile: file, encoding: .utf8)
        for (question, answer) in findings { #expect(report.contains("\(question): \(answer)\n")) }
        for secret in ["000A1B2C", "0A:1B:2C", "6a1f0b52", card.uid.hex] { #expect(!report.contains(secret)) }
        #expect(!Self.showsKey(report))
    }

    /// Errors name the reader, and slots may: neither is in the report.
    @Test(arguments: [true, false]) func verifyRedacts(_ passesEscape: Bool) async throws {
        let scratch = try ScratchFolder()
        let s550 = SimulatedS550(passesEscape: passesEscape, slots: ["000A1B2C Contactless", "SAM 1B2C"])
        let file = scratch.file("report.txt")
        let outcome = try await Self.run(try command(["verify", "--timeout", "0", file]), s550)
        #expect(outcome.status == 0)
        let report = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!report.uppercased().contains("1B2C") && !report.contains("SpringCard H518"), "\(report)")
        #expect(report.contains(passesEscape ? "slots Contactless/SAM" : "could not send a command to ‹omitted›"))
    }

    /// A file that is there is noticed before the reader is asked anything.
    @Test func verifyIntoAFileThatIsThere() async throws {
        let (scratch, s550) = (try ScratchFolder(), Self.s550())
        let file = try scratch.write("mine", to: "report.txt")
        let outcome = try await Self.run(try command(["verify", "--shutdown", file]), s550)
        #expect(outcome.status == 74 && s550.actions.isEmpty && !s550.isOff)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    }

    /// A reader that is lost midway leaves a report with what was answered.
    @Test func verifyOfAReaderThatIsGone() async throws {
        let (scratch, s550) = (try ScratchFolder(), Self.s550())
        s550.turnOff()
        let file = scratch.file("report.txt")
        let outcome = try await Self.run(try command(["verify", file]), s550)
        #expect(outcome.status == 0 && outcome.lines.count == 9)
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("firmware: no answer: "))
    }

    @Test func verifyOfACardFirst() async throws {
        let (scratch, s550) = (try ScratchFolder(), SimulatedS550(passesEscape: false, form: .class, battery: nil))
        let card = SimulatedIdentityCard.vicinity()
        let outcome = try await Self.run(
            try command(["verify", scratch.file("report.txt")]),
            s550,
            card: card
        )
        let answers = outcome.lines.compactMap { $0["answer"] as? String }
        #expect(answers.contains("not reported, refused (SCARD_E_NOT_TRANSACTED 0x80100016)"))
        #expect(answers.contains("E0 comes first") && answers.contains("none found"))
        #expect(answers.contains("not asked: not agreed") && !s550.isOff)
    }

    @Test func verifyWithoutCard() async throws {
        let scratch = try ScratchFolder()
        let arguments = ["verify", "--timeout", "0", scratch.file("report.txt")]
        let outcome = try await Self.run(try command(arguments), Self.s550())
        #expect(outcome.lines.count { $0["answer"] as? String == "not asked: no card was laid on the reader" } == 3)
        #expect(!Self.showsKey(outcome.text))
    }
}
