import Foundation
import GRDB
import ReaderKit
import Testing

@testable import ClubKit

@Suite("Members as in the original library", .timeLimit(.minutes(10)))
struct FamiliarUsersTests {
    private let recorder = FamiliarRecorder()

    private func open(_ configuration: ClubConfiguration = .test()) async throws -> Club {
        try await openClub(configuration).recorded(by: recorder)
    }

    private func information(_ text: String) throws -> CaptureDataInformation {
        try #require(CaptureDataInformation(captureDataString: text))
    }

    // MARK: Creating

    @Test("A member is created with one visit now, told once, and there when the call returns")
    func create() async throws {
        let club = try await open()
        let events = club.events
        club.createUser(with: try information("4|U1|x|Ann"))
        let user = try #require(try club.getUser(with: "U1"))
        #expect(user.numVisits == 1)
        #expect(user.username == "Ann")
        #expect(user.timeStampAdded == start.timeIntervalSince1970)
        #expect(user.timeStampOfLastVisit == start.timeIntervalSince1970)
        #expect(user.passId == "U1" && user.memberId == "U1" && user.id == "U1")
        club.createUser(with: try information("4|U1|x|Eve"))
        #expect(await recorder.lines(2) == ["created U1 Ann 1", "error CKError userExistsAlready"])
        #expect(try club.getUser(with: "U1")?.username == "Ann")
        #expect(await events.first(2).map(\.name) == ["created", "error"])
        #expect(try await club.visits(of: "U1").map(\.source) == [.manual])
        try await club.close()
    }

    @Test("The condition for taps is not asked where a member is created by hand")
    func createWhateverTheCondition() async throws {
        let club = try await open(.test(userCreationStyle: .withSatisfied { false }))
        club.createUser(with: try information("4|U1|x|Ann"))
        #expect(try club.getUser(with: "U1") != nil)
        try await club.close()
    }

    @Test("A member can be created from a record, with its custom values")
    func createFromRecord() async throws {
        let club = try await open().setCustomMembershipUser(classType: CustomUser.self)
        let user = try CustomUser()
        user.userId = "U1"
        user.username = "Ann"
        user.numVisits = 99
        user.emailAddress = "ann@example.org"
        user.interests = ["chess"]
        club.createUser(with: user)
        let stored = try #require(try club.getUser(with: "U1") as? CustomUser)
        #expect(stored.numVisits == 1)
        #expect(stored.emailAddress == "ann@example.org")
        #expect(stored.interests == ["chess"])
        user.userId = " "
        club.createUser(with: user)
        #expect(await recorder.lines(2) == ["created U1 Ann 1", "error ClubError invalidValue"])
        try await club.close()
    }

    @Test("What a member creates by a tap and what they create by hand is the same member")
    func createdMemberTaps() async throws {
        let club = try await open()
        club.createUser(with: try information("4|U1|x|Ann"))
        #expect(try await club.receive(tap("U1", at: 60)).outcome == .visit)
        #expect(await recorder.lines(2) == ["created U1 Ann 1", "updated U1 Ann 2"])
        try await club.close()
    }

    // MARK: Looking up

    @Test("Each pass finds its own member, and an unknown one nobody")
    func lookUpByPass() async throws {
        let club = try await open()
        for key in ["A", "B", "C"] { _ = try await club.receive(tap(key, name: "name of \(key)")) }
        for key in ["A", "B", "C"] { #expect(try club.getUser(withPassId: key)?.username == "name of \(key)") }
        #expect(try club.getUser(withPassId: "D") == nil)
        #expect(try club.getUser(withPassId: "") == nil)
        try await club.addCard("B2", to: "B")
        #expect(try club.getUser(withPassId: "B2")?.userId == "B")
        try await club.close()
    }

    @Test("The member's id of an original file finds the member, as the user's id does")
    func lookUpByMemberID() async throws {
        let club = try await open()
        let id = UUIDSource.uuid(9).uuidString
        _ = try await club.add(Member(userId: "A", fields: ["memberId": .string(id)]))
        #expect(try club.getUser(withMemberId: id)?.userId == "A")
        #expect(try club.getUser(withMemberId: id)?.memberId == id)
        #expect(try club.getUser(withMemberId: "A")?.memberId == id)
        #expect(try club.getUser(withMemberId: "B") == nil)
        #expect(try club.getUser(withMemberId: "") == nil)
        club.deleteUser(withMemberId: id)
        #expect(try club.getUser(withPassId: "A") == nil)
        try await club.close()
    }

    // MARK: Changing

    @Test("What the closure changes is stored, and nothing else")
    func update() async throws {
        let club = try await open().setCustomMembershipUser(classType: CustomUser.self)
        let events = club.events
        _ = try await club.receive(tap("U1", name: "Ann"))
        let user = try #require(try club.getUser(with: "U1") as? CustomUser)
        // Somebody else changes another value meanwhile.
        try await club.update("U1") { $0.fields["level"] = 7 }
        club.update(user: user) {
            user.username = "Ann Lee"
            user.emailAddress = "ann@example.org"
        }
        let stored = try #require(try club.getUser(with: "U1") as? CustomUser)
        #expect(stored.username == "Ann Lee")
        #expect(stored.emailAddress == "ann@example.org")
        #expect(stored.level == 7)
        #expect(stored.numVisits == 1)
        #expect(
            await recorder.lines(3) == ["created U1 Ann 1", "updated U1 Ann 1", "updated U1 Ann Lee 1"]
        )
        #expect(await events.first(4).last?.updateReason == .edit)
        // A closure that changes nothing changes nothing.
        club.update(user: stored) {}
        club.update(user: stored) { stored.username = nil }
        #expect(await recorder.lines(4).last == "updated U1 nil 1")
        #expect(try club.getUser(with: "U1")?.username == nil)
        try await club.close()
    }

