import ReaderKit
import CardCore
import Foundation
import ReaderKitTesting
import Testing

@testable import CardPasses

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
        #expect(first.objects.map(\.kind) == [.customer, kind, .loyalty])
        #expect(first.objects.map(\.value) == [nil, "OFFER-77", "M-7"])
    }

    private static func place(_ kinds: [SmartTapObject.Kind], _ issuers: Set<UInt64>? = nil) -> PassSite {
        var site = site
        (site.smartTapKinds, site.smartTapIssuers) = (kinds, issuers)
        return site
    }

    /// Kinds in the place's order; of one kind in the phone's.
    @Test(
        arguments: [
            ([.loyalty], nil, ["M-7", "M-8"], "loyalty"),
            ([.giftCard, .loyalty], nil, ["G-1", "M-7", "M-8"], "giftCard"),
            ([.eventTicket, .offer], nil, ["O-1"], "offer"), ([.eventTicket], nil, [], nil), ([], nil, [], nil),
            ([.loyalty], [20_180_608, 1], ["M-7", "M-8"], "loyalty"), ([.loyalty], [1], [], nil),
            ([.loyalty], [], [], nil),
            // Whom the wallet names is of no issuer's.
            ([.customer], [1], ["\(number)"], "customer"),
            ([.loyalty, .customer], nil, ["M-7", "M-8", "\(number)"], "loyalty"),
        ] as [([SmartTapObject.Kind], Set<UInt64>?, [String], String?)]
    )
    func configured(_ kinds: [SmartTapObject.Kind], _ issuers: Set<UInt64>?, _ ids: [String], _ type: String?) {
        let phone = [
            Pass(kind: .offer, value: "O-1"), Pass(value: "M-7"), Pass(kind: .giftCard, value: "G-1"),
            Pass(value: "M-8"),
        ]
        let reading = Self.read(phone, Self.place(kinds, issuers))
        #expect(reading.passes.map(\.id) == ids)
        #expect(reading.passes.first?.type == type)
        #expect(reading.member?.key == ids.first)
        #expect(reading.problems.map(\.code) == (ids.isEmpty ? [.noPass] : []))
        #expect(reading.objects.count == 5)
        // There are passes, which only the configuration leaves out.
        #expect(reading.problems.allSatisfy { $0.message.contains("'smartTap.memberKinds' and 'smartTap.issuers'") })
        guard case .google(let finding) = reading.judgement.wallet else {
            Issue.record("no wallet")
            return
        }
        let reader = ReaderInfo(name: "r", backend: .pcsc)
        let findings = PassFinding.findings(reader: reader, smartTap: finding, problems: reading.problems)
        #expect(findings.contains { $0.code == .otherPasses } == ids.isEmpty)
        #expect(!findings.contains { $0.code == .noPass })
    }

    /// The number that Google gives its customer, which the phone tells with every pass.
    private static let number: String =
        read([]).objects.first?.customerID.map { Hex.encode($0) } ?? "none"

    @Test func customer() {
        #expect(Self.number.count == 32)
        let alone = Self.read([], Self.place([.customer]))
        #expect(alone.member?.key == Self.number && alone.passes.map(\.type) == ["customer"])
        #expect(alone.problems.isEmpty)
        // Whoever has a pass that cannot be used is not somebody else because of it.
        let broken = Self.read([Pass(value: "")], Self.place([.loyalty, .customer]))
        #expect(broken.member == nil && broken.problems.map(\.code) == [.invalidPass])
    }

    /// What a phone says without proof is no part of the tap where proof is wanted, nor where such passes count for nothing.
    @Test func trustedObjects() throws {
        var site = Self.site
        let signature = try SmartTapPreSignature(Self.key)
        site.smartTap = SmartTapReader(preSigned: signature)
        #expect(Self.read([Pass(value: "M-7")], site).objects.count == 2)
        site.lowestAssurance = .cryptographicWithReplayProtection
        let doubted = Self.read([Pass(value: "M-7")], site)
        #expect(doubted.member == nil && doubted.objects.isEmpty)
        site = Self.site
        site.order = [.appleVAS]
        #expect(Self.read([Pass(value: "M-7")], site).objects.isEmpty)
    }
}
