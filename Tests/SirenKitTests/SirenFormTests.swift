import Foundation
import TestSupport
import Testing

@testable import SirenKit

/// Values are matched to fields, checked, and put into the form that the action names.
@Suite struct SirenFormTests {
    private static func number(_ text: String) -> SirenInput { SirenNumber(text).map(SirenInput.number) ?? false }
    private static let url = URL(string: "https://club.example/a?b").map(SirenInput.url) ?? false
    private static let relative = URL(string: "/a").map(SirenInput.url) ?? false
    private static let file = SirenInput.file(SirenFile(.bytes([1]), name: "a"))

    private static func field(_ type: SirenFieldType, _ members: SirenObject = [:], _ value: SirenFieldValue? = nil)
        -> SirenField
    {
        SirenField(name: "f", type: type, value: value, otherMembers: members)
    }

    static let choices: SirenFieldValue = [SirenChoice("a"), SirenChoice(2, selected: true)]

    /// Each type with values that it takes, and with what it refuses.
    static let types: [(SirenFieldType, [SirenInput], [SirenInput])] = [
        (.hidden, ["a\nb", 1], [true, url, file]),
        (.text, ["", "a", 1], ["a\nb", "\r", true, url, file, ["a"]]),
        (.search, ["a"], ["a\n", true]), (.tel, ["+49 (0) 30", 112], ["1\r\n2", file]), (.password, ["geheim"], [url]),
        (.url, [url], ["https://club.example", 1, true, relative, file]),
        (
            .email, ["ada@club.example", "a.b+c@x"],
            ["ada", "@club.example", "ada@", "a b@c", "a@b..c", "a@-b", "a@b_c", 1]
        ),
        (
            .datetime, ["2026-11-25T08:30Z", "2026-11-25 08:30:59.999+01:30", "0001-01-01T00:00-0000"],
            ["2026-11-25T08:30", "2026-11-25", "2026-11-25T08:30z", "2026-11-25T24:00Z", "2026-11-25T08:30+1", 1]
        ),
        (
            .date, ["2026-11-25", "2024-02-29", "2000-02-29", "12026-01-01"],
            [
                "2026-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-11-31", "26-11-25", "0000-01-01",
                "2026-1-1", "a",
            ]
        ),
        (.month, ["2026-01", "2026-12"], ["2026-13", "2026-00", "2026", "2026-1", "2026-01-01"]),
        (
            .week, ["2026-W01", "2026-W53", "2020-W53", "2025-W52"],
            ["2025-W53", "2026-W00", "2026-W54", "2026-53", "2026-W1"]
        ),
        (
            .time, ["00:00", "23:59:59", "08:30:00.5", "08:30:00.125"],
            ["24:00", "08:60", "8:30", "08:30:60", "08:30:00.", "08:30:00.1234", "08:30Z"]
        ),
        (.datetimeLocal, ["2026-11-25T08:30", "2026-11-25 08:30:00"], ["2026-11-25T08:30Z", "2026-11-25", "T08:30"]),
        (.number, [1, number("1e400"), number("-0.5")], ["1", true, url, file]),
        (.range, [1, number("0.1")], ["1", false]),
        (.color, ["#00ff7F"], ["#00ff7", "00ff7f", "#00ff7g", "#00ff7f0", "red"]),
        (.checkbox, [true, false, "a", 1], [url, file, ["a"]]),
        (.radio, ["a", 1], [true, url]),
        (.file, [file], ["a", 1, [file]]),
    ]

