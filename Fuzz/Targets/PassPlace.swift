import Foundation
import ReaderKit

/// A place with fixed keys. The corpus has passes that are made for them; without the keys nobody makes another one.
struct PassPlace: Sendable {
    /// The place; `nil` if its keys are none.
    static let fixed = PassPlace()

    /// The moment of the taps, which is that of the genuine cryptograms.
    static let moment = Date(timeIntervalSince1970: 978_307_200 + 0x2E00_0000)

    /// What the genuine cryptograms say.
    static let message = "MEMBER-000042"

    /// What a reader knows of a phone: an identifier that is another one at each tap.
    static let phone = CardFacts(
        technology: .iso14443a,
        values: [CardFacts.Value("sak", [0x20]), CardFacts.Value("uid", [0x08, 1, 2, 3])]
    )

    /// The kinds of passes of Apple Wallet that are asked for.
    let merchants: [AppleVASMerchant]

    /// Tags that sign their address.
    let tags: [SDMSite]

    /// Whom the genuine addresses of those tags name.
    let holders: Set<String> = ["04DE5F1EACC040", "041E3C8A2D6B80", "04940E2A2F7080", "M-1042", "M-31"]

    /// What the genuine addresses tell.
    let taps: Set<SDMTap> = [
        SDMTap(uid: [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40], counter: 61),
        SDMTap(uid: [0x04, 0x1E, 0x3C, 0x8A, 0x2D, 0x6B, 0x80], counter: 6),
        SDMTap(uid: [0x04, 0x1E, 0x3C, 0x8A, 0x2D, 0x6B, 0x80], counter: 300, fileData: padded("M-1042")),
        SDMTap(uid: [], counter: 5, fileData: padded("M-31")),
        // In LRP mode.
        SDMTap(uid: [0x04, 0x94, 0x0E, 0x2A, 0x2F, 0x70, 0x80], counter: 3),
    ]

    /// Whom the genuine data of Smart Tap name.
    let proven: Set<String> = ["2018", "C0C1C2C3C4C5C6C7C8C9CACBCCCDCECF"]

    private let terminal: SmartTapKey
    private let preSignature: SmartTapPreSignature
    private let entropy: SmartTapEntropy
    private let standard: [UInt8]
    private let variant: [UInt8]

    private init?() {
        let start = "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D"
        let ends = (
            "683D40C7556FB65DB93408BCAC7A5FD304A23D390C2F7A2757A24B459D162F9D2E",
            "2F981E54CFE38D5C687D2613983887502C376DBE6280181B633591D4EEA379EF42"
        )
        guard let key = AppleVASKey([UInt8](repeating: 0x33, count: 32)),
            let terminal = SmartTapKey([UInt8](repeating: 0x55, count: 32), collectorID: 20_180_608, version: 1),
            let preSignature = SmartTapPreSignature(text: Self.preSigned),
            let entropy = SmartTapEntropy(
                session: Array(0xA1...0xA8),
                nonce: Array(0x40...0x5F),
                ephemeralKey: [UInt8](repeating: 0x11, count: 32)
            ),
            let standard = try? Hex.decode(start + ends.0),
            let variant = try? Hex.decode(start + ends.1)
        else { return nil }
        merchants = ["pass.com.example.readerkit", "pass.com.example.other"].map {
            AppleVASMerchant(passTypeIdentifier: $0, keys: [key])
        }
        (self.terminal, self.preSignature, self.entropy) = (terminal, preSignature, entropy)
        (self.standard, self.variant) = (standard, variant)
        let keys = SDMKeys(metaRead: .factory, fileRead: .factory)
        func tags(_ path: String, _ layout: SDMLayout, _ identity: SDMSite.Identity = .uid) -> SDMSite {
            let verifier = SDMVerifier(layout: layout, keys: keys)
            return SDMSite(host: "club.example", path: path, verifier: verifier, identity: identity)
        }
        self.tags = [
            tags("/t", SDMLayout(piccData: "e", mac: "c")),
            tags("/p", .plain),
            tags("/f", .encrypted, .fileData),
            tags("/n", SDMLayout(piccData: "e", fileData: "d", mac: "c", signedFrom: "d"), .fileData),
        ]
    }

    /// A signature that was made in advance, by nobody. With it each tap has the same keys, so that there are data that
    /// open.
    private static let preSigned = """
        {
          "collector": 20180608, "keyVersion": 1,
          "nonce": "404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F",
          "ephemeralKey": "1111111111111111111111111111111111111111111111111111111111111111",
          "signature": "304402203CBE59767282AE8281B87B8E1F481BA39854C29ADE4A9E6CA121E3E15DC31F6E0220\
        68A72F8E06AB02097E2F7D8C03A14E68531D97CD8DDA8E5042CBED9CA5404B94"
        }
        """

    /// What it reads.
    ///
    /// - Parameter how: 10 goes on asking a phone for further passes, 20 leaves the variant of Apple's cryptograms out, 40
    ///   shows phones a signature that was made in advance.
    func site(_ how: UInt8) -> PassSite {
        var smartTap =
            how & 0x40 == 0 ? SmartTapReader(key: terminal) : SmartTapReader(preSigned: preSignature)
        smartTap.makeEntropy = { [entropy] in entropy }
        return PassSite(
            appleVAS: AppleVASReader(
                merchants,
                mode: how & 0x10 != 0 ? .passAndPayment : .passOnly,
                allowsVariant: how & 0x20 == 0
            ),
            smartTap: smartTap,
            signingTags: tags
        )
    }

    /// The cryptograms that open there.
    func cryptograms(_ how: UInt8) -> [[UInt8]] { how & 0x20 == 0 ? [standard, variant] : [standard] }

    /// One block of a file, filled up with zeros.
    private static func padded(_ text: String) -> [UInt8] {
        Array((Array(text.utf8) + [UInt8](repeating: 0, count: 16)).prefix(16))
    }
}

/// What a message to a person may hold.
enum PassWords {
    /// As many bytes of an input must not stand in a message one after the other.
    private static let longestRun = 8

    /// Holds a message to the rules: it says something, and nothing of keys, identifiers and payloads.
    ///
    /// The name of an Apple key is four bytes, so a row of digits may be eight long.
    static func check(_ message: String, of input: [UInt8]) throws(FuzzFinding) {
        let text = Array(message.utf8)
        try require(!text.isEmpty, "a problem says what it is")
        var digits = 0
        for byte in text {
            digits = isDigit(byte) ? digits + 1 : 0
            try require(digits <= 8, "a message has no more than four bytes as digits: \(message)")
        }
        try require(!message.contains(PassPlace.message), "a message has nothing of a pass: \(message)")
        guard text.count >= longestRun else { return }
        for start in 0...(text.count - longestRun) {
            let part = text[start..<(start + longestRun)]
            guard part.contains(where: isForeign) else { continue }
            try require(!input.contains(part), "a message has nothing of what was sent: \(message)")
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"):
            true
        default: false
        }
    }

    /// Whether no message has such a character of its own. The words of messages may come to stand in an input: the
    /// fuzzer learns what is compared.
    private static func isForeign(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            false
        default: !" '(),-./:;&_|".utf8.contains(byte)
        }
    }
}
