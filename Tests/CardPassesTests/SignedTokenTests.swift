import CardCore
import Cryptography
import Foundation
import Testing
import TestSupport

@testable import CardPasses

/// Tokens of an issuer on cards: who signed them, until when, for whom, for which card.
@Suite struct SignedTokenTests {
    static let now = Date(timeIntervalSince1970: 1_780_000_000)
    static let ed25519 = Ed25519.PrivateKey()
    static let p256 = P256.PrivateKey()

    static func base64(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// A token made by hand, so that it can be wrong in any way.
    static func token(
        _ claims: String,
        header: String = #"{"alg":"EdDSA","typ":"JWT","kid":"a"}"#,
        signing: ([UInt8]) throws -> [UInt8] = { try ed25519.sign($0) }
    ) rethrows -> String {
        let signed = base64(header.utf8) + "." + base64(claims.utf8)
        return signed + "." + base64(try signing(Array(signed.utf8)))
    }

    static func es256(_ bytes: [UInt8]) throws -> [UInt8] { try p256.sign(bytes).numbers }

    static let set = """
        {"keys":[
          {"kty":"OKP","crv":"Ed25519","kid":"a","alg":"EdDSA","x":"\(base64(ed25519.publicKey.bytes))"},
          {"kty":"EC","crv":"P-256","kid":"b","alg":"ES256",
           "x":"\(base64(p256.publicKey.coordinates.prefix(32)))",
           "y":"\(base64(p256.publicKey.coordinates.suffix(32)))"}
        ]}
        """

    static func verifier(requiresExpiry: Bool = false) async throws -> SignedTokenVerifier {
        try SignedTokenVerifier(
            keys: [set],
            issuer: "https://club.example",
            audience: "door",
            requiresExpiry: requiresExpiry
        )
    }

    static func claims(_ more: String = "", sub: String = #""sub":"M-7","#) -> String {
        #"{\#(sub)"iss":"https://club.example","aud":"door"\#(more)}"#
    }

    @Test func accepted() async throws {
        let verifier = try await Self.verifier()
        #expect(verifier.keyNames == ["a", "b"])
        let plain = try verifier.verify(Self.token(Self.claims()), at: Self.now)
        #expect(plain == SignedToken(id: "M-7"))
        let header = #"{"alg":"ES256","kid":"b"}"#
        let other = try Self.token(
            Self.claims(#","name":" Ann ","exp":1780000100"#, sub: #""sub":1042,"#),
            header: header,
            signing: Self.es256
        )
        let token = try verifier.verify(other, at: Self.now)
        #expect(token.id == "1042" && token.name == "Ann")
        #expect(token.expires == Date(timeIntervalSince1970: 1_780_000_100))
        #expect(!"\(token)".contains("1042"))
        // Without the name of its key, every key is tried.
        let nameless = try Self.token(Self.claims(), header: #"{"alg":"ES256"}"#, signing: Self.es256)
        #expect(try verifier.verify(nameless, at: Self.now).id == "M-7")
        let list = try Self.token(#"{"sub":"M-7","iss":"https://club.example","aud":["gym","door"]}"#)
        #expect(try verifier.verify(list, at: Self.now).id == "M-7")
    }

    @Test(
        arguments: [
            (claims(), #"{"alg":"none"}"#, SignedTokenError.unsupported),
            (claims(), #"{"alg":"HS256","kid":"a"}"#, .unsupported),
            (claims(), #"{"alg":"RS256","kid":"a"}"#, .unsupported),
            (claims(), #"{"kid":"a"}"#, .unsupported),
            (claims(), #"{"alg":"EdDSA","kid":"a","crit":["b64"],"b64":false}"#, .unsupported),
            (claims(), #"{"alg":"EdDSA","kid":"a","crit":7}"#, .unsupported),
            (claims(), #"{"alg":"EdDSA","kid":"c"}"#, .unknownKey),
            // The key of another way of signing.
            (claims(), #"{"alg":"ES256","kid":"a"}"#, .unknownKey),
            (claims(), #"{"alg":"ES256","kid":"b"}"#, .forged),
            // Numbers that a library may not hold.
            (claims(), #"{"alg":"EdDSA","kid":"c","x":1e300}"#, .unknownKey),
            (claims(), #"{"alg":"EdDSA","kid":"c","x":10000000000000000000}"#, .unknownKey),
            (claims(), #"{"alg":1e19}"#, .unsupported),
            (claims(#","exp":1e300,"nbf":1e300"#), #"{"alg":"EdDSA"}"#, .notYetValid),
            (claims(#","exp":-1e300"#), #"{"alg":"EdDSA"}"#, .expired),
            (claims(), "{", .malformed), ("[]", #"{"alg":"EdDSA","kid":"a"}"#, .malformed),
            ("{", #"{"alg":"EdDSA","kid":"a"}"#, .malformed),
            (claims(#","exp":1779999939"#), #"{"alg":"EdDSA","kid":"a"}"#, .expired),
            (claims(#","exp":"soon""#), #"{"alg":"EdDSA","kid":"a"}"#, .malformed),
            (claims(#","nbf":1780000061"#), #"{"alg":"EdDSA","kid":"a"}"#, .notYetValid),
            (#"{"sub":"M-7","aud":"door"}"#, #"{"alg":"EdDSA","kid":"a"}"#, .wrongIssuer),
            (
                #"{"sub":"M-7","iss":"https://club.example","aud":["gym"]}"#, #"{"alg":"EdDSA","kid":"a"}"#,
                .wrongAudience
            ),
            (claims(#","uid":"04112233445566""#), #"{"alg":"EdDSA","kid":"a"}"#, .wrongCard),
            (claims(sub: ""), #"{"alg":"EdDSA","kid":"a"}"#, .nobody),
            (claims(sub: #""sub":"","#), #"{"alg":"EdDSA","kid":"a"}"#, .nobody),
            (claims(sub: #""sub":{"id":"M-7"},"#), #"{"alg":"EdDSA","kid":"a"}"#, .nobody),
        ] as [(String, String, SignedTokenError)]
    )
    func refused(_ claims: String, _ header: String, _ error: SignedTokenError) async throws {
        let verifier = try await Self.verifier()
        let token = try Self.token(claims, header: header)
        #expect(throws: error) { try verifier.verify(token, at: Self.now) }
    }

    @Test func leeway() async throws {
        let verifier = try await Self.verifier(requiresExpiry: true)
        #expect(throws: SignedTokenError.endless) { try verifier.verify(Self.token(Self.claims()), at: Self.now) }
        for (claim, isRight) in [
            (#""exp":1779999941"#, true), (#""exp":1779999940"#, false), (#""exp":1780000000.5"#, true),
            (#""exp":1790000000,"nbf":1780000060"#, true), (#""exp":1790000000,"nbf":1780000061"#, false),
        ] {
            let token = try Self.token(Self.claims("," + claim))
            #expect(((try? verifier.verify(token, at: Self.now)) != nil) == isRight, "\(claim)")
        }
    }

    @Test func boundToItsCard() async throws {
        let verifier = try await Self.verifier()
        let token = try Self.token(Self.claims(#","uid":"04:11:22:33:44:55:66""#))
        func verify(_ uid: [UInt8]) throws -> String {
            try verifier.verify(token, at: Self.now, on: CardUID(readerBytes: uid, technology: .iso14443a)).id
        }
        #expect(try verify([0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]) == "M-7")
        #expect(throws: SignedTokenError.wrongCard) { try verify([0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x67]) }
    }

    /// Each character changed in turn: none passes, none traps.
    @Test func changed() async throws {
        let verifier = try await Self.verifier()
        let token = try Self.token(Self.claims())
        let last = token.utf8.count - 1
        for place in token.utf8.indices {
            let index = token.utf8.distance(from: token.utf8.startIndex, to: place)
            // Some bits of the last character stand for nothing.
            guard index != last else { continue }
            for character in ["A", "z", ".", "=", "\u{E9}"] {
                let changed = token.replacingCharacters(in: place..<token.utf8.index(after: place), with: character)
                guard changed != token else { continue }
                #expect(throws: SignedTokenError.self) { try verifier.verify(changed, at: Self.now) }
            }
        }
        for text in ["", ".", "..", "...", "a.b", String(repeating: "A", count: 9000), "e30.e30."] {
            #expect(throws: SignedTokenError.self) { try verifier.verify(text, at: Self.now) }
        }
    }

    @Test func pem() async throws {
        let verifier = try SignedTokenVerifier(keys: [
            Self.p256.publicKey.pem,
            Self.ed25519.publicKey.pem,
        ])
        #expect(verifier.keyCount == 2 && verifier.keyNames.isEmpty)
        #expect(try verifier.verify(Self.token(Self.claims()), at: Self.now).id == "M-7")
        let other = try Self.token(Self.claims(), header: #"{"alg":"ES256","kid":"x"}"#, signing: Self.es256)
        #expect(try verifier.verify(other, at: Self.now).id == "M-7")
    }

    /// The example of RFC 7515, section A.3, which others signed.
    @Test func example() throws {
        let set = #"""
            {"keys":[{"kty":"EC","crv":"P-256",
            "x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
            """#
        let token =
            "eyJhbGciOiJFUzI1NiJ9"
            + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
            + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        let verifier = try SignedTokenVerifier(keys: [set], idClaim: "iss")
        #expect(try verifier.verify(token, at: Date(timeIntervalSince1970: 1_300_819_379)).id == "joe")
    }

    @Test(
        arguments: [
            ("", SignedTokenVerifier.KeyFault.malformed), ("{}", .malformed), (#"{"keys":[]}"#, .empty),
            (#"{"keys":[{"kty":"oct","kid":"a","k":"AAAA"}]}"#, .unsupported),
            (#"{"keys":[{"kty":"OKP","crv":"Ed25519","use":"enc","x":"AA"}]}"#, .unsupported),
            (#"{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"RS256","x":"AA"}]}"#, .unsupported),
            (#"{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}"#, .unsupported),
            (#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AA"}]}"#, .malformed),
            (#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"AA","d":"AA"}]}"#, .isPrivate),
            (P256.PrivateKey().pem, .isPrivate), ("-----BEGIN PUBLIC KEY-----", .malformed),
        ] as [(String, SignedTokenVerifier.KeyFault)]
    )
    func keys(_ text: String, _ fault: SignedTokenVerifier.KeyFault) async {
        #expect(throws: fault) { try SignedTokenVerifier(keys: [text]) }
    }

    /// Keys of other kinds in the same set are of no matter.
    @Test func mixedSet() async throws {
        let other = #"{"keys":[{"kty":"RSA","kid":"r","n":"AQAB","e":"AQAB"},{"kty":"oct","k":"AAAA"},{"kty":"new"},"#
        let set = other + Self.set.drop { $0 != "[" }.dropFirst()
        #expect(try SignedTokenVerifier(keys: [set]).keyNames == ["a", "b"])
    }

    @Test func namespacedClaims() async throws {
        let verifier = try SignedTokenVerifier(keys: [Self.set], idClaim: "https://club.example/member")
        let token = try Self.token(#"{"https://club.example/member":"M-9"}"#)
        #expect(try verifier.verify(token, at: Self.now).id == "M-9")
        let nested = try SignedTokenVerifier(keys: [Self.set], idClaim: "member.no")
        #expect(try nested.verify(Self.token(#"{"member":{"no":9}}"#), at: Self.now).id == "9")
    }

    @Test func words() {
        for error: SignedTokenError in [
            .malformed, .unsupported, .unknownKey, .forged, .expired, .notYetValid, .endless, .wrongIssuer,
            .wrongAudience, .wrongCard, .nobody, .noVerifier,
        ] {
            #expect("\(error)".hasPrefix("could not accept the card") && error.hint.hasSuffix("."))
        }
    }
}
