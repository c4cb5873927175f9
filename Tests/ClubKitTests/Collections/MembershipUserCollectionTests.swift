import Dispatch
import Foundation
import GRDB
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit

/// A screen that shows a list as an application of the original library does, and keeps it as it is told.
private final class Screen<User: MembershipUser>: @unchecked Sendable {
    // Everything is used on `queue` only, by the club's callbacks and by `onQueue`.
    let queue = DispatchQueue(label: "screen")
    let collection: MembershipUserCollection<User>
    private(set) var told: [String] = []
    private(set) var rows: [String] = []
    private var changed: [CheckedContinuation<Void, Never>] = []
    /// Called at the beginning of each callback.
    var hook: (() -> Void)?

    init(
        _ club: Club,
        order: MemberOrder = .creation,
        filter: MemberFilter = .all,
        pollInterval interval: Duration = .seconds(3600)
    ) {
        club.setDispatchQueue(queue)
        collection = MembershipUserCollection(club: club, order: order, filter: filter, pollInterval: interval)
    }

    private static func text(_ user: User?) -> String { user.map { "\($0.userId ?? "") \($0.numVisits)" } ?? "-" }

    private var current: [String] { (0..<collection.count).map { Self.text(collection.user(at: $0)) } }

    func observe() {
        collection.observeAllRecords { [unowned self] changes in
            hook?()
            switch changes {
            case .initial(let users):
                rows = (0..<users.count).map { Self.text(users.user(at: $0)) }
                told.append("initial \(rows.count)")
            case .update(let users, let deletions, let insertions, let modifications):
                for index in deletions.reversed() { rows.remove(at: index) }
                for index in insertions { rows.insert(Self.text(users.user(at: index)), at: index) }
                let ids = rows.map { $0.split(separator: " ")[0] }
                #expect(ids == current.map { $0.split(separator: " ")[0] })
                rows = current
                told.append("update \(deletions) \(insertions) \(modifications)")
            case .error(let error):
                told.append("error \((error as? ClubError)?.kind.rawValue ?? "other")")
            }
            if told.last?.hasPrefix("error") == false {
                #expect(rows == current)
                #expect(collection.users.map(Self.text) == current)
            }
            for continuation in changed { continuation.resume() }
            changed = []
        }
    }

    func onQueue<Result: Sendable>(_ body: @escaping @Sendable (Screen) -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body(self)) }
        }
    }

    /// Waits until the screen shows that.
    func wait(for condition: @escaping @Sendable (Screen) -> Bool) async {
        while true {
            let isMet = await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: condition(self)) }
            }
            if isMet { return }
            await withCheckedContinuation { continuation in
                queue.async {
                    // It may have become true in between.
                    if condition(self) { continuation.resume() } else { self.changed.append(continuation) }
                }
            }
        }
    }
}

/// As an application with a main actor has it.
@MainActor
private final class Controller {
    let collection: MembershipUserCollection<CustomUser>
    var shown: [String] = []
    var continuation: CheckedContinuation<Void, Never>?

    init(_ club: Club) { collection = MembershipUserCollection(club: club) }

    func show() {
        collection.observeAllRecords { [weak self] (changes: MembershipUserChanges) in
            guard let self else { return }
            switch changes {
            case .initial(_):
                shown.append("initial \(collection.count)")
            case .update(_, let deletions, let insertions, let modifications):
                shown.append("\(deletions) \(insertions) \(modifications)")
            case .error(let error):
                shown.append("\(error)")
            }
            continuation?.resume()
            continuation = nil
        }
    }
}

