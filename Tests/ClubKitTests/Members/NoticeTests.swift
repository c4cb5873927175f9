import ClubKit
import Foundation
import Testing

@testable import ClubKit

@Suite("Notices on receipts")
struct NoticeTests {
    @Test(
        "A membership ends on the day that the club's clock shows",
        arguments: [(0, "2026-09-01"), (13, "2026-09-01"), (14, "2026-09-02"), (-11, "2026-08-31")]
    )
    func day(hours: Int, day: String) throws {
        let zone = try #require(TimeZone(secondsFromGMT: hours * 3600))
        #expect(Receipt.Notice.day(of: start, in: zone) == day)
    }

    @Test("The words are those of this machine's time zone")
    func words() {
        let day = Receipt.Notice.day(of: start, in: .current)
        #expect(Receipt.Notice.expiresSoon(start).message == "The membership ends on \(day).")
    }
}
