import Foundation
import TestSupport
import Testing

@testable import ClubRecords

@Suite("What visits and the totals of files come to")
struct VisitTotalTests {
    private static let second: Int64 = 1_000_000
    /// Not on a whole second, as taps are.
    private static let base: Int64 = 1_788_256_800_253_125

    private static func at(_ seconds: Int64) -> Int64 { base + seconds * second }

    /// Visits at seconds; a negative number is one that was undone.
    private static func total(_ ledger: [Int64], _ claims: [(visits: Int, moment: Moment)]) -> VisitTotal {
        var facts = MemberFacts()
        for claim in claims {
            facts.add(MemberFacts.Claim(visits: claim.visits, moment: claim.moment, stamp: .legacy(at: base)))
        }
        return VisitTotal(facts, ledger.map { (at(abs($0)), $0 > 0) })
    }

    private struct Case {
        var about: String
        var ledger: [Int64]
        var claims: [(visits: Int, moment: Moment)]
        var visits: Int
        var latest: Int64?
    }

    private static func exact(_ seconds: Int64) -> Moment { Moment(at(seconds)) }

    /// A minute as a spreadsheet shows it.
    private static func minute(_ seconds: Int64) -> Moment {
        Moment(at(seconds) / (60 * second) * (60 * second), before: 60 * second - 1, after: 60 * second - 1)
    }

    private static let cases: [Case] = [
        Case(about: "nothing", ledger: [], claims: [], visits: 0, latest: nil),
        Case(about: "the ledger", ledger: [10, -20, 30], claims: [], visits: 2, latest: at(30)),
        Case(
            about: "a total and what came later",
            ledger: [10, 20],
            claims: [(40, exact(5))],
            visits: 42,
            latest: at(20)
        ),
        Case(
            about: "a total that is known",
            ledger: [10, 20, 30],
            claims: [(3, exact(30))],
            visits: 3,
            latest: at(30)
        ),
        Case(
            about: "the same, undone since",
            ledger: [10, 20, -30],
            claims: [(3, exact(30))],
            visits: 2,
            latest: at(20)
        ),
        Case(
            about: "a total on top of another, of which one was undone",
            ledger: [10, -20, 30],
            claims: [(40, exact(5)), (43, exact(30))],
            visits: 42,
            latest: at(30)
        ),
        Case(about: "a greater total", ledger: [10, 20, 30], claims: [(5, exact(30))], visits: 5, latest: at(30)),
        Case(about: "a later visit", ledger: [10, 20, 30], claims: [(3, exact(300))], visits: 3, latest: at(300)),
        Case(
            about: "rounded to a second below",
            ledger: [10],
            claims: [(1, Moment(at(10) / second * second))],
            visits: 1,
            latest: at(10)
        ),
        Case(
            about: "rounded to a second above",
            ledger: [10, 11],
            claims: [(2, Moment(at(11) / second * second + second))],
            visits: 2,
            latest: at(11)
        ),
        Case(about: "rounded to a minute", ledger: [10, 70], claims: [(2, minute(70))], visits: 2, latest: at(70)),
        Case(about: "within that minute", ledger: [120, 121], claims: [(1, minute(120))], visits: 2, latest: at(121)),
        Case(
            about: "without a visit, known",
            ledger: [10, 20],
            claims: [(2, .unknown(upTo: at(30)))],
            visits: 2,
            latest: at(20)
        ),
        Case(
            about: "without a visit, more",
            ledger: [10, 20],
            claims: [(7, .unknown(upTo: at(30)))],
            visits: 7,
            latest: at(20)
        ),
        Case(
            about: "and later taps",
            ledger: [10, 40],
            claims: [(7, .unknown(upTo: at(30)))],
            visits: 8,
            latest: at(40)
        ),
        Case(about: "without visits at all", ledger: [], claims: [(7, .unknown(upTo: at(30)))], visits: 7, latest: 0),
        Case(
            about: "read twice without a visit",
            ledger: [10, 40, -50],
            claims: [(7, .unknown(upTo: at(30))), (9, .unknown(upTo: at(60)))],
            visits: 8,
            latest: at(40)
        ),
        // As earlier versions kept it: a total at the beginning of time.
        Case(about: "of an earlier version", ledger: [10, 20], claims: [(7, Moment(0))], visits: 9, latest: at(20)),
        Case(
            about: "one time in two forms",
            ledger: [],
            claims: [(4, exact(10)), (4, Moment(at(10) / second * second + second)), (4, minute(10))],
            visits: 4,
            latest: at(10)
        ),
    ]

    @Test func comesTo() {
        for one in Self.cases {
            let total = Self.total(one.ledger, one.claims)
            #expect(total.visits == one.visits, "\(one.about)")
            #expect(total.latest == one.latest, "\(one.about)")
        }
    }

