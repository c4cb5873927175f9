#if PCSC
import Foundation
import ReaderKitTesting
import TestSupport
import Testing

@testable import CardCore
@testable import CardPasses
@testable import CardTags
@testable import Captures
@testable import NDEFCodec
@testable import ReaderKit

extension ThroughPCSCD {
    /// The resilience list, as far as the real pcscd can show it.
    @Suite struct ResilienceTests {
        private let daemon: PCSCDaemon
        private let abandoned = AbandonedThreads()
        private static let command: [UInt8] = [0xFF, 0xCA, 0x00, 0x00, 0x00]
        private static let section = "resilience"

        init() throws {
            daemon = try PCSCDaemon()
        }

        private func backend(
            deadline: Duration = .seconds(30),
            retries: Int = 1,
            library: PCSCLibrary = .system
        ) -> PCSCBackend {
            var configuration = PCSCConfiguration(callDeadline: deadline)
            configuration.sharingRetries = retries
            return PCSCBackend(library: library, configuration: configuration, abandoned: abandoned)
        }

        private func converse(_ backend: PCSCBackend, _ presence: CardPresence) async -> String {
            do {
                return try await backend.withCard(presence) { try $0.transmit(Self.command) }.hex
            } catch let error as ReaderError {
                return "\(error.kind)"
            } catch {
                return "\(error)"
            }
        }

        private static func inserted(on slot: String = "00 00") -> (ReaderEvent) -> CardPresence? {
            { event in
                if case .cardInserted(let card) = event, card.reader.name.hasSuffix(slot) { card } else { nil }
            }
        }

        private static func isStuck(_ event: ReaderEvent) -> ReaderError? {
            if case .readerStuck(_, let error) = event { error } else { nil }
        }

        private static func isRecovered(_ event: ReaderEvent) -> ReaderInfo? {
            if case .readerRecovered(let reader) = event { reader } else { nil }
        }

        private static func isLost(_ event: ReaderEvent) -> ReaderError? {
            if case .serviceLost(let error) = event { error } else { nil }
        }

        private static func isBack(_ event: ReaderEvent) -> Bool? { event == .serviceBack ? true : nil }

        // MARK: - Silence

        /// Neither answers: `SCardTransmit` does not return. The reader is told stuck, and serves the next card.
        @Test("[real pcscd] a card that never answers, and one that answers with nothing", arguments: [false, true])
        func silence(withEmptyFrame: Bool) async throws {
            let backend = backend(deadline: .seconds(1))
            let events = Collected(backend.events())
            defer { events.stop() }
            let card = try UnrulyCard(atr: SimulatedNTAG(.ntag213).atr) { _ in withEmptyFrame ? .nothing : .never }
            let second = VirtualCardReader(port: VirtualCardReader.secondPort)
            try second.present(SimulatedNTAG(.ntag215))
            let presence = try await events.first("the card", Self.inserted())
            let other = try await events.first("the other card", Self.inserted(on: "00 01"))
            let started = ContinuousClock.now
            #expect(await converse(backend, presence) == "stuck")
            let took = ContinuousClock.now - started
            #expect(took >= .seconds(1))
            #expect(card.received == 1)
            let error = try await events.first("stuck", Self.isStuck)
            #expect(error.kind == .stuck && error.attempt == "exchange an APDU with the card")
            #expect(abandoned.count == 1)
            // Refused at once for as long as that card is there; the other reader goes on.
            let again = ContinuousClock.now
            #expect(await converse(backend, presence) == "stuck")
            #expect(ContinuousClock.now - again < .seconds(1))
            #expect(await converse(backend, other).hasSuffix("9000"))
            // The card goes: another thread serves the reader.
            card.remove()
            let next = VirtualCardReader()
            let gone = ContinuousClock.now
            _ = try await events.first("recovered", Self.isRecovered)
            let recovered = ContinuousClock.now - gone
            try next.present(SimulatedNTAG(.ntag213))
            let fresh = try await events.first("the next card", number: 2, Self.inserted())
            #expect(await converse(backend, fresh) == "04A1B2C3D4E5809000")
            // The call of before ends when the card goes, and cleans up behind itself.
            try await until("the thread is back") { abandoned.count == 0 }
            TestReport.add(
                section: Self.section,
                line: "through pcscd: a card that \(withEmptyFrame ? "answers with nothing" : "never answers")"
                    + " | stuck after \(took.milliseconds) ms (deadline 1000), the other slot serves, recovered"
                    + " \(recovered.milliseconds) ms after its removal, the next card is read"
            )
        }

