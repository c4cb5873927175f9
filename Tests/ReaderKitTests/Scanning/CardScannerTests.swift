import Captures
import CardCore
import CardTags
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

@Suite(.timeLimit(.minutes(10))) struct CardScannerTests {
    private static func tag(_ text: String = "4|U1|x|Ann") throws -> SimulatedNTAG {
        try #require(try Scanning.tag([.text(text)]))
    }

    @Test func oneEventForEachPresentation() async throws {
        let backend = SimulatedBackend { Date(timeIntervalSince1970: 1) }
        let taps = Taps(Scanning.scanner(backend))
        try await taps.until("watching") { _ in backend.watchers == 1 }
        for round in 1...3 {
            backend.insert(try Self.tag("U\(round)"))
            try await taps.until("tap") { $0.count == round }
            // It rests, and other things happen to the readers; no further tap comes of it.
            backend.addReader(named: "B\(round)")
            try await taps.until("reader") { _ in
                taps.readers.contains { $0 == .readerAdded(ReaderInfo(name: "B\(round)", backend: .simulated)) }
            }
            #expect(taps.all.count == round)
            backend.remove()
        }
        #expect(taps.all.map(\.memberKey) == ["U1", "U2", "U3"])
        #expect(
            taps.all.allSatisfy {
                $0.at == Date(timeIntervalSince1970: 1) && $0.reader == SimulatedBackend.defaultReader
            }
        )
        #expect(Set(taps.all.map(\.id)).count == 3)
        taps.stop()
        try await taps.until("ended") { _ in backend.watchers == 0 && taps.hasFinished }
    }

    @Test func cardThatIsThereAtStart() async throws {
        let backend = SimulatedBackend()
        backend.insert(try Self.tag())
        let taps = Taps(Scanning.scanner(backend))
        try await taps.until("tap") { $0.count == 1 }
        #expect(taps.all[0].memberKey == "U1")
    }

    @Test func missedCardIsNoTap() async throws {
        let backend = SimulatedBackend()
        let taps = Taps(Scanning.scanner(backend))
        try await taps.until("watching") { _ in backend.watchers == 1 }
        backend.flash(try Self.tag("U1"))
        backend.insert(try Self.tag("U2"))
        try await taps.until("tap") { $0.count == 1 }
        #expect(taps.all.map(\.memberKey) == ["U2"])
        #expect(taps.readers.contains { if case .cardMissed = $0 { true } else { false } })
    }

    @Test func readerEventsArePassedOn() async throws {
        let backend = SimulatedBackend()
        let taps = Taps(Scanning.scanner(backend))
        try await taps.until("watching") { _ in taps.readers.count == 2 }
        backend.loseService()
        backend.restoreService()
        backend.insert(try Self.tag())
        try await taps.until("tap") { $0.count == 1 }
        let names = taps.readers.map { "\($0)".prefix { $0 != "(" } }
        #expect(
            names == [
                "serviceBack", "readerAdded", "readerRemoved", "serviceLost", "serviceBack", "readerAdded",
                "cardInserted",
            ]
        )
    }

    @Test func onlyTheReadersThatAreServed() async throws {
        let backend = SimulatedBackend(readers: ["A", "B"])
        let taps = Taps(Scanning.scanner(backend, serves: { $0.name == "B" }))
        try await taps.until("watching") { _ in backend.watchers == 1 }
        backend.insert(try Self.tag("U1"), into: "A")
        backend.insert(try Self.tag("U2"), into: "B")
        try await taps.until("tap") { $0.count == 1 }
        #expect(taps.all.map(\.reader) == ["B"])
        #expect(taps.readers.count { if case .cardInserted = $0 { true } else { false } } == 2)
    }

    @Test func severalReaders() async throws {
        let names = (0..<5).map { "Reader \($0)" }
        let backend = SimulatedBackend(readers: names)
        let taps = Taps(Scanning.scanner(backend))
        try await taps.until("watching") { _ in backend.watchers == 1 }
        for round in 0..<20 {
            for name in names { backend.insert(try Self.tag("\(name.last ?? "?")-\(round)"), into: name) }
            try await taps.until("taps") { $0.count == (round + 1) * names.count }
        }
        for name in names {
            let keys = taps.all.filter { $0.reader == name }.map(\.memberKey)
            #expect(keys == (0..<20).map { "\(name.last ?? "?")-\($0)" })
        }
    }

    /// A card that left before it was read, or whose place another took, is one tap that says so.
    @Test func cardThatIsGone() async throws {
        let backend = SimulatedBackend()
        let first = try #require(backend.insert(try Self.tag("U1")))
        backend.insert(try Self.tag("U2"))
        let tap = await Scanning.scanner(backend).scan(first)
        #expect(tap.problems.map(\.code) == [.cardRemoved])
        #expect(tap.memberKey == nil)
        #expect(tap.card == "MIFARE Ultralight")
    }

    @Test(arguments: [SimulatedFault.Kind.communication, .reset]) func retries(_ kind: SimulatedFault.Kind) async throws
    {
        let fault = SimulatedFault(kind, atExchange: 1)
        // It works the second or the third time.
        for failures in 0...2 {
            let backend = FaultyBackend(try Self.tag(), faults: Array(repeating: [fault], count: failures))
            let tap = await Scanning.scanner(backend).scan(backend.presence)
            #expect(tap.memberKey == "U1")
            #expect(tap.problems == [])
            #expect(backend.conversations == failures + 1)
        }
        // For ever: one tap that says so, and does not name the member by the identifier that could be read.
        let backend = FaultyBackend(try Self.tag(), faults: Array(repeating: [fault], count: 100))
        let tap = await Scanning.scanner(backend).scan(backend.presence)
        #expect(backend.conversations == 3)
        #expect(tap.problems.map(\.code) == [.readFailed])
        #expect(tap.uid?.hex == "04A1B2C3D4E580")
        #expect(tap.memberKey == nil && tap.passes == [])
        let patient = FaultyBackend(try Self.tag(), faults: Array(repeating: [fault], count: 10))
        #expect(await Scanning.scanner(patient, retries: 10).scan(patient.presence).memberKey == "U1")
        let hasty = FaultyBackend(try Self.tag(), faults: [[fault]])
        #expect(await Scanning.scanner(hasty, retries: 0).scan(hasty.presence).memberKey == nil)
        #expect(hasty.conversations == 1)
    }

    /// A card that left does not come back by reading it again.
    @Test(arguments: [SimulatedFault.Kind.removed, .timeout]) func noRetries(_ kind: SimulatedFault.Kind) async throws {
        let backend = FaultyBackend(try Self.tag(), faults: [[SimulatedFault(kind, atExchange: 1)]])
        let tap = await Scanning.scanner(backend).scan(backend.presence)
        #expect(backend.conversations == 1)
        #expect(tap.problems.map(\.code) == [kind == .removed ? .cardRemoved : .readFailed])
        #expect(tap.memberKey == nil)
    }

    @Test func retriesAreLimited() {
        #expect(ScannerConfiguration(retries: -1).retries == 0)
        #expect(ScannerConfiguration(retries: 1000).retries == 10)
    }

    /// Nothing personal in the texts of problems.
    @Test func problemsDoNotShowTheCard() async throws {
        let backend = FaultyBackend(try Self.tag("4|SECRET|x|Ann"), faults: [[SimulatedFault(.timeout, atExchange: 2)]])
        let tap = await Scanning.scanner(backend).scan(backend.presence)
        for problem in tap.problems {
            #expect(!problem.message.contains("04A1B2C3D4E580") && !problem.message.contains("SECRET"))
        }
    }

    /// A recording: each tap directly after its card, the same in each run, and then the end.
    @Test func recordingsAreReadInOrder() async throws {
        let file = Fixtures.directory + "/cards/two-readers.capture"
        var runs: [[String]] = []
        for _ in 0..<3 {
            var run: [String] = []
            let backend = ReplayBackend([try Capture(contentsOf: file)]) { _ in Date(timeIntervalSince1970: 0) }
            for await event in Scanning.scanner(backend).events() {
                switch event {
                case .scan(let tap): run.append("scan \(tap.reader) \(tap.id)")
                case .reader(let event): run.append("\(event)")
                }
            }
            runs.append(run)
        }
        #expect(runs[0].count > 6)
        #expect(runs[0] == runs[1] && runs[1] == runs[2])
        let events = runs[0].map { $0.hasPrefix("scan") ? "scan" : String($0.prefix { $0 != "(" }) }
        for index in events.indices where events[index] == "cardInserted" {
            #expect(events[index + 1] == "scan")
        }
    }

    @Test func tapsAlone() async throws {
        let backend = ReplayBackend([try Capture(contentsOf: Fixtures.directory + "/cards/two-readers.capture")])
        var count = 0
        for await _ in Scanning.scanner(backend).taps() { count += 1 }
        #expect(count == 3)
    }

    #if PCSC
    /// The whole way, with pcscd's part played by its model: restart, replug, quick taps.
    @Test func throughPCSC() async throws {
        let fake = FakePCSC(readers: ["A"])
        let backend = fake.backend()
        let taps = Taps(Scanning.scanner(backend))
        func card(_ text: String) throws -> FakePCSC.Card {
            let tag = try Self.tag(text)
            let reader = SimulatedReader()
            return FakePCSC.Card(atr: tag.atr) { command in
                reader.transmit(command, to: tag).map { .bytes($0) } ?? .code(.notTransacted)
            }
        }
        fake.insert(try card("U1"), into: "A")
        try await taps.until("first") { $0.map(\.memberKey) == ["U1"] }
        fake.kill()
        fake.restart()
        // The card lies there still: seen again, and no tap again.
        try await taps.until("back") { _ in
            taps.readers.count { if case .cardInserted = $0 { true } else { false } } == 2
        }
        fake.remove(from: "A")
        fake.edges("A", [try card("U2"), nil, try card("U3")])
        try await taps.until("last") { $0.last?.memberKey == "U3" }
        fake.plug("B")
        fake.insert(try card("U4"), into: "B")
        try await taps.until("other reader") { $0.last?.memberKey == "U4" && $0.last?.reader == "B" }
        #expect(taps.all.compactMap(\.memberKey) == ["U1", "U3", "U4"])
        taps.stop()
        try await taps.until("ended") { _ in taps.hasFinished }
        #expect(fake.complaints == [])
    }
    #endif
}