    @Test("Without undone visits a total is the greatest of the ledger's and of each claim with what came after it")
    func law() {
        var random = SeededNumbers(seed: 31)
        for round in rounds(800) {
            let ledger = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                Int64.random(in: 1...12, using: &random) * 30
            }
            .sorted()
            let claims = (0..<Int.random(in: 0...6, using: &random)).map { _ -> (visits: Int, moment: Moment) in
                let seconds = Int64.random(in: 1...13, using: &random) * 30
                let moments = [
                    Self.exact(seconds), Self.minute(seconds), .unknown(upTo: Self.at(seconds)),
                    Moment(Self.at(seconds) / Self.second * Self.second), Moment(0),
                ]
                return (
                    Int.random(in: 1...9, using: &random), moments[Int.random(in: 0..<moments.count, using: &random)]
                )
            }
            let sums = claims.map { claim in claim.visits + ledger.count { Self.at($0) > claim.moment.latest } }
            let total = Self.total(ledger, claims)
            #expect(total.visits == max(ledger.count, sums.max() ?? 0), "round \(round)")
            #expect(Self.total(ledger, claims.shuffled(using: &random)).latest == total.latest, "round \(round)")
            // A tap is always one more, and what is known is no news.
            let later = ledger + [100_000]
            #expect(Self.total(later, claims).visits == total.visits + 1, "round \(round)")
            #expect(!total.isNews(total.visits, .unknown(upTo: Self.at(100_000))))
            #expect(total.isNews(total.visits + 1, .unknown(upTo: Self.at(100_000))))
            for claim in claims where claim.moment != Moment(0) {
                #expect(!total.isNews(claim.visits, claim.moment), "round \(round)")
            }
        }
    }

    @Test("What a club tells of a member is no news to it, however it is rounded, and whatever is undone")
    func ownTotals() {
        var random = SeededNumbers(seed: 32)
        for round in rounds(800) {
            let ledger = (1...Int64.random(in: 1...8, using: &random)).map { $0 * 70 }
            let claims: [(visits: Int, moment: Moment)] =
                [[], [(40, Self.exact(5))], [(40, .unknown(upTo: Self.at(5)))]][Int.random(in: 0...2, using: &random)]
            let total = Self.total(ledger, claims)
            let latest = total.latest ?? 0
            let undone = ledger.map { Int.random(in: 0...2, using: &random) == 0 ? -$0 : $0 }
            let now = Self.total(undone + [1000], claims)
            let moments = [
                Moment(latest), Moment(latest / Self.second * Self.second), .unknown(upTo: Self.at(2000)),
                Moment(latest / Self.second * Self.second + Self.second),
                Moment(latest / (60 * Self.second) * (60 * Self.second), before: 0, after: 60 * Self.second - 1),
            ]
            for moment in moments {
                #expect(!now.isNews(total.visits, moment), "round \(round) \(moment)")
                let again = Self.total(undone + [1000], claims + [(total.visits, moment)])
                #expect(again.visits == now.visits && again.latest == now.latest, "round \(round) \(moment)")
            }
        }
    }
}

@Suite("Moments that are as exact as they are written")
struct MomentTests {
    @Test func digits() {
        let cases: [(at: Int64, margin: Int64)] = [
            (0, 0), (1, 0), (10, 9), (1_788_256_800_123_456, 0), (1_788_256_800_123_450, 9),
            (1_788_256_800_250_000, 9999), (1_788_256_800_500_000, 99_999), (1_788_256_800_000_000, 999_999),
        ]
        for one in cases {
            let moment = Moment(one.at)
            #expect(moment.before == one.margin && moment.after == one.margin && moment.isPlain, "\(one)")
        }
    }

    @Test("What a hostile file states stays within numbers")
    func hostile() {
        for at in [0, 1, Int64.max, Int64.max - 1] {
            let moment = Moment(at, before: .max, after: .max)
            #expect(moment.earliest >= 0 && moment.latest >= at && moment.contains(at))
            #expect(Moment(at, before: .min, after: -1).contains(at))
        }
        #expect(!Moment(-5, before: 9, after: 9).contains(100))
    }

    @Test("Nobody writes of visits to come, but of times that a clock has not reached")
    func written() {
        let day = Moment(1_000_000_000_000_000, before: 0, after: 86_399_999_999)
        #expect(day.written(by: day.at + 5).latest == day.at + 5)
        #expect(day.written(by: day.latest + 5) == day)
        #expect(day.written(by: day.at - 5) == day)
        #expect(Moment(1_000_000_000_000_000).written(by: 1_000_000_000_000_000) == Moment(1_000_000_000_000_000))
    }
}
