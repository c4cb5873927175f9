import Foundation
import Testing

/// `readerctl uid`, and a list of an old reader's numbers on its way to the kiosk.
@Suite(.timeLimit(.minutes(10))) struct UIDToolTests {
    @Test(
        arguments: [
            ("AA3F9B1A", ["9B3FAA", "155,16298", "15516298", "0446381994", "2856295194"]),
            ("04A9DBA2853280", ["8804A9DB", "3685287048", "01312660696412800"]),
            ("1EA68671", ["1904649758"]),
        ] as [(String, [String])]
    ) func printsTheFormsOfReaders(_ uid: String, _ texts: [String]) async throws {
        let people = try await Tool.readerctl.run("uid", uid)
        #expect(people.status == 0)
        let words = Set(people.output.split { $0 == " " || $0 == "\n" }.map(String.init))
        let line = try #require(try await Tool.readerctl.run("uid", "--json", uid).objects.first)
        let forms = try #require(line["forms"] as? [[String: String]])
        for text in texts {
            #expect(words.contains(text))
            #expect(forms.contains { $0["text"] == text })
        }
        for key in [
            "kind", "manufacturer", "hex", "hexReversed", "decimal", "decimalReversed", "wiegand26", "wiegand34",
        ] {
            #expect(line[key] != nil)
        }
    }

    @Test func findsWhatANumberIs() async throws {
        let found = try await Tool.readerctl.run("uid", "--json", "--from", "0003685287")
        #expect(found.status == 0)
        #expect(found.objects.count == 1)
        #expect(found.objects.first?["number"] as? String == "0003685287")
        let fits = try #require(found.objects.first?["fits"] as? [[String: Any]])
        let whole = try #require(fits.first { $0["identifier"] as? String == "00383BA7" })
        #expect(whole["forms"] as? [String] == ["8H10D"])
        #expect(whole["isComplete"] as? Bool == true)
        #expect(whole["kind"] as? String == "fixed")
        let part = try #require(fits.first { $0["identifier"] as? String == "383BA7??" })
        #expect(part["isComplete"] as? Bool == false)
        #expect(part["kind"] == nil)
        let people = try await Tool.readerctl.run("uid", "--from", "3685287048")
        #expect(people.output.contains("04A9DB????????  8H10D-cascade-reversed"))
        #expect(people.messages.contains("??"))
    }

    @Test func comparesANumberWithACard() async throws {
        let form = try await Tool.readerctl.run("uid", "AA3F9B1A", "--from", "155/16298")
        #expect(form.status == 0)
        #expect(form.output == "AA3F9B1A  2H4D-first3-reversed\n")
        let other = try await Tool.readerctl.run("uid", "--json", "AA3F9B1A", "--from", "155,16299")
        #expect(other.status == 1)
        #expect((other.objects.first?["fits"] as? [Any])?.isEmpty == true)
        for number in ["none", "", "1e9", "99999999999999999999999999999"] {
            #expect(try await Tool.readerctl.run("uid", "--from", number).status == 65, "\(number)")
        }
        #expect(try await Tool.readerctl.run("uid", "--from", "1", "xx").status == 65)
    }

    /// The member of a printed number is who a tap of the card finds, and the desk finds them by the number.
    @Test func importsAnOldList() async throws {
        let scratch = try ScratchFolder()
        let (database, list) = (scratch.file("club.sqlite"), scratch.file("old.csv"))
        let rows = "Card;Name\n0077705923;Ann\n3685287048;Bob\n"
        try Data(rows.utf8).write(to: URL(fileURLWithPath: list))
        func run(_ arguments: String...) async throws -> Tool.Outcome {
            try await Tool.clubctl.start(arguments + ["--database", database]).finish()
        }
        let refused = try await run("import", list, "--map", "Card=userId:2H4D", "--map", "Name=username")
        #expect(refused.status == 64)
        #expect(refused.messages.contains("only a part"))
        let taken = try await run("import", list, "--map", "Card=userId:8H10D", "--map", "Name=username", "--json")
        #expect(taken.status == 0)
        let found = try await run("members", "search", "0077705923", "--json")
        #expect(found.objects.first?["userId"] as? String == "04A1B2C3")
        #expect(found.objects.first?["username"] as? String == "Ann")
        let reversed = try await run("import", list, "--map", "Card=userId:8H10D-reversed", "--dry-run", "--json")
        #expect(reversed.status == 65)
    }
}
