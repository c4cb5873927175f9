import Foundation
import SirenKit
import TestSupport
import Testing

/// The bytes of a file of `Fixtures/siren`.
func fixture(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(Fixtures.directory)/siren/\(name)")))
}

extension SirenDocument {
    init(_ text: String, _ mode: Mode = .lenient) throws {
        try self.init(decoding: Array(text.utf8), mode)
    }
}

/// A document with one fault, and what is said of it.
struct Fault: CustomTestStringConvertible, Sendable {
    var document: String
    var path: String
    var rule: SirenViolation.Rule

    init(_ document: String, _ path: String, _ rule: SirenViolation.Rule) {
        (self.document, self.path, self.rule) = (document, path, rule)
    }

    var testDescription: String { document }

    /// What the published schema refuses: each of its constraints, at each of its places.
    static let refused: [Fault] = entity("", "$") + entities + links + actions + fields + choices

    /// An entity's own members, of the root or of one within.
    private static func entity(_ rel: String, _ path: String) -> [Fault] {
        let wrap = { (members: String) in rel.isEmpty ? "{\(members)}" : "{\"entities\":[{\(rel),\(members)}]}" }
        return [
            Fault(wrap(#""class":"order""#), path + ".class", .type),
            Fault(wrap(#""class":[1]"#), path + ".class[0]", .type),
            Fault(wrap(#""class":{}"#), path + ".class", .type),
            Fault(wrap(#""title":1"#), path + ".title", .type),
            Fault(wrap(#""title":null"#), path + ".title", .type),
            Fault(wrap(#""properties":[]"#), path + ".properties", .type),
            Fault(wrap(#""properties":null"#), path + ".properties", .type),
            Fault(wrap(#""entities":{}"#), path + ".entities", .type),
            Fault(wrap(#""entities":[1]"#), path + ".entities[0]", .type),
            Fault(wrap(#""links":{}"#), path + ".links", .type),
            Fault(wrap(#""links":["/a"]"#), path + ".links[0]", .type),
            Fault(wrap(#""actions":true"#), path + ".actions", .type),
            Fault(wrap(#""actions":[null]"#), path + ".actions[0]", .type),
        ]
    }

    private static let entities =
        entity(#""rel":["item"]"#, "$.entities[0]")
        + [
            (#""href":"/a""#, ".rel", .missing), (#""href":"/a","rel":"item""#, ".rel", .type),
            (#""href":"/a","rel":[]"#, ".rel", .emptyRelation), (#""href":"/a","rel":["item",2]"#, ".rel[1]", .type),
            (#""href":"/a","rel":["item"],"class":"x""#, ".class", .type),
            (#""href":"/a","rel":["item"],"class":["x",null]"#, ".class[1]", .type),
            (#""href":"/a","rel":["item"],"title":false"#, ".title", .type),
            ("", ".rel", .missing), (#""rel":{}"#, ".rel", .type), (#""rel":[]"#, ".rel", .emptyRelation),
            (#""rel":["item",{}]"#, ".rel[1]", .type),
            (
                #""rel":["item"],"entities":[{"rel":["item"],"links":[{"rel":["self"]}]}]"#,
                ".entities[0].links[0].href", .missing
            ),
        ].map { (members: String, path: String, rule: SirenViolation.Rule) in
            Fault("{\"entities\":[{\(members)}]}", "$.entities[0]" + path, rule)
        }

    private static let links = [
        (#""href":"/a""#, ".rel", .missing), (#""rel":"self","href":"/a""#, ".rel", .type),
        (#""rel":[["self"]],"href":"/a""#, ".rel[0]", .type), (#""rel":["self"]"#, ".href", .missing),
        (#""rel":["self"],"href":null"#, ".href", .type), (#""rel":["self"],"href":["/a"]"#, ".href", .type),
        (#""rel":["self"],"href":"/a","class":"x""#, ".class", .type),
        (#""rel":["self"],"href":"/a","title":{}"#, ".title", .type),
        (#""rel":["self"],"href":"/a","type":5"#, ".type", .type),
        (#""rel":["self"],"href":"/a","type":"siren""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"font/woff2""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/a b""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/html;  charset=utf-8""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/html; charset""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/html; charset=""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/html; a=\"b""#, ".type", .mediaType),
        (#""rel":["self"],"href":"/a","type":"text/\#(String(repeating: "x", count: 128))""#, ".type", .mediaType),
    ].map { (members: String, path: String, rule: SirenViolation.Rule) in
        Fault("{\"links\":[{\(members)}]}", "$.links[0]" + path, rule)
    }

    private static let actions = [
        (#""href":"/a""#, ".name", .missing), (#""name":"a""#, ".href", .missing),
        (#""name":1,"href":"/a""#, ".name", .type), (#""name":"a","href":1"#, ".href", .type),
        (#""name":"a","href":"/a","class":"x""#, ".class", .type),
        (#""name":"a","href":"/a","class":[[]]"#, ".class[0]", .type),
        (#""name":"a","href":"/a","method":1"#, ".method", .type),
        (#""name":"a","href":"/a","method":"post""#, ".method", .method),
        (#""name":"a","href":"/a","method":"HEAD""#, ".method", .method),
        (#""name":"a","href":"/a","title":1"#, ".title", .type),
        (#""name":"a","href":"/a","type":null"#, ".type", .type),
        (#""name":"a","href":"/a","fields":{}"#, ".fields", .type),
        (#""name":"a","href":"/a","fields":["b"]"#, ".fields[0]", .type),
    ].map { (members: String, path: String, rule: SirenViolation.Rule) in
        Fault("{\"actions\":[{\(members)}]}", "$.actions[0]" + path, rule)
    }

    private static let fields = [
        (#""type":"text""#, ".name", .missing), (#""name":null"#, ".name", .type),
        (#""name":"a","type":1"#, ".type", .type),
        (#""name":"a","type":"select""#, ".type", .fieldType), (#""name":"a","type":"submit""#, ".type", .fieldType),
        (#""name":"a","type":"Text""#, ".type", .fieldType), (#""name":"a","title":[]"#, ".title", .type),
        (#""name":"a","value":true"#, ".value", .type), (#""name":"a","value":null"#, ".value", .type),
        (#""name":"a","value":{}"#, ".value", .type), (#""name":"a","value":[1]"#, ".value[0]", .type),
        (#""name":"a","value":["b"]"#, ".value[0]", .type),
    ].map(field)

    private static let choices = [
        (#""title":"a""#, ".value", .missing), (#""value":true"#, ".value", .type), (#""value":[]"#, ".value", .type),
        (#""value":null"#, ".value", .type), (#""value":1,"title":2"#, ".title", .type),
        (#""value":1,"selected":"true""#, ".selected", .type), (#""value":1,"selected":1"#, ".selected", .type),
    ].map { (members: String, path: String, rule: SirenViolation.Rule) in
        field(#""name":"a","value":[{\#(members)}]"#, ".value[0]" + path, rule)
    }

    private static func field(_ members: String, _ path: String, _ rule: SirenViolation.Rule) -> Fault {
        Fault(
            "{\"actions\":[{\"name\":\"a\",\"href\":\"/a\",\"fields\":[{\(members)}]}]}",
            "$.actions[0].fields[0]" + path,
            rule
        )
    }

    /// What the published schema lets pass and the specification does not.
    static let passed: [Fault] =
        [
            // Relations: neither registered nor URIs, or none.
            Fault(#"{"links":[{"rel":["customer"],"href":"/a"}]}"#, "$.links[0].rel[0]", .relation),
            Fault(#"{"links":[{"rel":["self",""],"href":"/a"}]}"#, "$.links[0].rel[1]", .relation),
            Fault(#"{"links":[{"rel":["not a:uri"],"href":"/a"}]}"#, "$.links[0].rel[0]", .relation),
            Fault(#"{"links":[{"rel":["http://a/b c"],"href":"/a"}]}"#, "$.links[0].rel[0]", .relation),
            Fault(#"{"links":[{"rel":[],"href":"/a"}]}"#, "$.links[0].rel", .relation),
            Fault(#"{"entities":[{"rel":["its"]}]}"#, "$.entities[0].rel[0]", .relation),
            // References with characters that have to be escaped.
            Fault(#"{"links":[{"rel":["self"],"href":"/a b"}]}"#, "$.links[0].href", .reference),
            Fault(#"{"links":[{"rel":["self"],"href":"/ä"}]}"#, "$.links[0].href", .reference),
            Fault(#"{"links":[{"rel":["self"],"href":"/100%"}]}"#, "$.links[0].href", .reference),
            Fault(#"{"links":[{"rel":["self"],"href":"/a%2"}]}"#, "$.links[0].href", .reference),
            Fault(#"{"links":[{"rel":["search"],"href":"/a{?q}"}]}"#, "$.links[0].href", .reference),
            Fault(#"{"entities":[{"rel":["item"],"href":"a|b"}]}"#, "$.entities[0].href", .reference),
            Fault(#"{"actions":[{"name":"a","href":"<a>"}]}"#, "$.actions[0].href", .reference),
            // Names.
            Fault(
                #"{"actions":[{"name":"a","href":"/1"},{"name":"b","href":"/2"},{"name":"a","href":"/3"}]}"#,
                "$.actions[2].name",
                .doubledName
            ),
            Fault(
                #"{"actions":[{"name":"a","href":"/a","fields":[{"name":"b"},{"name":"b"}]}]}"#,
                "$.actions[0].fields[1].name",
                .doubledName
            ),
            Fault(#"{"title":"a","title":"b"}"#, "$.title", .doubledMember),
            Fault(#"{"properties":{"a":[0,{"b":1,"b":2}]}}"#, "$.properties.a[1].b", .doubledMember),
            // What is a link has no properties.
            Fault(
                #"{"entities":[{"rel":["item"],"href":"/a","properties":{"a":1}}]}"#,
                "$.entities[0].properties",
                .embeddedLink
            ),
            Fault(#"{"entities":[{"rel":["item"],"href":"/a","links":5}]}"#, "$.entities[0].links", .embeddedLink),
            Fault(#"{"entities":[{"rel":["item"],"href":5}]}"#, "$.entities[0].href", .embeddedLink),
        ]
        + [
            (#""class":"wide""#, ".class"), (#""class":[1]"#, ".class[0]"), (#""required":"required""#, ".required"),
            (#""readOnly":1"#, ".readOnly"), (#""multiple":null"#, ".multiple"), (#""min":true"#, ".min"),
            (#""max":[9]"#, ".max"), (#""step":{}"#, ".step"), (#""pattern":9"#, ".pattern"),
            (#""placeholder":false"#, ".placeholder"), (#""minlength":-1"#, ".minlength"),
            (#""maxLength":1.5"#, ".maxLength"), (#""maxlength":"9""#, ".maxlength"),
        ].map { field(#""name":"a",\#($0)"#, $1, .constraint) }
}
