import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

@testable import ClubKit

/// What readers are told of taps, and when.
@Suite("Signals at the readers", .timeLimit(.minutes(10)))
struct FeedbackTests {
    /// Records what it is asked to give, and then does what a test wants.
    private struct RecordingFeedback: ReaderFeedback {
        let given = Shared<[String]>([])
        var then: @Sendable () async -> Void = {}

        func give(_ signal: FeedbackSignal, at reader: ReaderInfo) async {
            given.withLock { $0.append("\(signal) at \(reader.name)") }
            await then()
        }

        var all: [String] { given.withLock(\.self) }
    }

    @Test("Each outcome has its signal")
    func outcomes() {
        #expect(Receipt.Outcome.created.signal == .accepted)
        #expect(Receipt.Outcome.visit.signal == .accepted)
        #expect(Receipt.Outcome.repeat.signal == .repeated)
        for code in Receipt.Reason.Code.allCases {
            let reason = Receipt.Reason(code, "")
            #expect(Receipt.Outcome.ignored(reason).signal == .rejected)
            #expect(Receipt.Outcome.rejected(reason).signal == (code == .card(.cardRemoved) ? .holdLonger : .rejected))
        }
    }

    @Test("Each new tap gives its reader one signal, and a tap that was seen before none")
    func taps() async throws {
        let club = try await openClub(.test())
        let feedback = RecordingFeedback()
        #expect(club.setFeedback(to: feedback) === club)
        let first = tap("U1")
        let taps = [
            (first, "accepted"), (tap("U1", at: 1), "repeated"), (tap("U1", at: 60), "accepted"),
            (tap(nil), "rejected"), (tap(nil, problems: [.init(.cardRemoved, "gone")]), "holdLonger"),
        ]
        // Each at a reader of its own, where no signal that is late may be dropped for the next.
        for (number, (var tap, signal)) in taps.enumerated() {
            tap.reader = "Reader \(number)"
            _ = try await club.receive(tap)
            try await until("the signal") { feedback.all.count > number }
            #expect(feedback.all.last == "\(signal) at \(tap.reader)")
        }
        #expect(try await club.receive(first).isDuplicate)
        club.setFeedback(to: nil)
        _ = try await club.receive(tap("U2"))
        await club.feedback.finish()
        #expect(feedback.all.count == taps.count)
        try await club.close()
    }

    @Test("While a tap cannot be committed its reader gives no signal; then it gives one")
    func afterTheCommit() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file()), busyTimeout: .milliseconds(20)))
        let feedback = RecordingFeedback()
        club.setFeedback(to: feedback)
        let locked = try LockedDatabase(directory.file())
        await #expect(throws: ClubError.self) { try await club.receive(tap("U1")) }
        await club.feedback.finish()
        #expect(feedback.all == [])
        locked.release()
        _ = try await club.receive(tap("U1"))
        try await until("the signal") { !feedback.all.isEmpty }
        #expect(feedback.all == ["accepted at Test reader"])
        try await club.close()
    }

    @Test("When the signal is given the receipt is on disk, for another program too")
    func onDisk() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        let other = try await openClub(.test(.file(path: directory.file())))
        let seen = Shared<[Bool]>([])
        let first = tap("U1")
        club.setFeedback(
            to: RecordingFeedback {
                let isThere = try? await other.hasReceived(first.id)
                seen.withLock { $0.append(isThere ?? false) }
            }
        )
        _ = try await club.receive(first)
        try await until("the signal") { seen.withLock { !$0.isEmpty } }
        #expect(seen.withLock(\.self) == [true])
        try await other.close()
        try await club.close()
    }

    @Test("A signal that never ends holds up no tap")
    func hanging() async throws {
        let club = try await openClub(.test())
        let door = Door()
        let feedback = RecordingFeedback { await door.pass() }
        club.setFeedback(to: feedback)
        var outcomes: [Receipt.Outcome] = []
        for number in 0..<20 { outcomes.append(try await club.receive(tap("U\(number)", at: Double(number))).outcome) }
        #expect(outcomes == Array(repeating: .created, count: 20))
        try await until("the first signal") { feedback.all.count == 1 }
        try await club.close()
        door.open()
    }
}

extension FeedbackTests {
    @Test("A card on an S550 becomes a visit, and then a sequence")
    func fromCardToLight() async throws {
        let s550 = SimulatedS550(passesEscape: false)
        let backend = SimulatedBackend(readers: ["SpringCard H518 00 00"], reader: SimulatedReader(control: s550))
        // The second tap is one too soon, however slow the machine is.
        let club = try await openClub(.test(cooldown: .seconds(3600)))
        club.setFeedback(to: ReaderLights(backend))
        let serving = Task { try await club.serve(backend) }
        let message = try NDEFMessage([.text("4|U1|x|Ann")]).encoded()
        let card = try #require(SimulatedNTAG.formatted(.ntag213, message: message))
        try await until("the watch") { backend.watchers == 1 }
        backend.insert(card)
        try await until("the signal") { s550.actions == [.played(0x24, onAntenna: false)] }
        #expect(try await club.member(withUserID: "U1")?.numVisits == 1)
        backend.insert(card)
        try await until("the second signal") { s550.actions.last == .played(0x23, onAntenna: false) }
        serving.cancel()
        _ = try? await serving.value
        try await club.close()
    }
}
