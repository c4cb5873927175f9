import Foundation
import TestSupport
import Testing

@testable import SirenKit

/// Documents become entities and come back.
@Suite struct SirenDocumentTests {
    @Test(arguments: ["order.json", "orders.json"]) func documentsComeBack(_ name: String) throws {
        let bytes = try fixture(name)
        let document = try SirenDocument(decoding: bytes, .strict)
        #expect(document.violations.isEmpty)
        let encoded = try document.entity.encoded()
        #expect(try SirenReader.value(in: encoded) == SirenReader.value(in: bytes))
        #expect(try SirenDocument(decoding: encoded, .strict) == document)
        // Foundation, which loses what it cannot hold, reads the same.
        let foundation = try [bytes, encoded].map { bytes in
            let text = String(decoding: bytes, as: UTF8.self).replacing("1e400", with: "1e300")
            return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
        }
        #expect(foundation[0] != nil && foundation[0] == foundation[1])
    }

    @Test func allOfTheOrderIsThere() throws {
        let order = try SirenDocument(decoding: fixture("order.json")).entity
        #expect(order.classes == ["order"] && order.title == nil)
        #expect(order.properties == ["status": "pending", "itemCount": 3, "orderNumber": 42])
        #expect(order.properties.map(\.name) == ["orderNumber", "itemCount", "status"])
        let items = SirenLink(
            rel: ["https://shop.example/rels/order-items"],
            href: "https://shop.example/orders/42/items",
            classes: ["items", "collection"]
        )
        let customer = SirenEntity(
            classes: ["info", "customer"],
            properties: ["customerId": "ada", "name": "Ada Lovelace"],
            links: [SirenLink(rel: ["self"], href: "https://shop.example/customers/ada")]
        )
        #expect(
            order.entities == [.link(items), .representation(customer, rel: ["https://shop.example/rels/customer"])]
        )
        let action = SirenAction(
            name: "add-item",
            href: "https://shop.example/orders/42/items",
            method: "POST",
            title: "Add Item",
            type: "application/x-www-form-urlencoded",
            fields: [
                SirenField(name: "orderNumber", type: .hidden, value: "42"),
                SirenField(name: "productCode", type: .text),
                SirenField(name: "quantity", type: .number),
            ]
        )
        #expect(order.actions == [action])
        #expect(order.links.map(\.rel) == [["self"], ["previous"], ["next"]])
        #expect(order.selfReference == "https://shop.example/orders/42")
    }

    @Test func actionsHaveDefaults() throws {
        let actions = try SirenDocument(decoding: fixture("orders.json")).entity.actions
        #expect(actions.map(\.httpMethod) == ["GET", "GET", "DELETE"])
        // A list of fields that is empty is there.
        let urlencoded = "application/x-www-form-urlencoded"
        #expect(actions.map(\.encoding) == [urlencoded, urlencoded, "application/json"])
        #expect(SirenAction(name: "a", href: "/a").encoding == nil)
        #expect(SirenField(name: "a").type == .text)
        var field = SirenField(name: "a")
        field.typeName = "select"
        #expect(field.type == .text)
    }

    @Test func valuesToChooseFromAreThere() throws {
        let find = try #require(SirenDocument(decoding: fixture("orders.json")).entity.actions.first)
        let number = try #require(SirenNumber("2.50"))
        #expect(
            find.fields[1].value
                == .choices([
                    SirenChoice("new", title: "Newest first", selected: true), SirenChoice(1, title: "Number"),
                    SirenChoice(.number(number), selected: false, otherMembers: ["hint": "price"]),
                ])
        )
    }

    @Test func constraintsAreRead() throws {
        let fields = try SirenDocument(decoding: fixture("orders.json")).entity.actions[0].fields
        #expect(fields[0].isRequired && !fields[0].isReadOnly && fields[0].maximumLength == 40)
        #expect(fields[0].placeholder == "A number" && fields[0].minimumLength == nil)
        #expect(fields[2].minimum == 0 && fields[2].maximum?.description == "1e2" && fields[2].step == "any")
        let wrong = try SirenDocument(#"{"actions":[{"name":"a","href":"/a","fields":[{"name":"a","minlength":-1}]}]}"#)
        #expect(wrong.entity.actions[0].fields[0].minimumLength == nil)
    }

    @Test func constraintsAreWritten() throws {
        var field = SirenField(name: "a", otherMembers: ["readOnly": true, "minLength": 3, "hint": "b"])
        (field.isReadOnly, field.minimumLength, field.maximumLength) = (false, 1, 9)
        (field.isRequired, field.allowsSeveral, field.pattern, field.placeholder) = (true, true, "[a-z]+", "ada")
        (field.minimum, field.maximum, field.step) = (1, "2026-12-31", .number(try #require(SirenNumber("0.10"))))
        #expect(
            field.otherMembers == [
                "hint": "b", "minlength": 1, "maxlength": 9, "required": true, "multiple": true, "pattern": "[a-z]+",
                "placeholder": "ada", "min": 1, "max": "2026-12-31",
                "step": .number(try #require(SirenNumber("0.10"))),
            ]
        )
        let entity = SirenEntity(actions: [SirenAction(name: "a", href: "/a", fields: [field])])
        let read = try SirenDocument(decoding: entity.encoded(), .strict).entity.actions[0].fields[0]
        #expect(read == field && read.allowsSeveral && read.pattern == "[a-z]+")
    }

    static let numbers = [
        "0", "-0", "1.0", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "1E+2",
        "-1e-400", "0.10", "123456789012345678901234567890.5",
    ]

    @Test(arguments: numbers) func numbersKeepTheirText(_ text: String) throws {
        let field = #"{"name":"a","value":\#(text),"min":\#(text)}"#
        let document = try SirenDocument(
            #"{"properties":{"n":\#(text)},"actions":[{"name":"a","href":"/a","fields":[\#(field)]}]}"#,
            .strict
        )
        #expect(document.entity.properties["n"]?.number?.text == text)
        #expect(document.entity.actions[0].fields[0].value == .single(.number(try #require(SirenNumber(text)))))
        let encoded = String(decoding: try document.entity.encoded(), as: UTF8.self)
        #expect(encoded.components(separatedBy: ":\(text)").count == 4)
    }

    @Test func numbersAreRead() {
        #expect(SirenNumber("1.0")?.int == 1 && SirenNumber("1e2")?.int == 100 && SirenNumber("1.5")?.int == nil)
        #expect(SirenNumber("9223372036854775807")?.int == .max && SirenNumber("9223372036854775808")?.int == nil)
        #expect(SirenNumber("1e400")?.double == nil && SirenNumber("0.5")?.double == 0.5)
        #expect(SirenNumber(Double.infinity) == nil && SirenNumber(0.5)?.text == "0.5" && SirenNumber(-3).text == "-3")
        for text in ["", " 1", "1 ", "01", "+1", "1.", "NaN", "\"1\"", "1,2"] { #expect(SirenNumber(text) == nil) }
    }

    @Test(arguments: Fault.refused + Fault.passed) func faultsAreTold(_ fault: Fault) throws {
        let document = try SirenDocument(fault.document)
        #expect(document.violations.map(\.path) == [fault.path], "\(document.violations)")
        #expect(document.violations.map(\.rule) == [fault.rule])
        #expect {
            _ = try SirenDocument(fault.document, .strict)
        } throws: { error in
            (error as? SirenDecodingError) == .violations(document.violations)
        }
    }

    @Test func rulesAreOfTheSchemaOrNot() {
        #expect(Fault.refused.allSatisfy(\.rule.isOfSchema) && !Fault.passed.contains(where: \.rule.isOfSchema))
        #expect(Set((Fault.refused + Fault.passed).map(\.rule)) == Set(SirenViolation.Rule.allCases))
    }

    /// What is kept of a document that is not as it should be.
    static let kept: [(String, SirenEntity)] = [
        (#"{"class":"order","title":5,"properties":7}"#, SirenEntity(classes: ["order"])),
        (#"{"class":["a",1,"b"]}"#, SirenEntity(classes: ["a", "b"])),
        (
            #"{"links":[{"rel":"self","href":"/a"},{"rel":["next"]},5,{"href":"/b c","type":"x"}]}"#,
            SirenEntity(links: [
                SirenLink(rel: ["self"], href: "/a"), SirenLink(rel: [], href: "/b c", type: "x"),
            ])
        ),
        (
            #"{"entities":[{"href":null,"rel":["item"],"title":"a"},{"href":"/a","properties":{}},{}]}"#,
            SirenEntity(entities: [
                .representation(SirenEntity(title: "a"), rel: ["item"]),
                .link(SirenLink(rel: [], href: "/a", otherMembers: ["properties": [:]])),
                .representation(SirenEntity(), rel: []),
            ])
        ),
        (
            #"{"actions":[{"name":"a"},{"href":"/a"},{"name":"a","href":"/a","method":"HEAD","type":1}]}"#,
            SirenEntity(actions: [SirenAction(name: "a", href: "/a", method: "HEAD")])
        ),
        (
            #"""
            {"actions":[{"name":"a","href":"/a","fields":[{"name":"b","value":true},{"name":"b","value":null},{},
            {"name":"c","value":[{"value":1,"selected":"yes"},{"value":[]},{},2]}]}]}
            """#,
            SirenEntity(actions: [
                SirenAction(
                    name: "a",
                    href: "/a",
                    fields: [
                        SirenField(name: "b", value: "true"), SirenField(name: "b"),
                        SirenField(name: "c", value: [SirenChoice(1)]),
                    ]
                )
            ])
        ),
        (
            #"{"class":[],"links":[],"x":{"y":[1]},"href":"/a"}"#,
            SirenEntity(otherMembers: ["class": [], "links": [], "x": ["y": [1]], "href": "/a"])
        ),
    ]

    @Test(arguments: kept) func whatCanBeUsedIsUsed(_ text: String, _ entity: SirenEntity) throws {
        #expect(try SirenDocument(text).entity == entity)
    }

    @Test func theFirstOfTwoCounts() throws {
        let text = #"{"title":"a","title":"b","actions":[{"name":"a","href":"/1"},{"name":"a","href":"/2"}]}"#
        let document = try SirenDocument(text)
        #expect(document.entity.title == "a" && document.entity.actions.first(name: "a")?.href == "/1")
        #expect(
            document.entity.actions.count == 2 && document.violations.map(\.rule) == [.doubledMember, .doubledName]
        )
        // Of many members too; names that only Swift takes for equal are two.
        let many = (0..<40).map { "\"m\($0)\":\($0)" }.joined(separator: ",")
        let names = try SirenDocument("{\"properties\":{\(many),\"m3\":0,\"\u{E9}\":1,\"e\u{301}\":2,\"m39\":0}}")
        #expect(names.violations.map(\.path) == ["$.properties.m3", "$.properties.m39"])
        #expect(names.entity.properties.count == 42 && names.entity.properties["m3"] == 3)
        #expect(names.entity.properties["e\u{301}"] == 2)
    }

    static let malformed: [(String, Int, Int, Int)] = [
        ("", 0, 1, 1), ("{", 1, 1, 2), ("{\"class\":\n[\"a\",]}", 15, 2, 6), ("{}\n\nx", 4, 3, 1),
        ("\u{FEFF}{]", 4, 1, 5),
    ]

    @Test(arguments: malformed) func tellsWhereJSONEnds(_ text: String, _ offset: Int, _ line: Int, _ column: Int) {
        #expect {
            _ = try SirenDocument(text)
        } throws: { error in
            guard case .malformed(let place, _) = error as? SirenDecodingError else { return false }
            return place.offset == offset && place.line == line && place.column == column
        }
    }

    @Test func refusesWhatIsNoObject() throws {
        for text in ["[]", "1", "null", "\"a\""] {
            #expect(throws: SirenDecodingError.notAnObject) { try SirenDocument(text) }
        }
        #expect(try SirenDocument("\u{FEFF}{}", .strict).entity == SirenEntity())
    }

    @Test func depthAndViolationsHaveLimits() throws {
        let deep = String(repeating: #"{"entities":["#, count: 100_000)
        #expect(throws: SirenDecodingError.self) { try SirenDocument(deep) }
        let within = SirenReader.depth / 2 - 1
        let nested =
            String(repeating: #"{"rel":["item"],"entities":["#, count: within) + "{}"
            + String(repeating: "]}", count: within)
        #expect(try SirenDocument(nested).violations.map(\.rule) == [.missing])
        let wrong = "{\"links\":[\(String(repeating: "1,", count: 100_000))1]}"
        #expect(try SirenDocument(wrong).violations.count == 1000)
        // Names of any length and any characters stay lines.
        let name = String(repeating: "n", count: 100_000)
        let paths = try SirenDocument(
            "{\"properties\":{\"\(name)\":{\"a b\\n\\\"\":{\"\":1,\"\":2}}}}"
        ).violations.map(\.path)
        #expect(paths == [#"$.properties["\#(name.prefix(100))"]…["a b\n\""][""]"#])
    }

    @Test func whatTheSchemaRefusesIsNotWritten() throws {
        let link = SirenLink(rel: [], href: "/a", type: "x")
        let entity = SirenEntity(
            entities: [.link(link), .representation(SirenEntity(links: [link]), rel: [])],
            otherMembers: ["title": 5]
        )
        #expect {
            _ = try entity.encoded()
        } throws: { error in
            (error as? SirenEncodingError)?.violations.map(\.path) == [
                "$.entities[0].type", "$.entities[0].rel", "$.entities[1].links[0].type", "$.entities[1].rel",
                "$.title",
            ]
        }
        // What an unknown member of a document would mean elsewhere is left out there.
        let root = try SirenDocument(#"{"href":"/a","rel":"x","title":"b"}"#).entity
        let nested = SirenEntity(entities: [.representation(root, rel: ["item"])])
        #expect(
            String(decoding: try nested.encoded(), as: UTF8.self) == #"{"entities":[{"title":"b","rel":["item"]}]}"#
        )
    }

    @Test func survivesAnyChange() throws {
        var random = SeededNumbers(seed: 24)
        let seeds = try [fixture("order.json"), fixture("orders.json")]
        var read = 0
        for round in rounds(800) {
            var bytes = seeds[round % 2]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                default: bytes.insert(contentsOf: bytes[at...].prefix(9), at: at)
                }
            }
            guard let document = try? SirenDocument(decoding: bytes), let encoded = try? document.entity.encoded()
            else {
                continue
            }
            read += 1
            #expect(try SirenDocument(decoding: encoded).entity == document.entity)
        }
        #expect(read > 80)
    }
}
