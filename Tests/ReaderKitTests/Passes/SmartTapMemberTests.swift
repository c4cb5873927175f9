import Foundation
import ReaderKitTesting
import Testing

@testable import ReaderKit

/// Who a phone with Google Wallet is at a place, and who it is not.
@Suite struct SmartTapMemberTests {
    private typealias Pass = SimulatedAndroidPhone.Pass
    private static let key = SmartTapKey(collectorID: 20_180_608, version: 1)
    private static let site = PassSite(smartTap: SmartTapReader(key: key))

    private static func read(_ passes: [Pass], _ site: PassSite = site) -> CardReading {
        let phone = SimulatedAndroidPhone(passes, collector: .init(key), givesAll: true)
        return CardReading(over: SimulatedCardChannel(phone), limits: .default, site: site)
    }

    /// A pass that cannot be used is a refusal: its owner is not somebody else because of it.
    @Test(arguments: ["", "M-1\n042", String(repeating: "A", count: 300)])
    func unusablePass(_ value: String) {
        let reading = Self.read([Pass(value: value)])
        #expect(reading.member == nil && reading.passes.isEmpty)
        #expect(reading.problems.map(\.code) == [.invalidPass])
    }

    /// What is left of a deleted pass is who the customer is, which names nobody.
    @Test func deletedPass() {
        let reading = Self.read([])
        #expect(reading.member == nil && reading.passes.isEmpty)
        #expect(reading.problems.map(\.code) == [.noPass])
    }

    /// Many people have the same offer.
    @Test(arguments: SmartTapObject.Kind.allCases.filter { $0 != .customer && $0 != .loyalty })
    func otherObjects(_ kind: SmartTapObject.Kind) {
        let alone = Self.read([Pass(kind: kind, value: "OFFER-77")])
        #expect(alone.member == nil && alone.passes.isEmpty)
        #expect(alone.problems.map(\.code) == [.noPass])
        let first = Self.read([Pass(kind: kind, value: "OFFER-77"), Pass(value: "M-7")])
        #expect(first.member?.key == "M-7")
        #expect(first.passes.map(\.id) == ["M-7"])
        #expect(first.problems.isEmpty)
    }
}
