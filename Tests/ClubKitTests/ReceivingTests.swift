import ClubKit
import Foundation
import ReaderKit
import Testing

@Suite("Receiving taps", .timeLimit(.minutes(10)))
struct ReceivingTests {
    @Test("An unknown card becomes a member with one visit")
    func created() async throws {
        let club = try await openClub()
        let receipt = try await club.receive(tap("04A1B2C3", name: "Ada"))
        let member = Member(
            userId: "04A1B2C3",
            username: "Ada",
            timeStampAdded: start.timeIntervalSince1970,
            numVisits: 1,
            timeStampOfLastVisit: start.timeIntervalSince1970
        )
        #expect(receipt.outcome == .created)
        #expect(receipt.member == member)
        #expect(receipt.reader == "Test reader")
        #expect(receipt.backend == .simulated)
        #expect(try await club.members() == [member])
        #expect(try await club.member(withUserID: "04A1B2C3") == member)
        #expect(try await club.memberCount() == 1)
    }

    @Test("Without a name on the card the username is empty")
    func noName() async throws {
        let club = try await openClub()
        #expect(try await club.receive(tap("04A1B2C3")).member?.username == "")
    }

    @Test(
        "The cooldown is measured from the last counted tap",
        arguments: [
            // Cooldown, times of the taps, what becomes of each.
            (30, [0, 29.999_999], "created repeat"),
            (30, [0, 30], "created visit"),
            (30, [0, 30.000_001], "created visit"),
            (30, [0, 0], "created repeat"),
            // A repeat does not begin the cooldown anew.
            (30, [0, 20, 40], "created repeat visit"),
            (30, [0, 29, 58, 59, 60], "created repeat visit repeat repeat"),
            // Zero counts every presentation, also two at one time.
            (0, [0, 0, 0.1], "created visit visit"),
            // The clock was set back: nearer than the cooldown is a repeat, farther is a visit.
            (30, [0, -10], "created repeat"),
            (30, [0, -30], "created visit"),
            (30, [0, -29.999_999], "created repeat"),
            (30, [86_400, 0, 10, 30], "created visit repeat visit"),
            // A tap that arrives late is near to an older visit, not to the latest.
            (30, [0, 200, 10], "created visit repeat"),
            (86_400, [0, 86_399, 86_400], "created repeat visit"),
        ]
    )
    func cooldown(seconds: Int, times: [Double], outcomes: String) async throws {
        let club = try await openClub(.test(cooldown: .seconds(seconds)))
        var names: [String] = []
        for time in times { names.append(try await club.receive(tap("A", at: time)).outcome.name) }
        #expect(names.joined(separator: " ") == outcomes)
        let counted = names.filter { $0 != "repeat" }.count
        #expect(try await club.member(withUserID: "A")?.numVisits == counted)
    }

    @Test("The cooldown's border is exact at times that binary fractions cannot hold")
    func exactBorder() async throws {
        let club = try await openClub()
        for (index, offset) in [0.1, 0.3, 1.7, 1234.567_891, 99_999.999_999].enumerated() {
            let key = "member \(index)"
            #expect(try await club.receive(tap(key, at: offset)).outcome == .created)
            #expect(try await club.receive(tap(key, at: offset + 30 - 0.000_001)).outcome == .repeat)
            #expect(try await club.receive(tap(key, at: offset + 30)).outcome == .visit)
        }
    }

    @Test("A repeat changes nothing and knows the member")
    func repeated() async throws {
        let club = try await openClub()
        let first = try await club.receive(tap("A", name: "Ada"))
        let second = try await club.receive(tap("A", at: 5, name: "Eve"))
        #expect(second.outcome == .repeat)
        #expect(second.member == first.member)
    }

    @Test("Each member has a cooldown of their own")
    func perMember() async throws {
        let club = try await openClub()
        #expect(try await club.receive(tap("A")).outcome == .created)
        #expect(try await club.receive(tap("B", at: 1)).outcome == .created)
        #expect(try await club.receive(tap("A", at: 30)).outcome == .visit)
        #expect(try await club.receive(tap("B", at: 30)).outcome == .repeat)
    }

