import CardCore
import CardPasses
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

/// The backend, with a simulated reader at the other end of a pseudo-terminal.
@Suite(.timeLimit(.minutes(10)), .serialized) struct SmartReaderBackendTests {
    private static func tag(_ index: Int) -> SmartReaderTag {
        SmartReaderTag(
            interface: "01",
            radioProtocol: "01",
            template: 1,
            id: "04" + Hex.encode([UInt8(index >> 8 & 0xFF), UInt8(index & 0xFF), 1, 2, 3, 0x80])
        )
    }

    private static func start(
        _ format: SmartReaderFormat = .scrdr,
        silence: Duration = .seconds(60)
    ) async throws -> (reader: SmartReaderTerminal, backend: SmartReaderBackend, taps: Taps) {
        let reader = try SmartReaderTerminal(format: format)
        let backend = SmartReaders.backend(try #require(reader.path), silence: silence)
        let taps = Taps(Scanning.scanner(backend))
        try await taps.untilRead("added")
        return (reader, backend, taps)
    }

    @Test(arguments: SmartReaderFormat.allCases) func manyTapsOnceAndInOrder(_ format: SmartReaderFormat) async throws {
        let (reader, backend, taps) = try await Self.start(format)
        for index in 0..<200 { try reader.report(Self.tag(index)) }
        try await taps.until("all") { $0.count == 200 }
        #expect(taps.all.map { $0.uid?.hex } == (0..<200).map { Self.tag($0).id })
        #expect(taps.all.allSatisfy { $0.backend == .smartReader && $0.problems.isEmpty })
        #expect(Set(taps.all.map(\.id)).count == 200)
        #expect(backend.counts(of: ReaderInfo(name: reader.path ?? "", backend: .smartReader))?.noiseBytes == 0)
    }

    @Test func cardsThatItReads() async throws {
        let (reader, _, taps) = try await Self.start()
        let message = try NDEFMessage([NDEFRecord.uri("https://club.example/m/42")]).encoded()
        try reader.report(try #require(SimulatedNTAG.formatted(.ntag213, message: message)))
        try reader.report(SimulatedMIFAREClassic(uid: [0x10, 0x20, 0x30, 0x40]))
        try reader.report(pass: "M-1042", template: 0xD1)
        try reader.report(pass: "12345678", template: 0xD2)
        try await taps.until("all; \(taps.texts)") { $0.count == 4 }
        #expect(taps.all.map(\.memberKey) == ["42", "10203040", "M-1042", "12345678"])
        #expect(taps.all.map { $0.passes.first?.kind } == [.ndef, .uid, .appleVAS, .smartTap])
        #expect(taps.all[0].uid?.bytes == SimulatedNTAG.sampleUID)
        #expect(taps.all.allSatisfy { $0.technology == .iso14443a })
    }

    @Test func whatRestsAndWhatLeaves() async throws {
        let (reader, backend, taps) = try await Self.start()
        reader.greet()
        for move in [nil, nil, .remove, nil, .insert, .remove] as [SmartReaderTag.Move?] {
            var tag = Self.tag(1)
            tag.move = move
            try reader.report(tag)
        }
        try reader.report(Self.tag(2))
        try await taps.until("the last") { $0.contains { $0.uid?.hex == Self.tag(2).id } }
        #expect(taps.all.count == 4)
        let info = ReaderInfo(name: try #require(reader.path), backend: .smartReader)
        try await until("counts") { backend.counts(of: info)?.departures == 2 }
        #expect(backend.counts(of: info)?.repeats == 1)
        #expect(backend.counts(of: info)?.greetings == 1)
    }

    @Test func comesAndGoes() async throws {
        let (folder, path) = try SmartReaders.link()
        defer { try? FileManager.default.removeItem(at: folder) }
        let backend = SmartReaders.backend(path)
        let taps = Taps(Scanning.scanner(backend))
        #expect(await backend.readers().isEmpty)
        let reader = try SmartReaderTerminal(link: path)
        for round in 1...4 {
            try await taps.untilRead("added", times: round)
            #expect(await backend.readers().map(\.reader) == [ReaderInfo(name: path, backend: .smartReader)])
            try reader.report(Self.tag(round))
            try await taps.until("tap \(round)") { $0.count == round }
            reader.unplug()
            try await taps.untilRead("gone", times: round)
            try reader.plugIn()
        }
        try await taps.untilRead("added", times: 5)
        let lines = try (1...4).map { try Self.tag($0).line(as: .scrdr) }
        let rounds: [String] = lines.flatMap { ["added", $0, "gone"] }
        #expect(taps.texts == rounds + ["added"])
    }

    @Test func lineTornByUnplugging() async throws {
        let (folder, path) = try SmartReaders.link()
        defer { try? FileManager.default.removeItem(at: folder) }
        let reader = try SmartReaderTerminal(link: path, format: .mk1)
        let backend = SmartReaders.backend(path)
        let taps = Taps(Scanning.scanner(backend))
        try await taps.untilRead("added")
        let info = ReaderInfo(name: path, backend: .smartReader)
        let woken = try #require(backend.wakeUps(of: info))
        try reader.tear(Self.tag(1), afterBytes: 9)
        try await until("half a line") { backend.wakeUps(of: info) ?? 0 > woken }
        reader.unplug()
        try await taps.untilRead("gone")
        try reader.plugIn()
        try await taps.untilRead("added", times: 2)
        try reader.report(Self.tag(2))
        try await taps.until("the next") { !$0.isEmpty }
        #expect(taps.all.map { $0.uid?.hex } == [Self.tag(2).id])
        try await until("it was counted") { backend.counts(of: info)?.tornLines == 1 }
    }

    /// A line that lacks its end only is a tap, also when the reader is gone then.
    @Test func wholeLineAndUnplugging() async throws {
        let (reader, backend, taps) = try await Self.start()
        let info = ReaderInfo(name: try #require(reader.path), backend: .smartReader)
        let woken = try #require(backend.wakeUps(of: info))
        try reader.tear(Self.tag(1), afterBytes: try Self.tag(1).line(as: .scrdr).utf8.count)
        try await until("it has come") { backend.wakeUps(of: info) ?? 0 > woken }
        reader.unplug()
        try await taps.untilRead("gone")
        #expect(taps.all.map { $0.uid?.hex } == [Self.tag(1).id])
    }

    @Test func halfALineAndAPause() async throws {
        let (reader, backend, taps) = try await Self.start(.mk1, silence: .milliseconds(1))
        let info = ReaderInfo(name: try #require(reader.path), backend: .smartReader)
        try reader.tear(Self.tag(1), afterBytes: 9)
        try await until("it was given up") { backend.counts(of: info)?.tornLines == 1 }
        try reader.report(Self.tag(2))
        try await taps.until("the next") { !$0.isEmpty }
        #expect(taps.all.map { $0.uid?.hex } == [Self.tag(2).id])
    }

    /// A damaged line is told, as a tap of which nothing could be read; noise is not.
    @Test func damagedLinesAndNoise() async throws {
        let (reader, backend, taps) = try await Self.start()
        reader.send(noise: [0, 1, 2, 0xFF, 0xFE, 0x0D, 0x0A] + Array("hello there\r\n".utf8))
        var damaged = try reader.bytes(of: Self.tag(1))
        damaged[20] ^= 1
        reader.send(noise: damaged)
        reader.send(noise: [0x81, 0x82])
        try reader.report(Self.tag(2))
        try await taps.until("both") { $0.count == 2 }
        #expect(taps.all.map { $0.problems.map(\.code) } == [[.readFailed], []])
        #expect(taps.all.map(\.memberKey) == [nil, Self.tag(2).id])
        let info = ReaderInfo(name: try #require(reader.path), backend: .smartReader)
        try await until("noise") { backend.counts(of: info)?.noiseBytes == 5 + 11 + 2 }
    }

    /// On a bad line no tap names another member: what arrives damaged is told as such, or not at all.
    @Test func noiseMakesNobodyElse() async throws {
        let (reader, _, taps) = try await Self.start()
        reader.setNoise(LineNoise(seed: 9, oneIn: 150))
        for index in 0..<300 { try reader.report(Self.tag(index)) }
        reader.setNoise(nil)
        reader.send(noise: [0x0D, 0x0A])
        try reader.report(Self.tag(300))
        try await taps.until("the last") { $0.last?.uid?.hex == Self.tag(300).id }
        let known = Set((0...300).map { Self.tag($0).id })
        let keys = taps.all.compactMap(\.memberKey)
        #expect(keys.allSatisfy(known.contains))
        #expect(keys == keys.sorted())
        #expect(taps.all.contains { !$0.problems.isEmpty })
        #expect(keys.count > 150)
    }

    @Test func heldLineIsToldAndUsedLater() async throws {
        let reader = try SmartReaderTerminal()
        let path = try #require(reader.path)
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        holder.arguments = ["--no-fork", "-x", path, "sleep", "600"]
        try holder.start()
        // A test's thread blocks other signals, and so does the program that it starts.
        defer { kill(holder.processIdentifier, SIGKILL) }
        try await until("the lock") { (try? DeviceNode(path)) == nil }
        let taps = Taps(Scanning.scanner(SmartReaders.backend(path)))
        try await taps.untilRead("stuck sharingViolation")
        let error = taps.readers.lazy.compactMap { if case .readerStuck(_, let error) = $0 { error } else { nil } }
            .first
        #expect(error?.hint.contains("(pid \(holder.processIdentifier))") == true)
        kill(holder.processIdentifier, SIGKILL)
        try await taps.untilRead("added")
        #expect(taps.texts == ["stuck sharingViolation", "recovered", "added"])
    }

    @Test func lineIsHeldWhileWatchedOnly() async throws {
        let reader = try SmartReaderTerminal()
        let path = try #require(reader.path)
        let backend = SmartReaders.backend(path)
        func isHeld() -> Bool { (try? DeviceNode(path)) == nil }
        #expect(!isHeld())
        for _ in 0..<3 {
            let taps = Taps(Scanning.scanner(backend))
            try await taps.untilRead("added")
            #expect(isHeld())
            taps.stop()
            try await until("it was let go") { !isHeld() }
        }
    }

    /// Two watches each hear all; one that comes later hears what is there.
    @Test func severalWatches() async throws {
        let (reader, backend, first) = try await Self.start()
        let second = Taps(Scanning.scanner(backend))
        try await second.untilRead("added")
        try reader.report(Self.tag(1))
        for taps in [first, second] { try await taps.until("the tap") { $0.count == 1 } }
        first.stop()
        try reader.report(Self.tag(2))
        try await second.until("the next") { $0.count == 2 }
        #expect(second.texts.filter { $0 == "added" } == ["added"])
    }

    @Test func severalReaders() async throws {
        let readers = try (0..<3).map { _ in try SmartReaderTerminal() }
        let paths = readers.compactMap(\.path)
        let backend = SmartReaders.backend(paths[0], paths[1], paths[2], paths[0])
        let taps = Taps(Scanning.scanner(backend))
        try await taps.untilRead("added", times: 3)
        for index in 0..<90 { try readers[index % 3].report(Self.tag(index)) }
        try await taps.until("all") { $0.count == 90 }
        for (number, path) in paths.enumerated() {
            let ids = taps.all.filter { $0.reader == path }.map { $0.uid?.hex }
            #expect(ids == (0..<30).map { Self.tag($0 * 3 + number).id })
        }
    }

    /// While nothing comes the thread does not wake up; it does for what comes.
    @Test func sleepsWhileIdle() async throws {
        let (reader, backend, taps) = try await Self.start()
        let info = ReaderInfo(name: try #require(reader.path), backend: .smartReader)
        // Another reader's traffic takes time, in which this one has nothing to do.
        let (other, _, otherTaps) = try await Self.start()
        let before = try #require(backend.wakeUps(of: info))
        for index in 0..<500 {
            try other.report(Self.tag(index))
            try await otherTaps.until("tap") { $0.count == index + 1 }
        }
        let idle = try #require(backend.wakeUps(of: info))
        // The round in which it opened the line may end only now.
        #expect(idle - before <= 1)
        try reader.report(Self.tag(1))
        try await taps.until("the tap") { $0.count == 1 }
        // It counts its rounds as they begin, the next one after the tap.
        try await until("it woke up") { backend.wakeUps(of: info) ?? 0 > idle }
    }

    @Test func whatIsNoReader() async throws {
        let (folder, path) = try SmartReaders.link()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data().write(to: URL(fileURLWithPath: path))
        let taps = Taps(Scanning.scanner(SmartReaders.backend(path)))
        try await taps.untilRead("stuck unsupported")
        let keyboard = SmartReaderConfiguration(sources: [.keyboard(path)], firstBackOff: .milliseconds(2))
        let typed = Taps(Scanning.scanner(SmartReaderBackend(configuration: keyboard)))
        try await typed.untilRead("stuck unsupported")
    }

    @Test func cannotTalkToCards() async throws {
        let backend = SmartReaders.backend("/dev/no-such-line")
        let presence = CardPresence(
            reader: ReaderInfo(name: "/dev/no-such-line", backend: .smartReader),
            number: 1,
            facts: CardFacts(),
            at: Date(timeIntervalSince1970: 0)
        )
        do {
            try await backend.withCard(presence) { _ in }
            Issue.record("no error")
        } catch {
            #expect((error as? ReaderError)?.kind == .unsupported)
        }
    }

    /// A pipe in the place of an input device, which cannot be taken for one process alone.
    @Test func keyboard() async throws {
        let (folder, path) = try SmartReaders.link()
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(mkfifo(path, 0o600) == 0)
        let writer = open(path, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        var surroundings = SmartReaderThread.Surroundings()
        let grabs = Counter()
        surroundings.grab = { _ in grabs.next() == 1 ? EBUSY : 0 }
        let configuration = SmartReaderConfiguration(
            sources: [.keyboard(path)],
            firstBackOff: .milliseconds(2),
            lastBackOff: .milliseconds(10)
        )
        let backend = SmartReaderBackend(configuration: configuration, surroundings: surroundings)
        let taps = Taps(Scanning.scanner(backend))
        try await taps.untilRead("added")
        #expect(taps.texts == ["stuck sharingViolation", "recovered", "added"])
        // 04A1B2C3, Enter
        let shifted: Set<UInt16> = [30, 48, 46]
        let keys: [UInt16] = [11, 5, 30, 2, 48, 3, 46, 4, 28]
        let bytes = keys.flatMap { key in
            shifted.contains(key) ? SmartReaderKeyboardTests.shifted(key) : SmartReaderKeyboardTests.stroke(key)
        }
        #expect(bytes.withUnsafeBytes { write(writer, $0.baseAddress, $0.count) } == bytes.count)
        try await taps.until("the tap") { $0.count == 1 }
        #expect(taps.all.first?.uid?.hex == "04A1B2C3")
    }

    /// Its end is that of the reader; a last line without an end counts.
    @Test func standardInput() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        var surroundings = SmartReaderThread.Surroundings()
        surroundings.standardInput = ends[0]
        let configuration = SmartReaderConfiguration(sources: [SmartReaderSource("-")], format: .plain)
        let backend = SmartReaderBackend(configuration: configuration, surroundings: surroundings)
        let taps = Taps(Scanning.scanner(backend))
        try await taps.untilRead("added")
        let text = Array("M-1042\n4|U1|x|Ann\nM-7".utf8)
        #expect(write(ends[1], text, text.count) == text.count)
        close(ends[1])
        try await taps.untilRead("gone")
        #expect(taps.texts == ["added", "M-1042", "4|U1|x|Ann", "M-7", "gone"])
        #expect(taps.all.map(\.memberKey) == ["M-1042", "U1", "M-7"])
    }

    /// It is the end of the watch too where nothing else can come.
    @Test func endOfTheOnlySource() async throws {
        for isAlone in [true, false] {
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            defer { close(ends[0]) }
            var surroundings = SmartReaderThread.Surroundings()
            surroundings.standardInput = ends[0]
            let sources = [.standardInput] + (isAlone ? [] : [SmartReaderSource.serial("/dev/no-such-line")])
            let backend = SmartReaderBackend(
                configuration: SmartReaderConfiguration(sources: sources, lastBackOff: .milliseconds(10)),
                surroundings: surroundings
            )
            let taps = Taps(Scanning.scanner(backend))
            close(ends[1])
            try await taps.untilRead("gone")
            if isAlone {
                try await until("the watch has ended") { taps.hasFinished }
                let later = Taps(Scanning.scanner(backend))
                try await until("there is nothing to begin") { later.hasFinished }
            } else {
                #expect(!taps.hasFinished)
            }
            taps.stop()
        }
    }

    /// A line that gets a name while somebody watches is served, once, if it is meant.
    @Test func folder() async throws {
        let (folder, _) = try SmartReaders.link()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "clubkit").path
        let backend = SmartReaderBackend(
            configuration: SmartReaderConfiguration(
                folder: SmartReaderFolder(path),
                firstBackOff: .milliseconds(2),
                lastBackOff: .milliseconds(10)
            ),
            serves: { $0.serial != "C3" }
        )
        #expect(await backend.readers() == [])
        let taps = Taps(Scanning.scanner(backend))
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let first = try SmartReaderTerminal(link: path + "/smart-reader-A1")
        try await taps.untilRead("added")
        // One without a serial number has this name, until the next one comes: the rules give it to that one too.
        let plain = try SmartReaderTerminal(link: path + "/smart-reader")
        try await taps.untilRead("added", times: 2)
        let second = try SmartReaderTerminal(link: path + "/new")
        try FileManager.default.removeItem(atPath: path + "/smart-reader")
        for name in ["smart-reader", "smart-reader-B2"] {
            try FileManager.default.createSymbolicLink(
                atPath: path + "/" + name,
                withDestinationPath: try FileManager.default.destinationOfSymbolicLink(atPath: path + "/new")
            )
        }
        let other = try SmartReaderTerminal(link: path + "/smart-reader-C3")
        try await taps.untilRead("added", times: 3)
        for (number, reader) in [first, plain, second].enumerated() { try reader.report(Self.tag(number)) }
        try await taps.until("all") { $0.count == 3 }
        #expect(
            Set(taps.all.map { $0.reader.dropFirst(path.count) }) == [
                "/smart-reader-A1", "/smart-reader", "/smart-reader-B2",
            ]
        )
        #expect(taps.texts.allSatisfy { !$0.hasPrefix("stuck") })
        plain.unplug()
        try await taps.untilRead("gone")
        // Its name leads to the other one now, which is served already.
        try second.report(Self.tag(9))
        try await taps.until("the next") { $0.count == 4 }
        #expect(taps.texts.allSatisfy { !$0.hasPrefix("stuck") })
        #expect(!other.isOpenedByProgram)
        first.unplug()
        try await taps.untilRead("gone", times: 2)
        try first.plugIn()
        try await taps.untilRead("added", times: 4)
        taps.stop()
    }

    /// A line that can be seen not to be usable says why.
    @Test func troubles() async throws {
        let reader = try SmartReaderTerminal()
        let path = try #require(reader.path)
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/bin/sh")
        holder.arguments = ["-c", "exec sleep 600 < \(path)"]
        try holder.start()
        defer { kill(holder.processIdentifier, SIGKILL) }
        let (folder, file) = try SmartReaders.link()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data().write(to: URL(fileURLWithPath: file))
        let comm = "/proc/\(holder.processIdentifier)/comm"
        try await until("it is open") { try String(contentsOfFile: comm, encoding: .utf8) == "sleep\n" }
        let found = await SmartReaders.backend(path, file, "/dev/null", "/dev/no-such-line").readers()
        #expect(found.map(\.unavailability?.kind) == [.sharingViolation, .readerUnavailable, .readerUnavailable])
        #expect(found.first?.unavailability?.hint.contains("sleep (pid \(holder.processIdentifier))") == true)
        kill(holder.processIdentifier, SIGKILL)
        try await until("it can be used") { await SmartReaders.backend(path).readers().first?.unavailability == nil }
    }

    /// What was closed tells nothing more, and keeps nobody out.
    @Test func closing() async throws {
        let (reader, backend, taps) = try await Self.start()
        let path = try #require(reader.path)
        await backend.close()
        #expect((try? DeviceNode(path)) != nil)
        try await until("the watch has ended") { taps.hasFinished }
        let later = Taps(Scanning.scanner(backend))
        try await until("nothing is begun") { later.hasFinished }
        #expect((try? DeviceNode(path)) != nil)
        await backend.close()
    }

    @Test func nothingIsLeftBehind() async throws {
        func descriptors() -> Int {
            ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            }
        }
        let reader = try SmartReaderTerminal()
        let path = try #require(reader.path)
        for _ in 0..<5 {
            let taps = Taps(Scanning.scanner(SmartReaders.backend(path)))
            try await taps.untilRead("added")
            taps.stop()
            try await until("it was let go") { (try? DeviceNode(path)) != nil }
        }
        #expect(descriptors() == 0)
    }
}
