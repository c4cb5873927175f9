import CardCore
import CardPasses
import Foundation
import Testing
import TestSupport

@testable import Captures

/// Conversations explained: what each line is, and what its parts are and where they stand.
@Suite struct ConversationExplanationTests {
    static let phone = "card at 0 atr 3B80800101\n"
    static let ntag = "card at 0 atr 3B8F8001804F0CA0000003060300030000000068\n"
    static let classic = "card at 0 atr 3B8F8001804F0CA000000306030001000000006A\n"
    static let typeA = "card at 0 iso14443a atqa 0044 sak 00 uid 04135C7E902B80\n"

    static let selectWallet = "> 00A404000A4F53452E5641532E303100\n"
    static let appleWallet =
        selectWallet + "< 6F1D50084170706C655061799F210201009F2404010203049F23040000003E9000\n"
    static let googleWallet = selectWallet + "< \(SmartTapVectors.selected)9000\n"

    /// The reference question and answer of Apple VAS.
    static let askVAS =
        "> 80CA0101369F220201009F2520566FD1E2E5DC7696655E4E25FF47C08BD494F19F3BD2E1FF3A4C14A488104A88"
        + "9F2604008000029F28040102030400\n"
    static let giveVAS =
        "< 704B9F2A009F27453D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D"
        + "683D40C7556FB65DB93408BCAC7A5FD304A23D390C2F7A2757A24B459D162F9D2E9000\n"

    // MARK: Helpers

    static func explain(_ body: String) throws -> [ExplainedLine] {
        let text = "capture 1\n" + body
        return ConversationExplanation(of: try Capture(parsing: text), text: Array(text.utf8)).lines
    }

    static func fixture(_ name: String) throws -> [ExplainedLine] {
        try ConversationExplanation(contentsOf: Fixtures.directory + "/cards/\(name).capture").lines
    }

    /// The line of that number in the file; of several, the first of that kind.
    static func line(
        _ lines: [ExplainedLine],
        _ number: Int,
        _ kind: ExplainedLine.Kind? = nil
    ) throws -> ExplainedLine {
        try #require(lines.first { $0.line == number && (kind == nil || $0.kind == kind) }, "line \(number)")
    }