        @Test("[real pcscd] an answer of one byte")
        func shortAnswer() async throws {
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let card = try UnrulyCard(atr: SimulatedNTAG(.ntag213).atr) { _ in .bytes([0x90]) }
            defer { card.remove() }
            let presence = try await events.first("the card", Self.inserted())
            let ending = await converse(backend, presence)
            #expect(ending == "invalidAnswer")
            TestReport.add(section: Self.section, line: "through pcscd: an answer of one byte | \(ending)")
        }

        @Test("[real pcscd] pcscd is killed in the middle of an exchange")
        func killedInTheMiddle() async throws {
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let card = try UnrulyCard(atr: SimulatedNTAG(.ntag213).atr) { _ in .never }
            let presence = try await events.first("the card", Self.inserted())
            async let ending = converse(backend, presence)
            try await until("in the exchange") { card.received == 1 }
            daemon.kill()
            #expect(await ending == "serviceStopped")
            _ = try await events.first("lost", Self.isLost)
            try daemon.restart()
            _ = try await events.first("back", Self.isBack)
            let slot = VirtualCardReader()
            try slot.present(SimulatedNTAG(.ntag213))
            let next = try await events.first("the next card", number: 2, Self.inserted())
            // The presentation of before never stands for this card, whatever its number.
            #expect(await converse(backend, presence) == "cardRemoved")
            #expect(await converse(backend, next) == "04A1B2C3D4E5809000")
            TestReport.add(
                section: Self.section,
                line: "through pcscd: pcscd killed in the middle of an APDU | \(await ending), service lost and back,"
                    + " the next card is read, the old presentation is refused"
            )
        }

        // MARK: - The service

        @Test("[real pcscd] absent at start, ended by itself, killed, started again")
        func comesAndGoes() async throws {
            daemon.terminate()
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let absent = try await events.first("lost", Self.isLost)
            #expect(absent.kind == .serviceUnavailable)
            let slot = VirtualCardReader()
            for round in 1...3 {
                try daemon.start()
                _ = try await events.first("back", number: round, Self.isBack)
                try slot.present(SimulatedNTAG(.ntag213))
                let card = try await events.first("a card", number: round, Self.inserted())
                #expect(await converse(backend, card) == "04A1B2C3D4E5809000")
                // As after its idle time, or as by a crash.
                if round == 2 { daemon.kill() } else { daemon.terminate() }
                let lost = try await events.first("lost again", number: round + 1, Self.isLost)
                #expect(lost.kind == .serviceStopped || lost.kind == .serviceUnavailable)
                #expect(await converse(backend, card) != "04A1B2C3D4E5809000")
            }
            #expect(abandoned.count == 0)
            TestReport.add(
                section: Self.section,
                line: "through pcscd: absent at start, then ended, killed, ended and started each time"
                    + " | told lost and back each time, a card read after each start"
            )
        }

        // MARK: - Other programs

