import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// The lights and sounds of readers as answers to taps.
@Suite(.timeLimit(.minutes(10))) struct ReaderLightsTests {
    private static let name = "SpringCard H518 [CCID] (000A1B2C) 00 00"
    private let reader = ReaderInfo(name: Self.name, backend: .simulated)
    private let failures = Shared<[String]>([])
    private let takenOver = Shared<[String]>([])

    private func backend(_ s550: SimulatedS550) -> SimulatedBackend {
        SimulatedBackend(readers: [Self.name], reader: SimulatedReader(control: s550))
    }

    private func lights(_ backend: any ReaderBackend, owner: ReaderLights.Owner = .reader) -> ReaderLights {
        let (failures, takenOver) = (failures, takenOver)
        return ReaderLights(backend, owner: owner) { reader in
            takenOver.withLock { $0.append(reader.name) }
        } failed: { _, error in
            failures.withLock { $0.append((error as? ControlError)?.code ?? "\(error)") }
        }
    }

    private func played(_ sequences: UInt16...) -> [SimulatedS550.Action] {
        sequences.map { .played($0, onAntenna: false) }
    }

    @Test("An S550 plays a sequence for each signal, and nothing is written to it")
    func sequences() async throws {
        let s550 = SimulatedS550()
        let lights = lights(backend(s550))
        for signal in FeedbackSignal.allCases { await lights.give(signal, at: reader) }
        #expect(s550.actions == played(0x24, 0x23, 0x25, 0x08))
        #expect(s550[0x02D0] == nil)
        #expect(failures.withLock(\.self) == [] && takenOver.withLock(\.self) == [])
    }

    @Test("Without escape commands it is silent, until a card lies on it", arguments: SimulatedS550.Form.allCases)
    func throughACard(form: SimulatedS550.Form) async throws {
        let s550 = SimulatedS550(passesEscape: false, form: form)
        let backend = backend(s550)
        let lights = lights(backend, owner: .computer)
        await lights.give(.accepted, at: reader)
        #expect(s550.actions == [] && s550[0x02D0] == nil)
        #expect(failures.withLock(\.self) == ["escapeDisabled"])
        backend.insert(SimulatedNTAG(.ntag213))
        await lights.give(.accepted, at: reader)
        await lights.give(.rejected, at: reader)
        backend.remove()
        await lights.give(.repeated, at: reader)
        #expect(s550.actions == played(0x24, 0x25))
        #expect(s550[0x02D0] == [0x01])
        #expect(failures.withLock(\.self) == ["escapeDisabled", "escapeDisabled"])
    }

    @Test("If the lights are to be the computer's, bit 0 of 02D0 is set once; other bits stay")
    func takingOver() async throws {
        for (before, after) in [(nil, 0x01), (0x82, 0x83), (0x01, 0x01)] as [(UInt8?, UInt8)] {
            let s550 = SimulatedS550(registers: before.map { [0x02D0: [$0]] } ?? [:])
            let lights = lights(backend(s550), owner: .computer)
            await lights.give(.accepted, at: reader)
            await lights.give(.accepted, at: reader)
            #expect(s550[0x02D0] == [after] && s550.inForce(0x02D0) == [after])
            #expect(s550.actions == played(0x24, 0x24))
        }
        #expect(takenOver.withLock(\.self) == [Self.name, Self.name])
        #expect(failures.withLock(\.self) == [])
    }

    @Test("A reader with locked settings keeps its lights, and gives signals besides")
    func locked() async throws {
        let s550 = SimulatedS550(registers: [0x02F0: [0x00, 0x30, 0x00, 0x00]])
        let lights = lights(backend(s550), owner: .computer)
        await lights.give(.accepted, at: reader)
        #expect(s550.actions == played(0x24) && s550[0x02D0] == nil)
        #expect(failures.withLock(\.self) == ["refused"] && takenOver.withLock(\.self) == [])
    }

    @Test("Nothing is sent to a reader of which nothing is known, or that cannot be controlled")
    func others() async throws {
        let s550 = SimulatedS550()
        let unknown = SimulatedBackend(readers: ["Reader 00 00"], reader: SimulatedReader(control: s550))
        await lights(unknown).give(.accepted, at: ReaderInfo(name: "Reader 00 00", backend: .simulated))
        #expect(failures.withLock(\.self) == ["unknownReader"] && s550.actions == [])
        await lights(SimulatedBackend(readers: [Self.name])).give(.accepted, at: reader)
        #expect(failures.withLock(\.count) == 2)
    }

    /// A backend of one reader that answers each escape command with success, and keeps it.
    private struct Recorder: ReaderBackend {
        let kind = BackendKind.pcsc
        let commands = Shared<[String]>([])

        func events() -> AsyncStream<ReaderEvent> { AsyncStream { $0.finish() } }
        func readers() async throws -> [ReaderStatus] { [] }

        func withCard<Result: Sendable>(
            _ presence: CardPresence,
            perform conversation: @escaping @Sendable (any CardChannel) throws -> Result
        ) async throws -> Result { throw ReaderError(.cardRemoved, attempting: "read the card") }

        func withReader<Result: Sendable>(
            _ reader: ReaderInfo,
            perform work: @escaping @Sendable (any ReaderChannel) throws -> Result
        ) async throws -> Result { try work(Channel(commands: commands)) }

        final class Channel: ReaderChannel {
            let commands: Shared<[String]>
            init(commands: Shared<[String]>) { self.commands = commands }

            func reportsEscape() -> Bool { true }
            func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] { [0x6D, 0x00] }

            func escape(_ command: [UInt8]) -> [UInt8] {
                // The firmware's version, by which the way to an ACR122U may be found.
                if command.hex == "FF00480000" { return Array("ACR122U207".utf8) }
                commands.withLock { $0.append(command.hex) }
                return command.first == 0xFF ? [0x90, 0x00] : [0x00]
            }
        }
    }

    @Test("Readers without sequences show a colour, sound, and get their lights back")
    func colours() async throws {
        let older = Recorder()
        let csb6 = ReaderInfo(name: "SpringCard CSB6 Basic [CCID] 00 00", backend: .pcsc)
        await lights(older).give(.rejected, at: csb6)
        #expect(older.commands.withLock(\.self) == ["581E010000", "581C0190", "581E"])
        let acr = Recorder()
        let acr122 = ReaderInfo(name: "ACS ACR122U PICC Interface 00 00", backend: .pcsc)
        await lights(acr, owner: .computer).give(.repeated, at: acr122)
        #expect(acr.commands.withLock(\.self) == ["FF00400E0400000000", "FF00400C0400000000"])
        #expect(failures.withLock(\.self) == [] && takenOver.withLock(\.self) == [])
    }
}
