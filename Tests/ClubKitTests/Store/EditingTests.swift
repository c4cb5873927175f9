import ClubKit
import Dispatch
import Foundation
import ReaderKit
import Synchronization
import Testing

@Suite("Changing members", .timeLimit(.minutes(10)))
struct EditingTests {
    private let desk = ActionContext(actor: "desk", reason: "as agreed")

    /// A club whose clock is ``start`` and goes on by a second with each look at it.
    private func club(_ change: (inout ClubConfiguration) -> Void = { _ in }) async throws -> Club {
        let ticks = Ticks()
        var configuration = ClubConfiguration.test(clock: { ticks.next() })
        change(&configuration)
        return try await openClub(configuration)
    }

    private final class Ticks: Sendable {
        private let count = Mutex(0)
        func next() -> Date {
            start.addingTimeInterval(
                Double(
                    count.withLock {
                        $0 += 1; return $0
                    }
                )
            )
        }
    }

    private func reason(_ receipt: Receipt) -> Receipt.Reason.Code? { receipt.outcome.reason?.code }

    private func isClean(_ club: Club) async throws {
        let findings = try await club.check()
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test("A member is added once, with fields, and without visits")
    func add() async throws {
        let club = try await club()
        let member = Member(userId: "M-1", username: "Ann", numVisits: 99, fields: ["level": 2, "userId": "other"])
        let added = try await club.add(member, by: desk)
        #expect(added.numVisits == 0)
        #expect(added.username == "Ann")
        #expect(added.fields == ["level": 2])
        #expect(added.timeStampOfLastVisit == 0)
        #expect(try await club.member(withUserID: "M-1") == added)
        let error = await #expect(throws: ClubError.self) { try await club.add(Member(userId: "M-1"), by: desk) }
        #expect(error?.kind == .memberExists)
        #expect(try await club.receive(tap("M-1", at: 100)).outcome == .visit)
        try await isClean(club)
    }

    @Test("Identifiers that no card could have are refused", arguments: ["", "  ", "a\u{0}b", "a\nb"])
    func unusable(id: String) async throws {
        let club = try await club()
        let error = await #expect(throws: ClubError.self) { try await club.add(Member(userId: id), by: desk) }
        #expect(error?.kind == .invalidValue)
        #expect(try await club.memberCount() == 0)
        try await isClean(club)
    }

    @Test("Name and fields are changed; nothing else is, and no change is no event")
    func update() async throws {
        let club = try await club()
        try await club.add(Member(userId: "M-1", username: "Ann", fields: ["level": 1, "mail": "a@b"]), by: desk)
        let events = club.events
        let changed = try await club.update("M-1", by: desk) { member in
            member.username = "Anna"
            member.fields["level"] = 2
            member.fields["mail"] = nil
            member.numVisits = 77
            member.timeStampAdded = 0
        }
        #expect(changed.username == "Anna")
        #expect(changed.fields == ["level": 2])
        #expect(changed.numVisits == 0)
        #expect(changed.timeStampAdded > 0)
        #expect(try await club.update("M-1", by: desk) { $0.numVisits = 3 } == changed)
        try await club.update("M-1", by: desk) { $0.username = nil }
        let told = await events.first(2)
        #expect(told.map(\.updateReason) == [.edit, .edit])
        #expect(told.last?.member?.username == .some(nil))
        let error = await #expect(throws: ClubError.self) { try await club.update("M-2", by: desk) { _ in } }
        #expect(error?.kind == .noSuchMember)
        try await isClean(club)
    }

    @Test("The closure of a change holds nobody up, and sees what somebody else changed meanwhile")
    func updateTwice() async throws {
        let club = try await club()
        try await club.add(Member(userId: "M-1", fields: ["level": 1]), by: desk)
        let calls = Mutex(0)
        let member = try await club.update("M-1", by: desk) { member in
            let isFirst = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            if isFirst {
                // A transaction that is open here would wait for this one, and this one for it.
                let done = DispatchSemaphore(value: 0)
                Task.detached {
                    _ = try? await club.update("M-1") { $0.fields["level"] = 10 }
                    done.signal()
                }
                #expect(done.wait(timeout: .now() + 30) == .success)
            }
            if case .int(let level)? = member.fields["level"] { member.fields["level"] = .int(level + 1) }
        }
        #expect(member.fields["level"] == 11)
        #expect(calls.withLock { $0 } == 2)
        let error = await #expect(throws: ClubError.self) {
            let next = Mutex(0)
            try await club.update("M-1", by: desk) { member in
                let level = next.withLock { next in
                    next += 1
                    return 100 + next
                }
                let done = DispatchSemaphore(value: 0)
                Task.detached {
                    _ = try? await club.update("M-1") { $0.fields["level"] = .int(level) }
                    done.signal()
                }
                done.wait()
                member.fields["level"] = 0
            }
        }
        #expect(error?.kind == .busy)
        try await isClean(club)
    }

