import ReaderKit
import CardCore
import CardTags
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardPasses

/// What a place accepts, from a card to the member.
@Suite struct PassSiteTests {
    private static let appleKey = AppleVASKey([UInt8](repeating: 0x33, count: 32))!
    private static let googleKey = SmartTapKey(collectorID: 20_180_608, version: 1)
    private static let club = AppleVASMerchant(passTypeIdentifier: "pass.com.example.club", keys: [appleKey])
    private static let moment = Date(timeIntervalSince1970: 1_780_000_000)

    private static func site() -> PassSite {
        let tags = SDMVerifier(
            layout: SDMLayout(piccData: "e", mac: "c"),
            keys: SDMKeys(metaRead: .factory, fileRead: .factory)
        )
        return PassSite(
            appleVAS: AppleVASReader([club]),
            smartTap: SmartTapReader(key: googleKey),
            signingTags: [SDMSite(host: "Club.example", path: "/t", verifier: tags)]
        )
    }

    private static func iPhone(_ message: String = "M-1042", at date: Date = moment) -> SimulatedApplePhone {
        SimulatedApplePhone([
            SimulatedApplePhone.Pass(
                passTypeIdentifier: club.passTypeIdentifier,
                message: message,
                readerKey: appleKey.publicKey
            )
        ]) { date }
    }

    private static func read(
        _ card: any SimulatedCard,
        _ site: PassSite = site(),
        at now: Date = moment
    ) -> CardReading {
        CardReading(over: SimulatedCardChannel(card), limits: .default, site: site, at: now)
    }