        @Test("[real pcscd] the program that holds the reader is named")
        func sharingViolation() async throws {
            let tool = try Tool.readerctl.start(["watch", "--json"])
            defer { tool.kill() }
            _ = try #require(await tool.next("readerAdded"))
            #expect(
                PCSCClients().others().contains {
                    $0.pid == tool.identifier && $0.name == "readerctl" && $0.isCertain
                }
            )
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let slot = VirtualCardReader()
            try slot.present(SimulatedNTAG(.ntag213))
            let presence = try await events.first("the card", Self.inserted())
            let library = PCSCLibrary.system
            let context = library.establishContext().context
            defer { _ = library.releaseContext(context) }
            let held = library.connect(context, presence.reader.name, .exclusive, 3)
            #expect(held.code.isSuccess)
            let error = await #expect(throws: ReaderError.self) { try await backend.withCard(presence) { _ in } }
            #expect(error?.kind == .sharingViolation)
            // Three are named, and programs of other tests may come first.
            let detail = error?.detail ?? ""
            #expect(
                detail.contains("readerctl (pid \(tool.identifier))") || detail.contains(/, \d+ more$/),
                "\(String(describing: error))"
            )
            _ = library.disconnect(held.handle, .leave)
            #expect(await converse(backend, presence) == "04A1B2C3D4E5809000")
            TestReport.add(
                section: Self.section,
                line: "through pcscd: reader held exclusively | sharingViolation, "
                    + (error?.detail ?? "").replacing(/pid \d+/, with: "pid N") + "; read once it is let go"
            )
        }

        /// Another program's transaction blocks even `SCardConnect` for as long as it lasts.
        @Test("[real pcscd] cancelled while another program holds the card")
        func cancelled() async throws {
            let library = PCSCLibrary.system
            let connecting = Counted()
            var noting = library
            noting.connect = { context, reader, share, protocols in
                connecting.add()
                return library.connect(context, reader, share, protocols)
            }
            let backend = backend(library: noting)
            let events = Collected(backend.events())
            defer { events.stop() }
            let card = try UnrulyCard(atr: SimulatedNTAG(.ntag213).atr) { _ in .bytes([0x90, 0x00]) }
            defer { card.remove() }
            let presence = try await events.first("the card", Self.inserted())
            let context = library.establishContext().context
            defer { _ = library.releaseContext(context) }
            let other = library.connect(context, presence.reader.name, .shared, 3)
            #expect(library.beginTransaction(other.handle).isSuccess)
            var times: [Duration] = []
            for _ in 0..<5 {
                let task = Task { await converse(backend, presence) }
                // The first is blocked in the call; the others wait behind it.
                try await until("a call to SCardConnect") { connecting.value > 0 }
                let started = ContinuousClock.now
                task.cancel()
                #expect(await task.value == "cancelled")
                times.append(ContinuousClock.now - started)
            }
            #expect(times.sorted()[0] < .milliseconds(100), "\(times)")
            #expect(card.received == 0)
            _ = library.endTransaction(other.handle, .leave)
            _ = library.disconnect(other.handle, .leave)
            #expect(await converse(backend, presence) == "9000")
            #expect(card.received == 1)
            TestReport.add(
                section: Self.section,
                line: "through pcscd: cancelled behind another program's transaction | let go after"
                    + " \(times.sorted()[2].milliseconds) ms, the card is read once it is free"
            )
        }

        // MARK: - Many

        @Test("[real pcscd] two readers, each its own stream of taps")
        func streams() async throws {
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let reader = { (name: String) in
                { (event: ReaderEvent) -> ReaderInfo? in
                    if case .readerAdded(let reader) = event, reader.name.hasSuffix(name) { reader } else { nil }
                }
            }
            let (a, b) = (
                try await events.first("A", reader("00 00")), try await events.first("B", reader("00 01"))
            )
            let scanner = CardScanner(backend)
            let (tapsOfA, tapsOfB) = (Collected(scanner.taps(of: a)), Collected(scanner.taps(of: b)))
            defer {
                tapsOfA.stop()
                tapsOfB.stop()
            }
            let slots = [VirtualCardReader(), VirtualCardReader(port: VirtualCardReader.secondPort)]
            let isRemoved = { (event: ReaderEvent) -> Bool? in if case .cardRemoved = event { true } else { nil } }
            for round in 1...3 {
                for (index, slot) in slots.enumerated() {
                    let uid: [UInt8] = [0x04, UInt8(index), UInt8(round), 0xD4, 0xE5, 0x80, 0x90]
                    try slot.present(SimulatedNTAG(.ntag213, uid: uid))
                }
                _ = try await tapsOfA.first("a tap of A", number: round) { $0 }
                _ = try await tapsOfB.first("a tap of B", number: round) { $0 }
                slots.forEach { $0.remove() }
                _ = try await events.first("removals", number: 2 * round, isRemoved)
            }
            #expect(tapsOfA.all.compactMap { $0.uid?.bytes[2] } == [1, 2, 3])
            #expect(tapsOfB.all.compactMap { $0.uid?.bytes[2] } == [1, 2, 3])
            #expect(tapsOfA.all.allSatisfy { $0.uid?.bytes[1] == 0 && $0.reader == a.name })
            #expect(tapsOfB.all.allSatisfy { $0.uid?.bytes[1] == 1 && $0.reader == b.name })
            TestReport.add(
                section: Self.section,
                line: "through pcscd: two readers at once, each its own stream, 3 taps each | each stream has its own 3"
            )
        }

        /// One look takes 16 readers with the pseudo-reader, so a pcscd with as many readers as it can have is a case of
        /// its own.
        @Test("[real pcscd] sixteen readers")
        func sixteenReaders() async throws {
            daemon.terminate()
            let folder = NSTemporaryDirectory() + "readers-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            // Each entry has two slots, on two ports. pcscd takes one name once.
            let ports = (0..<8).map { VirtualCardReader.firstPort + 2 * UInt16($0) }
            let entries = ports.map { port in
                """
                FRIENDLYNAME "Virtual PCD \(port)"
                DEVICENAME   /dev/null:0x\(String(port, radix: 16))
                LIBPATH      /usr/lib/pcsc/drivers/serial/libifdvpcd.so
                CHANNELID    0x\(String(port, radix: 16))

                """
            }
            try entries.joined(separator: "\n").write(toFile: folder + "/readers", atomically: true, encoding: .utf8)
            try writeProgram(
                "#!/bin/sh\nexec /usr/sbin/pcscd --config '\(folder)/readers' \"$@\"\n",
                to: folder + "/pcscd"
            )
            let crowded = try PCSCDaemon(path: folder + "/pcscd")
            defer { crowded.kill() }
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let added = { (event: ReaderEvent) -> ReaderInfo? in
                if case .readerAdded(let reader) = event { reader } else { nil }
            }
            _ = try await events.first("all readers", number: 16, added)
            #expect(try await backend.readers().count == 16)
            #expect(events.all.compactMap(Self.isLost).isEmpty)
            // No cards: the driver has one pair of slots, which all its readers get in each other's way of.
            crowded.kill()
            _ = try await events.first("lost", Self.isLost)
            let gone = events.all.count { if case .readerRemoved = $0 { true } else { false } }
            #expect(gone == 16)
            TestReport.add(section: Self.section, line: "through pcscd: 16 readers | all told, and all told as gone")
        }

        /// As many as there is time for.
        @Test("[real pcscd] connect cycles leave nothing behind")
        func connectCycles() async throws {
            let backend = backend()
            let events = Collected(backend.events())
            defer { events.stop() }
            let slot = VirtualCardReader()
            try slot.present(SimulatedNTAG(.ntag213))
            let presence = try await events.first("the card", Self.inserted())
            // Some that are not measured: what is made once is no leak.
            for _ in 0..<50 { #expect(await converse(backend, presence) == "04A1B2C3D4E5809000") }
            let (memory, descriptors) = (ProcessFigures.residentBytes, ProcessFigures.descriptors)
            let started = ContinuousClock.now
            var cycles = 0
            while cycles < 2_500 {
                // Half of them through a connection of single exchanges.
                if cycles % 2 == 0 {
                    #expect(await converse(backend, presence) == "04A1B2C3D4E5809000")
                } else {
                    let connection = try await backend.connect(to: presence)
                    #expect(try await connection.transmit(Self.command).count == 9)
                    await connection.close()
                }
                cycles += 1
            }
            let took = (ContinuousClock.now - started).seconds
            let grown = ProcessFigures.residentBytes - memory
            let opened = ProcessFigures.descriptors - descriptors
            // Other tests come and go meanwhile; one descriptor or some kilobytes a cycle would be more.
            #expect(opened < 50)
            #expect(grown < 12 << 20)
            TestReport.add(
                section: Self.section,
                line: "through pcscd: \(cycles) connect cycles in \(took.formatted(1)) s | resident memory"
                    + " \(grown / 1024) KiB more, \(opened) file descriptors more"
            )
        }
    }
}
#endif
