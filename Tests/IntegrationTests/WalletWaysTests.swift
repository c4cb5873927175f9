#if PCSC
import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// Phones with passes, in process, through a real pcscd and through a real libnfc.
extension ThroughPCSCD {
    @Suite(.timeLimit(.minutes(10))) struct WalletWaysTests {
        private let daemon: PCSCDaemon
        private let appleKey = AppleVASKey()
        private let googleKey = SmartTapKey(collectorID: 20_180_608, version: 1)

        init() throws {
            daemon = try PCSCDaemon()
        }

        private var site: PassSite {
            PassSite(
                appleVAS: AppleVASReader([
                    AppleVASMerchant(passTypeIdentifier: "pass.com.example.club", keys: [appleKey])
                ]),
                smartTap: SmartTapReader(key: googleKey)
            )
        }

        private func iPhone(isLocked: Bool = false) -> SimulatedApplePhone {
            let phone = SimulatedApplePhone([
                SimulatedApplePhone.Pass(
                    passTypeIdentifier: "pass.com.example.club",
                    message: "M-1042",
                    readerKey: appleKey.publicKey
                )
            ])
            phone.isLocked = isLocked
            return phone
        }

        private func android(_ values: String..., isCompressed: Bool = false) -> SimulatedAndroidPhone {
            SimulatedAndroidPhone(
                values.map { SimulatedAndroidPhone.Pass(value: $0) },
                collector: .init(googleKey),
                isCompressed: isCompressed
            )
        }

        @Test("[real pcscd] [real libnfc] a phone's pass is the member, whatever the way in; its identifier never is")
        func phones() async throws {
            let phones: [(name: String, card: any SimulatedCard, member: String?, problems: [ScanEvent.Problem.Code])] =
                [
                    ("iPhone with a pass", iPhone(), "M-1042", []),
                    ("iPhone, locked", iPhone(isLocked: true), nil, [.phoneLocked]),
                    ("iPhone without a pass", SimulatedApplePhone([]), nil, [.noPass]),
                    ("Android phone with a pass", android("M-7"), "M-7", []),
                    ("Android phone with a compressed pass", android("M-7", isCompressed: true), "M-7", []),
                    ("Android phone with two passes", android("M-7", "M-8"), nil, [.phoneNeedsOwner]),
                    ("Android phone without a pass", android(), nil, [.noPass]),
                ]
            let ways = try WayIn.all()
            for phone in phones {
                var scans: [ScanEvent] = []
                for way in ways {
                    #expect(way.obstacle(to: phone.card) == nil)
                    let (scan, _) = try await way.present(phone.card, site: site) { _ in }
                    #expect(scan.memberKey == phone.member, "\(phone.name), \(way.name)")
                    #expect(scan.problems.map(\.code) == phone.problems, "\(phone.name), \(way.name)")
                    #expect(scan.uid?.kind == .random, "\(phone.name), \(way.name)")
                    scans.append(scan)
                }
                #expect(scans.allSatisfy { $0.passes == scans[0].passes && $0.card == scans[0].card }, "\(phone.name)")
                let outcome = phone.member.map { "member \($0)" } ?? "nobody, and told why"
                let names = ways.map(\.name).joined(separator: ", ")
                TestReport.add(section: "others", line: "\(phone.name) | \(names) | \(outcome)")
            }
        }
    }
}
#endif
