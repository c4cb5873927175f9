import ClubKit
import Foundation
import KioskKit
import ReaderKit
import Synchronization
import TestSupport
import Testing

/// A club in a file of its own, and taps for it.
final class TestClub: Sendable {
    let folder: URL
    let club: Club
    private let now = Mutex(Date(timeIntervalSince1970: 1_790_000_000))

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kiosk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        club = Club(configuration: ClubConfiguration(database: .file(path: folder.path + "/club.sqlite")))
        club.configure { configuration in
            configuration.clock = { [weak self] in self?.now.withLock(\.self) ?? Date() }
            configuration.cooldown = .zero
            configuration.application = KioskApplication()
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func setBack(_ seconds: Double) { now.withLock { $0 -= seconds } }

    var path: String { folder.path + "/club.sqlite" }

    func tap(_ key: String?, name: String? = nil, problems: [ScanEvent.Problem] = []) -> ScanEvent {
        ScanEvent(
            id: UUID(),
            at: now.withLock { time in
                time += 1
                return time
            },
            reader: "Reader",
            backend: .simulated,
            technology: .iso14443a,
            card: "card",
            memberKey: key,
            memberName: name,
            problems: problems,
            duration: .milliseconds(50)
        )
    }
}

@MainActor
@Suite(.timeLimit(.minutes(10))) struct KioskModelTests {
    private let reader = ReaderInfo(name: "Front", backend: .simulated)
    private let other = ReaderInfo(name: "Back", backend: .simulated)

    private func note(_ model: KioskModel, _ events: ReaderEvent...) {
        for event in events { model.note(.reader(event)) }
    }

    @Test("Readers come, read, hang, recover and go; each is in the status, and trouble says what is wrong")
    func readers() {
        let model = KioskModel()
        var news: [KioskModel.News] = []
        model.observe { _, item in news.append(item) }
        #expect(model.status.trouble?.kind == .readers)
        note(model, .readerAdded(reader), .readerAdded(other))
        #expect(model.status.readers.map(\.reader.name) == ["Back", "Front"] && model.status.trouble == nil)
        let presence = CardPresence(reader: reader, number: 1, facts: CardFacts(), at: Date(timeIntervalSince1970: 0))
        note(model, .cardInserted(presence))
        #expect(news.last == .reading(reader) && model.status.readers[1].isReading)
        note(model, .cardRemoved(presence))
        #expect(news.last == .readingEnded(reader) && !model.status.readers[1].isReading)
        let error = ReaderError(.stuck, attempting: "read a card")
        note(model, .readerStuck(other, error))
        #expect(model.status.readers[0].fault == error && model.status.trouble == nil)
        note(model, .readerRemoved(reader))
        #expect(model.status.trouble?.sentence == "\(error)")
        note(model, .readerRecovered(other))
        #expect(model.status.trouble == nil)
        let lost = ReaderError(.serviceUnavailable, attempting: "wait for readers")
        note(model, .readerRemoved(other), .serviceLost(lost))
        #expect(model.status.trouble?.sentence == "\(lost)")
        model.noteDiagnosis("pcscd is not running: start it.")
        #expect(model.status.trouble?.sentence == "pcscd is not running: start it.")
        let count = news.count
        note(model, .serviceLost(lost))
        #expect(news.count == count)
        note(model, .serviceBack, .readerAdded(reader))
        #expect(model.status.trouble == nil && model.status.diagnosis == nil)
    }

    @Test("A full disk is trouble until a tap is recorded; a fault of one tap is none")
    func storage() {
        let model = KioskModel()
        note(model, .readerAdded(reader))
        model.note(.error(ClubError(.invalidValue, attempting: MemberStore.tapAttempt), at: Date()))
        #expect(model.status.trouble == nil)
        model.note(.error(ClubError(.diskFull, attempting: MemberStore.tapAttempt), at: Date()))
        #expect(model.status.trouble?.kind == .storage)
        let old = Receipt(
            eventID: UUID(),
            at: Date(timeIntervalSince1970: 0),
            reader: "Front",
            backend: .simulated,
            outcome: .visit
        )
        model.note(.received(old))
        #expect(model.status.trouble == nil)
        model.noteDiagnosis("pcscd is not running: start it.")
        note(model, .serviceBack)
        #expect(model.status.diagnosis == nil)
    }

    @Test("Taps, visits of the day, storage trouble, announcements and the kiosk's state")
    func following() async throws {
        let test = try TestClub()
        let club = test.club
        try await club.open()
        _ = try await club.receive(test.tap("U0", name: "Before"))
        let model = KioskModel(clock: club.configuration.clock)
        var receipts: [Receipt] = []
        model.observe { _, news in if case .tap(let tap) = news { receipts.append(tap.receipt) } }
        let following = Task { try await model.follow(club, every: .milliseconds(10)) }
        try await until { model.status.visitsToday == 1 }
        model.note(.error(ClubError(.diskFull, attempting: MemberStore.tapAttempt), at: Date()))
        #expect(model.status.trouble?.kind == .storage)
        let sent = [
            try await club.receive(test.tap("U1", name: "Ann")), try await club.receive(test.tap("U1")),
            try await club.receive(test.tap(nil)),
        ]
        try await until { receipts.count >= 3 }
        #expect(receipts == sent)
        #expect(model.status.lastTap == sent[2] && model.status.visitsToday == 3)
        #expect(model.status.storageFault == nil)
        model.announce("We close at eight.")
        #expect(model.status.announcement == "We close at eight.")
        club.configuration.application.applicationState = .maintenance
        try await until { model.status.state == .maintenance }
        #expect(model.status.trouble == nil)
        following.cancel()
        _ = await following.result
        try await club.close()
    }

    @Test("A clock that cannot be right is known until it is set, and one visit by it is no matter")
    func clock() async throws {
        let test = try TestClub()
        let club = test.club
        try await club.open()
        _ = try await club.receive(test.tap("U0"))
        #expect(try await club.clockFault() == nil)
        let model = KioskModel(clock: club.configuration.clock)
        let following = Task { try await model.follow(club, every: .milliseconds(1)) }
        try await until { model.status.visitsToday == 1 }
        #expect(model.status.wrongDay == nil)
        // The days back, and what is wrong then.
        for (days, fault) in [(2, .beforeLatestVisit), (55 * 365, .beforeRelease)] as [(Double, ClockFault)] {
            test.setBack(days * 86_400)
            try await until { model.status.wrongDay != nil }
            #expect(try await club.clockFault() == fault)
            #expect(model.status.trouble == nil || model.status.trouble?.kind == .readers)
            test.setBack(-days * 86_400)
            try await until { model.status.wrongDay == nil }
        }
        // Years ahead once, and right again: the next visit shows which of both it was.
        test.setBack(-9 * 365 * 86_400)
        _ = try await club.receive(test.tap("U1"))
        test.setBack(9 * 365 * 86_400)
        #expect(try await club.clockFault() == .beforeLatestVisit)
        _ = try await club.receive(test.tap("U1"))
        #expect(try await club.clockFault() == nil)
        // The visit of that day is none of today's. A tap that comes while the clock goes back may not be shown; it is counted
        // within a minute.
        test.setBack(-61)
        try await until { model.status.visitsToday == 2 }
        following.cancel()
        _ = await following.result
        try await club.close()
    }

    @Test("Each visit is counted once, also when the visits are counted while taps come")
    func visitsAreCountedOnce() async throws {
        let test = try TestClub()
        let club = test.club
        try await club.open()
        _ = try await club.receive(test.tap("U0"))
        let model = KioskModel(clock: club.configuration.clock)
        let following = Task { try await model.follow(club, every: .milliseconds(1)) }
        try await until { model.status.visitsToday == 1 }
        // The club's clock goes on by a second at each tap, so that every sixtieth is followed by a count.
        for number in 1...150 { _ = try await club.receive(test.tap("U\(number)")) }
        try await until { model.status.lastTap?.member?.userId == "U150" }
        #expect(model.status.visitsToday == 151)
        following.cancel()
        _ = await following.result
        try await club.close()
    }

    @Test("A stamp card comes with the tap, and is full at the visit that fills it")
    func stampCard() async throws {
        let test = try TestClub()
        let club = test.club
        club.setScenarios(Reward.stampCard(every: 3, since: nil).scenarios(id: "coffee") { $0.title = "A coffee" })
        try await club.open()
        #expect(try await club.receive(test.tap("U1")).outcome == .created)
        let model = KioskModel(clock: club.configuration.clock)
        var cards: [StampCard?] = []
        model.observe { _, news in if case .tap(let tap) = news { cards.append(tap.stampCard) } }
        let following = Task { try await model.follow(club) }
        try await until { model.status.visitsToday == 1 }
        for count in 1...3 {
            _ = try await club.receive(test.tap("U1"))
            try await until { cards.count >= count }
        }
        #expect(cards.map { $0?.stamps } == [2, 3, 1] && cards.last??.title == "A coffee" && cards.last??.size == 3)
        await #expect(throws: ClubError.self) { try await club.stampCard(of: "nobody") }
        following.cancel()
        _ = await following.result
        try await club.close()
    }

    @Test("A tap after the sequence was made is in it, also if it was committed before anybody iterates")
    func tapBeforeTheFirstLook() async throws {
        let test = try TestClub()
        try await test.club.open()
        _ = try await test.club.receive(test.tap("U1"))
        let receipts = test.club.newReceipts()
        let receipt = try await test.club.receive(test.tap("U2"))
        var iterator = receipts.makeAsyncIterator()
        let first = try await iterator.next()
        #expect(first == receipt)
        try await test.club.close()
    }

    @Test("A clock that is set back brings nobody back who has gone")
    func clockBack() async throws {
        let test = try TestClub()
        try await test.club.open()
        var feed = test.club.newReceipts(pollInterval: .milliseconds(1)).makeAsyncIterator()
        for number in 0..<30 {
            let receipt = try await test.club.receive(test.tap("U\(number)"))
            let found = try await feed.next()
            #expect(found == receipt)
        }
        test.setBack(20)
        let next = Task {
            // Long enough for a look in between.
            try await Task.sleep(for: .milliseconds(50))
            return try await test.club.receive(test.tap("new"))
        }
        let found = try await feed.next()
        #expect(try await next.value == found)
        try await test.club.close()
    }

    @Test("Taps of another process on the same database are seen")
    func otherProcess() async throws {
        let test = try TestClub()
        try await test.club.open()
        // Another connection stands for another process: nothing in this one tells of its commits.
        let other = Club(configuration: ClubConfiguration(database: .file(path: test.path)))
        other.configure { $0.clock = test.club.configuration.clock }
        try await other.open()
        var feed = test.club.newReceipts(pollInterval: .seconds(3600)).makeAsyncIterator()
        let first = Task { try await other.receive(test.tap("U1")) }
        _ = try await first.value
        // The first look finds what is there already.
        let next = Task {
            for number in 2...50 { _ = try await other.receive(test.tap("U\(number)")) }
        }
        var seen: Set<String> = []
        while seen.count < 40, let receipt = try await feed.next() { seen.insert(receipt.member?.userId ?? "") }
        #expect(seen.count == 40)
        try await next.value
        try await other.close()
        try await test.club.close()
    }
}

@Suite(.timeLimit(.minutes(10))) struct MemberPagesTests {
    @Test("Pages by key are the list, in every order, also while somebody changes", arguments: MemberOrder.allCases)
    func pages(order: MemberOrder) async throws {
        let test = try TestClub()
        let club = test.club
        try await club.open()
        for number in 0..<25 {
            let name = number.isMultiple(of: 3) ? "Ann" : "name \(number % 7)"
            for _ in 0...(number % 3) { _ = try await club.receive(test.tap("U\(number)", name: name)) }
        }
        var whole: [Member] = []
        let query = MemberQuery(order: order, limit: .max)
        for try await window in club.members(in: query) {
            whole = window.members
            break
        }
        let load = club.memberPages(order: order, size: 7)
        var (found, last): ([Member], Member?) = ([], nil)
        repeat {
            let page = try await load(last)
            found += page.items
            last = page.next
        } while last != nil
        #expect(found == whole && whole.count == 25)
        let jump = try await club.members(in: MemberQuery(order: order, offset: 20, limit: 3), after: nil)
        #expect(jump == Array(whole[20..<23]))
        try await club.close()
    }
}