    @Test("More visits are visits by hand, fewer undo the latest ones, and the ledger has it all")
    func updateVisits() async throws {
        let club = try await open(.test(clock: { start.addingTimeInterval(500) }))
        let events = club.events
        _ = try await club.receive(tap("U1", name: "Ann"))
        let user = try #require(try club.getUser(with: "U1"))
        club.update(user: user) {
            user.numVisits += 2
            user.timeStampOfLastVisit = start.timeIntervalSince1970 + 100
        }
        #expect(try club.getUser(with: "U1")?.numVisits == 3)
        #expect(try club.getUser(with: "U1")?.timeStampOfLastVisit == start.timeIntervalSince1970 + 100)
        // The copy is older than what is stored: the difference counts.
        club.update(user: user) { user.numVisits += 1 }
        #expect(try club.getUser(with: "U1")?.numVisits == 4)
        #expect(try club.getUser(with: "U1")?.timeStampOfLastVisit == start.timeIntervalSince1970 + 500)
        club.update(user: user) { user.numVisits = 0 }
        #expect(try club.getUser(with: "U1")?.numVisits == 0)
        let visits = try await club.visits(of: "U1")
        #expect(visits.count == 4)
        #expect(visits.allSatisfy { !$0.counts })
        #expect(visits.filter { $0.source == .manual }.count == 3)
        let reasons = await events.first(9).compactMap(\.updateReason)
        #expect(reasons == Array(repeating: .manualVisit, count: 3) + Array(repeating: .undo, count: 4))
        try await club.close()
    }

    @Test(
        "What cannot be changed is refused as a whole",
        arguments: [
            { $0.userId = "U2" }, { $0.userId = nil }, { $0.timeStampAdded += 1 }, { $0.timeStampOfLastVisit += 1 },
            { $0.numVisits = -1 }, { $0.numVisits += 1001 }, { $0.numVisits = Int.min },
            { $0.timeStampAdded = .nan },
        ] as [@Sendable (MembershipUser) -> Void]
    )
    func refused(change: @escaping @Sendable (MembershipUser) -> Void) async throws {
        let club = try await open()
        _ = try await club.receive(tap("U1", name: "Ann"))
        let user = try #require(try club.getUser(with: "U1"))
        club.update(user: user) {
            user.username = "Eve"
            change(user)
        }
        let lines = await recorder.lines(2)
        #expect(lines.last == "error ClubError invalidValue" || lines.last == "error ClubError unreadableRecord")
        #expect(try club.getUser(with: "U1")?.username == "Ann")
        #expect(try club.getUser(with: "U1")?.numVisits == 1)
        try await club.close()
    }