    @Test func everyTypeIsChecked() {
        #expect(Set(Self.types.map(\.0)) == Set(SirenFieldType.allCases))
        for (type, taken, refused) in Self.types {
            for input in taken { #expect(Self.field(type).problem(with: input) == nil, "\(type): \(input)") }
            for input in refused {
                let problem = Self.field(type).problem(with: input)
                #expect(problem?.rule == .typeMismatch, "\(type): \(input)")
                #expect(problem?.field == "f" && problem?.type == type && problem?.given == input.kind)
            }
        }
    }

    /// A field, a value, and what is broken.
    static let constraints: [(SirenField, SirenInput?, SirenFieldProblem.Rule?)] = [
        (field(.text, ["required": true]), nil, .valueMissing), (field(.text, ["required": true]), "", .valueMissing),
        (field(.text, ["required": true]), " ", nil), (field(.text, ["required": false]), nil, nil),
        (field(.checkbox, ["required": true]), false, .valueMissing), (field(.checkbox, ["required": true]), true, nil),
        (field(.file, ["required": true, "multiple": true]), [], .valueMissing),
        (field(.file, ["multiple": true]), [file, file], nil),
        (field(.file, ["multiple": true]), [file, "a"], .typeMismatch),
        (field(.email, ["multiple": true]), ["a@b", "c@d"], nil), (field(.email), ["a@b", "c@d"], .typeMismatch),
        (field(.text, ["minlength": 2]), "a", .tooShort), (field(.text, ["minLength": 2]), "a", .tooShort),
        (field(.text, ["minlength": 2]), "👩", nil), (field(.text, ["minlength": 2]), "", nil),
        (field(.text, ["maxlength": 2]), "abc", .tooLong), (field(.url, ["maxlength": 9]), url, .tooLong),
        (field(.number, ["maxlength": 1]), 100, nil),
        (field(.tel, ["pattern": "[0-9]+"]), "12", nil), (field(.tel, ["pattern": "[0-9]+"]), "12a", .patternMismatch),
        (field(.text, ["pattern": "a|b"]), "ab", .patternMismatch), (field(.text, ["pattern": "("]), "a", nil),
        (field(.number, ["min": 1]), number("0.99"), .rangeUnderflow),
        (field(.number, ["min": "1"]), 0, .rangeUnderflow),
        (field(.number, ["max": 1]), number("1.0"), nil), (field(.number, ["max": 1]), number("1e400"), .rangeOverflow),
        (
            field(.number, ["max": .number(SirenNumber("9223372036854775807") ?? SirenNumber(0))]),
            number("9223372036854775808"), .rangeOverflow
        ),
        (field(.range, ["min": .number(SirenNumber("0.1") ?? SirenNumber(0)), "step": 0.1]), number("0.3"), nil),
        (field(.range, ["min": 0, "step": 0.1]), number("0.35"), .stepMismatch),
        (field(.number, ["min": 1, "step": 2]), 4, .stepMismatch), (field(.number, ["min": 1, "step": 2]), 5, nil),
        (field(.number, ["step": "any"]), number("0.123"), nil), (field(.number), number("0.5"), nil),
        (field(.number, ["step": 3]), -9, nil), (field(.number, ["step": 0]), 1, nil),
        (field(.number, ["step": 7]), number("1e400"), nil),
        (field(.date, ["min": "2026-11-25"]), "2026-11-24", .rangeUnderflow),
        (field(.date, ["max": "2026-11-25"]), "2026-11-25", nil), (field(.date, ["max": "soon"]), "2026-11-25", nil),
        (field(.date, ["min": "2026-11-25", "step": 7]), "2026-12-02", nil),
        (field(.date, ["min": "2026-11-25", "step": 7]), "2026-12-03", .stepMismatch),
        (field(.month, ["max": "2026-01"]), "2026-02", .rangeOverflow),
        (field(.month, ["min": "2025-12", "step": 3]), "2026-03", nil),
        (field(.week, ["min": "2026-W53"]), "2027-W01", nil), (field(.week, ["step": 1]), "2026-W48", nil),
        (field(.time, ["max": "10:00:00"]), "10:00", nil),
        (field(.time, ["max": "10:00"]), "10:00:00.1", .rangeOverflow),
        (field(.time, ["step": 900]), "10:10", .stepMismatch), (field(.time, ["step": 900]), "10:15", nil),
        (field(.datetime, ["max": "2026-11-25T08:30+01:00"]), "2026-11-25T07:30Z", nil),
        (field(.datetime, ["max": "2026-11-25T08:30+01:00"]), "2026-11-25T07:31Z", .rangeOverflow),
        (field(.datetimeLocal, ["min": "2026-11-25T08:30"]), "2026-11-25 08:29:59", .rangeUnderflow),
        (field(.radio, [:], choices), "a", nil), (field(.radio, [:], choices), "2", nil),
        (field(.radio, [:], choices), "b", .notAChoice), (field(.radio, [:], choices), ["a"], .typeMismatch),
        (field(.checkbox, [:], choices), ["a", 2], nil), (field(.checkbox, [:], choices), ["a", "c"], .notAChoice),
        (field(.checkbox, [:], choices), true, .typeMismatch), (field(.checkbox, [:], "x"), "y", .notAChoice),
        (field(.checkbox, [:], "x"), true, nil), (field(.text, [:], choices), "anything", nil),
    ]

    @Test func everyConstraintIsChecked() {
        for (index, (field, input, rule)) in Self.constraints.enumerated() {
            #expect(field.problem(with: input)?.rule == rule, "row \(index): \(field) \(String(describing: input))")
        }
        #expect(Set(Self.constraints.compactMap(\.2)) == Set(SirenFieldProblem.Rule.allCases))
    }

    @Test(arguments: [SirenFieldType.number, .range, .date, .month, .week, .time])
    func numbersOfAnySizeAreChecked(_ type: SirenFieldType) {
        let numbers = [
            "0", "1", "-1", "0.1", "1e-17", "1e-127", "1e-128", "1e-129", "1e-999999999", "1e19", "1e20", "9e99",
            "1e127",
            "1e128", "1e999999999", "-1e999999999", "1e99999999999999999999", "1e-99999999999999999999",
            String(repeating: "9", count: 400), "0.\(String(repeating: "0", count: 200))1",
        ]
        let moments = ["date": ["0001-01-01", "999999-12-31"], "month": ["0001-01", "999999-12"]]
        let more = moments[type.rawValue] ?? (type == .week ? ["0001-W01", "999999-W50"] : ["00:00", "23:59:59.999"])
        let isNumber = type == .number || type == .range
        let values = isNumber ? numbers.map(Self.number) : more.map(SirenInput.text)
        for value in values {
            for least in numbers + more {
                for step in numbers + more {
                    let limits: SirenObject = ["min": .string(least), "max": .string(least), "step": .string(step)]
                    let isLeast = value.formText == least
                    let rule = Self.field(type, limits).problem(with: value)?.rule
                    #expect(!isLeast || rule == nil, "\(value) \(limits)")
                }
            }
        }
        for count in ["9e99", "-1", "9223372036854775807", "9223372036854775808", "1e999999999"] {
            let limit = SirenNumber(count).map(SirenValue.number) ?? nil
            #expect(Self.field(.text, ["maxlength": limit]).problem(with: "a") == nil)
        }
    }

    /// Patterns that take long to read or to search.
    static let slowPatterns = [
        "(?i)" + String(repeating: #"[\p{L}\u0130]*"#, count: 80),
        String(repeating: "(", count: 490) + String(repeating: ")", count: 490),
        "((((((((a{1,100}){1,100}){1,100}){1,100}){1,100}){1,100}){1,100}){1,100})b", #"(a*)*(\1*)*(\2*)*b"#,
        "(?<=(a{0,200}){0,200})b", String(repeating: "(a?){99}", count: 120), "(?:a|b|ab)*(?:a|b|ab)*(?:a|b|ab)*c",
        #"(?i)(\1|(a+))+(?!\2{99999})b"#, "a{2147483647}", "(a{65535}){65535}", "(?w)(\\b.)*x", "(\\X*)*x",
    ]

    @Test(arguments: slowPatterns) func patternsEndInTime(_ pattern: String) {
        let start = ContinuousClock.now
        _ = Self.field(.text, ["pattern": .string(pattern)]).problem(with: .text(String(repeating: "a", count: 5000)))
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    /// Patterns with what takes long to search, and longer ones than are checked: the server has to say it.
    static let patterns: [(String, String)] = [
        ("(a+)+$", String(repeating: "a", count: 30) + "!"), ("(a|a)*b", String(repeating: "a", count: 30)),
        ("(.*)*x", String(repeating: "a", count: 30)), ("(a|b)*", String(repeating: "ab", count: 1_000_000)),
        (String(repeating: "a", count: 1001), "a"),
    ]

    @Test(arguments: patterns) func patternsThatTakeTooLongAreLeftToTheServer(_ pattern: String, _ text: String) {
        let field = Self.field(.text, ["pattern": .string(pattern)])
        #expect(field.problem(with: .text(text)) == nil)
        #expect(Self.field(.text, ["pattern": .string(pattern), "maxlength": 0]).problem(with: .text(text)) != nil)
    }

    @Test func longTextsAreChecked() {
        let (field, long) = (Self.field(.text, ["pattern": "[a-z]+"]), String(repeating: "a", count: 10_000))
        #expect(field.problem(with: .text(long)) == nil)
        #expect(field.problem(with: .text(long + "1"))?.rule == .patternMismatch)
    }

    private static let action = SirenAction(
        name: "add",
        href: "/add",
        fields: [
            SirenField(name: "id", type: .hidden, value: "42"), SirenField(name: "code", type: .text, value: "none"),
            SirenField(name: "count", type: .number, value: 1),
            SirenField(name: "place", type: .text, value: "hall", otherMembers: ["readonly": true, "required": true]),
            SirenField(name: "size", type: .radio, value: choices),
            SirenField(name: "extra", type: .checkbox, value: [SirenChoice("a", selected: true), SirenChoice("b")]),
            SirenField(name: "gift", type: .checkbox, value: "yes"), SirenField(name: "news", type: .checkbox),
            SirenField(name: "note"), SirenField(name: "code", type: .number, value: 7),
        ]
    )

    private static func texts(_ form: SirenForm) -> [String] {
        form.entries.map { "\($0.name)=\($0.value.formText ?? "?")" }
    }

    @Test func fieldsHaveTheirOwnValues() throws {
        #expect(
            Self.texts(try Self.action.form()) == ["id=42", "code=none", "count=1", "place=hall", "size=2", "extra=a"]
        )
    }

    @Test func givenValuesAreSent() throws {
        let form = try Self.action.form([
            "code": "x", "count": 3, "size": "a", "extra": ["b", "a"], "gift": true, "news": true, "note": "n",
        ])
        #expect(
            Self.texts(form) == [
                "id=42", "code=x", "count=3", "place=hall", "size=a", "extra=b", "extra=a", "gift=yes", "news=on",
                "note=n",
            ]
        )
        #expect(form.dropped.isEmpty)
        let few = try Self.action.form(["extra": [], "gift": false, "news": false, "code": "", "count": 3])
        #expect(Self.texts(few) == ["id=42", "code=", "count=3", "place=hall", "size=2", "news=off"])
        #expect(try SirenEncodings.query(few) == "id=42&code=&count=3&place=hall&size=2")
    }

    @Test func whatIsNotSentIsTold() throws {
        let form = try Self.action.form(["id": "43", "place": "yard", "zeta": 1, "Code": "x", "alpha": 2])
        #expect(
            form.dropped.map { "\($0.name) \($0.reason.rawValue)" } == [
                "id hidden", "place readOnly", "Code noField", "alpha noField", "zeta noField",
            ]
        )
        #expect(Self.texts(form).contains("id=42") && Self.texts(form).contains("place=hall"))
    }