    /// The field at the end of a path; each step is a name or the first word of one.
    static func field(_ line: ExplainedLine, _ path: String...) throws -> ExplainedField {
        var fields = line.fields
        var found: ExplainedField?
        for step in path {
            let next = try #require(
                fields.first { $0.name == step || $0.name.hasPrefix(step + " ") },
                "\(step) among \(fields.map(\.name))"
            )
            found = next
            fields = next.fields
        }
        return try #require(found)
    }

    static func place(_ field: ExplainedField) -> [Int?] { [field.offset, field.length] }

    // MARK: The lines

    @Test func everyLineHasItsNumberAndKind() throws {
        let lines = try Self.explain(
            """
            # a comment
            \(Self.phone)
            > FF CA 00 00 00
            # between
            < 08 DF BF F2 90 00 @ 0.0041
            >> 6A 01 00 00 02 E4 D2
            ! timeout
            control 0x42000001 > 58 20 04
            < 00 1C 34
            removed at 1.250
            line at 2.000 $SCRDR;01;01;D1;;08A1B2C3;;M-001050;*3D
            card at 3.000
            ! comm-error

            """
        )
        let expected: [(ExplainedLine.Kind, Int, Int?)] = [
            (.card, 3, 1), (.fact, 3, 1), (.command, 5, 1), (.answer, 7, 1), (.frame, 8, 1), (.fault, 9, 1),
            (.control, 10, 1), (.controlAnswer, 11, 1), (.removal, 12, 1), (.report, 13, nil), (.card, 14, 2),
            (.fault, 15, 2),
        ]
        #expect(lines.map(\.kind) == expected.map(\.0))
        #expect(lines.map(\.line) == expected.map(\.1))
        #expect(lines.map(\.presentation) == expected.map(\.2))
        #expect(lines[3].at == .microseconds(4100))
        #expect(lines[3].statement == "< 08 DF BF F2 90 00 @ 0.0041")
        #expect(lines[3].bytes == [0x08, 0xDF, 0xBF, 0xF2, 0x90, 0x00])
        #expect(lines[5].title == "no answer came in time")
        #expect(lines[8].title == "the card goes")
        #expect(lines[9].title == "the reader reports a pass of Apple Wallet")
        #expect(lines[11].title == "no conversation with the card was possible: the radio link failed")
    }

    /// Without the file only what the capture knows has a number, and nothing else changes.
    @Test func worksWithoutTheFile() throws {
        let text = "capture 1\n" + Self.phone + Self.appleWallet + Self.askVAS + Self.giveVAS + "removed at 1\n"
        let capture = try Capture(parsing: text)
        let whole = ConversationExplanation(of: capture, text: Array(text.utf8)).lines
        let bare = ConversationExplanation(of: capture).lines
        #expect(bare.map(\.title) == whole.map(\.title))
        #expect(bare.map(\.fields) == whole.map(\.fields))
        #expect(bare.map(\.line) == [2, 2, 3, nil, 5, nil, nil])
        #expect(whole.map(\.line) == [2, 2, 3, 4, 5, 6, 7])
    }

    @Test func cardsOnTwoReadersStandAsInTheFile() throws {
        let lines = try Self.fixture("two-readers")
        #expect(lines.compactMap(\.line) == lines.compactMap(\.line).sorted())
        #expect(Set(lines.compactMap(\.reader)).count == 2)
        #expect(Set(lines.compactMap(\.presentation)) == [1, 2, 3])
    }

    // MARK: Apple VAS

    @Test func appleVAS() throws {
        let lines = try Self.explain(Self.phone + Self.appleWallet + Self.askVAS + Self.giveVAS)
        let selection = try Self.line(lines, 4)
        #expect(Self.place(try Self.field(selection, "6F")) == [0, 31])
        let label = try Self.field(selection, "6F", "50")
        #expect(label.text == "ApplePay")
        #expect(Self.place(label) == [2, 10])
        #expect(try Self.field(selection, "6F", "9F21").meaning == "1.0")
        #expect(Self.place(try Self.field(selection, "6F", "9F24")) == [17, 7])
        #expect(
            try Self.field(selection, "6F", "9F23").meaning
                == "gives passes encrypted, passes may be left out, passes may be asked for, payment may be left out, "
                + "payment may be asked for"
        )

        let question = try Self.line(lines, 5)
        #expect(question.title == "GET VAS DATA: asks for the pass 566FD1E2…")
        #expect(question.fields.map { String($0.name.prefix(4)) } == ["9F22", "9F25", "9F26", "9F28"])
        #expect(question.fields.map(\.offset) == [5, 10, 45, 52])
        #expect(question.fields.map(\.length) == [5, 35, 7, 7])
        #expect(try Self.field(question, "9F25").bytes?.count == 32)
        #expect(try Self.field(question, "9F26", "kind of reader").meaning == "passes; payment")
        let mode = try Self.field(question, "9F26", "mode")
        #expect(mode.meaning == "passes only, the last question")
        #expect(Self.place(mode) == [51, 1])

        let answer = try Self.line(lines, 6)
        #expect(answer.title == "status 9000: a pass, encrypted for the key 3D906C01")
        #expect(Self.place(try Self.field(answer, "70")) == [0, 77])
        #expect(try Self.field(answer, "70", "9F2A").meaning == "empty")
        let cryptogram = try Self.field(answer, "70", "9F27")
        #expect(Self.place(cryptogram) == [5, 72])
        #expect(cryptogram.fields.map(\.name) == ["key identifier", "ephemeral key", "ciphertext", "tag"])
        #expect(cryptogram.fields.map(\.offset) == [8, 12, 44, 61])
        #expect(cryptogram.fields.map(\.length) == [4, 32, 17, 16])
        #expect(Self.place(try Self.field(answer, "status word")) == [77, 2])
    }

    @Test(arguments: [
        ("6A83", "there is no pass of this kind, or another one is shown"),
        ("6287", "the pass is there, but the phone is locked"),
        ("6984", "the owner has to choose or to confirm on the phone"),
        ("6A80", "the phone does not understand the data objects"),
        ("6700", "the phone does not take a command of this length"),
        ("6B00", "the phone does not know these P1 and P2"), ("6A81", "the phone does not have this function"),
        ("6A82", "the wallet is not selected"), ("6982", "the phone does not allow it"),
        ("6100", "the phone has nothing to say"), ("9000", "done, without a pass"),
        ("70039F2A009000", "done, without a pass"), ("6F00", "no precise diagnosis"),
        ("70059F270201029000", "could not read the phone's pass: the cryptogram is too short or too long"),
    ])
    func appleStatus(answer: String, meaning: String) throws {
        let lines = try Self.explain(Self.phone + Self.appleWallet + Self.askVAS + "< \(answer)\n")
        #expect(lines.last?.title == "status \(answer.suffix(4)): \(meaning)")
    }

    @Test func appleSignUpAndMore() throws {
        let url = Array("https://club.example".utf8)
        let objects = try [BERTLV(0x9F22, [1, 0]), BERTLV(0x9F26, [0, 0x80, 0, 0x81]), BERTLV(0x9F29, url)].encoded()
        let command = try CommandAPDU(cla: 0x80, ins: 0xCA, p1: 1, p2: 0, data: objects, expectedLength: 256)
        let lines = try Self.explain(Self.phone + "> \(command.encoded().hex)\n< 9000\n")
        let line = try #require(lines.dropLast().last)
        #expect(line.title == "GET VAS DATA: offers the address \"https://club.example\"")
        #expect(try Self.field(line, "9F26", "mode").meaning == "passes and a payment, more questions follow")
        let strange = try Self.explain(Self.phone + Self.appleWallet + "> 80CA0203059F2202010000\n< 6B00\n")
        #expect(strange.dropLast().last?.title == "GET VAS DATA: asks for no pass")
        #expect(try Self.field(try #require(strange.dropLast().last), "P1 P2").bytes == [2, 3])
    }

    // MARK: Smart Tap

    @Test func smartTap() throws {
        let lines = try Self.explain(
            Self.phone + Self.googleWallet
                + "> 00A4040009A000000476D000011100\n< \(SmartTapVectors.selectedAgain)9000\n"
                + "> \(SmartTapVectors.negotiate)\n< \(SmartTapVectors.negotiated)9000\n"
                + "> \(SmartTapVectors.getData)\n< \(SmartTapVectors.first)9100\n> 90C0000000\n< \(SmartTapVectors.second)9000\n"
        )
        let selection = try Self.line(lines, 4)
        #expect(try Self.field(selection, "6F", "50").text == "AndroidPay")
        #expect(
            try Self.field(selection, "6F", "C1").meaning
                == "passes are asked for, passes are on, payment is asked for, payment is on"
        )
        #expect(
            try Self.field(selection, "6F", "A5", "BF0C", "61", "73", "DF62").meaning
                == "its SELECT may be left out, passes"
        )
        #expect(try Self.field(selection, "6F", "A5", "BF0C", "61", "4F").meaning == "Smart Tap 2")
        let second = try Self.line(lines, 6)
        #expect(try Self.field(second, "newest version").meaning == "Smart Tap 2.1")
        #expect(Self.place(try Self.field(second, "mdn")) == [4, 43])
        #expect(Self.place(try Self.field(second, "mdn", "value")) == [15, 32])

        let negotiation = try Self.line(lines, 7)
        #expect(negotiation.title == "NEGOTIATE SECURE SESSION: collector 20180608 shows its signature")
        #expect(Self.place(try Self.field(negotiation, "ngr")) == [5, 188])
        #expect(Self.place(try Self.field(negotiation, "ngr", "ses", "session id")) == [19, 8])
        #expect(try Self.field(negotiation, "ngr", "ses").meaning == "well")
        #expect(try Self.field(negotiation, "ngr", "ses", "number of the command").meaning == "1")
        let kind = try Self.field(negotiation, "ngr", "cpr", "kind of signature")
        #expect(kind.meaning == "live: over the phone's number too")
        #expect(Self.place(kind) == [67, 1])
        #expect(try Self.field(negotiation, "ngr", "cpr", "key version").meaning == "1, of the collector's key")
        #expect(Self.place(try Self.field(negotiation, "ngr", "cpr", "sig", "value")) == [112, 70])
        let collector = try Self.field(negotiation, "ngr", "cpr", "cld", "collector id")
        #expect(collector.meaning == "20180608")
        #expect(Self.place(collector) == [189, 4])
        let accepted = try Self.line(lines, 8)
        #expect(accepted.title == "status 9000: the phone accepts it, and gives its key for this tap")
        #expect(try Self.field(accepted, "nrs", "dpk").bytes?.count == 33)

        let question = try Self.line(lines, 9)
        #expect(question.title == "GET SMART TAP DATA: asks for all passes of collector 20180608")
        #expect(try Self.field(question, "srq", "slr", "str").meaning == "all passes")
        #expect(try Self.field(question, "srq", "pcr", "system").meaning == "inflates compressed data")
        #expect(try Self.field(question, "srq", "pcr", "tap mode").meaning == "passes only")
        let first = try Self.line(lines, 10)
        #expect(first.title == "status 9100: part 1 of the answer; there is more to be fetched")
        #expect(first.fields.map(\.name) == ["part 1", "status word"])
        #expect(try Self.line(lines, 11).title == "GET MORE DATA: fetches the next part")
        let last = try Self.line(lines, 12)
        #expect(last.title == "status 9000: the phone gives a bundle that is encrypted for this tap")
        #expect(last.fields.map(\.name) == ["part 2", "answer of 2 parts", "status word"])
        let whole = try Self.field(last, "answer of 2 parts")
        #expect(whole.isJoined && whole.offset == nil && whole.length == 201)
        let bundle = try Self.field(last, "answer of 2 parts", "srs", "reb")
        #expect(bundle.fields.map(\.name) == ["flags", "initialisation vector", "ciphertext", "authentication code"])
        #expect(bundle.fields.map(\.offset) == [28, 29, 41, 169])
        #expect(bundle.fields.map(\.length) == [1, 12, 128, 32])
        #expect(bundle.fields.first?.meaning == "encrypted")
    }

    static let plainBundle =
        "d4039773727394030a736573a1a2a3a4a5a6a7a804015403817265620094034b6173769401066904020000000154033b63757394031163"
        + "696404c0c1c2c3c4c5c6c7c8c9cacbcccdcecf190105035463706c02656e656e54031163757404d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
        + "5403296173769401066904010133ee8054021a6c799403096f696404010203040506070859010501546e0032303138"
    static let compressedBundle =
        "d4039c73727394030a736573a1a2a3a4a5a6a7a8040154038672656202789c9bc2ec9d585c3685912d9385898181813184d93ab9b4780ab3"
        + "6072660acb8183870e1f397aecf88993a74e9f397beebc24232b734872410e536a5e6a5e08504d6909cb858b972e5fb97aedfa8d9bb76edf"
        + "b97bef7e08b326cc404646e3770d214c523995539839f381e6313231b3b0b2b1734432b23286e4311819185a0000f3622fb1"

    /// What is not encrypted is shown, compressed or not.
    @Test(arguments: [
        (plainBundle, ["srs", "reb"]), (compressedBundle, ["srs", "reb", "compressed data", "inflated data"]),
    ])
    func plainBundles(answer: String, path: [String]) throws {
        let lines = try Self.explain(Self.phone + Self.googleWallet + "> \(SmartTapVectors.getData)\n< \(answer)9000\n")
        let line = try #require(lines.last)
        #expect(line.title == "status 9000: the phone gives a bundle that is not encrypted")
        var fields = line.fields
        for step in path { fields = try #require(fields.first { $0.name.hasPrefix(step) }).fields }
        let values = fields.filter { $0.name == "asv service value" }
        #expect(values.count == 2)
        let customer = try #require(values.first?.fields.first { $0.name == "cus customer" })
        #expect(customer.fields.map(\.name) == ["cid customer id", "cpl language", "cut number of the tap"])
        #expect(customer.fields[1].text == "en")
        let card = try #require(values.last?.fields.first { $0.name == "ly loyalty card" })
        #expect(card.fields.map(\.name) == ["oid object id", "n value"])
        #expect(card.fields[1].text == "2018")
        #expect(values.last?.fields.first?.fields.map(\.meaning) == ["binary", "a merchant", "20180608"])
    }

    @Test(arguments: [
        ("9001", "there is no pass for this place on the phone"), ("9300", "the phone is locked"),
        ("9302", "a pass has to be chosen on the phone (several fit)"),
        ("9402", "the phone did not understand the question (the records could not be read)"),
        ("9406", "the phone was asked too often"), ("9500", "the phone does not accept this terminal's key"),
        ("9502", "the phone speaks another version"), ("6A82", "there is no Smart Tap on it"),
        ("9299", "a failure that may pass"),
    ])
    func smartTapStatus(status: String, meaning: String) throws {
        let lines = try Self.explain(Self.phone + Self.googleWallet + "> \(SmartTapVectors.getData)\n< \(status)\n")
        #expect(lines.last?.title == "status \(status): \(meaning)")
    }

    /// A phone that accepts the terminal gives its key, which a bare status word does not.
    @Test func negotiationWithoutAKey() throws {
        for (status, word) in [("9000", "status 9000"), ("9002", "status 9002")] {
            let lines = try Self.explain(
                Self.phone + Self.googleWallet + "> 90530000BE\(Self.recordedNegotiation)00\n< \(status)\n"
            )
            #expect(lines.last?.title == "\(word): the phone gives no key for this tap, so nothing can follow")
        }
    }

    /// A recorded session whose keys nobody has, with what a terminal tells the phone at the end.
    @Test func recordedSmartTap() throws {
        let lines = try Self.explain(
            Self.phone + Self.googleWallet
                + "> 90530000BE\(Self.recordedNegotiation)00\n"
                + "< d403376e727394030a7365736b159a80fc8283fd010154032164706b03dfee38dbdb68a607383ad622640b180cc7e27d796b4e"
                + "788c40e5d994291c71fc9000\n"
                + "> 9050000041d4033b737271000194030a7365736b159a80fc8283fd010114030b6d6572d40305636c64040102030414030773"
                + "6c72d4030173747200540305706372410000000400\n"
                + "< 9001\n"
                + "> 90520000BF\(Self.recordedPush)00\n"
                + "< d40310707372d4030a7365736b159a80fc8283fd03019000\n"
        )
        #expect(
            lines.filter { $0.kind == .command }.map(\.title).dropFirst() == [
                "NEGOTIATE SECURE SESSION: collector 16909060 shows its signature",
                "GET SMART TAP DATA: asks for all passes of collector 16909060",
                "PUSH SMART TAP DATA: tells the phone what became of its passes",
            ]
        )
        let question = try Self.line(lines, 7)
        #expect(try Self.field(question, "srq", "pcr", "system").meaning == "stand-alone, inflates compressed data")
        #expect(try Self.field(question, "srq", "pcr", "tap mode").meaning == "passes and payment")
        let push = try Self.line(lines, 9)
        #expect(Self.place(try Self.field(push, "spr", "nsr")) == [53, 42])
        #expect(try Self.field(push, "spr", "nsr", "kind of push").meaning == "sign-up")
        #expect(try Self.field(push, "spr", "nsr", "nst").text == "PASS")
        #expect(try Self.field(push, "spr", "nsr", "nsu").text == "https://example.com")
        #expect(try Self.field(push, "spr", "ssr", "sug", "what became of it").meaning == "it was accepted")
        #expect(try Self.field(push, "spr", "ssr", "sug", "sut").text == "SERVICE_USAGE_TITLE")
        #expect(try Self.field(push, "spr", "ssr", "sup", "operation").meaning == "free")
        #expect(lines.last?.title == "status 9000: the phone took it")
    }

    private static let recordedNegotiation =
        "d403b86e6772000194030a7365736b159a80fc8283fd00015403a0637072a8aa2bae1ba891783d8c5be8a95bf2f9e5bb90fd9d197f8b2b1a"
        + "84d9cc80427501027b2e12f1a1a542084b4d01b8799380fa4cb77e530ba2305b0bf2b3e4b474fe7d00000001940349736967043046022100"
        + "86e43dc483b22e51aa177ae8112ed83d399a58b41d6d8cbe900cde03c4524da5022100e94b6a919c9e097568f4efa9a7123b86b97ee44342"
        + "593f8a77fc9e12e3f95ae4540305636c640401020304"
    static let recordedPush =
        "d403b9737072000194030a7365736b159a80fc8283fd02011403126270729403016d6f6e0059010303546363645553441403246e73720599"
        + "010703546e737402656e5041535359010c03556e7375046578616d706c652e636f6d54035f7373729403096f696404010203dc3be19e4814"
        + "034373756701990116035473757402656e534552564943455f55534147455f5449544c4559011c035473756402656e534552564943455f55"
        + "534147455f4445534352495054494f4e54030173757005"

    // MARK: Tags

    @Test func pagesOfATag() throws {
        let lines = try Self.fixture("ntag213-uri")
        let header = try #require(lines.first { $0.title == "status 9000: pages 0 to 3" })
        #expect(
            header.fields.map(\.name) == [
                "identifier", "check byte", "identifier", "check byte", "internal", "lock bits", "capability container",
                "status word",
            ]
        )
        #expect(header.fields.map(\.offset) == [0, 3, 4, 8, 9, 10, 12, 16])
        #expect(
            try Self.field(header, "capability container").meaning
                == "NDEF, version 1.0, 144 bytes, free to read and write"
        )
        let last = try #require(lines.last { $0.kind == .answer })
        let message = try Self.field(last, "NDEF message")
        #expect(message.isJoined && message.length == 22)
        let record = try Self.field(last, "NDEF message", "record U")
        #expect(record.text == "https://club.example/m/42")
        #expect(Self.place(record) == [0, 22])
        #expect(lines.count { $0.fields.contains { $0.name == "NDEF message" } } == 1)
    }

    @Test(arguments: [
        "ntag213-raw-frames", "ntag213-lock-control", "smart-poster", "type4-uri", "type4-in-parts",
        "type4-extended-large",
        "ntag216-several-records",
    ])
    func messagesAreFoundWhole(name: String) throws {
        let lines = try Self.fixture(name)
        let messages = lines.flatMap(\.fields).filter { $0.name == "NDEF message" }
        #expect(messages.count == 1)
        let first = try #require(messages.first?.fields.first)
        #expect(first.name.hasPrefix("record "))
        #expect(messages.first?.fields.contains { $0.name == "not read" } == false)
    }

    @Test func filesOfACard() throws {
        let lines = try Self.fixture("type4-uri")
        let expected: [(Int, String)] = [
            (12, "SELECT NDEF application: asks for the message of a Type 4 tag"), (13, "status 9000: it is there"),
            (14, "SELECT: chooses the capability container"), (15, "status 9000: the file is chosen"),
            (16, "READ BINARY: reads 15 bytes of the capability container, from offset 0"),
            (17, "status 9000: 15 bytes of the file"), (18, "SELECT: chooses the file of the message"),
            (20, "READ BINARY: reads 2 bytes of the file of the message, from offset 0"),
            (22, "READ BINARY: reads 22 bytes of the file of the message, from offset 2"),
            (23, "status 9000: 22 bytes of the file"),
        ]
        for (number, title) in expected { #expect(try Self.line(lines, number).title == title) }
        let container = try Self.line(lines, 17)
        #expect(try Self.field(container, "version").meaning == "2.0")
        #expect(Self.place(try Self.field(container, "04")) == [7, 8])
        #expect(try Self.field(container, "04", "size").meaning == "256 bytes")
        #expect(try Self.field(container, "04", "writing").meaning == "free")
        #expect(try Self.field(try Self.line(lines, 21), "length of the message").meaning == "22 bytes")
        let message = try Self.field(try Self.line(lines, 23), "NDEF message")
        #expect(!message.isJoined)
        #expect(Self.place(message) == [0, 22])
        #expect(message.fields.first?.text == "https://club.example/m/44")
    }

    @Test func framesWithinCommands() throws {
        let lines = try Self.explain(
            Self.ntag + "> FF00000004D4423004\n< D54300030000000000000000000000000000009000\n"
        )
        #expect(Self.place(try Self.field(lines[2], "carried")) == [7, 2])
        #expect(Self.place(try Self.field(lines[2], "carried", "first")) == [8, 1])
        #expect(Self.place(try Self.field(lines[3], "carried", "pages 4 to 7")) == [3, 16])
        #expect(Self.place(try Self.field(lines[3], "status word")) == [19, 2])
    }

    @Test func nativeCommands() throws {
        let lines = try Self.explain(
            Self.phone + "> 90BD0000070F00000005000000\n< 30318102C2D9542AFECECA1BA19100\n"
                + "> 906A000000\n< 010000F18EF49100\n"
        )
        #expect(try Self.field(lines[2], "file").meaning == "15")
        #expect(try Self.field(lines[2], "length").meaning == "5")
        #expect(lines[5].fields.prefix(2).map(\.meaning) == ["000001", "F48EF1"])
    }

    // MARK: Keys and reports

    @Test func keysAreLeftOut() throws {
        let lines = try Self.explain(
            Self.classic + "> FF82000006112233445566\n< 9000\n> FF82000006D3F7D3F7D3F7\n< 9000\n"
        )
        #expect(lines[2].statement == "> FF 82 00 00 06 ·· ·· ·· ·· ·· ··")
        #expect(lines[2].bytes == nil)
        #expect(try Self.field(lines[2], "key").bytes == nil)
        #expect(try Self.field(lines[2], "key").meaning == "a key; not shown")
        #expect(lines[4].bytes?.count == 11)
        #expect(try Self.field(lines[4], "key").meaning == "the public key of NDEF sectors")
        let password = try Self.explain(Self.typeA + ">> 1B11223344\n<< 5566\n")
        let shown = password.flatMap { [$0.statement, $0.title, $0.bytes?.hex ?? "", $0.text(longestValue: nil)] }
        #expect(!shown.contains { $0.contains("11 22") || $0.contains("1122") || $0.contains("5566") })
        #expect(!shown.contains { $0.contains("55 66") })
    }

    @Test func reportsOfASmartReader() throws {
        let lines = try Self.fixture("smart-reader-passes")
        #expect(lines.allSatisfy { $0.kind == .report && $0.presentation == nil })
        #expect(lines.first?.line == 9)
        let pass = try #require(lines.first)
        #expect(try Self.field(pass, "template").meaning == "Apple VAS")
        #expect(try Self.field(pass, "data").text == "M-001050")
        let malformed = try Self.fixture("smart-reader-nobody")
        #expect(malformed.contains { $0.title == "a line that is not well formed" })
    }

    // MARK: As text and JSON

    @Test func looksAsItShould() throws {
        let lines = try Self.explain(Self.phone + Self.appleWallet + Self.askVAS + "< 6287\n")
        let expected = [
            "    6  < 62 87", "         status 6287: the pass is there, but the phone is locked",
            "           [0, 2] status word = 6287: the pass is there, but the phone is locked",
        ]
        #expect(try #require(lines.last).text() == expected.joined(separator: "\n"))
        let question = try Self.line(lines, 5)
        #expect(question.text().contains("= 566FD1E2E5DC7696655E4E25FF47C08BD494F19F3BD2E1FF3A4C14A488104A88:"))
        #expect(question.text(longestValue: 16).contains("= 566FD1E2E5DC7696…:"))
        #expect(question.text(longestValue: nil).contains("9F 28 04 01 02 03 04 00\n"))
    }

    @Test func encodesItsKeys() throws {
        let line = try Self.line(try Self.explain(Self.phone + Self.appleWallet), 4)
        let data = try JSONEncoder().encode(line)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(Set(object.keys) == ["kind", "line", "presentation", "statement", "bytes", "title", "fields"])
        let fields = try #require(object["fields"] as? [[String: Any]])
        #expect(Set(fields[0].keys) == ["name", "offset", "length", "fields"])
        #expect(fields.last?["value"] as? String == "9000")
    }
}