    @Test("The club says whether it has a tap already")
    func hasReceived() async throws {
        let club = try await openClub()
        let event = tap("A")
        #expect(try await !club.hasReceived(event.id))
        _ = try await club.receive(event)
        #expect(try await club.hasReceived(event.id))
    }

    @Test("A tap whose visit came by a merge is one that the club has")
    func hasReceivedByMerge() async throws {
        let (first, second) = (try MergeDevice(1), try MergeDevice(2))
        let receipt = try #require(await first.tap("A", at: start))
        #expect(try await !second.store.hasReceived(receipt.eventID))
        try second.merge(await first.records())
        #expect(try await second.store.hasReceived(receipt.eventID))
    }

    @Test("The time of the last visit is the latest one, also when the clock was set back")
    func lastVisit() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A", at: 1000))
        let member = try await club.receive(tap("A", at: 0)).member
        #expect(member?.numVisits == 2)
        #expect(member?.timeStampOfLastVisit == start.timeIntervalSince1970 + 1000)
        #expect(member?.timeStampAdded == start.timeIntervalSince1970 + 1000)
    }

    @Test(
        "A tap without an identifier is rejected for the most useful of its problems",
        arguments: [
            ([], .noIdentifier),
            ([.randomUID], .card(.randomUID)),
            ([.nonUniqueUID], .card(.nonUniqueUID)),
            ([.invalidPass, .randomUID], .card(.invalidPass)),
            ([.randomUID, .tagCorrupt], .card(.tagCorrupt)),
            ([.randomUID, .ndefMalformed], .card(.ndefMalformed)),
            ([.tagCorrupt, .readFailed], .card(.readFailed)),
            ([.ndefMalformed, .readFailed, .cardRemoved], .card(.cardRemoved)),
        ] as [([ScanEvent.Problem.Code], Receipt.Reason.Code)]
    )
    func rejected(problems: [ScanEvent.Problem.Code], code: Receipt.Reason.Code) async throws {
        let club = try await openClub()
        let event = tap(nil, problems: problems.map { ScanEvent.Problem($0, "what is wrong: \($0.rawValue)") })
        let receipt = try await club.receive(event)
        let reason = try #require(receipt.outcome.reason)
        #expect(receipt.outcome == .rejected(reason))
        #expect(reason.code == code)
        if code != .noIdentifier { #expect(reason.message == "what is wrong: \(code.rawValue)") }
        #expect(!reason.message.isEmpty)
        #expect(receipt.member == nil)
        #expect(try await club.memberCount() == 0)
    }

    @Test("Every problem has words of its own where the event has none", arguments: ScanEvent.Problem.Code.allCases)
    func words(code: ScanEvent.Problem.Code) async throws {
        let club = try await openClub()
        let reason = try await club.receive(tap(nil, problems: [.init(code, " \n")])).outcome.reason
        #expect(reason?.code.rawValue == code.rawValue)
        #expect(reason?.message.hasSuffix(".") == true)
    }

    @Test(
        "Identifiers that cannot be kept are rejected",
        arguments: ["", " ", "\t", "A\0B", "A\u{1B}[2J", "\u{85}", String(repeating: "x", count: MemberID.longest + 1)]
    )
    func invalidIdentifier(key: String) async throws {
        let club = try await openClub()
        #expect(try await club.receive(tap(key)).outcome.reason?.code == .invalidIdentifier)
        #expect(try await club.memberCount() == 0)
    }

    @Test(
        "Identifiers are kept as they are",
        arguments: ["a", "a b", "é", "4|7", "名前", String(repeating: "x", count: MemberID.longest)]
    )
    func validIdentifier(key: String) async throws {
        let club = try await openClub()
        #expect(try await club.receive(tap(key)).outcome == .created)
        #expect(try await club.receive(tap(key, at: 60)).member?.userId == key)
    }

    @Test("A look-up for what cannot be an identifier finds nobody")
    func lookUpWithNUL() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        #expect(try await club.member(withUserID: "A\0B") == nil)
        #expect(try club.getUser(with: "A\0B") == nil)
        #expect(try club.getUser(with: "B") == nil)
    }

    @Test(
        "Times outside the years 1970 to 9999 are rejected",
        arguments: [Double.nan, .infinity, -.infinity, -1, 253_402_300_800, 1e300]
    )
    func invalidTime(seconds: Double) async throws {
        let club = try await openClub()
        var event = tap("A")
        event.at = Date(timeIntervalSince1970: seconds)
        let receipt = try await club.receive(event)
        #expect(receipt.outcome.reason?.code == .invalidTime)
        #expect(try await club.receive(event) == receipt)
        #expect(try await club.memberCount() == 0)
    }

    @Test("Control characters in a name become spaces, and a name has an end")
    func name() async throws {
        let club = try await openClub()
        #expect(
            try await club.receive(tap("A", name: " Ada\u{1B}[2J\nLovelace\0 ")).member?.username == "Ada [2J Lovelace"
        )
        let long = String(repeating: "n", count: 5000)
        #expect(try await club.receive(tap("B", name: long)).member?.username?.count == 1024)
    }

    @Test("A condition that does not hold ignores unknown cards and says so")
    func ignored() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        club.setUserCreation(.withSatisfied(condition: { false }))
        let event = tap("B", at: 1)
        let receipt = try await club.receive(event)
        let reason = try #require(receipt.outcome.reason)
        #expect(receipt.outcome == .ignored(reason))
        #expect(reason.code == .unknownCard)
        #expect(receipt.member == nil)
        // Known cards go on, and what was ignored stays so.
        #expect(try await club.receive(tap("A", at: 30)).outcome == .visit)
        club.setUserCreation(.automaticallyOnScan)
        #expect(try await club.receive(event) == receipt)
        #expect(try await club.receive(tap("B", at: 40)).outcome == .created)
    }

    @Test("A condition is asked once for each unknown card, and may call the club")
    func condition() async throws {
        let queue = DispatchQueue(label: "condition")
        let club = Club(configuration: .test()).setDispatchQueue(queue)
        nonisolated(unsafe) var asked = 0  // Only used on the queue.
        club.setUserCreation(
            .withSatisfied(condition: {
                dispatchPrecondition(condition: .onQueue(queue))
                asked += 1
                return (try? club.getUser(with: "A")) == nil
            })
        )
        try await club.open()
        #expect(try await club.receive(tap("A")).outcome == .created)
        #expect(try await club.receive(tap("A", at: 30)).outcome == .visit)
        #expect(try await club.receive(tap("B", at: 30)).outcome.name == "ignored")
        #expect(queue.sync { asked } == 2)
    }

    @Test("A condition that gives no answer in time counts as no, and is told")
    func unansweredCondition() async throws {
        var configuration = ClubConfiguration.test(userCreationStyle: .withSatisfied { true })
        configuration.conditionsLimit = .milliseconds(50)
        let queue = DispatchQueue(label: "test")
        let club = try await openClub(configuration).setDispatchQueue(queue)
        let isFree = DispatchSemaphore(value: 0)
        queue.async { isFree.wait() }
        // So that the test ends where the club waits for ever.
        let relief = Task {
            try? await Task.sleep(for: .seconds(20))
            isFree.signal()
        }
        defer { relief.cancel() }
        let events = club.events
        #expect(try await club.receive(tap("A")).outcome.reason?.code == .unknownCard)
        isFree.signal()
        try await club.close()
        let faults = await events.reduce(into: [ClubError.Kind]()) {
            if case .error(let error, _) = $1 { $0.append(error.kind) }
        }
        #expect(faults == [.noAnswer])
    }

    @Test("A tap that comes again gets its first receipt and changes nothing, also after a restart")
    func idempotence() async throws {
        let directory = try TemporaryDirectory()
        let configuration = ClubConfiguration.test(.file(path: directory.file()))
        let taps = [
            tap("A", name: "Ada"), tap("A", at: 10), tap("A", at: 40), tap(nil, at: 50), tap("A", at: 80),
            tap("A\0", at: 81),
        ]
        var receipts: [Receipt] = []
        let club = try await openClub(configuration)
        for event in taps { receipts.append(try await club.receive(event)) }
        #expect(receipts.map(\.outcome.name) == ["created", "repeat", "visit", "rejected", "visit", "rejected"])
        #expect(receipts.map { $0.member?.numVisits } == [1, 1, 2, nil, 3, nil])
        for (event, receipt) in zip(taps, receipts) { #expect(try await club.receive(event) == receipt) }
        try await club.close()

        let again = try await openClub(configuration)
        for (event, receipt) in zip(taps, receipts) { #expect(try await again.receive(event) == receipt) }
        #expect(try await again.member(withUserID: "A")?.numVisits == 3)
        #expect(try await again.check() == [])
        try await again.close()
    }

    @Test("An id that comes with another card is the same tap")
    func sameID() async throws {
        let club = try await openClub()
        let id = UUID()
        let first = try await club.receive(tap("A", id: id))
        #expect(try await club.receive(tap("B", at: 100, id: id)) == first)
        #expect(try await club.memberCount() == 1)
    }

    @Test("Two hundred taps at once are all counted, each once")
    func parallel() async throws {
        let directory = try TemporaryDirectory()
        let club = try await openClub(.test(.file(path: directory.file()), cooldown: .zero))
        let taps = (0..<200).map { tap("member \($0 % 7)", at: Double($0)) }
        let outcomes = try await withThrowingTaskGroup(of: Receipt.self) { group in
            // Each one twice, as after an answer that was lost.
            for event in taps + taps { group.addTask { try await club.receive(event) } }
            return try await group.reduce(into: [UUID: Set<Receipt>]()) { $0[$1.eventID, default: []].insert($1) }
        }
        #expect(outcomes.count == 200)
        #expect(outcomes.values.allSatisfy { $0.count == 1 })
        #expect(outcomes.values.joined().filter { $0.outcome == .created }.count == 7)
        let members = try await club.members(sortedBy: .userId)
        #expect(members.map(\.numVisits) == [29, 29, 29, 29, 28, 28, 28])
        #expect(try await club.check() == [])
        try await club.close()
    }

    @Test("One presence in two hundred taps at once counts once")
    func parallelPresence() async throws {
        let club = try await openClub()
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<200 {
                group.addTask { try await club.receive(tap("A", at: Double(index) / 10)).outcome.name }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(names == ["created": 1, "repeat": 199])
    }

    @Test("A source is taken to its end")
    func run() async throws {
        let club = try await openClub()
        let (source, continuation) = AsyncStream.makeStream(of: ScanEvent.self)
        for index in 0..<5 { continuation.yield(tap("A", at: Double(index) * 30)) }
        continuation.finish()
        try await club.run(source)
        #expect(try await club.member(withUserID: "A")?.numVisits == 5)
    }

    @Test("Before opening and after closing every call throws a typed error")
    func notOpen() async throws {
        let club = Club(configuration: .test())
        for _ in 0..<2 {
            await #expect(throws: ClubError(.notOpen, attempting: "record a tap")) { try await club.receive(tap("A")) }
            await #expect(throws: ClubError.self) { try await club.run(AsyncStream { $0.finish() }) }
            #expect(throws: ClubError(.notOpen, attempting: "look up a member")) { try club.getUser(with: "A") }
            await #expect(throws: ClubError.self) { try await club.member(withUserID: "A") }
            await #expect(throws: ClubError.self) { try await club.members() }
            await #expect(throws: ClubError.self) { try await club.memberCount() }
            await #expect(throws: ClubError.self) { try await club.check() }
            await #expect(throws: ClubError.self) { try await club.lastEventDate() }
            await #expect(throws: ClubError.self) { try await club.replayStart(now: start) }
            #expect(!club.isOpen)
            try await club.open()
            try await club.open()
            #expect(club.isOpen)
            try await club.close()
            try await club.close()
        }
    }

    @Test("Lists are sorted as asked")
    func sorted() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        for (index, (key, name)) in [("c", "Bob"), ("a", "ada"), ("b", "Cy"), ("a", ""), ("b", ""), ("a", "")]
            .enumerated()
        {
            _ = try await club.receive(tap(key, at: Double(index), name: name))
        }
        func keys(_ order: MemberOrder) async throws -> String {
            try await club.members(sortedBy: order).map(\.userId).joined()
        }
        #expect(try await keys(.userId) == "abc")
        #expect(try await keys(.username) == "acb")
        #expect(try await keys(.insertion) == "cab")
        #expect(try await keys(.visits) == "abc")
        #expect(try await keys(.lastVisit) == "abc")
    }

    @Test("Members are found by a text or a filter, in the order asked for")
    func matching() async throws {
        let club = try await openClub(.test(clock: { start.addingTimeInterval(1000) }))
        for (id, name) in [("A", "Zoe Lee"), ("B", "Ann lee"), ("C", "Ada")] {
            _ = try await club.receive(tap(id, name: name))
        }
        _ = try await club.receive(tap("C", at: 60))
        _ = try await club.block("C", by: ActionContext(reason: "lost"))
        #expect(try await club.members(matching: "LEE").map(\.userId) == ["A", "B"])
        #expect(try await club.members(matching: "lee", sortedBy: .username).map(\.userId) == ["B", "A"])
        #expect(try await club.members(matching: "lee", limit: 1).map(\.userId) == ["A"])
        #expect(try await club.members(matching: "nobody") == [])
        #expect(try await club.members(matching: MemberFilter(isBlocked: true)).map(\.userId) == ["C"])
        #expect(try await club.members(matching: .all, sortedBy: .visits) == club.members(sortedBy: .visits))
        try await club.close()
        await #expect(throws: ClubError.self) { try await club.members(matching: "lee") }
    }

    @Test("A replay begins after the last tap and its cooldown, or now")
    func replayStart() async throws {
        let club = try await openClub()
        #expect(try await club.lastEventDate() == nil)
        #expect(try await club.replayStart(now: start) == start)
        _ = try await club.receive(tap("A", at: 100))
        _ = try await club.receive(tap(nil, at: 110))
        #expect(try await club.lastEventDate() == start.addingTimeInterval(110))
        #expect(try await club.replayStart(now: start) == start.addingTimeInterval(141))
        #expect(try await club.replayStart(now: start.addingTimeInterval(141.5)) == start.addingTimeInterval(141.5))
        club.setDayPass(hours: 2)
        #expect(try await club.replayStart(now: start) == start.addingTimeInterval(110 + 7201))
    }

    @Test("A day pass makes the cooldown that many hours", arguments: [1, 12, 24])
    func dayPass(hours: Int) async throws {
        let club = try await openClub(.test()).setDayPass(hours: hours)
        #expect(club.dayPassHours == hours)
        #expect(club.cooldown == .seconds(hours * 3600))
        _ = try await club.receive(tap("A"))
        #expect(try await club.receive(tap("A", at: Double(hours * 3600 - 1))).outcome == .repeat)
        #expect(try await club.receive(tap("A", at: Double(hours * 3600))).outcome == .visit)
    }

    @Test("A day pass outside 1 to 24 hours changes nothing and is reported", arguments: [Int.min, -1, 0, 25, .max])
    func invalidDayPass(hours: Int) async throws {
        let club = try await openClub()
        let events = club.events
        club.setDayPass(hours: 5).setDayPass(hours: hours)
        #expect(club.dayPassHours == 5)
        #expect(club.cooldown == .seconds(5 * 3600))
        guard case .error(let error, let at) = try #require(await events.first(1).first) else {
            Issue.record("another event")
            return
        }
        #expect(error.kind == .invalidSetting)
        #expect(at == start)
    }
}
