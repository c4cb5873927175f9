import CardCore
import Testing
import TestSupport

@testable import NDEFCodec

@Suite("vCards") struct VCardTests {
    typealias Property = VCard.Property

    /// Lines, and the properties that they are.
    static let lines: [(String, version: String, [String], [Property])] = [
        ("plain", "3.0", ["FN:Ann Example"], [Property("FN", text: "Ann Example")]),
        ("names in lower case", "4.0", ["fn:Ann"], [Property("FN", text: "Ann")]),
        (
            "escapes", "3.0", [#"NOTE:a\, b\; c\\ d\ne\Nf\x\:"#],
            [Property(name: "NOTE", rawValue: #"a\, b\; c\\ d\ne\nf\x\:"#)]
        ),
        ("group", "3.0", ["item1.EMAIL:a@b"], [Property("EMAIL", text: "a@b", group: "item1")]),
        (
            "parameters", "3.0", ["TEL;TYPE=home,voice;PREF=1:+1"],
            [Property("TEL", text: "+1", parameters: [.init("TYPE", "home,voice"), .init("PREF", "1")])]
        ),
        (
            "quoted parameters", "4.0", [#"ADR;LABEL="a:b;c":;;x"#],
            [Property(name: "ADR", parameters: [.init("LABEL", "a:b;c")], rawValue: ";;x")]
        ),
        ("bare parameters", "2.1", ["TEL;HOME:1"], [Property("TEL", text: "1", parameters: [.init("", "HOME")])]),
        ("folded", "3.0", ["NOTE:ab", " c", "\td"], [Property("NOTE", text: "abcd")]),
        ("folded in a character", "3.0", ["NOTE:a", "  b"], [Property("NOTE", text: "a b")]),
        (
            "a version where a line goes on", "3.0", ["NOTE:a", " VERSION:2.1", " b"],
            [Property("NOTE", text: "aVERSION:2.1b")]
        ),
        ("folded in version 2.1", "2.1", ["NOTE:a", " b"], [Property("NOTE", text: "a b")]),
        (
            "quoted-printable", "2.1", ["FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrg =3D"],
            [Property("FN", text: "Jürg =")]
        ),
        ("quoted-printable, bare", "2.1", ["FN;QUOTED-PRINTABLE:=4a=4A"], [Property("FN", text: "JJ")]),
        (
            "quoted-printable, Latin", "2.1", ["FN;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:J=FCrg"],
            [Property("FN", text: "Jürg")]
        ),
        (
            "quoted-printable, in lines", "2.1", ["NOTE;QUOTED-PRINTABLE:a=", "b=", " c=0D=0Ad=0Ae", "FN:x"],
            [Property("NOTE", text: "ab c\nd\ne"), Property("FN", text: "x")]
        ),
        ("value with colons", "3.0", ["URL:https://a:1/b"], [Property("URL", text: "https://a:1/b")]),
        ("empty value", "3.0", ["FN:"], [Property("FN", text: "")]),
        ("empty lines", "3.0", ["", "FN:a", ""], [Property("FN", text: "a")]),
        (
            "a card in a card", "2.1", ["AGENT:", "BEGIN:VCARD", "FN:b", "END:VCARD", "FN:a"],
            [Property("AGENT", text: ""), Property("FN", text: "a")]
        ),
    ]

    @Test("lines and what they are", arguments: lines.indices)
    func reads(_ index: Int) throws {
        let (name, version, lines, expected) = Self.lines[index]
        let bytes = vCard(lines, version: version)
        let card = try VCard(decoding: bytes)
        #expect(card.properties == expected, "\(name)")
        #expect(card.version.rawValue == version)
        #expect(try VCard(decoding: bytes, mode: .lenient) == card)
        // Other ends of lines, and none after the last.
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(try VCard(decoding: ascii(text.replacing("\r\n", with: "\n"))) == card)
        #expect(try VCard(decoding: ascii(text.replacing("\r\n", with: "\r"))) == card)
        #expect(try VCard(decoding: [0xEF, 0xBB, 0xBF] + bytes.dropLast(2)) == card)
    }

    /// A line of a card in the bytes in which it is written, and the name that it gives; `nil` where it gives none that can
    /// be read.
    struct Written: Sendable {
        var line: [UInt8]
        var name: String?
        /// That of the media type.
        var charset: String?
        var version: String

        init(_ start: String, _ hex: String, _ name: String?, charset: String? = nil, version: String = "2.1") {
            line = ascii(start) + bytes(hex)
            (self.name, self.charset, self.version) = (name, charset, version)
        }
    }

    static let written: [Written] = [
        // 8 bits, by the line's own character set, by the media type's, and by none.
        Written("FN;CHARSET=ISO-8859-1:J", "F67267204DFC6C6C6572", "Jörg Müller"),
        Written("FN;CHARSET=\"iso-8859-1\";LANGUAGE=de:J", "F6", "Jö"),
        Written("FN;charset=windows-1251:", "DEEBFF", "Юля"),
        Written("FN;CHARSET=UTF-8:J", "C3B6", "Jö"), Written("FN;CHARSET=UTF-8:J", "F6", nil),
        Written("FN:J", "F6", nil), Written("FN:J", "F6", "Jö", charset: "ISO-8859-1"),
        Written("FN:J", "C3B6", "Jö", charset: "utf-8"), Written("FN;CHARSET=ISO-8859-2:", "B9", "š", charset: "UTF-8"),
        Written("FN:J", "F6", nil, version: "3.0"), Written("FN:J", "F6", "Jö", charset: "latin1", version: "3.0"),
        Written("FN;CHARSET=Shift_JIS:", "835C93FA", "ソ日"), Written("FN;CHARSET=GB2312:", "C8D5", "日"),
        Written("FN;CHARSET=EUC-KR:", "C0CF", "일"), Written("FN;CHARSET=BIG5:", "B35C", "許"),
        Written("FN;CHARSET=EUC-JP:", "C6FC", "日"), Written("FN;CHARSET=ISO-2022-JP:", "1B2442467C1B2842", "日"),
        Written("FN;CHARSET=x-nobodys:J", "F6", nil), Written("FN;CHARSET=x-nobodys:Ann", "", "Ann"),
        Written("FN;CHARSET=UTF-16:Anna", "", "Anna"), Written("FN:Ann", "", "Ann", charset: "UTF-32"),
        Written("FN:J", "EFBFBD", nil),
        // Folded within a character.
        Written("FN:J", "C3 0D0A20 B6", "Jö", version: "3.0"), Written("FN:J", "C3 0D0A20 B6", "Jö", version: "4.0"),
        // Quoted-printable: small digits, soft breaks with blanks, signs that break nothing, a break with nothing behind it.
        Written("FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=f6", "", "Jö"),
        Written("FN;ENCODING=quoted-printable;CHARSET=Shift_JIS:=83=5C=93=FA", "", "ソ日"),
        Written("FN;CHARSET=UTF-16LE;QUOTED-PRINTABLE:J=00=F6=00", "", "Jö"),
        Written("FN;QUOTED-PRINTABLE:J=F6", "", nil),
        Written("FN;QUOTED-PRINTABLE:J=C3=  ", "0D0A3D4236", "Jö"), Written("FN;QUOTED-PRINTABLE:Ann=", "", "Ann"),
        Written("FN;QUOTED-PRINTABLE:Ann=", "0D0A582D4D454D4245523A4D31", "Ann"),
        Written("FN;CHARSET=UTF-8;", "0D0A 20 454E434F44494E473D51 3A 4A3D43333D 0D0A 3D4236", "Jö"),
        // Base64, by its names, folded, unfolded, without padding.
        Written("FN;CHARSET=ISO-8859-1;ENCODING=BASE64:SvY=", "", "Jö"), Written("FN;BASE64:SsO2", "", "Jö"),
        Written("FN;ENCODING=b:SsO2cmc", "", "Jörg", version: "3.0"),
        Written("FN;ENCODING=BASE64:", "0D0A20 53734F32 0D0A20 636D633D 0D0A", "Jörg"),
        Written("FN;ENCODING=BASE64:SsO2", "0D0A 636D633D 0D0A", "Jörg"), Written("FN;ENCODING=B:/w==", "", nil),
        Written("FN;ENCODING=B;CHARSET=UTF-16:AEoA9g==", "", "Jö"),
        // Addresses that hold a text.
        Written("FN;VALUE=uri:data:text/plain\\;charset=utf-8\\;base64\\,SsO2", "", "Jö", version: "4.0"),
        Written("FN;VALUE=uri:data:text/plain;charset=iso-8859-1,J%F6", "", "Jö", version: "4.0"),
        Written("FN:data:,J%C3%B6", "", "Jö", version: "4.0"), Written("FN:data:,J%F6", "", nil, version: "4.0"),
        Written("FN:Data: Ann, and more", "", "Data: Ann, and more", version: "4.0"),
    ]

    @Test("values in every character set and encoding", arguments: written.indices)
    func decodes(_ index: Int) throws {
        let row = Self.written[index]
        let card = ascii("BEGIN:VCARD\r\nVERSION:\(row.version)\r\n") + row.line + ascii("\r\nEND:VCARD\r\n")
        let read = try VCard(decoding: card, mode: .lenient, charset: row.charset)
        #expect(read.name == row.name, "row \(index)")
        #expect(read.hasUnreadableName == (row.name == nil))
        // The same in UTF-16 as a whole, with a mark and by the media type.
        guard let text = String(validating: card, as: UTF8.self), !row.line.contains(0x1B), row.charset == nil else {
            return
        }
        let wide = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        #expect(try VCard(decoding: [0xFF, 0xFE] + wide, mode: .lenient).name == row.name)
        #expect(try VCard(decoding: wide, mode: .lenient, charset: "utf-16le").name == row.name)
    }

    @Test("what stands before the first line, and behind the last")
    func passesOver() throws {
        let card = vCard(["FN:Ann", "X-MEMBER:M1"])
        let starts = ["0D0A", "0A0A", "20200D0A", "EFBBBF", "EFBBBF0D0A", "0D0AEFBBBF", "00", "090D0A20"]
        for start in starts { #expect(try VCard(decoding: bytes(start) + card).memberNumber == "M1", "\(start)") }
        #expect(try VCard(decoding: card + [0, 0, 0]).memberNumber == "M1")
        let two = vCard(["FN:Ann"]) + ascii("\r\n") + vCard(["FN:Bea", "X-MEMBER:M2"])
        #expect(try VCard.all(decoding: two, charset: nil).map(\.memberNumber) == [nil, "M2"])
        let agent = vCard(["AGENT:BEGIN:VCARD", "FN:Bea", "X-MEMBER:M2", "END:VCARD", "X-MEMBER:M1"], version: "2.1")
        #expect(try VCard(decoding: agent).memberNumber == "M1")
    }

    @Test("a number that cannot be read is not replaced by another")
    func numbers() throws {
        func card(_ lines: [String]) throws -> VCard { try VCard(decoding: vCard(lines), mode: .lenient) }
        let lost = try card(["X-MEMBER-NUMBER:M\u{FFFD}", "X-MEMBER-ID:M2"])
        #expect(lost.memberNumber == nil && lost.hasUnreadableNumber)
        let other = try card(["X-MEMBER-ID:M\u{FFFD}", "X-MEMBER-NUMBER:M2"])
        #expect(other.memberNumber == "M2" && !other.hasUnreadableNumber)
        // Of two names one that can be read is enough.
        let names = try card(["FN:J\u{FFFD}rg", "N:Müller;Jörg"])
        #expect(names.name == "Jörg Müller" && !names.hasUnreadableName)
        // A picture stays as it is written.
        let photo = try #require(try card(["PHOTO;ENCODING=b;TYPE=JPEG:/9j/"]).all("PHOTO").first)
        #expect(photo.rawValue == "/9j/" && photo.parameters.map(\.name) == ["TYPE", "ENCODING"] && !photo.isText)
    }

    @Test("what a card says of a member")
    func namesFields() throws {
        let card = try VCard(
            decoding: vCard([
                "FN: ", "FN:  Ann Example ", "N:Example;Ann;M.;Dr.;Jr.", "UID:urn:uuid:42", "ORG:Club;Chess",
                "EMAIL:a@b", "EMAIL;TYPE=work:c@d", "TEL:+1", "TEL;VALUE=uri:tel:+2", "NOTE:A remark", "X-MEMBER-ID:M2",
                "X-Member-Number:M1",
            ])
        )
        #expect(card.name == "Ann Example")
        #expect(card.nameComponents == ["Example", "Ann", "M.", "Dr.", "Jr."])
        #expect(card.first("uid") == "urn:uuid:42")
        #expect(card.all("Org").map(\.components) == [["Club", "Chess"]])
        #expect(card.all("EMAIL").map(\.text) == ["a@b", "c@d"])
        #expect(card.memberNumber == "M1")
        let bare = try VCard(decoding: vCard(["N:Example;Ann;;Dr."]))
        #expect(bare.name == "Dr. Ann Example")
        let nobody = try VCard(decoding: vCard([]))
        #expect(nobody.name == nil && nobody.first("UID") == nil && nobody.memberNumber == nil)
        #expect(nobody.nameComponents == [])
    }

    @Test("cards describe themselves without what they say")
    func describesItself() throws {
        let card = VCard(properties: [Property("FN", text: "Ann Example", parameters: [.init("X", "secret")])])
        for text in ["\(card)", String(reflecting: card), "\(card.properties)", "\(NDEFMediaContent.vCard(card))"] {
            #expect(!text.contains("Ann") && !text.contains("secret"))
        }
    }

    @Test("mutated cards do no harm (seed 4E4445460004)")
    func survivesMutations() throws {
        var generator = MessageGenerator(random: SeededNumbers(seed: 0x4E44_4546_0004))
        var read = 0
        for _ in rounds(3000) {
            let bytes = generator.mutated(generator.card())
            guard let card = try? VCard(decoding: bytes, mode: .lenient) else { continue }
            read += 1
            _ = (card.name, card.memberNumber, card.nameComponents)
        }
        #expect(read > 1800)
    }

    @Test("long and deep input takes no long time")
    func boundsWork() throws {
        let count = 1 << 18
        let inputs: [[UInt8]] = [
            ascii("BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:") + [UInt8](repeating: 0x3D, count: count),
            ascii("BEGIN:VCARD\nNOTE:") + Array(repeating: [0x0A, 0x20], count: count / 2).joined(),
            ascii("BEGIN:VCARD\nNOTE;QUOTED-PRINTABLE:") + Array(repeating: [0x3D, 0x0A], count: count / 2).joined(),
            ascii("BEGIN:VCARD\nNOTE") + [UInt8](repeating: 0x3B, count: count) + ascii(":a"),
            Array(repeating: ascii("BEGIN:VCARD\n"), count: count / 12).joined().map { $0 },
            ascii("BEGIN:VCARD\nN:") + [UInt8](repeating: 0x5C, count: count),
        ]
        let clock = ContinuousClock()
        for input in inputs {
            let start = clock.now
            let card = try? VCard(decoding: input, mode: .lenient)
            #expect(card != nil)
            _ = card?.nameComponents
            // All six take 3 s together; one that took the square of its length would take minutes.
            #expect(clock.now - start < .seconds(60))
        }
    }
}

extension MessageGenerator {
    mutating func card() -> [UInt8] {
        let names = ["FN", "N", "NOTE", "TEL", "X-MEMBER-ID", "UID", "ADR"]
        let values = ["a", "home,work", "\"x:y\"", "\"x;y\"", "ü", "QUOTED-PRINTABLE"]
        let lines = (0..<Int.random(in: 0...8, using: &random)).map { _ in
            let parameters = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                ";" + (["TYPE=", "X-P=", "ENCODING=", ""].randomElement(using: &random) ?? "")
                    + (values.randomElement(using: &random) ?? "")
            }
            let end = ["", "\r\n ", "\\", ";\\,:", "=", "=3D", " "].randomElement(using: &random) ?? ""
            let name = (Bool.random(using: &random) ? "g1." : "") + (names.randomElement(using: &random) ?? "FN")
            return name + parameters.joined() + ":" + random.text(0...60) + end
        }
        return vCard(lines, version: VCard.Version.allCases.randomElement(using: &random)?.rawValue ?? "3.0")
    }
}

extension VCard.Property {
    /// A property with a text as its value.
    fileprivate init(_ name: String, text: String, parameters: [VCard.Parameter] = [], group: String? = nil) {
        let escaped = text.map { ",;\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        self.init(group: group, name: name, parameters: parameters, rawValue: escaped)
    }
}