    @Test("Who was deleted is gone, and begins anew at the next tap")
    func delete() async throws {
        let club = try await club()
        for index in 0..<3 { _ = try await club.receive(tap("A", at: Double(index) * 60, name: "Ann")) }
        #expect(try await club.delete("A", by: desk).numVisits == 3)
        #expect(try await club.member(withUserID: "A") == nil)
        #expect(try await club.memberCount() == 0)
        try await isClean(club)
        let error = await #expect(throws: ClubError.self) { try await club.delete("A", by: desk) }
        #expect(error?.kind == .noSuchMember)
        // The former visits do not come back, and are no reason not to count.
        let receipt = try await club.receive(tap("A", at: 121))
        #expect(receipt.outcome == .created)
        #expect(receipt.member?.numVisits == 1)
        #expect(receipt.member?.username == "")
        #expect(try await club.visits(of: "A").count == 1)
        try await isClean(club)
    }

    @Test("A blocked member is turned away with the reason, until unblocked")
    func block() async throws {
        let club = try await club()
        _ = try await club.receive(tap("A"))
        try await club.block("A", by: ActionContext(actor: "desk", reason: "fees\nunpaid"))
        let receipt = try await club.receive(tap("A", at: 60))
        #expect(reason(receipt) == .blocked)
        #expect(receipt.outcome.reason?.message == "This membership is blocked: fees unpaid. Ask at the desk.")
        #expect(receipt.member?.numVisits == 1)
        #expect(try await club.details(of: "A")?.blocked == "fees unpaid")
        try await isClean(club)
        try await club.unblock("A", by: desk)
        #expect(try await club.details(of: "A")?.blocked == nil)
        #expect(try await club.receive(tap("A", at: 120)).outcome == .visit)
        try await isClean(club)
    }

