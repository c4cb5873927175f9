import Testing
import TestSupport

@testable import CardCore

@Suite struct PrintedFormTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var uid: String
        var form: String
        var text: String
        init(_ uid: String, _ form: String, _ text: String) { (self.uid, self.form, self.text) = (uid, form, text) }
        var testDescription: String { "\(uid) \(form)" }
    }

    /// The first are from trouble reports of people who compared two readers, the others were worked out apart.
    static let rows: [Row] = [
        Row("AA3F9B1A", "hex-first3-reversed", "9B3FAA"),
        Row("AA3F9B1A", "2H4D-first3-reversed", "155,16298"),
        Row("AA3F9B1A", "3H5D-first3-reversed", "15516298"),
        Row("AA3F9B1A", "6H8D-first3-reversed", "10174378"),
        Row("04A9DBA2853280", "hex-cascade", "8804A9DB"),
        Row("04A9DBA2853280", "8H10D-cascade-reversed", "3685287048"),
        Row("04A9DBA2853280", "2H4D-cascade3-reversed", "169,01160"),
        Row("04A9DBA2853280", "hex-cascade3", "8804A9"),
        Row("04AF68DAC85A80", "hex-first3-reversed", "68AF04"),
        Row("1EA68671", "8H10D-reversed", "1904649758"),
        Row("1EA68671", "hex-reversed", "7186A61E"),
        Row("1EA68671", "bytes", "30,166,134,113"),
        Row("046E51C2B33480", "bytes-check", "136,4,110,81,179"),
        Row("0451AAC3790000", "hex-check", "880451AA77"),
        Row("DD17380A", "hex-check", "DD17380AF8"),
        Row("17C0FB9F", "8H10D-reversed", "2684076055"),
        Row("4DE2D147", "hex-first3-reversed", "D1E24D"),
        Row("0A004D7603", "2H4D-last3", "077,30211"),
        Row("01026F6C3A", "8H10D-last4", "0040856634"),
        Row("01026F6C3A", "6H8D-last3", "07302202"),
        Row("01026F6C3A", "2H4D-last3", "111,27706"),
        Row("01026F6C3A", "4H4D-last4", "00623,27706"),
        Row("0801161DD6", "3H5D-last3", "02207638"),
        Row("00383BA7", "8H10D", "0003685287"),
        Row("00383BA7", "6H10D-last3", "0003685287"),
        Row("00D507D0", "H10301+parity-last3", "3AA0FA1"),
        Row("04A1B2C3", "H10306+parity", "09436587"),
        Row("04A1B2C3", "H10302", "77705923"),
        Row("04A1B2C3", "H10302+parity", "1009436586"),
        Row("04A1B2C3", "H10304", "148,111299"),
        Row("04A1B2C3D4E580", "14H17D", "01303689068602752"),
        Row("04A1B2C3D4E580", "14H17D-reversed", "36281498998055172"),
        Row("04A1B2C3D4E580", "hex-first4", "04A1B2C3"),
        Row("04A1B2C3D4E580", "8H10D-last4-reversed", "2162545859"),
        Row("E00401001A2B3C4D", "16H20D", "16142028064353369165"),
        Row("012E4CE445055B87", "hex-last3", "055B87"),
        Row("04112233445566778899", "20H25D", "0019205524969286327044249"),
    ]

    @Test(arguments: rows) func printsAndReads(_ row: Row) throws {
        let uid = try CardUID(text: row.uid)
        let form = try #require(PrintedForm(name: row.form))
        #expect(form.name == row.form)
        #expect(uid.text(as: form) == row.text)
        #expect(form.matches(row.text, uid))
        #expect(uid.printedForms.contains(form))
        guard CardUID.lengths.contains(uid.bytes.count) else { return }
        if uid.bytes.count == 4 || uid.bytes.count == 7 || form.isComplete {
            let found = PrintedForm.matches(of: row.text).filter { $0.form == form }.map(\.pattern)
            #expect(found.contains { zip($0, uid.hex).allSatisfy { $0 == "?" || $0 == $1 } })
        }
    }

    /// Seed 0x5556: every form of every identifier is read back, and names its identifier where it shows all of it.
    @Test func everyFormIsReadBack() throws {
        var random = SeededNumbers(seed: 0x5556)
        var wrong: [String] = []
        for count in CardUID.lengths {
            for _ in 0..<50 {
                var bytes = random.bytes(count)
                bytes[0] = count == 8 ? 0xE0 : 0x04
                let uid = CardUID(bytes, technology: nil)
                for form in uid.printedForms {
                    guard let text = uid.text(as: form), form.matches(text, uid), PrintedForm(name: form.name) == form
                    else {
                        wrong.append(form.name)
                        continue
                    }
                    if let read = try? form.identifier(of: text), form.part == .whole, read.bytes != bytes {
                        wrong.append(form.name)
                    }
                }
            }
        }
        #expect(wrong == [])
    }

    struct Lookup: Sendable, CustomTestStringConvertible {
        var text: String
        var has: [String]
        var testDescription: String { text }
    }

    @Test(
        arguments: [
            Lookup(text: "0003685287", has: ["8H10D 00383BA7", "8H10D-reversed A73B3800", "6H10D-first3 383BA7??"]),
            Lookup(text: "3685287048", has: ["8H10D DBA90488", "8H10D-cascade-reversed 04A9DB????????"]),
            Lookup(text: "155,16298", has: ["2H4D-first3-reversed AA3F9B??", "2H4D-last3 ????????9B3FAA"]),
            Lookup(text: "155/16298", has: ["2H4D-first3-reversed AA3F9B??"]),
            Lookup(text: "155 16298", has: ["2H4D-first3-reversed AA3F9B??"]),
            Lookup(text: "15516298", has: ["3H5D-first3-reversed AA3F9B??", "hex 15516298"]),
            Lookup(text: "FC: 155 CN: 16298", has: ["2H4D-first3-reversed AA3F9B??"]),
            Lookup(text: "fc=155, cn=16298", has: ["2H4D-first3-reversed AA3F9B??"]),
            Lookup(text: "FC:12:34:56", has: ["hex FC123456"]), Lookup(text: "FC 12 34 56", has: ["hex FC123456"]),
            Lookup(text: "169,01160", has: ["2H4D-cascade3-reversed 04A9??????????"]),
            Lookup(text: "5516298", has: ["3H5D-first3-reversed AA3F37??"]),
            Lookup(text: "0003685287 056,15271", has: ["8H10D 00383BA7", "6H10D-last3 ????????383BA7"]),
            Lookup(text: "0003685287, 056,15271", has: ["8H10D 00383BA7", "6H10D-last3 ????????383BA7"]),
            Lookup(text: "0003685287;\t056,15271", has: ["8H10D 00383BA7"]),
            Lookup(text: "04:a9:db:a2:85:32:80", has: ["hex 04A9DBA2853280"]),
            Lookup(text: "0x1ea68671", has: ["hex 1EA68671", "hex-reversed 7186A61E"]),
            Lookup(text: "[136, 4, 110, 81, 179]", has: ["bytes-check 046E51????????"]),
            Lookup(text: "1303689068602752", has: ["14H17D 04A1B2C3D4E580"]),
            Lookup(text: "000003685287", has: ["8H10D 00383BA7"]),
        ]
    ) func findsIdentifiers(_ lookup: Lookup) {
        let found = PrintedForm.matches(of: lookup.text).map { "\($0.form.name) \($0.pattern)" }
        for line in lookup.has { #expect(found.contains(line), "\(found)") }
        #expect(Set(found).count == found.count)
    }

    @Test(arguments: [
        "", " ", "abc", "12a4", "1E+09", "3.685E9", "-5", "99999999999999999999999999", "256,65536,1", "０００３",
        "FC: 155", "FC: 155 CN:", "FC: 155 ID", String(repeating: "1", count: 100_000),
        "1" + String(repeating: "0", count: 100),
    ])
    func whatIsNoNumber(_ text: String) {
        #expect(PrintedForm.matches(of: text).isEmpty)
    }

    /// A card whose identifier of four bytes begins with the cascade tag does not exist, nor one of seven without a maker.
    @Test(
        arguments: [
            ("8H10D", "0003685287", "00383BA7", nil), ("8h10d-reversed", "3685287", "A73B3800", nil),
            ("8H10D reversed", "1904649758", "1EA68671", nil), ("DEZ10", "0077705923", "04A1B2C3", nil),
            ("10H13D", "0731211569684", "AA3F9B1A", nil), ("hex", "04:a1:b2:c3", "04A1B2C3", nil),
            ("hex-reversed", "803285A2DBA904", "04A9DBA2853280", nil),
            ("14H17D", "01303689068602752", "04A1B2C3D4E580", nil),
            ("8H10D-reversed", "3685287048", nil, .onlyPart), ("2H4D", "155,16298", nil, .onlyPart),
            ("8H10D-cascade-reversed", "3685287048", nil, .onlyPart), ("8H10D", "3685287048000", nil, .otherForm),
            ("8H10D", "155,16298", nil, .otherForm), ("8H10D", "4294967296", nil, .otherForm),
            ("8H10D", "3.68E+09", nil, .otherForm), ("hex", "803285A2DBA904", nil, .otherForm),
            ("hex", "04A1B2", nil, .otherForm),
        ] as [(String, String, String?, UIDErrorCode?)]
    ) func identifiers(_ name: String, _ text: String, _ hex: String?, _ code: UIDErrorCode?) throws {
        let form = try #require(PrintedForm(name: name))
        do throws(UIDError) {
            let uid = try form.identifier(of: text)
            #expect(uid.hex == hex)
        } catch {
            #expect(error.code == code)
            #expect(!"\(error)".contains(text))
        }
    }

    @Test func names() {
        for form in PrintedForm.all { #expect(PrintedForm(name: form.name) == form) }
        #expect(PrintedForm(name: "2H4D")?.name == "2H4D-last3")
        #expect(PrintedForm(name: "wg26-first-reversed")?.name == "2H4D-first3-reversed")
        #expect(PrintedForm(name: "8H10D-first")?.name == "8H10D-first4")
        for name in ["Wiegand-26", "wiegand 26", "W_26", "Wiegand26"] {
            #expect(PrintedForm(name: name)?.name == "2H4D-last3")
        }
        #expect(PrintedForm(name: "Wiegand-26-first3-reversed")?.name == "2H4D-first3-reversed")
        #expect(PrintedForm(name: "DEZ-10-reversed")?.name == "8H10D-reversed")
        #expect(PrintedForm(name: "Wiegand37")?.name == "H10304" && PrintedForm(name: "Wiegand-34")?.name == "4H4D")
        for name in [
            "Wiegand", "Wiegand-", "Wiegand-27", "", "-", "9H9D", "8H10D-middle", "8H10D-first4-last4", "reversed",
        ] {
            #expect(PrintedForm(name: name) == nil)
        }
        #expect(PrintedForm.all.filter(\.isComplete).contains { $0.name == "8H10D-reversed" })
        #expect(
            !PrintedForm.all.filter(\.isComplete).contains { $0.name.hasPrefix("2H4D") || $0.name.contains("cascade") }
        )
    }
}
