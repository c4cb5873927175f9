import Foundation
import TestSupport
import Testing

@testable import SirenKit

/// Paths lead to values, and mappings from entities to what these are known by.
@Suite struct SirenGUIDTests {
    private static func entity(_ text: String) throws -> SirenEntity { try SirenDocument(text).entity }

    static let document = #"""
        {"class":["order","open"],"title":"Order 42","kind":"online",
        "properties":{"orderNumber":42,"big":9223372036854775808,"one":1.0,"deep":{"list":[{"id":"a"},{"id":"b"}]},
        "flag":true,"none":null,"href":"/p"},
        "links":[{"rel":["this","self"],"href":"/orders/42","title":"It"},
        {"rel":["next"],"href":"/orders/43","class":["a"]}],
        "entities":[{"class":["items","collection"],"rel":["x:items"],"href":"/orders/42/items"},
        {"class":["customer"],"rel":["x:customer"],"properties":{"id":7}}],
        "actions":[{"name":"add","title":"Add an item","href":"/add","fields":[{"name":"count","value":3}]},
        {"name":"drop","href":"/drop","method":"DELETE"}]}
        """#

    static let paths: [(String, String?)] = [
        ("properties.orderNumber", "42"), ("properties.big", "9223372036854775808"), ("properties.one", "1.0"),
        ("properties.deep.list[1].id", "b"), ("properties.deep.list.id", "a"), ("properties.deep.list[@id=b].id", "b"),
        ("properties.none", nil), ("properties.flag", nil), ("properties", nil), ("properties.deep", nil),
        ("properties.orderNumber.x", nil), ("title", "Order 42"), ("kind", "online"), ("nothing", nil), ("href", nil),
        ("class[0]", "order"), ("class[2]", nil), ("class", nil),
        ("links[0].href", "/orders/42"), ("sirenLinks[0].href", "/orders/42"), ("links[2].href", nil),
        ("links[@rel~self].href", "/orders/42"), ("links[@rel~SELF].href", "/orders/42"),
        ("links[@rel=self].href", nil),
        ("links[@rel=this, self].href", "/orders/42"), ("links[@rel=next].href", "/orders/43"),
        ("links[@rel~el].href", nil), ("sirenLinks[@title=It].href", "/orders/42"),
        ("links[@class~a].href", "/orders/43"),
        ("links[@rel~next][@class=a][0].href", "/orders/43"), ("links[@rel~next][@class=b].href", nil),
        ("links[@nothing=].href", nil),
        ("entities[@class~collection].href", "/orders/42/items"), ("sirenEntities[1].properties.id", "7"),
        ("entities[@class=items, collection].class[1]", "collection"),
        ("actions[@method=DELETE].name", "drop"), ("sirenActions[@title~an item].name", "add"),
        ("sirenActions[@name=add].sirenFields[@value=3].name", "count"), ("actions.name", "add"),
    ]

    @Test(arguments: paths) func pathsLeadToValues(_ path: String, _ text: String?) throws {
        #expect(try SirenPath(path).text(in: Self.entity(Self.document)) == text)
    }

    static let malformed: [(String, Int)] = [
        ("", 0), (".", 0), ("a.", 2), ("a..b", 2), ("a[", 2), ("a[0", 2), ("a[]", 2), ("a[-1]", 2), ("a[x]", 2),
        ("a[@]", 2), ("a[@=b]", 2), ("a[@b]", 2), ("a[0]b", 4), ("[0]", 0), ("a[99999999999999999999]", 2),
    ]

    @Test(arguments: malformed) func malformedPathsAreRefused(_ path: String, _ offset: Int) {
        #expect {
            _ = try SirenPath(path)
        } throws: { error in
            (error as? SirenPath.Malformed)?.offset == offset
        }
    }

    @Test func anyPathIsReadOrRefused() throws {
        var random = SeededNumbers(seed: 4)
        let parts = [
            "links", "entities", "properties", ".", "[", "]", "[@rel~", "[@rel=", "self]", "next]", "[0]", "[1]",
            ".href",
            ".one", ".class", "title",
        ]
        let entity = try Self.entity(Self.document)
        var found = 0
        for _ in rounds(4000) {
            let count = Int.random(in: 1...6, using: &random)
            let text = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            if let path = try? SirenPath(text), path.text(in: entity) != nil { found += 1 }
        }
        #expect(found > 4)
    }

    private let base = URL(string: "https://shop.example/orders?page=1")

    @Test func entitiesAreKnownByTheirMapping() throws {
        let mapping = try SirenGUIDMapping(["order": "properties.orderNumber", "items, collection": "href"])
        let identities = mapping.identities(in: try Self.entity(Self.document), base: base)
        // The customer has no key and no link to itself.
        #expect(identities.all.map(\.guid) == ["42", "https://shop.example/orders/42/items", nil])
        #expect(identities.all.map(\.path) == ["$", "$.entities[0]", "$.entities[1]"])
        #expect(identities.problems.isEmpty)
    }

    @Test func withoutAMappingURLsCount() throws {
        let identities = SirenGUIDMapping().identities(in: try Self.entity(Self.document), base: base)
        #expect(
            identities.all.map(\.guid) == [
                "https://shop.example/orders/42", "https://shop.example/orders/42/items", nil,
            ]
        )
        let relative = SirenGUIDMapping().identities(in: try Self.entity(Self.document), base: nil)
        #expect(relative.all.map(\.guid) == [nil, nil, nil])
    }

    @Test func theLargestMatchWins() throws {
        let mapping = try SirenGUIDMapping([
            "": "title", "order": "properties.orderNumber", "open , order": "links[@rel~self].href",
        ])
        let identities = mapping.identities(in: try Self.entity(Self.document), base: base)
        #expect(identities.all[0].guid == "https://shop.example/orders/42")
        #expect(identities.all[1].guid == nil)
        #expect(
            identities.problems == [
                .missing(at: "$.entities[0]", path: "title"), .missing(at: "$.entities[1]", path: "title"),
            ]
        )
    }

    @Test func onlyTheBytesOfGUIDsCount() throws {
        let mapping = try SirenGUIDMapping(["": "title"])
        let entities: [SirenSubEntity] = ["é", "e\u{301}", "é", "42", "42\0x"].map {
            .link(SirenLink(rel: ["item"], href: "/", title: $0))
        }
        let identities = mapping.identities(in: SirenEntity(title: "x", entities: entities), base: nil)
        #expect(
            identities.problems == [.doubled(at: "$.entities[2]", first: "$.entities[0]", guid: "é")]
        )
        #expect(identities.all.compactMap(\.guid).count == 5)
    }

    @Test func tiesAreTold() throws {
        let mapping = try SirenGUIDMapping(["order": "properties.orderNumber", "open": "properties.big", "closed": "x"])
        let identities = mapping.identities(in: try Self.entity(Self.document), base: base)
        #expect(identities.all[0].guid == "9223372036854775808")
        #expect(identities.problems == [.tie(at: "$", keys: ["open", "order"])])
    }

    @Test func missingPathsAndDoubledGUIDsAreTold() throws {
        let entity = try Self.entity(
            #"""
            {"class":["order"],"entities":[{"class":["item"],"rel":["item"],"href":"/1","id":1},
            {"class":["item"],"rel":["item"],"id":1},{"class":["item"],"rel":["item"],"id":1}]}
            """#
        )
        let mapping = try SirenGUIDMapping(["order": "properties.number", "item": "id"])
        let identities = mapping.identities(in: entity, base: nil)
        #expect(identities.all.map(\.guid) == [nil, nil, "1", nil])
        #expect(
            identities.problems == [
                .missing(at: "$", path: "properties.number"),
                .doubled(at: "$.entities[0]", first: "$.entities[1]", guid: "1"),
                .doubled(at: "$.entities[2]", first: "$.entities[1]", guid: "1"),
            ]
        )
    }

    @Test func aPropertyIsNoReference() throws {
        let entity = try Self.entity(Self.document)
        #expect(try SirenGUIDMapping(["": "properties.href"]).identities(in: entity, base: base).all[0].guid == "/p")
    }

    /// RFC 3986, 5.4.
    static let references: [(String, String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        // Not of RFC 3986, but of many servers.
        ("?a[b]=1", "http://a/b/c/d;p?a%5Bb%5D=1"), ("g?y#[s]", "http://a/b/c/g?y#%5Bs%5D"),
    ]

    @Test(arguments: references) func referencesAreResolved(_ reference: String, _ url: String) {
        let base = URL(string: "http://a/b/c/d;p?q")
        #expect(SirenReference.resolve(reference, against: base)?.absoluteString == url)
    }

    @Test func whatIsNoReferenceIsNotResolved() {
        for text in ["a b", "http://[", "g[1]", "http://a:b/", "%", "ä"] {
            #expect(SirenReference.resolve(text, against: base) == nil, "\(text)")
        }
        #expect(SirenReference.resolve("/a", against: nil) == nil)
    }
}
