import CardPasses
import Testing
import TestSupport

@testable import Captures

/// What each command, answer and frame is called.
@Suite struct ConversationTitleTests {
    private typealias Tests = ConversationExplanationTests

    struct Titles: Sendable {
        var before: String
        var exchange: String
        var command: String
        var answer: String

        init(_ before: String, _ exchange: String, _ command: String, _ answer: String) {
            self.before = before
            self.exchange = exchange
            self.command = command
            self.answer = answer
        }
    }

    static let selections = [
        Titles(
            Tests.phone,
            Tests.appleWallet,
            "SELECT OSE.VAS.01: asks for the wallet's passes",
            "status 9000: Apple's wallet answers (Apple VAS 1.0)"
        ),
        Titles(
            Tests.phone,
            Tests.googleWallet,
            "SELECT OSE.VAS.01: asks for the wallet's passes",
            "status 9000: Google's wallet answers, and offers Smart Tap 2.1"
        ),
        Titles(
            Tests.phone,
            Tests.selectWallet + "< 6A82\n",
            "SELECT OSE.VAS.01: asks for the wallet's passes",
            "status 6A82: no wallet answers: it is no phone, or one that was not told that passes are wanted, or is locked"
        ),
        Titles(
            Tests.phone,
            Tests.selectWallet + "< 6F0A5008536F6D6542616E6B9000\n",
            "SELECT OSE.VAS.01: asks for the wallet's passes",
            "status 9000: a wallet that is not known here answers (\"SomeBank\")"
        ),
        Titles(
            Tests.phone,
            Tests.selectWallet + "< 01029000\n",
            "SELECT OSE.VAS.01: asks for the wallet's passes",
            "status 9000: something answers that is no wallet's template"
        ),
        Titles(
            Tests.phone + Tests.googleWallet,
            "> 00A4040009A000000476D000011100\n< \(SmartTapVectors.selectedAgain)9000\n",
            "SELECT Smart Tap 2: asks for Google Wallet's passes",
            "status 9000: Smart Tap is there, and gives a number to be signed"
        ),
        Titles(
            Tests.phone,
            "> 00A404000E325041592E5359532E444446303100\n"
                + "< 6F2A840E325041592E5359532E4444463031A518BF0C1561134F07A00000000310108701019F0A04000101019000\n",
            "SELECT 2PAY.SYS.DDF01: asks which payment applications there are",
            "status 9000: a payment application answers; nothing more should be asked of it"
        ),
        Titles(
            Tests.phone,
            "> 00A4040007A000000003101000\n< 6A82\n",
            "SELECT Visa: asks for a payment application",
            "status 6A82: there is no such application"
        ),
        Titles(
            Tests.phone,
            "> 00A4040005F00102030400\n< 9000\n",
            "SELECT F001020304: asks for an application that is not known here",
            "status 9000: it is there"
        ),
    ]

    static let readerCommands = [
        Titles(
            Tests.phone,
            "> FFCA000000\n< 08DFBFF29000\n",
            "reader: asks for the card's identifier",
            "status 9000: the identifier, random, another one at each tap: it identifies nobody"
        ),
        Titles(
            Tests.ntag,
            "> FFCA000000\n< 045A1B72C364809000\n",
            "reader: asks for the card's identifier",
            "status 9000: the identifier, fixed"
        ),
        Titles(
            Tests.ntag,
            "> FFB0000410\n< 6A82\n",
            "reader: reads pages 4 to 7",
            "status 6A82: there is no such block on the card"
        ),
        Titles(
            Tests.ntag,
            "> FFD600040401020304\n< 9000\n",
            "reader: writes page 4",
            "status 9000: it is written"
        ),
        Titles(
            Tests.classic,
            "> FF82000006A0A1A2A3A4A5\n< 9000\n",
            "reader: takes a key into place 0",
            "status 9000: the reader has the key"
        ),
        Titles(
            Tests.classic,
            "> FF860000050100036000\n< 6300\n",
            "reader: shows the card a key for block 3",
            "status 6300: the card did not take the key"
        ),
        Titles(
            Tests.ntag,
            "> FF00000004D4423004\n< D54300030000000000000000000000000000009000\n",
            "reader: carries a frame (InCommunicateThru): READ: reads pages 4 to 7",
            "pages 4 to 7"
        ),
        Titles(
            Tests.ntag,
            "> FFFE010002300400\n< 6F01\n",
            "reader: carries a frame (ENCAPSULATE): READ: reads pages 4 to 7",
            "status 6F01: reader or radio error: no card, or it is mute (01)"
        ),
        Titles(
            Tests.ntag,
            "> FFC200010495023004\n< 9710030000000000000000000000000000009000\n",
            "reader: carries a frame (transparent session): READ: reads pages 4 to 7",
            "pages 4 to 7"
        ),
        Titles(
            Tests.phone,
            "> FF0040000401010101\n< 9000\n",
            "reader: lights and sound",
            "status 9000: done"
        ),
    ]