@Suite("Collections of member objects", .timeLimit(.minutes(10)))
struct MembershipUserCollectionTests {
    @Test("Before it is observed, and before the first callback, a collection is empty")
    func empty() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        let screen = Screen<MembershipUser>(club)
        #expect(screen.collection.count == 0 && screen.collection.user(at: 0) == nil && screen.collection.users.isEmpty)
        let gate = DispatchSemaphore(value: 0)
        screen.queue.async { gate.wait() }
        screen.observe()
        #expect(screen.collection.count == 0 && screen.collection.user(at: 0) == nil)
        gate.signal()
        await screen.wait { $0.told == ["initial 1"] }
        #expect(screen.collection.count == 1)
        #expect(screen.collection.user(at: 0)?.userId == "A")
        #expect(screen.collection.user(at: 1) == nil && screen.collection.user(at: -1) == nil)
        #expect(screen.collection.user(at: .max) == nil && screen.collection.user(at: .min) == nil)
    }

    @Test("An empty store has an initial list too, and only one")
    func initial() async throws {
        let club = try await openClub()
        let screen = Screen<MembershipUser>(club)
        screen.observe()
        await screen.wait { $0.told == ["initial 0"] }
        _ = try await club.receive(tap("A"))
        await screen.wait { $0.told == ["initial 0", "update [] [0] []"] }
    }

    @Test("Creations, taps, renamings and deletions are told with exact indices")
    func updates() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        let screen = Screen<MembershipUser>(club, order: .visits)
        screen.observe()
        await screen.wait { $0.told.count == 1 }
        _ = try await club.receive(tap("A"))
        await screen.wait { $0.told.count == 2 }
        _ = try await club.receive(tap("B"))
        await screen.wait { $0.told.count == 3 }
        _ = try await club.receive(tap("B", at: 60))
        await screen.wait { $0.told.count == 4 }
        _ = try await club.receive(tap("B", at: 120))
        await screen.wait { $0.told.count == 5 }
        try await club.update("A") { $0.username = "Ann" }
        await screen.wait { $0.told.count == 6 }
        try await club.delete("B")
        await screen.wait { $0.told.count == 7 }
        let told = await screen.onQueue { $0.told }
        #expect(
            told == [
                "initial 0", "update [] [0] []", "update [] [1] []", "update [1] [0] []", "update [] [] [0]",
                "update [] [] [1]", "update [0] [] []",
            ]
        )
    }

    @Test("Between callbacks, count and members are those of the last callback")
    func snapshot() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        for key in ["A", "B"] { _ = try await club.receive(tap(key)) }
        let screen = Screen<MembershipUser>(club)
        screen.observe()
        await screen.wait { $0.told.count == 1 }
        // While the queue is busy, nothing can be told.
        let gate = DispatchSemaphore(value: 0)
        screen.queue.async { gate.wait() }
        _ = try await club.receive(tap("B", at: 60))
        _ = try await club.receive(tap("C", at: 61))
        _ = try await club.receive(tap("B", at: 62))
        try await club.delete("A")
        let users = screen.collection.users
        #expect(screen.collection.count == 2)
        #expect(users.map(\.userId) == ["A", "B"] && users.map(\.numVisits) == [1, 1])
        #expect(screen.collection.user(at: 0)?.userId == "A" && screen.collection.user(at: 1)?.numVisits == 1)
        #expect(screen.collection.user(at: 2) == nil)
        gate.signal()
        await screen.wait { $0.rows == ["B 3", "C 1"] }
    }

    @Test("Changes that come while the application is busy are told as few")
    func coalescing() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        let screen = Screen<MembershipUser>(club)
        screen.observe()
        await screen.wait { $0.told.count == 1 }
        let gate = DispatchSemaphore(value: 0)
        screen.queue.async { gate.wait() }
        for number in 0..<50 { _ = try await club.receive(tap("M\(number % 10)", at: Double(number))) }
        gate.signal()
        await screen.wait { $0.rows.count == 10 && $0.rows.allSatisfy { $0.hasSuffix(" 5") } }
        let count = await screen.onQueue { $0.told.count }
        #expect(count <= 4)
    }

    @Test("Observing again begins anew, and stopping ends it; the list stays")
    func restarting() async throws {
        let club = try await openClub(.test(cooldown: .zero))
        _ = try await club.receive(tap("A"))
        let screen = Screen<MembershipUser>(club)
        screen.observe()
        await screen.wait { $0.told == ["initial 1"] }
        screen.observe()
        await screen.wait { $0.told == ["initial 1", "initial 1"] }
        _ = try await club.receive(tap("B"))
        await screen.wait { $0.told == ["initial 1", "initial 1", "update [] [1] []"] }
        await screen.onQueue { $0.collection.stopObserving() }
        _ = try await club.receive(tap("C"))
        let other = Screen<MembershipUser>(club)
        club.setDispatchQueue(screen.queue)
        let seen = AsyncStream.makeStream(of: Int.self)
        await screen.onQueue { _ in
            other.collection.observeAllRecords { [unowned other] _ in seen.continuation.yield(other.collection.count) }
        }
        #expect(await seen.stream.first(1) == [3])
        let (told, count) = await screen.onQueue { ($0.told.count, $0.collection.count) }
        #expect(told == 3 && count == 2)
        other.collection.stopObserving()
    }

    @Test("A callback that is waiting when the observation is stopped does not come")
    func stoppedInTime() async throws {
        let club = try await openClub()
        let screen = Screen<MembershipUser>(club)
        screen.observe()
        await screen.wait { $0.told.count == 1 }
        let gate = DispatchSemaphore(value: 0)
        screen.queue.async {
            gate.wait()
            screen.collection.stopObserving()
        }
        _ = try await club.receive(tap("A"))
        gate.signal()
        // Another list on the same queue is told later than the first would have been.
        let other = MembershipUserCollection<MembershipUser>(club: club)
        let seen = AsyncStream.makeStream(of: Void.self)
        other.observeAllRecords { _ in seen.continuation.yield() }
        _ = await seen.stream.first(1)
        let told = await screen.onQueue { $0.told }
        #expect(told == ["initial 0"])
        #expect(screen.collection.count == 0)
    }

    @Test("A collection that nobody keeps tells nothing more")
    func released() async throws {
        let club = try await openClub()
        let queue = DispatchQueue(label: "released")
        club.setDispatchQueue(queue)
        let seen = AsyncStream.makeStream(of: Int.self)
        var collection: MembershipUserCollection? = MembershipUserCollection<MembershipUser>(club: club)
        collection?.observeAllRecords { changes in
            if case .initial(let users) = changes {
                seen.continuation.yield(users.count)
            } else {
                seen.continuation.yield(-1)
            }
        }
        #expect(await seen.stream.first(1) == [0])
        weak let reference = collection
        collection = nil
        try await until("it is released") { reference == nil }
        _ = try await club.receive(tap("A"))
        let other = MembershipUserCollection<MembershipUser>(club: club)
        other.observeAllRecords { _ in seen.continuation.yield(7) }
        #expect(await seen.stream.first(1) == [7])
    }

    @Test("Before the club is open it says so, and begins when it is; after it was closed it says so once")
    func opening() async throws {
        let directory = try TemporaryDirectory()
        let club = Club(configuration: .test(.file(path: directory.file())))
        let screen = Screen<MembershipUser>(club, pollInterval: .milliseconds(2))
        screen.observe()
        await screen.wait { $0.told == ["error notOpen"] }
        try await club.open()
        await screen.wait { $0.told == ["error notOpen", "initial 0"] }
        _ = try await club.receive(tap("A"))
        await screen.wait { $0.told.count == 3 }
        try await club.close()
        await screen.wait { $0.told == ["error notOpen", "initial 0", "update [] [0] []", "error notOpen"] }
        #expect(screen.collection.count == 1)
        #expect(screen.collection.user(at: 0) == nil && screen.collection.users.isEmpty)
        try await club.open()
        screen.observe()
        await screen.wait { $0.told.last == "initial 1" }
        let told = await screen.onQueue { $0.told.count }
        #expect(told == 5)
        try await club.close()
        await screen.wait { $0.told.count == 6 }
    }

    @Test("Objects are of the collection's class, and their fields follow")
    func classes() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        try await club.update("A") { $0.fields["emailAddress"] = "a@example.org" }
        let screen = Screen<CustomUser>(club)
        screen.observe()
        await screen.wait { $0.told.count == 1 }
        let email = await screen.onQueue { $0.collection.user(at: 0)?.emailAddress }
        #expect(email == "a@example.org")
        try await club.update("A") { $0.fields["emailAddress"] = "b@example.org" }
        await screen.wait { $0.told.count == 2 }
        let changed = await screen.onQueue { $0.collection.user(at: 0)?.emailAddress }
        #expect(changed == "b@example.org")
    }

    @Test("Code of the main actor follows a list without ado")
    @MainActor
    func mainActor() async throws {
        let club = try await openClub()
        let controller = Controller(club)
        await withCheckedContinuation { continuation in
            controller.continuation = continuation
            controller.show()
        }
        #expect(controller.shown == ["initial 0"])
    }

    @Test("A record that the class does not accept is nil, and the club says so")
    func refused() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A"))
        let events = club.events
        let collection = MembershipUserCollection<RefusingUser>(club: club)
        let queue = DispatchQueue(label: "refused")
        club.setDispatchQueue(queue)
        let seen = AsyncStream.makeStream(of: Int.self)
        collection.observeAllRecords { _ in seen.continuation.yield(1) }
        _ = await seen.stream.first(1)
        #expect(collection.count == 1 && collection.user(at: 0) == nil && collection.users.isEmpty)
        for event in await events.first(2) {
            guard case .error(let error, _) = event else { return #expect(Bool(false)) }
            #expect(error.kind == .unreadableRecord && !error.description.contains("secret"))
        }
    }

    @Test("What another club does on the same file is seen")
    func otherProcess() async throws {
        let directory = try TemporaryDirectory()
        let configuration = ClubConfiguration.test(.file(path: directory.file()), cooldown: .zero)
        let club = try await openClub(configuration)
        let other = try await openClub(configuration)
        let screen = Screen<MembershipUser>(club, order: .lastVisit, pollInterval: .milliseconds(2))
        screen.observe()
        await screen.wait { $0.told == ["initial 0"] }
        _ = try await other.receive(tap("A"))
        await screen.wait { $0.rows == ["A 1"] }
        _ = try await other.receive(tap("B", at: 60))
        await screen.wait { $0.rows == ["B 1", "A 1"] }
        _ = try await other.receive(tap("A", at: 120))
        await screen.wait { $0.rows == ["A 2", "B 1"] }
        try await other.delete("B")
        await screen.wait { $0.rows == ["A 2"] }
        let told = await screen.onQueue { $0.told }
        #expect(told == ["initial 0", "update [] [0] []", "update [] [0] []", "update [1] [0] []", "update [1] [] []"])
        try await other.close()
    }

    @Test("A long list is told with its beginning, and the rest is there when it is asked for")
    func long() async throws {
        let club = try await openClub()
        let count = ShownList.beginningCount * 3
        for number in 0..<count { try await club.add(Member(userId: "M\(number + 1000)")) }
        let screen = Screen<MembershipUser>(club, order: .userId)
        screen.observe()
        await screen.wait { $0.told == ["initial \(count)"] }
        let expected = (0..<count).map { "M\($0 + 1000) 0" }
        #expect(await screen.onQueue { $0.rows } == expected)
        try await club.delete("M1002")
        _ = try await club.receive(tap("M\(count + 999)"))
        await screen.wait { $0.rows.count == count - 1 && $0.rows.last?.hasSuffix(" 1") == true }
        try await club.close()
    }

    @Test("The beginning of a list gives its members without the rest, who are waited for")
    func beginning() async throws {
        let club = try await openClub()
        for number in 0...ShownList.beginningCount { try await club.add(Member(userId: "M\(number + 1000)")) }
        let store = try club.openStore("test")
        let listing = MemberListing(order: .userId, filter: .all)
        let (beginning, list) = try await store.read("test") { db in
            (try ShownList.beginning(of: listing, at: 0, in: db), try ListState(listing, at: 0, in: db))
        }
        let shown = try #require(beginning)
        #expect(shown.count == ShownList.beginningCount + 1)
        #expect(shown.known(at: 0)?.userID == "M1000")
        #expect(shown.known(at: ShownList.beginningCount) == nil && shown.known(at: -1) == nil)
        DispatchQueue.global().async { shown.complete(list) }
        #expect(shown.whole?.list.count == ShownList.beginningCount + 1)
        // Only the first call counts.
        shown.complete(nil)
        #expect(shown.whole != nil)

        let filtered = MemberListing(order: .userId, filter: MemberFilter(text: "M"))
        #expect(try await store.read("test") { db in try ShownList.beginning(of: filtered, at: 0, in: db) } == nil)
        try await club.delete("M1000")
        #expect(try await store.read("test") { db in try ShownList.beginning(of: listing, at: 0, in: db) } == nil)
    }

    @Test("A member who is erased while the application is busy is gone at once, also from the list that it has")
    func erased() async throws {
        let club = try await openClub()
        for key in ["A", "B", "C"] { _ = try await club.receive(tap(key)) }
        let screen = Screen<MembershipUser>(club)
        screen.observe()
        await screen.wait { $0.told.count == 1 }
        let gate = DispatchSemaphore(value: 0)
        screen.queue.async { gate.wait() }
        try await club.erase("B")
        #expect(screen.collection.count == 3)
        #expect(screen.collection.user(at: 1) == nil && screen.collection.user(at: 2)?.userId == "C")
        gate.signal()
        await screen.wait { $0.rows == ["A 1", "C 1"] }
        let told = await screen.onQueue { $0.told }
        #expect(told == ["initial 3", "update [1] [] []"])
    }

    @Test("A screen that is told of random changes shows what there is", arguments: [UInt64](1...3))
    func property(seed: UInt64) async throws {
        var bench = try await ListBench(seed: seed, members: 5)
        bench.mayErase = false
        let other = try await bench.other()
        for order in MemberOrder.allCases {
            let filter = bench.random.pick(ListBench.filters.filter { $0.isExpired == nil })
            let screen = Screen<MembershipUser>(
                bench.club,
                order: order,
                filter: filter,
                pollInterval: .milliseconds(2)
            )
            screen.observe()
            for _ in 0..<25 { try await bench.change(on: bench.random.chance(40) ? other : nil) }
            let store = try bench.store
            let now = bench.clock.now
            let expected = try await store.read("test") { db in
                try ListOracle.images(MemberQuery(order: order, filter: filter), at: now, in: db)
                    .map { "\($0.userID) \($0.visits)" }
            }
            await screen.wait { $0.rows == expected }
            await screen.onQueue { $0.collection.stopObserving() }
        }
        try await other.close()
    }
}
