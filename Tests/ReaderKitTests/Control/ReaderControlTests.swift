import CardCore
import Foundation
import ReaderKitTesting
import Synchronization
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// A reader itself, through the functions of libpcsclite, in process, and by each way.
@Suite(.timeLimit(.minutes(5))) struct ReaderControlTests {
    static let name = "SpringCard H518 [CCID] (000A1B2C) 00 00"

    /// The ways in: what the driver passes, the form of the reader, and the way that is found.
    static let waysIn: [(passesEscape: Bool, form: SimulatedS550.Form, way: ControlWay)] = [
        (true, .instruction, .escape), (false, .instruction, .controlInstruction), (false, .class, .controlClass),
    ]

    private static func card() throws -> any SimulatedCard {
        try #require(SimulatedNTAG.formatted(.ntag213, message: [0xD0, 0x00, 0x00]))
    }

    /// A control of the reader, through the table of functions or in process.
    private static func control(
        _ s550: SimulatedS550,
        card: (any SimulatedCard)? = nil,
        inProcess: Bool = false
    ) throws -> ReaderControl {
        if inProcess {
            let backend = SimulatedBackend(readers: [name], reader: SimulatedReader(control: s550))
            if let card { backend.insert(card) }
            return try ReaderControl(ReaderInfo(name: name, backend: .simulated), of: backend)
        }
        let backend = PCSCBackend(library: s550.library(named: name, card: card), configuration: FakePCSC.configuration)
        return try ReaderControl(ReaderInfo(pcscName: name), of: backend)
    }

    private static let cases: [(way: Int, inProcess: Bool)] = waysIn.indices.flatMap { [($0, false), ($0, true)] }

    @Test(arguments: cases.indices) func everyCommand(_ index: Int) async throws {
        let (passesEscape, form, way) = Self.waysIn[Self.cases[index].way]
        let s550 = SimulatedS550(passesEscape: passesEscape, form: form)
        let card = passesEscape ? nil : try Self.card()
        let control = try Self.control(s550, card: card, inProcess: Self.cases[index].inProcess)
        #expect(control.way == nil)
        #expect(try await control.open() == way)
        try await control.wink()
        try await control.setLight(.red)
        try await control.setLight(.pattern(.slow))
        try await control.setLight(.ramp([.on, .off, .fast, .breathing]))
        try await control.buzz(for: .milliseconds(300))
        try await control.play(.tagRead)
        try await control.playOnAntenna(0x24)
        try await control.sound([0x01, 0x02])
        try await control.setVolume(2)
        try await control.setVolume(3, keeping: true)
        try await control.setTheme(ReaderTheme(common: 1, cards: 2, barcodes: 3), keeping: true)
        #expect(
            s550.actions == [
                .winked, .lit([0xFF, 0x00, 0x00]), .lit([0x04]), .litEach([0x01, 0x00, 0x07, 0x0F]), .buzzed(300),
                .played(0x24, onAntenna: false), .played(0x24, onAntenna: true), .sounded([0x01, 0x02]), .volume(2),
                .volume(3), .theme([1, 2, 3]),
            ]
        )
        #expect(s550[0x02D8] == [3] && s550[0x02DA] == [1, 2, 3])
        #expect(s550.inForce(0x02D8) == nil)
        try await control.reset(.hard)
        #expect(s550.inForce(0x02D8) == [3])
        try await control.reset()
        #expect(s550.actions.suffix(2) == [.restarted(hard: true), .restarted(hard: false)])
        #expect(try await control.battery()?.percent == 83)
        try await control.shutdown()
        #expect(s550.isOff && control.way == way)
        #expect(await readerError { try await control.wink() } != nil)
    }

    @Test(arguments: waysIn.indices) func identity(_ index: Int) async throws {
        let (passesEscape, form, _) = Self.waysIn[index]
        let s550 = SimulatedS550(passesEscape: passesEscape, form: form)
        let identity = try await Self.control(s550, card: try Self.card()).identity()
        #expect(identity.text(.deviceName) == "Socket Mobile S550" && identity.isS550)
        #expect(identity.text(.firmware) == "springcore/h518/s550")
        #expect(identity.text(.rawUSBIdentifier) == "1C346122")
        #expect(identity.slots == ["Contactless", "SAM"])
        #expect(identity.profile == .pcsc && identity.antennaFirmware == "2.03")
        #expect(identity.items[.ethernetAddress] == nil && identity.buildYear == 2024)
    }

    // MARK: The way

    @Test func noWay() async throws {
        let control = try Self.control(SimulatedS550(passesEscape: false))
        let error = await #expect(throws: ControlError.self) { try await control.wink() }
        guard case .escapeDisabled(Self.name, let code)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(code?.rawValue == 0x8010_0016)
        #expect(control.way == nil)
    }

    /// The way through a card is forgotten when the card leaves, and found again.
    @Test func cardLeaves() async throws {
        let s550 = SimulatedS550(passesEscape: false)
        let backend = SimulatedBackend(readers: [Self.name], reader: SimulatedReader(control: s550))
        let control = try ReaderControl(ReaderInfo(name: Self.name, backend: .simulated), of: backend)
        backend.insert(try Self.card())
        try await control.wink()
        #expect(control.way == .controlInstruction)
        backend.remove()
        await #expect(throws: ControlError.self) { try await control.wink() }
        #expect(control.way == nil)
        backend.insert(try Self.card())
        try await control.wink()
        #expect(s550.actions == [.winked, .winked])
    }

    @Test func withoutTouchingCards() async throws {
        let s550 = SimulatedS550(passesEscape: false)
        let backend = SimulatedBackend(readers: [Self.name], reader: SimulatedReader(control: s550))
        backend.insert(try Self.card())
        let reader = ReaderInfo(name: Self.name, backend: .simulated)
        let control = try ReaderControl(reader, of: backend, withoutCard: true)
        await #expect(throws: ControlError.self) { try await control.wink() }
        #expect(s550.actions == [])
    }

    /// A card that does not know FF F0 is no way to its reader.
    @Test func cardAnswers() async throws {
        let backend = OtherBackend(passesEscape: false, answer: [0x6D, 0x00])
        let control = try ReaderControl(ReaderInfo(pcscName: Self.name), of: backend)
        let error = await #expect(throws: ControlError.self) { try await control.open() }
        #expect(error?.code == "escapeDisabled")
        #expect(backend.sent.withLock { $0.map(\.hex) } == ["FFF0005802200000", "FFF058200100"])
    }

    /// A reader of another make that passes escape commands is no SpringCore reader, whatever it is called.
    @Test(arguments: ["", "6E00", "17"]) func otherMake(_ answer: String) async throws {
        let backend = OtherBackend(passesEscape: true, answer: try Hex.decode(answer))
        let control = try ReaderControl(ReaderInfo(pcscName: "Other 00 00"), of: backend, dialect: .springCore)
        await #expect(throws: ControlError.self) { try await control.write([0x02], to: .profile, confirmed: true) }
        #expect(control.way == nil)
        #expect(backend.sent.withLock { $0.map(\.hex) } == ["582000", "FFF0005802200000", "FFF058200100"])
    }

    /// The driver is set otherwise while a program runs.
    @Test func escapeIsTurnedOff() async throws {
        let (s550, card) = (SimulatedS550(), try Self.card())
        var library = s550.library(named: Self.name, card: card)
        let (passes, control) = (Shared(true), library.control)
        library.control = { handle, code, data in
            passes.withLock(\.self) ? control(handle, code, data) : (PCSCCode(rawValue: 0x8010_0016), [])
        }
        let backend = PCSCBackend(library: library, configuration: FakePCSC.configuration)
        let reader = try ReaderControl(ReaderInfo(pcscName: Self.name), of: backend)
        try await reader.wink()
        passes.withLock { $0 = false }
        #expect(await readerError { try await reader.wink() } != nil)
        try await reader.wink()
        #expect(reader.way == .controlInstruction && s550.actions == [.winked, .winked])
    }

    /// A reader that was unplugged did not restart.
    @Test func resetOfAnAbsentReader() async throws {
        let s550 = SimulatedS550()
        let backend = SimulatedBackend(readers: [Self.name], reader: SimulatedReader(control: s550))
        let control = try ReaderControl(ReaderInfo(name: Self.name, backend: .simulated), of: backend)
        try await control.wink()
        s550.turnOff()
        #expect(await readerError { try await control.reset() } != nil)
        #expect(await readerError { try await control.shutdown() } != nil)
    }

    /// Answers that are cut off, too long, or of another status never trap, and never bring out a key.
    @Test func malformedAnswers() async throws {
        let key = [UInt8](repeating: 0xA5, count: 16)
        let s550 = SimulatedS550(registers: [0x02C0: [0x02], 0x02F4: key, 0x0318: key])
        var library = s550.library(named: Self.name)
        let (numbers, control) = (Shared(SeededNumbers(seed: 58)), library.control)
        library.control = { handle, code, data in
            let (result, answer) = control(handle, code, data)
            guard code == 0x4200_0001, data != [0x58, 0x20, 0x00] else { return (result, answer) }
            return numbers.withLock { numbers in
                switch Int.random(in: 0..<6, using: &numbers) {
                case 0: (result, [])
                case 1: (result, Array(answer.prefix(Int.random(in: 0...answer.count, using: &numbers))))
                case 2: (result, answer + [UInt8](repeating: 0x1B, count: Int.random(in: 1...2000, using: &numbers)))
                case 3: (result, [UInt8.random(in: 0...255, using: &numbers)] + answer.dropFirst())
                case 4: (PCSCCode(rawValue: [0x8010_0016, 0x8010_0013, 0x8010_002F][Int(numbers.next() % 3)]), [])
                default: (result, answer)
                }
            }
        }
        let backend = PCSCBackend(library: library, configuration: FakePCSC.configuration)
        let reader = try ReaderControl(ReaderInfo(pcscName: Self.name), of: backend)
        for round in 0..<60 {
            do {
                switch round % 6 {
                case 0: _ = try await reader.identity()
                case 1: if let battery = try await reader.battery() { #expect((0...100).contains(battery.percent)) }
                case 2:
                    let text = try await reader.settings().text
                    #expect(throws: Never.self) { try ReaderSettings(parsing: Array(text.utf8)) }
                    #expect(!text.contains("A5A5"))
                case 3: try await reader.playOnAntenna(0x24)
                case 4: try await reader.write([0x03], to: .sound)
                default: try await reader.setProfile(.pcsc)
                }
            } catch {
                #expect(error is ControlError || error is ReaderError, "\(error)")
            }
        }
        // Whatever came back, the profile is the one that was wanted.
        #expect(s550[0x02C0].map { $0[0] & 0x07 } == 0x02)
    }

    /// The table of functions has what a driver says of the reader.
    @Test func attributes() {
        let s550 = SimulatedS550()
        let library = s550.library(named: Self.name)
        let handle = library.connect(1, Self.name, .direct, 0).handle
        #expect(library.getAttribute(handle, 0x0001_0103).value == Array("000A1B2C".utf8))
        #expect(library.getAttribute(handle, 0x0001_0100).value == Array("SpringCard".utf8))
        #expect(PCSCFeatures.number(library.getAttribute(handle, PCSCFeatures.maxInput).value) == 65_544)
        #expect(library.getAttribute(handle, 0x0001_0199).code == .unsupportedFeature)
        let properties = PCSCFeatures.read { library.control(handle, $0, []).answer }
        #expect(properties.product == [0x1C34, 0x6122] && properties.passesEscape)
        s550.turnOff()
        #expect(library.getAttribute(handle, 0x0001_0103).code == PCSCCode(rawValue: 0x8010_0017))
    }

    @Test func withoutControl() async throws {
        let backend = SimulatedBackend(readers: [Self.name], reader: SimulatedReader())
        let control = try ReaderControl(ReaderInfo(name: Self.name, backend: .simulated), of: backend)
        #expect(await readerError { try await control.open() }?.kind == .unsupported)
    }

    @Test func absentReader() async throws {
        let reader = ReaderInfo(name: "SpringCard X", backend: .simulated)
        let control = try ReaderControl(reader, of: SimulatedBackend(reader: SimulatedReader(control: SimulatedS550())))
        #expect(await readerError { try await control.wink() }?.kind == .readerUnavailable)
        #expect(throws: ControlError.unknownReader("Simulated Reader")) {
            try ReaderControl(ReaderInfo(name: "Simulated Reader", backend: .simulated), of: SimulatedBackend())
        }
        let replay = try ReaderControl(ReaderInfo(name: Self.name, backend: .replay), of: ReplayBackend([]))
        #expect(await readerError { try await replay.wink() }?.kind == .unsupported)
    }

    @Test func absentPCSCReader() async throws {
        let s550 = SimulatedS550()
        let backend = PCSCBackend(library: s550.library(named: Self.name), configuration: FakePCSC.configuration)
        let control = try ReaderControl(ReaderInfo(pcscName: "SpringCard X"), of: backend)
        #expect(await readerError { try await control.wink() }?.kind == .readerUnavailable)
        // Of several backends the reader's own is asked.
        let combined = CombinedBackend([SimulatedBackend(readers: []), backend])
        try await ReaderControl(ReaderInfo(pcscName: Self.name), of: combined).wink()
        #expect(s550.actions == [.winked])
    }

    /// A command to the reader that hangs is given up as a call to a card is, and the reader serves again with another card.
    @Test func hangs() async throws {
        let s550 = SimulatedS550()
        var library = s550.library(named: Self.name, card: try Self.card())
        let (gate, control) = (Gate(), library.control)
        library.control = { handle, code, data in
            if code == 0x4200_0001 { gate.pass() }
            return control(handle, code, data)
        }
        var configuration = FakePCSC.configuration
        configuration.callDeadline = .milliseconds(100)
        let backend = PCSCBackend(library: library, configuration: configuration, abandoned: AbandonedThreads())
        let reader = try ReaderControl(ReaderInfo(pcscName: Self.name), of: backend)
        #expect(await readerError { try await reader.wink() }?.kind == .stuck)
        #expect(await readerError { try await reader.wink() }?.kind == .stuck)
        gate.open()
    }

    /// Everything that was opened is closed, whether or not the driver passes escape commands.
    @Test(arguments: [true, false]) func leavesNothingOpen(_ passesEscape: Bool) async throws {
        let s550 = SimulatedS550(passesEscape: passesEscape)
        var library = s550.library(named: Self.name, card: try Self.card())
        let open = Shared(0)
        let (connect, disconnect) = (library.connect, library.disconnect)
        library.connect = { context, name, sharing, protocols in
            let result = connect(context, name, sharing, protocols)
            if result.code.isSuccess { open.withLock { $0 += 1 } }
            return result
        }
        library.disconnect = { handle, disposition in
            open.withLock { $0 -= 1 }
            return disconnect(handle, disposition)
        }
        let backend = PCSCBackend(library: library, configuration: FakePCSC.configuration)
        let control = try ReaderControl(ReaderInfo(pcscName: Self.name), of: backend)
        try await control.wink()
        try await control.wink()
        await #expect(throws: ControlError.self) { try await control.setVolume(6) }
        #expect(open.withLock(\.self) == 0)
    }

    // MARK: Sequences

    @Test(arguments: [
        ("2021-11-02 08:00:00", UInt16(0x24), true), ("2024-03-12", 0x24, true), ("2024-03-12", 0x0124, true),
        ("2021-11-02", 0x0124, false),
    ])
    func antennaSequence(_ date: String, sequence: UInt16, succeeds: Bool) async throws {
        let s550 = SimulatedS550(buildDate: date)
        let control = try Self.control(s550)
        for _ in 0..<2 {
            do {
                try await control.playOnAntenna(sequence)
                #expect(succeeds)
            } catch {
                #expect(!succeeds)
                #expect(error as? ControlError == .refused("PRODUCT SPECIFIC", .byteCount))
            }
        }
        #expect(
            s550.actions == (succeeds ? [.played(sequence, onAntenna: true), .played(sequence, onAntenna: true)] : [])
        )
    }

    /// A firmware whose date tells nothing is tried with two bytes, then with one.
    @Test func antennaSequenceByTrial() async throws {
        let s550 = SimulatedS550(buildDate: "0000")
        try await Self.control(s550).playOnAntenna(0x24)
        #expect(s550.actions == [.played(0x24, onAntenna: true)])
    }

    // MARK: Registers

    @Test func registers() async throws {
        let s550 = SimulatedS550()
        let control = try Self.control(s550)
        #expect(try await control.read(.sound) == nil)
        try await control.write([0x03], to: .sound)
        #expect(try await control.read(.sound) == [0x03])
        try await control.write(nil, to: .sound)
        #expect(try await control.read(.sound) == nil)
        #expect(try await control.read(ReaderRegister(0x0108)) == nil)
        await #expect(throws: ControlError.notWritable(0x0108)) {
            try await control.write([1], to: ReaderRegister(0x0108))
        }
        await #expect(throws: ControlError.self) { try await control.write([1, 2], to: .sound) }
        await #expect(throws: ControlError.self) { try await control.write([2], to: .profile) }
        try await control.write([0x42], to: .profile, confirmed: true)
        #expect(s550[0x02C0] == [0x42])
        // The other bits stay.
        await #expect(throws: ControlError.self) { try await control.setProfile(.smartReader) }
        try await control.setProfile(.smartReader, confirmed: true)
        #expect(s550[0x02C0] == [0x44])
        try await control.setProfile(.pcsc)
        #expect(s550[0x02C0] == [0x42])
    }

    @Test func accessConditions() async throws {
        let s550 = SimulatedS550(registers: [0x02F0: [0x00, 0x30, 0x00, 0x00]])
        let control = try Self.control(s550)
        await #expect(throws: ControlError.refused("READ REGISTER 02D8", .accessDenied)) {
            try await control.read(.sound)
        }
        await #expect(throws: ControlError.refused("WRITE REGISTER 02D8", .accessDenied)) {
            try await control.write([1], to: .sound)
        }
        #expect(try await control.settings().values.isEmpty)
        #expect(try await control.identity().profile == nil)
    }

    /// A key is written, never read back and in no error, though the reader would show it.
    @Test func keys() async throws {
        let key = [UInt8](repeating: 0xA5, count: 16)
        let s550 = SimulatedS550(registers: [0x02F4: key, 0x0318: key, 0x02CF: key])
        let control = try Self.control(s550)
        for address: UInt16 in [0x02F4, 0x0318, 0x02CF, 0x02FF, 0x0315] {
            let register = ReaderRegister(address)
            await #expect(throws: ControlError.holdsKeys(address)) { try await control.read(register) }
        }
        for code: UInt8 in [0x0D, 0x0E, 0x80, 0x81, 0x82, 0x83, 0x84, 0x8E, 0xAF] {
            let command = ControlCommand(ControlInstruction(rawValue: code), [0x02, 0xF4])
            await #expect(throws: ControlError.self) { try await control.send(command) }
        }
        let other = [UInt8](repeating: 0x5A, count: 32)
        try await control.write(other, to: ReaderRegister(0x0318))
        #expect(s550[0x0318] == other)
        let refusing = SimulatedS550(registers: [0x02F0: [0x00, 0x30, 0x00, 0x00]])
        do {
            try await Self.control(refusing).write(other, to: ReaderRegister(0x0318))
            Issue.record("written")
        } catch {
            #expect(!"\(error)".uppercased().contains("5A5A"))
        }
        let settings = try await control.settings()
        #expect(settings.values.keys.allSatisfy { !$0.holdsKeys } && !settings.text.contains("A5A5"))
        #expect(!"\(ControlCommand.writeRegister(0x02F4, key))".contains("A5"))
    }

    // MARK: Other readers

    /// A reader of another make, which takes what it is given and answers the same to all.
    private struct OtherBackend: ReaderBackend {
        let passesEscape: Bool
        let answer: [UInt8]
        /// What the commands begin with that are refused.
        var refused: [UInt8]?
        let sent = Shared<[[UInt8]]>([])

        final class Channel: ReaderChannel {
            let backend: OtherBackend
            init(_ backend: OtherBackend) { self.backend = backend }

            func reportsEscape() -> Bool { backend.passesEscape }
            func escape(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
                guard backend.passesEscape else { throw ReaderError(.unsupported, attempting: "send") }
                return transmit(command)
            }
            func transmit(_ command: [UInt8]) -> [UInt8] {
                backend.sent.withLock { $0.append(command) }
                if let refused = backend.refused, command.starts(with: refused) { return [0x63, 0x00] }
                return command == [0xFF, 0x00, 0x48, 0x00, 0x00] ? Array("ACR122U207".utf8) : backend.answer
            }
        }

        var kind: BackendKind { .pcsc }
        func events() -> AsyncStream<ReaderEvent> { AsyncStream { $0.finish() } }
        func readers() async throws -> [ReaderStatus] { [] }
        func withCard<Result: Sendable>(
            _ presence: CardPresence,
            perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
        ) async throws -> Result {
            throw ReaderError(.cardRemoved, attempting: "talk to the card")
        }
        func withReader<Result: Sendable>(
            _ reader: ReaderInfo,
            perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
        ) async throws -> Result {
            try work(Channel(self))
        }
    }

    @Test(arguments: [
        (true, "9002", "FF00480000 FF00400E0400000000 FF0040000403000101"),
        (false, "9002", "FF00480000 FF00400E0400000000 FF0040000403000101"),
    ])
    func acr122(_ passesEscape: Bool, answer: String, sent: String) async throws {
        let backend = OtherBackend(passesEscape: passesEscape, answer: try Hex.decode(answer))
        let reader = ReaderInfo(pcscName: "ACS ACR122U PICC Interface 00 00")
        let control = try ReaderControl(reader, of: backend)
        try await control.setLight(.green)
        try await control.buzz(for: .milliseconds(250))
        #expect(backend.sent.withLock { $0.map(\.hex).joined(separator: " ") } == sent)
        #expect(control.way == (passesEscape ? .escape : .apdu))
        await #expect(throws: ControlError.self) { try await control.setVolume(1) }
        await #expect(throws: ControlError.self) { try await control.setLight(.blue) }
        #expect(try await control.battery() == nil)
    }

    @Test func cancelledWinkEnds() async throws {
        let backend = OtherBackend(passesEscape: true, answer: [0x90, 0x00])
        let control = try ReaderControl(ReaderInfo(pcscName: "ACS ACR122U 00 00"), of: backend)
        let winking = Task { try await control.wink() }
        try await until("the light is on") { backend.sent.withLock { $0.count >= 2 } }
        winking.cancel()
        try await winking.value
        let lights = backend.sent.withLock { $0.filter { $0.starts(with: [0xFF, 0x00, 0x40]) } }
        // On, the buzzer, and as it was.
        #expect(lights.count == 3 && lights.last != lights.first, "\(lights.map(\.hex))")
    }

    @Test func winkWithoutBuzzerEnds() async throws {
        let backend = OtherBackend(passesEscape: true, answer: [0x90, 0x00], refused: [0xFF, 0x00, 0x40, 0x00])
        let control = try ReaderControl(ReaderInfo(pcscName: "ACS ACR122U 00 00"), of: backend)
        await #expect(throws: ControlError.self) { try await control.wink() }
        try await control.setLight(.automatic)
        let sent = backend.sent.withLock { $0 }
        #expect(sent.count == 5 && sent[3] == sent[4], "\(sent.map(\.hex))")
    }

    @Test func acr122Refuses() async throws {
        let backend = OtherBackend(passesEscape: true, answer: [0x63, 0x00])
        let control = try ReaderControl(ReaderInfo(pcscName: "ACS ACR122U 00 00"), of: backend)
        await #expect(throws: ControlError.refusedByCard("FF 00 40 0E", .memoryChanged)) {
            try await control.setLight(.green)
        }
    }

    @Test func csb6() async throws {
        let name = "SpringCard Prox'N'Roll [Prox'N'Roll Contactless] 00 00"
        let backend = OtherBackend(passesEscape: true, answer: [0x00])
        let control = try ReaderControl(ReaderInfo(pcscName: name), of: backend)
        try await control.setLight(.green)
        try await control.setLight(.automatic)
        try await control.buzz(for: .milliseconds(100))
        #expect(backend.sent.withLock { $0.map(\.hex) } == ["581E000100", "581E", "581C0064"])
        // What is SpringCore's own is not sent.
        await #expect(throws: ControlError.self) { try await control.write([0x02], to: .profile, confirmed: true) }
        await #expect(throws: ControlError.self) { try await control.setVolume(1) }
        #expect(try await control.identity().profile == nil)
        #expect(backend.sent.withLock { $0.dropFirst(3).allSatisfy { $0.starts(with: [0x58, 0x20]) } })
        let through = OtherBackend(passesEscape: false, answer: [0x90, 0x00])
        try await ReaderControl(ReaderInfo(pcscName: name), of: through).setLight(.red)
        #expect(through.sent.withLock { $0.map(\.hex) } == ["FFF00000022000", "FFF00000041E010000"])
    }

    @Test(arguments: [Duration.milliseconds(-1), .seconds(66)]) func buzzerRange(_ duration: Duration) async throws {
        let s550 = SimulatedS550()
        let control = try Self.control(s550)
        await #expect(throws: ControlError.self) { try await control.buzz(for: duration) }
        await #expect(throws: ControlError.self) { try await control.sound([UInt8](repeating: 0, count: 65)) }
        #expect(s550.actions == [])
    }
}
#endif