    @Test func problemsAreTold() {
        #expect(
            throws: SirenRequestError.fieldTypeMismatch(
                SirenFieldProblem(
                    field: "count",
                    type: .number,
                    rule: .typeMismatch,
                    given: "text",
                    expected: "a number"
                )
            )
        ) { try Self.action.form(["count": "3", "size": "z"]) }
        let action = SirenAction(
            name: "a",
            href: "",
            fields: [
                SirenField(name: "a", otherMembers: ["required": true]),
                SirenField(name: "b", type: .number, otherMembers: ["max": 9]),
            ]
        )
        #expect {
            _ = try action.form(["b": 10])
        } throws: { error in
            guard case .fieldsRefused(let problems) = error as? SirenRequestError else { return false }
            return problems.map(\.rule) == [.valueMissing, .rangeOverflow]
        }
        // No value is named: it may be a password.
        #expect {
            _ = try SirenAction(name: "a", href: "", fields: [Self.field(.email)]).form(["f": "geheim"])
        } throws: { error in
            !"\(error)".contains("geheim") && "\(error)".contains("the field 'f' of type email")
        }
    }

    private static let form = SirenForm(
        [
            SirenForm.Entry("a b", "ä ~*-._+&="), SirenForm.Entry("n", number("1.0")), SirenForm.Entry("u", url),
            SirenForm.Entry("t", true), SirenForm.Entry("f", false), SirenForm.Entry("l", "x"),
            SirenForm.Entry("m", "1"),
            SirenForm.Entry("m", 2),
        ],
        several: ["l"]
    )

    @Test func formsAreURLEncoded() throws {
        let body = try SirenEncodings().body(Self.form, type: "application/x-www-form-urlencoded")
        let text =
            "a+b=%C3%A4+%7E*-._%2B%26%3D&n=1.0&u=https%3A%2F%2Fclub.example%2Fa%3Fb&t=on&l=x&m=1&m=2"
        #expect(body == SirenBody(Array(text.utf8), type: "application/x-www-form-urlencoded"))
        // Foundation reads the same.
        let items = URLComponents(string: "?" + text.replacing("+", with: "%20"))?.queryItems
        #expect(items?.map(\.name) == ["a b", "n", "u", "t", "l", "m", "m"] && items?.first?.value == "ä ~*-._+&=")
    }

    @Test(arguments: ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"])
    func formsBecomeJSON(_ type: String) throws {
        let body = try SirenEncodings().body(Self.form, type: type)
        let text =
            #"{"a b":"ä ~*-._+&=","n":1.0,"u":"https://club.example/a?b","t":true,"f":false,"l":["x"],"m":["1",2]}"#
        #expect(body == SirenBody(Array(text.utf8), type: type))
    }

    /// In a time that grows as they do: with the square of it, this would take many minutes.
    @Test(.timeLimit(.minutes(1))) func longFormsBecomeJSON() throws {
        let numbers = 0..<100_000
        let entries = numbers.map { SirenForm.Entry("f\($0)", .number(SirenNumber($0))) }
        let several = numbers.map { SirenForm.Entry("l", .number(SirenNumber($0))) }
        let body = try SirenEncodings().body(SirenForm(entries + several), type: "application/json")
        guard case .bytes(let bytes) = body.pieces.first else { throw NotInTime(description: "no bytes") }
        let members = try SirenReader.value(in: bytes).object
        #expect(members?.count == 100_001 && members?.first?.name == "f0")
        #expect(members?.last?.value.array?.count == 100_000)
        let firsts = SirenObject(entries.map { ($0.name, 1) } + entries.map { ($0.name, 2) })
        #expect(firsts.count == 100_000 && firsts.allSatisfy { $0.value == 1 })
    }

    @Test func formsBecomeParts() throws {
        let path = NSTemporaryDirectory() + "/siren-\(UUID().uuidString)"
        try Data("from a file".utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let form = SirenForm([
            SirenForm.Entry("a\"\r\nb", "ä"), SirenForm.Entry("t", true), SirenForm.Entry("f", false),
            SirenForm.Entry("g", .file(SirenFile(.bytes([1, 2]), name: "\"q\".png", type: "image/png\r\nX: y"))),
            SirenForm.Entry("h", .file(SirenFile(.path(path), name: "h.txt", type: "text/plain"))),
        ])
        let body = try SirenEncodings(boundary: { "B" }).body(form, type: "multipart/form-data")
        #expect(body.type == "multipart/form-data; boundary=B" && body.pieces.contains(.path(path)))
        let bytes = try body.pieces.flatMap { piece -> [UInt8] in
            switch piece {
            case .bytes(let bytes): bytes
            case .path(let path): Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            }
        }
        let head = "--B\r\nContent-Disposition: form-data; name="
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "\(head)\"a%22%0D%0Ab\"\r\n\r\nä\r\n\(head)\"t\"\r\n\r\non\r\n"
                + "\(head)\"g\"; filename=\"%22q%22.png\"\r\nContent-Type: image/pngX: y\r\n\r\n\u{1}\u{2}\r\n"
                + "\(head)\"h\"; filename=\"h.txt\"\r\nContent-Type: text/plain\r\n\r\nfrom a file\r\n--B--\r\n"
        )
        let (pipe, dangling) = (path + "p", path + "l")
        defer { for path in [pipe, dangling] { try? FileManager.default.removeItem(atPath: path) } }
        #expect(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: path + "x")
        for path in [path + "x", pipe, dangling, NSTemporaryDirectory(), "/dev/zero"] {
            #expect(throws: SirenRequestError.fileUnreadable(field: "h")) {
                let form = SirenForm([SirenForm.Entry("h", .file(SirenFile(.path(path), name: "h")))])
                _ = try SirenEncodings().body(form, type: "multipart/form-data")
            }
        }
    }

    @Test func filesNeedParts() {
        let form = SirenForm([SirenForm.Entry("f", Self.file)])
        for type in ["application/x-www-form-urlencoded", "application/json"] {
            #expect(throws: SirenRequestError.encodingTooNarrow(encoding: type, field: "f")) {
                _ = try SirenEncodings().body(form, type: type)
            }
        }
    }

    @Test func encodingsAreRegistered() throws {
        var encodings = SirenEncodings()
        #expect(throws: SirenRequestError.encodingUnknown("text/csv; header=absent")) {
            _ = try encodings.body(Self.form, type: "text/csv; header=absent")
        }
        encodings.register("Text/CSV") { form, type in
            SirenBody(Array(form.entries.map(\.name).joined(separator: ",").utf8), type: type)
        }
        let body = try encodings.body(Self.form, type: "text/csv; header=absent")
        #expect(body == SirenBody(Array("a b,n,u,t,f,l,m,m".utf8), type: "text/csv; header=absent"))
    }
}
