import TestSupport
import Testing

@testable import SirenKit

/// Links, entities, actions and fields are found by what they are.
@Suite struct SirenSelectionTests {
    private let orders: SirenEntity

    init() throws { orders = try SirenDocument(decoding: fixture("orders.json")).entity }

    @Test func linksAreFound() {
        #expect(orders.links.first(rel: "self")?.href == "/orders?page=1")
        #expect(orders.links.first(rel: "NEXT")?.href == "/orders?page=2")
        #expect(orders.links.first(rel: "prev") == nil)
        #expect(orders.links.first(type: "Application/VND.siren+json ; q=1")?.rel == ["next"])
        #expect(orders.links.all().count == 2 && orders.links.all(rel: "self", type: "text/html").isEmpty)
        #expect(orders.links.first(name: "self") == nil)
    }

    @Test func entitiesAreFound() {
        #expect(orders.entities.all(rel: "item").count == 2)
        #expect(
            orders.entities.all(rel: "HTTPS://shop.example/rels/ITEMS").compactMap(\.link?.href) == ["/orders/1/items"]
        )
        #expect(orders.entities.first(class: "collection", "items")?.rel.count == 2)
        #expect(orders.entities.first(class: "collection", "order") == nil)
        #expect(orders.entities.first(title: "Items")?.link?.type == "application/vnd.siren+json; charset=utf-8")
        #expect(orders.entities.first(type: "application/vnd.siren+json")?.link?.title == "Items")
        #expect(orders.entities.first(class: "order")?.entity?.links.first(class: "canonical")?.title == "Order 1")
    }

    @Test func actionsAndFieldsAreFound() throws {
        let find = try #require(orders.actions.first(name: "find"))
        #expect(orders.actions.first(class: "search") == find && orders.actions.first(name: "Find") == nil)
        #expect(orders.actions.all(type: "application/json").map(\.name) == ["drop"])
        #expect(find.fields.first(name: "sort")?.title == "Order by")
        #expect(find.fields.all(type: "search").map(\.name) == ["q"] && find.fields.first(class: "wide")?.name == "q")
        #expect(find.fields.first(title: "Order by")?.type == .radio)
        #expect([SirenField(name: "a")].first(type: "text") != nil)
    }

    static let relations: [(String, Bool)] = [
        ("self", true), ("Self", true), ("convertedFrom", true), ("working-copy-of", true), ("service-desc", true),
        ("https://shop.example/rels/items", true), ("urn:x:y", true), ("customer", false), ("", false), (":a", false),
        ("1a:b", false), ("a b:c", false), ("http://a b/", false), ("http://a/ä", false), ("http://a/%zz", false),
    ]

    @Test(arguments: relations) func relationsAreRegisteredOrURIs(_ relation: String, _ isValid: Bool) {
        #expect(SirenRelation.isValid(relation) == isValid)
    }

    @Test func relationsAreComparedWithoutCase() {
        #expect(SirenRelation.isSame("Next", "nEXT") && SirenRelation.isSame("http://A/B", "http://a/b"))
        #expect(!SirenRelation.isSame("next", "nexta") && !SirenRelation.isSame("[", "{"))
        #expect(!SirenRelation.isSame("Ä", "ä") && !SirenRelation.isSame("@", "`"))
    }
}
