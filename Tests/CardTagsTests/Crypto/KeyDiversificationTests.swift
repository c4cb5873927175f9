import CardCore
import Foundation
import Testing
import TestSupport

@testable import CardTags

/// Keys of single cards, and how a configuration says what they are worked out from.
@Suite struct KeyDiversificationTests {
    private static let master = "00112233445566778899AABBCCDDEEFF"

    @Test(arguments: [
        // AN10922, section 2.2.1.
        (master, "04782E21801D80", "3042F5", "4E585020416275", "A8DD63A3B89D54B37CA802473FDA9175"),
        // AN10957: shorter than a block, and filled up to two all the same.
        ("F3F9377698707B688EAF84ABE39E3791", "04DEADBEEFFEED", "", "", "0BB408BAFF98B6EE9F2E1585777F6A51"),
        (master, "04782E21801D80", "", "", "4FD3364753B8142980E8203C75AD83BE"),
        // As many bytes as there may be: nothing is filled up.
        (
            master, "04782E21801D80", "000102", "030405060708090A0B0C0D0E0F1011121314151617",
            "3759B5A1620DD8C8041A0D8EADCD8BEA"
        ),
        (
            master, "00010203040506070809", "000102", "030405060708090A0B0C0D0E0F1011121314",
            "463B0078081A89BEF264E41B855B52AA"
        ),
    ])
    func keys(_ master: String, _ uid: String, _ application: String, _ system: String, _ key: String) throws {
        let way = KeyDiversification(applicationID: bytes(application), systemIdentifier: bytes(system))
        let made = try #require(way).key(master: try #require(SecretKey(text: master)), uid: bytes(uid))
        #expect(made == SecretKey(text: key))
        #expect(made != nil)
    }

    @Test func tooLong() throws {
        let most = try #require(KeyDiversification(applicationID: [1, 2, 3], systemIdentifier: Array(0..<21)))
        #expect(KeyDiversification.longest == 24)
        #expect(KeyDiversification(applicationID: [1, 2, 3], systemIdentifier: Array(0..<22)) == nil)
        #expect(most.key(master: .factory, uid: Array(0..<7)) != nil)
        #expect(most.key(master: .factory, uid: Array(0..<8)) == nil)
        #expect(most.key(master: .factory, uid: []) == nil)
    }

    @Test(arguments: [
        (#"{"method":"AN10922"}"#, "", ""),
        (#"{"method":"AN10922","applicationID":"3042F5"}"#, "3042F5", ""),
        (#"{"method":"AN10922","applicationID":"3042F5","systemIdentifier":"NXP Abu"}"#, "3042F5", "4E585020416275"),
        (#"{"method":"AN10922","systemIdentifier":"0x30783030"}"#, "", "30783030"),
        (#"{"method":"AN10922","systemIdentifier":"0x00FF"}"#, "", "00FF"),
    ])
    func configuration(_ text: String, _ application: String, _ system: String) throws {
        let way = try JSONDecoder().decode(KeyDiversification.self, from: Data(text.utf8))
        #expect(way.method == .an10922)
        #expect(way.applicationID.hex == application && way.systemIdentifier.hex == system)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let again = String(decoding: try encoder.encode(way), as: UTF8.self)
        #expect(try JSONDecoder().decode(KeyDiversification.self, from: Data(again.utf8)) == way)
        #expect(again.contains(#""method":"AN10922""#))
        // What is written is what was read.
        #expect(again.count == text.count)
    }

    @Test(arguments: [
        ("{}", "method"), (#"{"method":"AN10957"}"#, "method"), (#"{"method":1}"#, "method"),
        (#"{"method":"AN10922","applicationID":"3042F"}"#, "applicationID"),
        (#"{"method":"AN10922","applicationID":"NXP"}"#, "applicationID"),
        (#"{"method":"AN10922","systemIdentifier":"0x3"}"#, "systemIdentifier"),
        (#"{"method":"AN10922","systemIdentifier":"a system whose name is long"}"#, "systemIdentifier"),
    ])
    func malformed(_ text: String, _ place: String) {
        do {
            _ = try JSONDecoder().decode(KeyDiversification.self, from: Data(text.utf8))
            Issue.record("accepted: \(text)")
        } catch DecodingError.keyNotFound(let key, _) {
            #expect(key.stringValue == place)
        } catch DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == [place])
        } catch {
            Issue.record("\(text): \(error)")
        }
    }
}
