import CardCore
import Testing

@testable import CardPasses

@Suite struct MembershipTextTests {
    @Test(
        arguments: [
            ("4|U1|x|Ann", ["4", "U1", "x", "Ann"]),
            ("4|U1||", ["4", "U1", "", ""]),
            ("|U1|x|Ann", ["", "U1", "x", "Ann"]),
            ("9|0042|payload with spaces| Ann  Lee ", ["9", "0042", "payload with spaces", "Ann  Lee"]),
            // White space round the id does not count, nor does a line end after the text.
            ("4| U1\t|x|Ann\r\n", ["4", "U1", "x", "Ann"]),
            ("4|Zoë-Ω-会員|x|Zoë 会員 👩‍👩‍👧", ["4", "Zoë-Ω-会員", "x", "Zoë 会員 👩‍👩‍👧"]),
            // Nothing of a name gets through that a terminal would obey.
            ("4|U1|x|A\u{1B}[31mnn\u{07}\u{9B}", ["4", "U1", "x", "A[31mnn"]),
        ] as [(String, [String])]
    )
    func wellFormed(_ text: String, _ fields: [String]) throws {
        let member = try MembershipText(parsing: text)
        #expect([member.number, member.id, member.payload, member.name] == fields)
    }

    @Test(
        arguments: [
            ("", .fieldCount(1)), ("U1", .fieldCount(1)), ("a|b|c", .fieldCount(3)), ("a|b|c|d|e", .fieldCount(5)),
            ("|||||", .fieldCount(6)), ("|||", .emptyID), ("4||x|Ann", .emptyID), ("4| \t |x|Ann", .emptyID),
            ("4|U\u{0}1|x|Ann", .unusableID), ("4|U\u{1B}[0m|x|Ann", .unusableID),
        ] as [(String, MembershipText.Failure)]
    )
    func malformed(_ text: String, _ failure: MembershipText.Failure) {
        #expect(throws: failure) { try MembershipText(parsing: text) }
        #expect(failure.message.hasSuffix("write the card anew"))
    }

    @Test func lengths() throws {
        let longest = String(repeating: "a", count: MemberID.longest)
        #expect(try MembershipText(parsing: "4|\(longest)|x|Ann").id == longest)
        #expect(throws: MembershipText.Failure.unusableID) { try MembershipText(parsing: "4|\(longest)a|x|Ann") }
        // Bytes count, not characters.
        #expect(throws: MembershipText.Failure.unusableID) {
            try MembershipText(parsing: "4|\(String(repeating: "é", count: 129))|x|Ann")
        }
        let name = String(repeating: "n", count: 1000)
        #expect(try MembershipText(parsing: "4|U1|x|\(name)").name.count == MemberID.longestName)
    }

    @Test(
        arguments: [
            ("U1", true), ("0", true), ("a b", true), ("会員", true), ("", false), ("a\nb", false), ("\u{7F}", false),
            ("a\u{85}", false), (String(repeating: "x", count: 256), true), (String(repeating: "x", count: 257), false),
        ] as [(String, Bool)]
    )
    func usableIDs(_ id: String, _ isUsable: Bool) {
        #expect(MemberID.isUsable(id) == isUsable)
    }

    @Test func trimming() {
        #expect(" \n a b \t".trimmed == "a b")
        #expect("  ".trimmed == "")
        #expect("".trimmed == "")
    }
}
