import Foundation
import TestSupport
import Testing

@testable import SirenKit

/// PyPI's `ripozo` and `pysiren`, which make Siren documents.
private let witness = PythonWitness(modules: "ripozo, pysiren")

/// Documents that libraries of others make, and beside them an account of what they were told to make.
@Suite(.enabled(if: witness != nil, "ripozo is not installed: run Scripts/setup --tests")) struct OthersDocumentsTests {
    private struct Made: Decodable {
        var document: String
        var account: [String]
    }

    private static func made(by program: String) throws -> [Made] {
        try JSONDecoder().decode([Made].self, from: #require(witness).ask(program, ""))
    }

    /// One line for each thing in an entity.
    private static func account(of entity: SirenEntity) -> [String] {
        func text(_ value: SirenValue?) -> String { value.map { String(decoding: $0.json, as: UTF8.self) } ?? "" }
        func text(_ value: SirenFieldValue?) -> String {
            switch value {
            case .single(let value): value.description
            case .choices(let choices): choices.map { "\($0.value)=\($0.selected ?? false)" }.joined(separator: ",")
            case nil: ""
            }
        }
        func text(_ link: SirenLink) -> String {
            "\(link.rel.joined(separator: " ")) \(link.href) \(link.title ?? "") \(link.type ?? "")"
        }
        var lines = entity.classes.map { "class \($0)" } + (entity.title.map { ["title \($0)"] } ?? [])
        lines += entity.properties.map { "property \($0.name) \(text($0.value))" }
        lines += entity.links.map { "link \(text($0)) \($0.classes.joined(separator: " "))" }
        for action in entity.actions {
            lines.append("action \(action.name) \(action.httpMethod) \(action.href) \(action.title ?? "")")
            lines += action.fields.map { field in
                "field \(action.name) \(field.name) \(field.typeName ?? "") \(field.title ?? "") \(text(field.value))"
            }
        }
        lines += entity.entities.flatMap { sub in
            switch sub {
            case .link(let link): ["embedded \(text(link))"]
            case .representation(let inner, let rel):
                account(of: inner).map { "\(rel.joined(separator: " ")): \($0)" }
            }
        }
        return lines
    }

    private static let ripozo = """
        import json
        from ripozo import ListRelationship, Relationship, ResourceBase, apimethod, translate
        from ripozo.adapters.siren import SirenAdapter
        from ripozo.exceptions import NotFoundException
        from ripozo.resources.fields.common import IntegerField, StringField

        class Customer(ResourceBase):
            pks = ("customerId",)
            resource_name = "customers"

        class Item(ResourceBase):
            pks = ("code",)
            resource_name = "items"

        class Order(ResourceBase):
            pks = ("number",)
            resource_name = "orders"
            _relationships = (
                Relationship("author", relation="Customer", embedded=True), ListRelationship("item", relation="Item"),
            )
            _links = (Relationship("next", relation="Order"),)

            @apimethod(methods=["GET"])
            def retrieve(cls, request): pass

            @apimethod(route="/items", methods=["POST"])
            @translate(fields=[
                IntegerField("number", required=True, arg_type="url_params"),
                StringField("productCode", required=True, arg_type="body_args"),
                IntegerField("quantity", arg_type="body_args"),
            ])
            def add_item(cls, request): pass

            @apimethod(methods=["DELETE"])
            def cancel(cls, request): pass

        base = "https://shop.example/api"
        made = []
        for n in range(30):
            note = "".join(map(chr, range(30 * n + 1, 30 * n + 31)))
            properties = {
                "number": n, "total": n / 8, "note": note, "deep": {"a": [n, None, True]},
                "author": {"customerId": "c%d" % n, "name": note}, "item": [{"code": "A-%d" % i} for i in range(n % 4)],
            }
            links = {"links": {"next": {"number": n + 1}}} if n % 2 else {}
            order = "%s/orders/%d" % (base, n)
            compact = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            account = ["class orders"]
            account += ["property %s %s" % (name, compact(properties[name])) for name in ("number", "total", "note", "deep")]
            account += ["link self %s   " % order]
            account += ["link next %s/orders/%d   " % (base, n + 1)] if n % 2 else []
            account += [
                "action add_item POST %s/items Add Item" % order, "field add_item productCode str  ",
                "field add_item quantity int  ",
                "action cancel DELETE %s/ Cancel" % order, "action retrieve GET %s/ Retrieve" % order,
                "author: class customers", "author: property customerId " + compact("c%d" % n),
                "author: property name " + compact(note), "author: link self %s/customers/c%d   " % (base, n),
            ]
            account += ["embedded item %s/items/A-%d  " % (base, i) for i in range(n % 4)]
            document = SirenAdapter(Order(properties=properties, meta=links), base_url=base).formatted_body
            made.append({"document": document, "account": account})
        document, type, status = SirenAdapter.format_exception(NotFoundException("no order 99"))
        assert type == "application/vnd.siren+json"
        account = ["class exception", "class NotFoundException", 'property message "no order 99"', "property status 404"]
        made.append({"document": document, "account": account})
        print(json.dumps(made))
        """

    @Test("[real ripozo] what ripozo makes is read as it was meant")
    func ripozo() throws {
        let all = try Self.made(by: Self.ripozo)
        #expect(all.count == 31)
        for made in all {
            let document = try SirenDocument(decoding: Array(made.document.utf8))
            let account = Self.account(of: document.entity).sorted()
            #expect(account == made.account.sorted())
            // Its fields have the names of types of Python.
            let isOrder = document.entity.classes == ["orders"]
            #expect(document.violations.map(\.rule) == (isOrder ? [.fieldType, .fieldType] : []))
            guard isOrder else { continue }
            let action = try #require(document.entity.actions.first(name: "add_item"))
            let form = try action.form(["productCode": "A-1", "quantity": 3])
            #expect(form.entries.map(\.name) == ["productCode", "quantity"])
            #expect(throws: SirenRequestError.self) { try action.form(["quantity": 3]) }
        }
    }

    private static let pysiren = """
        import json
        from pysiren import *
        from pysiren.renderer import Renderer

        fields, told = [], []
        for type in FieldType:
            choices = type in (FieldType.RADIO, FieldType.CHECKBOX)
            value = [FieldValueObject("a", "A", True), FieldValueObject("b")] if choices else "v & w"
            fields.append(Field(type.value, "A " + type.value, value, type))
            told.append("%s %s A %s %s" % (type.value, type.value, type.value, "a=True,b=False" if choices else "v & w"))
        actions = [
            Action("a-" + method.value, "/orders/42", "An ä", method, ["c"], MediaType("application/json"), fields)
            for method in Method
        ]
        relations = list(PredefRelValue)
        inner = EmbeddedRepresentationSubEntity(
            ["item"], [PredefRelValue.ITEM], "In", {"code": "A-1"},
            links=[Link([PredefRelValue.SELF], "/items/A-1")], actions=[Action("take", "/items/A-1")],
        )
        entity = Entity(
            ["order", "paid"], "Ördér", {"number": 42, "deep": {"a": [1.5, True, {}]}}, [inner],
            [Link([r], "/r/%d" % i, "L", MediaType("text/html"), ["x", "y"]) for i, r in enumerate(relations)], actions,
        )
        account = [
            "class order", "class paid", "title Ördér", "property number 42", 'property deep {"a":[1.5,true,{}]}',
            "item: class item", "item: title In", 'item: property code "A-1"', "item: link self /items/A-1   ",
            "item: action take GET /items/A-1 ",
        ]
        account += ["link %s /r/%d L text/html x y" % (r.value, i) for i, r in enumerate(relations)]
        for method in Method:
            account.append("action a-%s %s /orders/42 An ä" % (method.value, method.value))
            account += ["field a-%s %s" % (method.value, line.replace("True", "true").replace("False", "false")) for line in told]
        print(json.dumps([{"document": json.dumps(Renderer(entity).render()), "account": account}]))
        """

    @Test("[real ripozo] what pysiren makes is read strictly, and written by us is the same")
    func pysiren() throws {
        let made = try #require(try Self.made(by: Self.pysiren).first)
        let entity = try SirenDocument(decoding: Array(made.document.utf8), .strict).entity
        #expect(Self.account(of: entity).sorted() == made.account.sorted())
        #expect(made.account.count > 150)
        let again = try SirenDocument(decoding: entity.encoded(), .strict).entity
        #expect(again == entity)
    }
}