    @Test("A change of the name and of visits is one commit, or none")
    func oneCommit() async throws {
        final class Commits: TransactionObserver {
            nonisolated(unsafe) var count = 0  // Changed on the writer's queue, read when it is done.
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) { count += 1 }
            func databaseDidRollback(_ db: Database) {}
        }
        let club = try await open(.test(clock: { start.addingTimeInterval(500) }))
        _ = try await club.receive(tap("U1", name: "Ann"))
        let user = try #require(try club.getUser(with: "U1"))
        let commits = Commits()
        try club.openStore("count the commits").database.add(transactionObserver: commits, extent: .databaseLifetime)
        club.update(user: user) {
            user.username = "Eve"
            user.numVisits += 3
        }
        #expect(commits.count == 1)
        #expect(try club.getUser(with: "U1")?.username == "Eve")
        #expect(try club.getUser(with: "U1")?.numVisits == 4)
        // The visits cannot be recorded: the name stays too.
        club.update(user: user) {
            user.username = "Zoe"
            user.numVisits += 1
            user.timeStampOfLastVisit = start.timeIntervalSince1970 + 1_000_000
        }
        let more = try #require(try club.getUser(with: "U1"))
        #expect(more.username == "Eve")
        #expect(more.numVisits == 4)
        #expect(commits.count == 1)
        club.update(user: more) {
            more.username = "Kim"
            more.numVisits = 1
        }
        #expect(commits.count == 2)
        #expect(try club.getUser(with: "U1")?.numVisits == 1)
        #expect(try await club.check() == [])
        try await club.close()
    }

    @Test("Visits that are only a total in an old file cannot be undone, and nothing is changed then")
    func undoOfClaims() async throws {
        let club = try await open()
        _ = try await club.add(Member(userId: "U1", username: "Ann"))
        let user = try #require(try club.getUser(with: "U1"))
        user.numVisits = 5
        club.update(user: user) {
            user.username = "Eve"
            user.numVisits = 4
        }
        #expect(await recorder.lines(2).last == "error ClubError invalidValue")
        #expect(try club.getUser(with: "U1")?.username == "Ann")
        try await club.close()
    }

    @Test("A member who is not there is nonexistentUser")
    func absent() async throws {
        let club = try await open()
        let user = try MembershipUser()
        club.update(user: user) { user.username = "Ann" }
        user.userId = "U1"
        club.update(user: user) { user.username = "Eve" }
        club.deleteUser(user)
        club.deleteUser(with: "U1")
        club.deleteUser(withPassId: "U1")
        club.deleteUser(withMemberId: "U1")
        #expect(await recorder.lines(6) == Array(repeating: "error CKError nonexistentUser", count: 6))
        try await club.close()
    }

    @Test("A record that refuses to be written is reported, and nothing is changed")
    func unwritable() async throws {
        class Unwritable: MembershipUser {
            override func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue("secret", .init(codingPath: [], debugDescription: "secret"))
            }
        }
        let club = try await open().setCustomMembershipUser(classType: Unwritable.self)
        _ = try await club.receive(tap("U1", name: "Ann"))
        let user = try #require(try club.getUser(with: "U1"))
        club.update(user: user) { Issue.record("the closure was called") }
        #expect(await recorder.lines(2).last == "error ClubError unreadableRecord")
        #expect(!"\(recorder.errors)".contains("secret"))
        try await club.close()
    }

    // MARK: Deleting

    @Test("A deleted user is passed as a valid copy, by whatever they were named")
    func delete() async throws {
        let club = try await open()
        for key in ["A", "B", "C", "D"] { _ = try await club.receive(tap(key, name: "Ann")) }
        let user = try #require(try club.getUser(with: "D"))
        club.deleteUser(with: "A")
        club.deleteUser(withPassId: "B")
        club.deleteUser(withMemberId: "C")
        club.deleteUser(user)
        #expect(
            await recorder.lines(8)[4...] == [
                "deleted A Ann 1", "deleted B Ann 1", "deleted C Ann 1", "deleted D Ann 1",
            ]
        )
        #expect(try await club.memberCount() == 0)
        try await club.close()
    }

    @Test("The delegate may call the club in every callback, and finds what was committed")
    func callingBack() async throws {
        let club = try await open()
        // Held here, since the club holds it weakly.
        let caller = CallingBack(recorder)
        club.setDelegate(to: caller)
        club.createUser(with: try information("4|U1|x|Ann"))
        #expect(
            await recorder.lines(4) == [
                "created, stored true, deleting", "deleted, stored false, creating", "created, stored true, leaving",
                "error CKError userExistsAlready",
            ]
        )
        withExtendedLifetime(caller) {}
        try await club.close()
    }

    /// Calls the club in the middle of its callbacks.
    private final class CallingBack: ClubMiddlewareDelegate, Sendable {
        let recorder: FamiliarRecorder

        init(_ recorder: FamiliarRecorder) { self.recorder = recorder }

        private var information: CaptureDataInformation? { CaptureDataInformation(captureDataString: "4|U1|x|Ann") }

        func club(_ club: Club, didCreateNewMembership user: MembershipUser) {
            let isStored = (try? club.getUser(with: "U1")) != nil
            if recorder.lines.isEmpty {
                recorder.note("created, stored \(isStored), deleting")
                club.deleteUser(user)
            } else {
                recorder.note("created, stored \(isStored), leaving")
                if let information { club.createUser(with: information) }
            }
        }

        func club(_ club: Club, didDeleteMembership user: MembershipUser) {
            recorder.note("deleted, stored \((try? club.getUser(with: "U1")) != nil), creating")
            if let information { club.createUser(with: information) }
        }

        func club(_ club: Club, didReceive error: any Error) { recorder.club(club, didReceive: error) }
    }

    @Test("Waiting callers on every thread of Swift's pool do not stand in each other's way")
    func manyWaiting() async throws {
        let club = try await open()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let text = "4|U\(number)|x|Ann"
                    if let information = CaptureDataInformation(captureDataString: text) {
                        club.createUser(with: information)
                    }
                }
            }
        }
        #expect(try await club.memberCount() == 64)
        try await club.close()
    }

    // MARK: Texts

    @Test("Scanned texts are taps in their order; what is none says why", .timeLimit(.minutes(10)))
    func decodedData() async throws {
        let club = try await open(.test(cooldown: .zero))
        let device = CaptureLayerDevice(ReaderInfo(name: "Scanner", backend: .smartReader))
        for number in 0..<50 {
            let data = CaptureLayerDecodedData(decodedData: Data("4|U1|x|Ann \(number)".utf8))
            #expect(club.onDecodedData(decodedData: data, device: device) == nil)
        }
        let lines = await recorder.lines(50)
        #expect(lines == ["created U1 Ann 0 1"] + (2...50).map { "updated U1 Ann 0 \($0)" })
        #expect(try await club.visits(of: "U1").allSatisfy { $0.reader == "Scanner" })

        func error(_ bytes: [UInt8]?) -> CKError? {
            let data = bytes.map { CaptureLayerDecodedData(decodedData: Data($0)) }
            return club.onDecodedData(decodedData: data, device: device) as? CKError
        }
        if case .nullDecodedData? = error(nil) {} else { Issue.record("no data") }
        if case .nonExistentUTF8DecodedDataString? = error([0xC3, 0x28]) {} else { Issue.record("no text") }
        for text in ["a|b|c", "a|b|c|d|e", "|||", ""] {
            if case .invalidPassInformation? = error([UInt8](text.utf8)) {} else { Issue.record("\(text)") }
        }
        let empty = CaptureLayerDecodedData(decodedData: nil)
        #expect(club.onDecodedData(decodedData: empty, device: device) is CKError)
        try await club.close()
    }

    @Test("A tap that is handed back to the club, as the old documentation said, counts once")
    func handedBack() async throws {
        let club = try await open(.test(cooldown: .zero))
        let event = tap("U1", name: "Ann")
        _ = try await club.receive(event)
        let device = CaptureLayerDevice(ReaderInfo(name: event.reader, backend: event.backend))
        #expect(club.onDecodedData(decodedData: CaptureLayerDecodedData(event), device: device) == nil)
        #expect(club.onDecodedData(decodedData: CaptureLayerDecodedData(tap("U2")), device: device) == nil)
        #expect(await recorder.lines(2) == ["created U1 Ann 1", "created U2  1"])
        #expect(try club.getUser(with: "U1")?.numVisits == 1)
        try await club.close()
    }

    @Test("The format of decoded data changes what is shown, not who the member is")
    func format() async throws {
        let club = try await open()
        #expect(club.decodedDataFormat == .defaultRFID)
        club.setDecodedDataParse(format: .NDEF)
        #expect(club.decodedDataFormat == .NDEF)
        #expect(Club.DecodedDataParseFormat.allCases.map(\.rawValue) == [0, 1])
        try await club.close()
    }

    /// An application's own code over the protocols.
    private func rename<Membership: CaptureMembershipProtocol>(
        _ passID: String,
        to name: String,
        in membership: Membership
    ) throws where Membership.userType == MembershipUser {
        guard let user = try membership.getUser(withPassId: passID) else { return }
        membership.update(user: user) { user.username = name }
    }

    @Test("The halves of a club can be had as protocols")
    func protocols() async throws {
        let club = try await open()
        let middleware: any CaptureMiddlewareProtocol = club
        let kit: any ClubKitProtocol = club
        #expect(middleware.capture == nil)
        #expect(kit.OverridableMembershipUserClassType == MembershipUser.self)
        kit.setCustomMembershipUser(classType: CustomUser.self)
        #expect(kit.OverridableMembershipUserClassType == CustomUser.self)
        club.createUser(with: try information("4|U1|x|Ann"))
        try rename("U1", to: "Ann Lee", in: club)
        #expect(try club.getUser(with: "U1")?.username == "Ann Lee")
        try await club.close()
    }

    @Test("A day pass makes a visit good for that many hours")
    func dayPass() async throws {
        let club = try await open().setDayPass(hours: 3)
        #expect(club.dayPassHours == 3)
        let outcomes = try await [0, 60, 3 * 3600 - 1, 3 * 3600].asyncMap {
            try await club.receive(tap("U1", at: $0)).outcome
        }
        #expect(outcomes == [.created, .repeat, .repeat, .visit])
        for hours in [0, 25, -1] { club.setDayPass(hours: hours) }
        #expect(club.dayPassHours == 3)
        #expect(
            await recorder.lines(5)[2...] == Array(repeating: "error ClubError invalidSetting", count: 3)[...]
        )
        try await club.close()
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