    /// The tag of NXP's example, unless another one is wanted.
    private static func tag(
        _ uri: String,
        uid: [UInt8] = [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40]
    ) throws -> SimulatedNTAG {
        try #require(
            SimulatedNTAG.formatted(.ntag216, uid: uid, message: NDEFMessage([NDEFRecord.uri(uri)]).encoded())
        )
    }

    @Test func applePass() {
        let reading = Self.read(Self.iPhone())
        #expect(reading.member?.key == "M-1042")
        #expect(reading.passes.map(\.kind) == [.appleVAS])
        #expect(reading.passes.map(\.type) == [Self.club.passTypeIdentifier])
        #expect(reading.passes.first?.assurance == .cryptographicWithReplayProtection)
        #expect(reading.problems.isEmpty)
        #expect(reading.uid?.kind == .random)
    }

    @Test func googlePass() {
        let phone = SimulatedAndroidPhone([.init(value: "M-7")], collector: .init(Self.googleKey))
        let reading = Self.read(phone)
        #expect(reading.member?.key == "M-7")
        #expect(reading.passes.map(\.kind) == [.smartTap])
        #expect(reading.passes.map(\.type) == ["loyalty"])
        #expect(reading.passes.allSatisfy { $0.assurance == .cryptographicWithReplayProtection })
    }

    /// Nothing of it becomes a member, least of all the phone's identifier of this tap.
    @Test func whatAPhoneDoesNotGive() {
        let locked = Self.iPhone()
        locked.isLocked = true
        #expect(Self.read(locked).problems.map(\.code) == [.phoneLocked])
        let stranger = SimulatedApplePhone([])
        #expect(Self.read(stranger).problems.map(\.code) == [.noPass])
        let android = SimulatedAndroidPhone(
            [.init(value: "M-7")],
            collector: .init(SmartTapKey(collectorID: 1, version: 1))
        )
        #expect(Self.read(android).problems.map(\.code) == [.passNotAccepted])
        android.isLocked = true
        #expect(Self.read(android).problems.map(\.code) == [.phoneLocked])
        let chooser = SimulatedAndroidPhone(
            [.init(value: "M-7"), .init(value: "M-8")],
            collector: .init(Self.googleKey)
        )
        #expect(Self.read(chooser).problems.map(\.code) == [.phoneNeedsOwner])
        for phone in [locked, stranger, android, chooser] as [any SimulatedCard] {
            #expect(Self.read(phone).member == nil)
        }
        // A place without wallets reads a phone as any card.
        #expect(Self.read(Self.iPhone(), PassSite()).problems.map(\.code) == [.randomUID])
    }

    @Test func replayedPass() throws {
        let site = Self.site()
        let phone = Self.iPhone()
        #expect(Self.read(phone, site).member?.key == "M-1042")
        // Another tap of the same phone has another cryptogram.
        #expect(Self.read(phone, site).member?.key == "M-1042")
        let recorded = AppleVASTests.bytes(AppleVASTests.cryptogram)
        let merchant = AppleVASTests.merchant
        let thief = SimulatedApplePhone([
            SimulatedApplePhone.Pass(
                passTypeIdentifier: merchant.passTypeIdentifier,
                message: "",
                readerKey: AppleVASTests.key.publicKey
            )
        ])
        thief.replay(recorded)
        var other = site
        other.appleVAS = AppleVASReader([merchant])
        let then = try AppleVASCryptogram(recorded).open(for: merchant).at
        #expect(Self.read(thief, other, at: then).member?.key == "MEMBER-000042")
        let again = Self.read(thief, other, at: then.addingTimeInterval(10))
        #expect(again.member == nil && again.problems.map(\.code) == [.passReplayed])
        let late = Self.read(thief, other, at: then.addingTimeInterval(301))
        #expect(late.member == nil && late.problems.map(\.code) == [.passExpired])
        let early = Self.read(thief, other, at: then.addingTimeInterval(-301))
        #expect(early.member == nil && early.problems.map(\.code) == [.passExpired])
    }

    /// A place that accepts older passes than it did: what was presented before stays presented.
    @Test func longerAgeLater() throws {
        var site = Self.site()
        site.appleVAS = AppleVASReader([AppleVASTests.merchant])
        site.longestAge = .seconds(4)
        let recorded = AppleVASTests.bytes(AppleVASTests.cryptogram)
        let objects = [BERTLV(0x70, objects: [BERTLV(0x9F27, recorded)])]
        let answer = ResponseAPDU(data: try objects.encoded(), statusWord: .success)
        let then = try AppleVASCryptogram(recorded).open(for: AppleVASTests.merchant).at
        #expect(PassJudgement(appleAnswer: answer, site: site, at: then).member?.key == "MEMBER-000042")
        // Others come, when the first is too old to count; the memory looks for what it may forget.
        let memory = VolatilePassMemory()
        site.memory = memory
        #expect(PassJudgement(appleAnswer: answer, site: site, at: then).member != nil)
        for value in 0..<5000 {
            let later = then.addingTimeInterval(60)
            _ = memory.takeOnce([UInt8(value >> 8), UInt8(value & 0xFF)], until: later, now: later)
        }
        site.longestAge = .seconds(86_400)
        let again = PassJudgement(appleAnswer: answer, site: site, at: then.addingTimeInterval(61))
        #expect(again.problems.map(\.code) == [.passReplayed])
    }

    @Test func signingTag() throws {
        let site = Self.site()
        let url = "https://club.example/t/m/77?e=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086"
        let first = Self.read(try Self.tag(url), site)
        #expect(first.passes.map(\.kind) == [.sdm, .uid])
        #expect(first.member?.key == "04DE5F1EACC040")
        #expect(first.passes.first?.assurance == .cryptographicWithReplayProtection)
        // The same address on another tag, or the same tag's from before: neither the address nor the tag names anybody.
        let again = Self.read(try Self.tag(url), site)
        #expect(again.member == nil && again.problems.map(\.code) == [.passReplayed])
        let forged = Self.read(try Self.tag(url.replacing("c=94", with: "c=95")), site)
        #expect(forged.member == nil && forged.problems.map(\.code) == [.passNotAccepted])
        // A fresh address on another tag was copied there.
        let copy = Self.read(try Self.tag(url, uid: [0x04, 0xAD, 0xBE, 0xEF, 0x11, 0x22, 0x33]), Self.site())
        #expect(copy.member == nil && copy.problems.map(\.code) == [.passNotAccepted])
        // Elsewhere an address is an address.
        #expect(Self.read(try Self.tag("https://club.example/m/77"), site).member?.key == "77")
    }

    /// A counter that is nobody's tells nothing: two tags may stand at the same number.
    @Test func counterWithoutIdentifier() throws {
        var site = Self.site()
        site.signingTags[0].identity = .fileData
        site.signingTags[0].verifier.layout = SDMLayout(piccData: "e", fileData: "d", mac: "c", signedFrom: "d")
        let plain = [0x40, 0x05, 0x00, 0x00] + [UInt8](repeating: 0, count: 12)
        let session: [UInt8] = [0x00, 0x01, 0x00, 0x80, 0x05, 0x00, 0x00] + [UInt8](repeating: 0, count: 7)
        let dataKey = try #require(SecretKey(AES128.cmac([0xC3, 0x3C] + session, .factory)))
        let vector = try AES128.encrypt(block: [0x05] + [UInt8](repeating: 0, count: 15), dataKey)
        let data = Array("M-31".utf8) + [UInt8](repeating: 0, count: 12)
        let hidden = Hex.encode(try AES128.encrypt(data, dataKey, vector: vector))
        let macKey = try #require(SecretKey(AES128.cmac([0x3C, 0xC3] + session, .factory)))
        let code = try AES128.cmac(Array("\(hidden)&c=".utf8), macKey).enumerated().filter { $0.offset % 2 == 1 }
        let url =
            "https://club.example/t?e=\(Hex.encode(try AES128.encrypt(plain, .factory)))&d=\(hidden)&c="
            + Hex.encode(code.map(\.element))
        for _ in 0..<2 {
            let reading = Self.read(try Self.tag(url), site)
            #expect(reading.member?.key == "M-31" && reading.problems.isEmpty)
            #expect(reading.passes.first?.assurance == .cryptographic)
        }
    }

    @Test func orderAndTrust() throws {
        var site = Self.site()
        site.order = [.uid, .ndef]
        let tag = try Self.tag("https://club.example/m/77")
        #expect(Self.read(tag, site).passes.map(\.kind) == [.uid, .ndef])
        // What is of no kind here counts for nothing.
        #expect(Self.read(Self.iPhone(), site).member == nil)
        site = Self.site()
        site.lowestAssurance = .cryptographic
        let refused = Self.read(tag, site)
        #expect(refused.member == nil && refused.problems.map(\.code) == [.passNotTrusted])
        #expect(Self.read(Self.iPhone(), site).member?.key == "M-1042")
    }

    @Test func unusableMessage() {
        for message in ["", "   ", "M\u{7}1", String(repeating: "x", count: 100)] {
            let reading = Self.read(Self.iPhone(message))
            if message.count == 100 {
                #expect(reading.member?.key == message)
            } else {
                #expect(reading.member == nil && reading.problems.map(\.code) == [.invalidPass])
            }
        }
    }

    @Test func memory() {
        let memory = VolatilePassMemory()
        for value in 0..<10_000 {
            let digest = [UInt8(value >> 8), UInt8(value & 0xFF)]
            let moment = Self.moment.addingTimeInterval(Double(value))
            #expect(memory.takeOnce(digest, until: moment.addingTimeInterval(60), now: moment))
            #expect(!memory.takeOnce(digest, until: moment.addingTimeInterval(60), now: moment))
        }
        #expect(memory.takeCounter(5, of: [1]) && !memory.takeCounter(5, of: [1]) && !memory.takeCounter(4, of: [1]))
        #expect(memory.takeCounter(4, of: [2]) && memory.takeCounter(6, of: [1]))
    }
}
