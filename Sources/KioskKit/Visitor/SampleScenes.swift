import ClubKit
import Foundation
import ReaderKit

extension VisitorScenes {
    /// Returns an example of every kind of scene, in the order of ``VisitorScene/Kind``, for previews and tests. They are
    /// made as those of real taps are.
    public func samples() -> [VisitorScene] { VisitorScene.Kind.allCases.map(sample) }

    /// Returns some rows of a list of taps that go with the samples.
    public func sampleRows() -> [TapRow] {
        let taps: [(Receipt.Outcome, String?, Int, TimeInterval)] = [
            (.visit, "Ann", 12, 0), (.repeat, "Bea", 4, -40), (.created, nil, 1, -95),
            (.rejected(.init(.expired, "")), "Cem", 30, -200), (.rejected(.init(.unknownCard, "")), nil, 0, -310),
            (.visit, "张伟", 10, -420), (.visit, "محمد", 3, -500),
        ]
        return taps.map { outcome, name, visits, age in
            row(of: receipt(outcome, name, visits, age: age), showsName: true)
        }
    }

    private func receipt(_ outcome: Receipt.Outcome, _ name: String?, _ visits: Int, age: TimeInterval = 0) -> Receipt {
        var receipt = Receipt(
            eventID: UUID(uuidString: "00000000-0000-4000-8000-000000000000") ?? UUID(),
            // A Saturday afternoon.
            at: Date(timeIntervalSince1970: 1_793_455_200 + age),
            reader: "Front",
            backend: .simulated,
            outcome: outcome
        )
        if visits > 0 { receipt.member = Member(userId: "U\(visits)", username: name, numVisits: visits) }
        return receipt
    }

    private func answer(
        _ outcome: Receipt.Outcome,
        visits: Int = 12,
        _ change: (inout RecordedTap) -> Void = { _ in }
    ) -> VisitorScene {
        var tap = RecordedTap(receipt: receipt(outcome, invented.name, visits))
        change(&tap)
        return answer(to: tap)
    }

    /// What a club would write itself.
    private var invented: (name: String, coffee: String, message: String) {
        switch theme.language {
        case .english: ("Ann", "a free coffee", "We close at 8 p.m. today.")
        case .german: ("Jürgen", "ein Kaffee aufs Haus", "Wir schließen heute um 20 Uhr.")
        case .chinese: ("张伟", "免费咖啡一杯", "今天20点关门。")
        case .arabic: ("محمد", "قهوة مجانية", "نغلق اليوم الساعة 8 مساءً.")
        }
    }

    private func sample(_ kind: VisitorScene.Kind) -> VisitorScene {
        var status = KioskStatus()
        status.readers = [.init(reader: ReaderInfo(name: "Front", backend: .simulated))]
        switch kind {
        case .rest: return rest(status)
        case .idle:
            status.state = .idle
            return rest(status)
        case .reading: return reading()
        case .firstVisit: return answer(.created, visits: 1)
        case .visit:
            return answer(.visit) { tap in
                tap.receipt.notices = [.visitsLeft(2), .expiresSoon(tap.receipt.at + 10 * 86_400)]
                tap.stampCard = StampCard(scenario: "coffee", title: invented.coffee, stamps: 7, size: 10)
            }
        case .milestone:
            return answer(.visit, visits: 20) { tap in
                tap.stampCard = StampCard(scenario: "coffee", title: invented.coffee, stamps: 10, size: 10)
                tap.rewards = [invented.coffee]
            }
        case .birthday:
            return answer(.visit) { $0.receipt.member?.fields[Self.birthdayField] = .string("1990-10-31") }
        case .alreadyCounted: return answer(.repeat)
        case .refused: return answer(.rejected(.init(.expired, "")))
        case .holdLonger: return answer(.rejected(.init(.card(.cardRemoved), "")))
        case .readerTrouble:
            status.readers = []
            status.diagnosis = "There is no reader on the USB bus: plug it in, or try another cable and port."
            return rest(status)
        case .storageTrouble:
            status.storageFault = ClubError(.diskFull, attempting: MemberStore.tapAttempt)
            return rest(status)
        case .maintenance:
            status.state = .maintenance
            return rest(status)
        case .announcement: return announcement(invented.message)
        }
    }
}
