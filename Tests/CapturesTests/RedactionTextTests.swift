import CardCore
import Foundation
import NDEFCodec
import Testing
import TestSupport

@testable import Captures

@Suite struct RedactionTextTests {
    private func redacted(_ bytes: [UInt8], _ make: (RedactionText) -> ([UInt8]) -> [UInt8]) -> [UInt8] {
        let vocabulary = RedactionVocabulary(seed: 7)
        let text = RedactionText(vocabulary: vocabulary)
        _ = make(text)(bytes)
        vocabulary.make()
        return make(text)(bytes)
    }

    @Test(arguments: [
        ("https://club.example/m/42?lang=de&id=M7#top", "https://club.example/m/##?lang=##&id=##\u{23}###"),
        (
            "https://ann:geheim@club.example:8080/x/ann%20m%C3%BCller",
            "https://###:######@club.example:8080/#/###%20#%C#"
        ),
        ("mailto:ann@club.example", "mailto:###@####.#######"), ("tel:+4930123456", "tel:+##########"),
        ("urn:club:member:42", "urn:club:member:##"), ("club.example/m/42", "club.example/m/##"),
    ])
    func keepsTheFormOfAddresses(uri: String, form: String) throws {
        let new = String(decoding: redacted(Array(uri.utf8)) { text in { text.uri($0) } }, as: UTF8.self)
        #expect(new.utf8.count == uri.utf8.count)
        let head = form.prefix { $0 != "#" }
        #expect(new.hasPrefix(head), "\(new)")
        #expect(new != uri)
        #expect(URL(string: new) != nil)
        let (old, now) = (uri.filter { !$0.isLetter && !$0.isNumber }, new.filter { !$0.isLetter && !$0.isNumber })
        #expect(old == now)
    }

    @Test(arguments: [
        #"{"memberId":"M-1017","name":"Bea","age":42,"ok":true}"#,
        #"{ "a" : [ "x\n\"y\"", "M\u00fcller", -1.5e3, null ] }"#,
        #"{"id":"0017","name":"Zoë Müller","n":9223372036854775807}"#, #"{"open":"#, #"{"a":"b\"#,
    ])
    func keepsTheFormOfJSON(json: String) throws {
        let new = redacted(Array(json.utf8)) { text in { text.json($0) } }
        #expect(new.count == json.utf8.count)
        #expect(new != Array(json.utf8) || !json.contains("M"))
        func keys(_ bytes: [UInt8]) -> [String]? {
            (try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]).map { $0.keys.sorted() }
        }
        #expect(keys(new) == keys(Array(json.utf8)))
    }

    @Test(arguments: ["Zoë Müller", "東京タワー", "𠀀𠀁 x", "a😀b", "4|U1|x|Ann", "0017", "x–y", "\u{0}\u{1}"])
    func keepsTheFormOfTexts(text: String) {
        let new = redacted(Array(text.utf8)) { text in { text.text($0) } }
        let string = String(validating: new, as: UTF8.self)
        #expect(string?.utf8.count == text.utf8.count)
        #expect(
            string.map { $0.unicodeScalars.map { $0.properties.isWhitespace } }
                == text.unicodeScalars.map { $0.properties.isWhitespace }
        )
        #expect(string?.filter { "|😀–".contains($0) } == text.filter { "|😀–".contains($0) })
    }

    @Test func smartPostersAndOtherRecordsStayWellFormed() throws {
        let poster = NDEFRecord(
            tnf: .wellKnown,
            type: Array("Sp".utf8),
            payload: try NDEFMessage([.uri("https://club.example/m/M-4711"), .text("Annabel", language: "de")])
                .encoded()
        )
        let records = [
            poster,
            NDEFRecord(tnf: .mime, type: Array("text/vcard".utf8), payload: Array("BEGIN:VCARD\nFN:Annabel\n".utf8)),
            NDEFRecord(tnf: .unknown, payload: [1, 2, 3, 4, 5, 6, 7, 8]),
            NDEFRecord(tnf: .external, type: Array("android.com:pkg".utf8), payload: Array("org.club".utf8)),
            NDEFRecord(
                tnf: .mime,
                type: Array("application/x".utf8),
                id: Array("Annabel".utf8),
                payload: [0, 0xFF, 1, 2]
            ),
        ]
        let bytes = try NDEFMessage(records).encoded()
        let new = redacted(bytes) { text in { RedactionMessage(text: text).redact($0) } }
        let message = try NDEFMessage(decoding: new)
        #expect(new.count == bytes.count)
        #expect(message.records.map(\.type) == records.map(\.type))
        #expect(message.records[3] == records[3])
        guard case .smartPoster(let poster) = message.records[0].content else {
            Issue.record("no Smart Poster: \(message.records[0])")
            return
        }
        #expect(poster.uri.hasPrefix("https://club.example/m/"))
        let text = String(decoding: new, as: UTF8.self)
        #expect(!text.contains("Anna") && !text.contains("4711"))
        #expect(text.contains("BEGIN:VCARD\nFN:"))
    }
}