    static let others = [
        Titles(
            Tests.phone,
            "> 905A0000034F49D300\n< 9100\n",
            "DESFire: SELECT APPLICATION",
            "status 9100: done"
        ),
        Titles(
            Tests.phone + "> 9060000000\n< 0401010100180591AF\n",
            "> 90AF000000\n< 0401010104180591AF\n",
            "DESFire: GET VERSION, part 2",
            "status 91AF: more to come"
        ),
        Titles(
            Tests.phone,
            "> 9099000000\n< 911C\n",
            "DESFire: instruction 99, which is not known here",
            "status 911C: command not known"
        ),
        Titles(
            Tests.phone,
            "> 80123456\n< 6D00\n",
            "class 80, instruction 12, parameters 3456: not known here",
            "status 6D00: instruction not supported"
        ),
        Titles(Tests.phone, "> 0084000008\n< 01020304050607089000\n", "GET CHALLENGE 00 00", "status 9000: done"),
        Titles(
            Tests.typeA,
            ">> 26/7\n<< 44 00\n",
            "REQA: is any card of type A there?",
            "ATQA: a card is there"
        ),
        Titles(Tests.typeA, ">> 302D\n<< 00/4\n", "READ: reads pages 45 to 48", "NAK 00: the tag refuses it"),
        Titles(Tests.typeA, ">> A20401020304\n<< 0A/4\n", "WRITE: page 4", "ACK: it is written"),
        Titles(
            Tests.typeA,
            ">> 60\n<< 0004040201000F03\n",
            "GET VERSION: what is the tag?",
            "it says that it is NTAG213"
        ),
        Titles(Tests.typeA, ">> 7F01\n<< 00\n", "frame 7F: not known here", "1 byte"),
        Titles(
            "card at 0 felica idm 012E4CE791835A06\n",
            ">> 0600FFFF0000\n<< 1201012E4CE791835A060000000000000000\n",
            "FeliCa: POLLING: is any card there?",
            "an answer"
        ),
        Titles(
            "card at 0 iso15693 uid E00401502B7C913D\n",
            ">> 022000\n<< 00E1401201\n",
            "ISO 15693: READ BLOCK 0",
            "block 0"
        ),
        Titles(
            "card at 0 iso15693 uid E00401502B7C913D\n",
            ">> 0220FF\n<< 010F\n",
            "ISO 15693: READ BLOCK 255",
            "the card refuses it, code 0F"
        ),
    ]

    @Test(arguments: selections + readerCommands + others)
    func tellsWhatItIs(row: Titles) throws {
        let lines = try Tests.explain(row.before + row.exchange).suffix(2)
        #expect(lines.map(\.title) == [row.command, row.answer])
    }

    @Test(arguments: [
        ("6A 01 00 00 02", "passes are wanted"), ("6A 01 00 00 02 E4 D2", "passes are wanted"),
        ("6A 01 CF 00 00 AB B1", "a phone that reads: wallets shall keep quiet"),
        ("6A 02 C8 01 00 03 00 02 79 00 00 00 00 C2 D8", "a reader for transit is there"),
    ])
    func tellsAnnotations(frame: String, meaning: String) throws {
        let line = try #require(try Tests.explain(Tests.typeA + ">> \(frame)\n! timeout\n").dropLast().last)
        #expect(line.title == "polling annotation (ECP): \(meaning)")
        #expect(try Tests.field(line, "version").offset == 1)
    }

    @Test func takesAnAnnotationApart() throws {
        let frame = "6A 02 C8 01 00 03 00 02 79 00 00 00 00 C2 D8"
        let line = try #require(try Tests.explain(Tests.typeA + ">> \(frame)\n! timeout\n").dropLast().last)
        let configuration = try Tests.field(line, "configuration")
        #expect(
            configuration.meaning == "presents by itself, without the owner's confirmation, 8 bytes follow the kind"
        )
        #expect(Tests.place(try Tests.field(line, "data")) == [5, 8])
        #expect(Tests.place(try Tests.field(line, "checksum")) == [13, 2])
    }
}