    @Test("A membership ends at its time, and a tap says so in time")
    func expiry() async throws {
        let club = try await club { $0.expiryWarningDays = 7 }
        _ = try await club.receive(tap("A"))
        let day = 86_400.0
        let end = start.addingTimeInterval(30 * day)
        try await club.setExpiry(of: "A", to: end, by: desk)
        #expect(try await club.details(of: "A")?.expires == end)
        #expect(try await club.receive(tap("A", at: 22 * day)).notices == [])
        #expect(try await club.receive(tap("A", at: 23 * day)).notices == [.expiresSoon(end)])
        let again = tap("A", at: 30 * day - 0.000_001)
        #expect(try await club.receive(again).outcome == .visit)
        let refused = try await club.receive(tap("A", at: 30 * day + 31))
        #expect(reason(refused) == .expired)
        // The same tap has the same receipt, with what it said.
        #expect(try await club.receive(again).notices == [.expiresSoon(end)])
        try await club.setExpiry(of: "A", to: nil, by: desk)
        #expect(try await club.receive(tap("A", at: 31 * day)).outcome == .visit)
        let error = await #expect(throws: ClubError.self) {
            try await club.setExpiry(of: "A", to: Date(timeIntervalSince1970: -1), by: desk)
        }
        #expect(error?.kind == .invalidValue)
        try await isClean(club)
    }

    @Test("Bought visits are used up, then taps are refused, until more are bought or the limit ends")
    func packs() async throws {
        let club = try await club { $0.visitsLeftWarning = 1 }
        _ = try await club.receive(tap("A"))
        try await club.sellVisits(2, to: "A", by: desk)
        #expect(try await club.details(of: "A")?.visitsLeft == 2)
        #expect(try await club.receive(tap("A", at: 60)).notices == [.visitsLeft(1)])
        #expect(try await club.receive(tap("A", at: 61)).outcome == .repeat)
        #expect(try await club.receive(tap("A", at: 120)).notices == [.visitsLeft(0)])
        let refused = try await club.receive(tap("A", at: 180))
        #expect(reason(refused) == .noVisitsLeft)
        #expect(refused.member?.numVisits == 3)
        try await isClean(club)
        try await club.sellVisits(1, to: "A", by: desk)
        #expect(try await club.receive(tap("A", at: 240)).outcome == .visit)
        #expect(try await club.details(of: "A")?.visitsLeft == 0)
        try await club.removeVisitLimit(of: "A", by: desk)
        #expect(try await club.details(of: "A")?.visitsLeft == nil)
        #expect(try await club.receive(tap("A", at: 300)).outcome == .visit)
        try await club.sellVisits(5, to: "A", by: desk)
        #expect(try await club.details(of: "A")?.visitsLeft == 5)
        for number in [0, -1, 1_000_001] {
            let error = await #expect(throws: ClubError.self) { try await club.sellVisits(number, to: "A", by: desk) }
            #expect(error?.kind == .invalidValue)
        }
        try await isClean(club)
    }

    @Test("Notes keep their lines; tags are a set")
    func notesAndTags() async throws {
        let club = try await club()
        try await club.add(Member(userId: "A"), by: desk)
        try await club.setNotes("lost the key\nof locker 7", on: "A", by: desk)
        try await club.setTags(["vip", " chess ", "", "vip"], of: "A", by: desk)
        let details = try #require(try await club.details(of: "A"))
        #expect(details.notes == "lost the key\nof locker 7")
        #expect(details.tags == ["chess", "vip"])
        // What the club keeps is no custom field.
        #expect(details.member.fields == [:])
        try await club.setNotes("", on: "A", by: desk)
        try await club.setTags([], of: "A", by: desk)
        #expect(try await club.details(of: "A")?.notes == nil)
        #expect(try await club.details(of: "A")?.tags == [])
        try await isClean(club)
    }

    // MARK: Cards

    @Test("All cards of a member lead to the member")
    func cards() async throws {
        let club = try await club()
        _ = try await club.receive(tap("A"))
        try await club.addCard("PHONE", to: "A", by: desk)
        #expect(try await club.receive(tap("PHONE", at: 10)).outcome == .repeat)
        let receipt = try await club.receive(tap("PHONE", at: 60))
        #expect(receipt.member?.userId == "A")
        #expect(receipt.member?.numVisits == 2)
        #expect(try await club.details(of: "PHONE")?.cards.map(\.id) == ["A", "PHONE"])
        _ = try await club.receive(tap("B"))
        for (card, key) in [("PHONE", "B"), ("B", "A")] {
            let error = await #expect(throws: ClubError.self) { try await club.addCard(card, to: key, by: desk) }
            #expect(error?.kind == .memberExists)
        }
        try await club.blockCard("PHONE", by: ActionContext(reason: "stolen"))
        #expect(reason(try await club.receive(tap("PHONE", at: 120))) == .cardBlocked)
        #expect(try await club.receive(tap("A", at: 120)).outcome == .visit)
        #expect(try await club.details(of: "A")?.cards.last?.blocked == "stolen")
        try await club.unblockCard("PHONE", by: desk)
        #expect(try await club.receive(tap("PHONE", at: 180)).outcome == .visit)
        try await isClean(club)
    }

    @Test("A replaced card is turned away, the new one counts")
    func replaceCard() async throws {
        let club = try await club()
        _ = try await club.receive(tap("OLD", name: "Ann"))
        let member = try await club.replaceCard("OLD", with: "NEW", by: ActionContext(reason: "lost"))
        #expect(member.userId == "OLD")
        let old = try await club.receive(tap("OLD", at: 60))
        #expect(reason(old) == .cardBlocked)
        #expect(old.member?.userId == "OLD")
        #expect(try await club.receive(tap("NEW", at: 60)).member?.numVisits == 2)
        #expect(try await club.details(of: "NEW")?.cards.map(\.blocked) == ["lost", nil])
        let error = await #expect(throws: ClubError.self) { try await club.replaceCard("NEW", with: "NEW", by: desk) }
        #expect(error?.kind == .invalidValue)
        try await isClean(club)
    }

    // MARK: Joining

    @Test("Two members become one, who has the visits of both")
    func join() async throws {
        let club = try await club()
        for (key, at) in [("A", 0), ("A", 60), ("B", 30), ("B", 300)] as [(String, Double)] {
            _ = try await club.receive(tap(key, at: at))
        }
        let one = try await club.mergeMember("A", into: "B", by: desk).member
        #expect(one.userId == "B")
        #expect(one.numVisits == 4)
        #expect(one.timeStampOfLastVisit == start.timeIntervalSince1970 + 300)
        #expect(try await club.memberCount() == 1)
        #expect(try await club.member(withUserID: "A") == one)
        #expect(try await club.visits(of: "A").map(\.userId) == ["B", "A", "B", "A"])
        let receipt = try await club.receive(tap("A", at: 400))
        #expect(receipt.member?.userId == "B")
        #expect(receipt.member?.numVisits == 5)
        let error = await #expect(throws: ClubError.self) { try await club.mergeMember("A", into: "B", by: desk) }
        #expect(error?.kind == .invalidValue)
        try await isClean(club)
    }

    @Test("Members who were joined one after the other, and undoing a visit of the first")
    func chain() async throws {
        let club = try await club()
        let first = tap("A")
        _ = try await club.receive(first)
        for key in ["B", "C", "D"] { _ = try await club.receive(tap(key, at: 60)) }
        try await club.mergeMember("A", into: "B", by: desk)
        try await club.mergeMember("C", into: "D", by: desk)
        let one = try await club.mergeMember("B", into: "C", by: desk).member
        #expect(one.userId == "D")
        #expect(one.numVisits == 4)
        for key in ["A", "B", "C", "D"] { #expect(try await club.member(withUserID: key) == one) }
        let less = try await club.undoVisit(first.id, by: desk)
        #expect(less.userId == "D")
        #expect(less.numVisits == 3)
        try await isClean(club)
        try await club.delete("A", by: desk)
        #expect(try await club.memberCount() == 0)
        try await isClean(club)
        #expect(try await club.receive(tap("B", at: 600)).outcome == .created)
        #expect(try await club.receive(tap("A", at: 600)).outcome == .created)
        #expect(try await club.memberCount() == 2)
        try await isClean(club)
    }

    // MARK: Visits

    @Test("A visit is recorded by hand, whatever the cooldown says")
    func manual() async throws {
        let club = try await club()
        _ = try await club.receive(tap("A"))
        let events = club.events
        let date = start.addingTimeInterval(5)
        let member = try await club.recordVisit(of: "A", at: date, by: ActionContext(actor: "Eve", reason: "no card"))
        #expect(member.numVisits == 2)
        #expect(member.timeStampOfLastVisit == date.timeIntervalSince1970)
        #expect(await events.first(1).map(\.updateReason) == [.manualVisit])
        let visit = try #require(try await club.visits(of: "A").first)
        #expect(visit.source == .manual)
        #expect(visit.actor == "Eve")
        #expect(visit.reason == "no card")
        #expect(visit.at == date)
        // It is a visit as any other.
        #expect(try await club.receive(tap("A", at: 34)).outcome == .repeat)
        for late in [-1, Double.infinity] {
            let error = await #expect(throws: ClubError.self) {
                try await club.recordVisit(of: "A", at: Date(timeIntervalSince1970: late), by: desk)
            }
            #expect(error?.kind == .invalidValue)
        }
        let late = await #expect(throws: ClubError.self) {
            try await club.recordVisit(of: "A", at: start.addingTimeInterval(2 * 86_400), by: desk)
        }
        #expect(late?.kind == .invalidValue)
        #expect(late?.description.contains("in the future") == true)
        try await isClean(club)
    }

    @Test("A visit of somebody who was deleted, or deleted and is back, cannot be undone")
    func undoDeleted() async throws {
        let club = try await club()
        let event = tap("A")
        _ = try await club.receive(event)
        try await club.delete("A", by: desk)
        for _ in 0..<2 {
            let error = await #expect(throws: ClubError.self) { try await club.undoVisit(event.id, by: desk) }
            #expect(error?.kind == .noSuchVisit)
            if try await club.memberCount() == 0 { _ = try await club.receive(tap("A", at: 600)) }
        }
        #expect(try await club.member(withUserID: "A")?.numVisits == 1)
        try await isClean(club)
    }

    @Test("A tap soon after a visit of somebody who was joined to the member is a repeat")
    func repeatOfJoined() async throws {
        let club = try await club()
        _ = try await club.receive(tap("A"))
        _ = try await club.receive(tap("B", at: 100))
        try await club.mergeMember("B", into: "A", by: desk)
        #expect(try await club.receive(tap("A", at: 110)).outcome == .repeat)
        #expect(try await club.receive(tap("B", at: 110)).outcome == .repeat)
        #expect(try await club.receive(tap("A", at: 131)).outcome == .visit)
        #expect(try await club.member(withUserID: "A")?.numVisits == 3)
        try await isClean(club)
    }

    @Test("A block without a reason keeps the reason that is known")
    func blockAgain() async throws {
        let club = try await club()
        _ = try await club.receive(tap("A"))
        try await club.block("A", by: ActionContext(reason: "fees unpaid"))
        try await club.block("A", by: ActionContext())
        #expect(try await club.details(of: "A")?.blocked == "fees unpaid")
        try await club.block("A", by: ActionContext(reason: "moved"))
        #expect(try await club.details(of: "A")?.blocked == "moved")
        try await club.unblock("A", by: desk)
        try await club.block("A", by: ActionContext())
        #expect(try await club.details(of: "A")?.blocked == "")
        try await isClean(club)
    }

    @Test("An undone visit does not count, keep anybody away or use up what was bought")
    func undo() async throws {
        let club = try await club()
        try await club.add(Member(userId: "A"), by: desk)
        try await club.sellVisits(1, to: "A", by: desk)
        let event = tap("A", at: 60)
        _ = try await club.receive(event)
        #expect(try await club.details(of: "A")?.visitsLeft == 0)
        let events = club.events
        let member = try await club.undoVisit(event.id, by: ActionContext(actor: "desk", reason: "by mistake"))
        #expect(member.numVisits == 0)
        #expect(member.timeStampOfLastVisit == 0)
        #expect(await events.first(1).map(\.updateReason) == [.undo])
        #expect(try await club.details(of: "A")?.visitsLeft == 1)
        let visit = try #require(try await club.visits(of: "A").first)
        #expect(!visit.counts)
        #expect(visit.undoing?.reason == "by mistake")
        #expect(visit.undoing?.actor == "desk")
        for id in [event.id, UUID()] {
            let error = await #expect(throws: ClubError.self) { try await club.undoVisit(id, by: desk) }
            #expect(error?.kind == .noSuchVisit)
        }
        // The tap itself stays answered.
        #expect(try await club.receive(event).outcome == .visit)
        #expect(try await club.member(withUserID: "A")?.numVisits == 0)
        // Within the cooldown of the visit that does not count any more.
        #expect(try await club.receive(tap("A", at: 61)).outcome == .visit)
        try await isClean(club)
    }

    // MARK: Audit

    @Test("Everything that is done is written down with who did it and why")
    func audit() async throws {
        let club = try await club()
        try await club.add(Member(userId: "A"), by: desk)
        try await club.update("A", by: desk) { $0.username = "Ann" }
        try await club.block("A", by: desk)
        try await club.unblock("A", by: desk)
        try await club.setExpiry(of: "A", to: start, by: desk)
        try await club.sellVisits(3, to: "A", by: desk)
        try await club.removeVisitLimit(of: "A", by: desk)
        try await club.setNotes("secret", on: "A", by: desk)
        try await club.setTags(["vip"], of: "A", by: desk)
        try await club.addCard("B", to: "A", by: desk)
        try await club.blockCard("B", by: desk)
        try await club.unblockCard("B", by: desk)
        try await club.replaceCard("B", with: "C", by: desk)
        try await club.recordVisit(of: "A", by: desk)
        let visit = try #require(try await club.visits(of: "A").first)
        try await club.undoVisit(visit.id, by: desk)
        try await club.add(Member(userId: "Z"), by: desk)
        try await club.mergeMember("A", into: "Z", by: desk)
        try await club.delete("Z", by: desk)
        let all = try await club.auditLog().reversed()
        #expect(
            all.map(\.action) == [
                .added, .edited, .blocked, .unblocked, .setExpiry, .soldVisits, .unlimited, .noted, .tagged,
                .addedCard, .blockedCard, .unblockedCard, .replacedCard, .recordedVisit, .undidVisit, .added, .joined,
                .deleted,
            ]
        )
        #expect(all.allSatisfy { $0.actor == "desk" && $0.detail["reason"] == "as agreed" })
        #expect(all.map(\.at) == all.map(\.at).sorted())
        #expect(all.first { $0.action == .soldVisits }?.detail["visits"] == 3)
        #expect(all.first { $0.action == .joined }?.detail["into"] == "Z")
        #expect(!all.contains { $0.detail.values.contains("secret") })
        #expect(all.allSatisfy { $0.device == visit.device })
        #expect(try await club.auditLog(of: "A", limit: 3).count == 3)
        #expect(try await club.auditLog(of: "A").allSatisfy { $0.subject == "A" })
        try await isClean(club)
    }

    @Test("What cannot be done changes nothing and is not written down")
    func nothing() async throws {
        let club = try await club()
        let calls: [@Sendable () async throws -> Void] = [
            { try await club.block("X", by: ActionContext()) }, { try await club.unblock("X") },
            { try await club.setNotes("", on: "X") }, { try await club.setTags([], of: "X") },
            { try await club.sellVisits(1, to: "X") }, { try await club.removeVisitLimit(of: "X") },
            { try await club.addCard("Y", to: "X") }, { try await club.blockCard("X", by: ActionContext()) },
            { try await club.replaceCard("X", with: "Y") }, { try await club.mergeMember("X", into: "Y") },
            { try await club.recordVisit(of: "X", by: ActionContext()) },
            { try await club.setExpiry(of: "X", to: nil) }, { _ = try await club.visits(of: "X") },
        ]
        for call in calls {
            let error = await #expect(throws: ClubError.self) { try await call() }
            #expect(error?.kind == .noSuchMember)
        }
        #expect(try await club.auditLog() == [])
        #expect(try await club.details(of: "X") == nil)
    }
}
