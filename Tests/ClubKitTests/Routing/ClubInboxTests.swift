import Foundation
import ReaderKit
import Synchronization
import Testing

@testable import ClubKit

@Suite("The inbox of a club")
struct ClubInboxTests {
    private func message(_ id: String) -> Message {
        Message(id: id, type: "t", payload: .object(["a": .int(1)]), receivedAt: start)
    }

    @Test("Messages survive, are taken once, and settle")
    func life() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        #expect(try await club.inbox.add(message("1")))
        #expect(try await !club.inbox.add(message("1")))
        #expect(try await club.inbox.add(message("2")))
        #expect(try await club.inbox.beginAttempt("1") == 1)
        try await club.close()
        try await club.open()
        #expect(try await club.inbox.pending().map(\.id) == ["1", "2"])
        #expect(try await club.inbox.pending().map(\.attempts) == [1, 0])
        #expect(try await club.inbox.pending().first?.message == message("1"))
        #expect(try await club.inbox.beginAttempt("1") == 2)
        try await club.inbox.settle("1", outcome: .newData, at: start)
        try await club.inbox.settle("2", outcome: .failed("no paper"), at: start)
        #expect(try await club.inbox.pending().isEmpty)
        #expect(try await club.inbox.entries(.dead, limit: 10).map(\.reason) == ["no paper"])
        #expect(try await club.inbox.entry("1")?.state == .done)
        #expect(try await club.inbox.reopen("1") == nil)
        #expect(try await club.inbox.reopen("2") == message("2"))
        #expect(try await club.inbox.pending().map(\.attempts) == [0])
        #expect(try await club.inbox.prune(before: start.addingTimeInterval(1)) == 1)
        #expect(try await club.inbox.entries(nil, limit: 10).map(\.id) == ["2"])
        await #expect { try await club.inbox.beginAttempt("9") } throws: {
            ($0 as? ClubError)?.kind == .noSuchMessage
        }
        #expect(try await club.check().isEmpty)
    }

    @Test("What one program works on, another leaves alone")
    func claimed() async throws {
        let directory = try TemporaryDirectory()
        let one = try await openClub(.test(.file(path: directory.file())))
        let other = try await openClub(.test(.file(path: directory.file())))
        _ = try await one.inbox.add(message("1"))
        #expect(try await other.inbox.pending().map(\.id) == ["1"])
        _ = try await one.inbox.beginAttempt("1")
        #expect(try await other.inbox.pending().isEmpty)
        await #expect { try await other.inbox.beginAttempt("1") } throws: {
            ($0 as? ClubError)?.kind == .noSuchMessage
        }
        try await one.close()
        #expect(try await other.inbox.pending().map(\.id) == ["1"])
        #expect(try await other.inbox.beginAttempt("1") == 2)
    }

    @Test("What one program works on, another does not settle")
    func settledByOne() async throws {
        let directory = try TemporaryDirectory()
        let one = try await openClub(.test(.file(path: directory.file())))
        let other = try await openClub(.test(.file(path: directory.file())))
        _ = try await one.inbox.add(message("1"))
        _ = try await one.inbox.beginAttempt("1")
        await #expect { try await other.inbox.settle("1", outcome: .expired, at: start) } throws: {
            ($0 as? ClubError)?.kind == .noSuchMessage
        }
        try await one.inbox.settle("1", outcome: .newData, at: start)
        #expect(try await other.inbox.entry("1")?.outcome == .newData)
    }

    @Test("What was done with is forgotten after its time, as others come; dead letters stay")
    func forgotten() async throws {
        let clock = Mutex(start)
        var configuration = ClubConfiguration.test()
        configuration.clock = { clock.withLock(\.self) }
        let club = try await openClub(configuration)
        for number in 1...6 {
            _ = try await club.inbox.add(message("\(number)"))
            try await club.inbox.settle("\(number)", outcome: number == 1 ? .timedOut : .newData, at: start)
        }
        clock.withLock { $0 += ClubInbox.keptFor }
        #expect(try await club.inbox.add(message("7")))
        #expect(try await club.inbox.entries(nil, limit: 10).count == 7)
        clock.withLock { $0 += 1 }
        #expect(try await club.inbox.add(message("8")))
        #expect(try await club.inbox.add(message("9")))
        #expect(try await club.inbox.entries(nil, limit: 10).map(\.id) == ["1", "7", "8", "9"])
    }

    // MARK: With a tap

    private func cardMessage(_ tap: ScanEvent, _ payload: FieldValue = .object(["a": .int(1)])) -> Message {
        Message(
            id: "\(tap.id.uuidString)/1",
            type: "t",
            payload: payload,
            source: MessageSource(.card, name: tap.reader),
            receivedAt: tap.at
        )
    }

    @Test("What a card brought is kept with its tap, once, whatever became of the tap")
    func keptWithTap() async throws {
        let club = try await openClub()
        let (counted, refused) = (tap("A"), tap(nil, at: 60))
        _ = try await club.receive(counted, keeping: [cardMessage(counted)])
        _ = try await club.receive(refused, keeping: [cardMessage(refused)])
        _ = try await club.receive(counted, keeping: [cardMessage(counted), message("later")])
        #expect(try await club.inbox.pending().map(\.message) == [cardMessage(counted), cardMessage(refused)])

        await #expect { try await club.receive(tap("B"), keeping: [message("")]) } throws: {
            ($0 as? ClubError)?.kind == .invalidValue
        }
        #expect(try await club.member(withUserID: "B") == nil)
    }

    @Test("A router takes up what came with a tap, and nothing else where that is wanted")
    func takenUp() async throws {
        let club = try await openClub()
        let router = MessageRouter(inbox: club.inbox, configuration: .test())
        router.register(type: "t", sources: [.card, .application]) { (_: FieldValue, _) in .newData }
        _ = try await club.inbox.add(message("left"))
        let event = tap("A")
        let brought = cardMessage(event)
        _ = try await club.receive(event, keeping: [brought])
        #expect(try await router.resume(only: [brought.id]).map(\.messageID) == [brought.id])
        #expect(try await club.inbox.pending().map(\.id) == ["left"])
        #expect(try await router.resume().map(\.messageID) == ["left"])
    }

    @Test("Messages of a member are disclosed, and go when the member is erased; those of others stay")
    func erased() async throws {
        let empty = FieldValue.object([:])
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file())))
        let (of, other) = (tap("A"), tap("B"))
        _ = try await club.receive(of, keeping: [cardMessage(of, .object(["secret": .string("one")]))])
        _ = try await club.receive(other, keeping: [cardMessage(other)])
        let naming = FieldValue.object(["list": .array([.object(["userId": .string("A")])])])
        _ = try await club.inbox.add(Message(id: "naming", type: "t", payload: naming, receivedAt: start))
        _ = try await club.inbox.add(Message(id: "A", type: "A", payload: .object(["A": .int(1)]), receivedAt: start))
        try await club.inbox.settle("naming", outcome: .newData, at: start)

        let files = try await club.disclose("A", to: URL(fileURLWithPath: directory.file("A")))
        let disclosed = try JSONDecoder().decode(
            [String: FieldValue].self,
            from: Data(contentsOf: try #require(files.first))
        )
        guard case .array(let messages) = disclosed["messages"] else {
            Issue.record("the disclosure lists no messages")
            return
        }
        let payloads = messages.map { message -> FieldValue? in
            guard case .object(let fields) = message else { return nil }
            return fields["payload"]
        }
        #expect(payloads == [.object(["secret": .string("one")]), naming])

        try await club.erase("A")
        let left = try await club.inbox.entries(nil, limit: 10)
        #expect(left.map(\.message.payload) == [empty, .object(["a": .int(1)]), empty, .object(["A": .int(1)])])
        #expect(left.map(\.state) == [.done, .pending, .done, .pending])
        // It is not taken again.
        #expect(try await !club.inbox.add(cardMessage(of)))
        #expect(try await club.check().isEmpty)
    }

    @Test("Messages are found however they spell a card, also in a club that hides identifiers")
    func erasedInOtherWords() async throws {
        for key in [nil, IdentifierKey([UInt8](repeating: 7, count: 32))] {
            var configuration = ClubConfiguration.test()
            configuration.identifierKey = key
            let club = try await openClub(configuration)
            let card = FieldValue.object(["card": .string("04:a1:b2:c3:d4:e5:f6")])
            _ = try await club.inbox.add(Message(id: "1", type: "block", payload: card, receivedAt: start))
            _ = try await club.receive(tap("04A1B2C3D4E5F6"))
            try await club.erase("04A1B2C3D4E5F6")
            #expect(try await club.inbox.entry("1")?.message.payload == .object([:]))
        }
    }

    @Test("An erasure that another kiosk tells of takes messages along, also of somebody who is known by them alone")
    func erasedElsewhere() async throws {
        let directory = try TemporaryDirectory()
        var configuration = ClubConfiguration.test()
        configuration.makeUUID = { UUID() }
        let (here, there) = (try await openClub(configuration), try await openClub(configuration))
        let naming = FieldValue.object(["userId": .string("A")])
        _ = try await here.inbox.add(Message(id: "1", type: "block", payload: naming, receivedAt: start))
        _ = try await there.receive(tap("A"))
        try await there.erase("A")
        let path = directory.file("there.clubkit")
        _ = try await there.exportMembers(to: path, options: ExportOptions(format: .clubkit))
        _ = try await here.importMembers(from: path)
        #expect(try await here.inbox.entry("1")?.message.payload == .object([:]))
    }

    @Test("A message that is emptied while it is processed is settled all the same")
    func erasedMeanwhile() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        let router = MessageRouter(inbox: club.inbox, configuration: .test())
        router.register(type: "t") { (_: FieldValue, _) in
            try await club.erase("A")
            return .newData
        }
        let naming = Message(id: "1", type: "t", payload: .object(["userId": .string("A")]), receivedAt: start)
        #expect(try await router.accept(naming).outcome == .newData)
        #expect(try await router.accept(naming).outcome == .duplicate)
        #expect(try await club.inbox.entry("1")?.message.payload == .object([:]))
    }

    @Test("With old visits go the messages that came with their taps")
    func retained() async throws {
        let club = try await openClub()
        let (old, new) = (tap("A"), tap("A", at: 10 * 86_400))
        for event in [old, new] { _ = try await club.receive(event, keeping: [cardMessage(event)]) }
        try await club.inbox.settle(cardMessage(old).id, outcome: .failed("no paper"), at: start)
        _ = try await club.pruneVisits(before: start.addingTimeInterval(86_400))
        let entries = try await club.inbox.entries(nil, limit: 10)
        #expect(entries.map(\.message.payload) == [.object([:]), .object(["a": .int(1)])])
    }

    @Test("A damaged message keeps nobody from being erased")
    func damaged() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        _ = try await club.inbox.add(message("1"))
        let store = try #require(club.state.withLock { $0.store })
        try await store.write("damage a message") { transaction in
            try transaction.db.execute(sql: "UPDATE message SET content = '{'")
        }
        try await club.erase("A")
        #expect(try await club.member(withUserID: "A") == nil)
    }
}
