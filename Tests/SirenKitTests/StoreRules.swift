import Foundation
import Testing

@testable import SirenKit

/// What every store has to do; one with room for 20 records.
enum StoreRules {
    static let api = URL(string: "https://a.example/") ?? URL(fileURLWithPath: "/")

    static func record(
        _ guid: String,
        _ url: String = "https://a.example/x",
        _ extent: SirenRecord.Extent = .document,
        at: Double = 0,
        expires: Double = 60,
        isTrusted: Bool = true,
        api: URL = api,
        _ name: String = "a"
    ) -> SirenRecord {
        SirenRecord(
            guid: guid,
            api: api,
            url: URL(string: url) ?? URL(fileURLWithPath: "/"),
            isTrusted: isTrusted,
            extent: extent,
            entity: SirenEntity(
                classes: ["order"],
                entities: [.link(SirenLink(rel: ["x:b"], href: "https://a.example/b"))],
                links: [
                    SirenLink(rel: ["self"], href: url),
                    SirenLink(rel: ["next"], href: "https://a.example/{?c}"),
                ],
                actions: [
                    SirenAction(
                        name: name,
                        href: url,
                        method: "POST",
                        fields: [
                            SirenField(name: "f", type: .hidden, value: 1), SirenField(name: "g", type: .file),
                        ]
                    )
                ]
            ),
            entityTag: "\"é\"",
            lastModified: nil,
            at: Date(timeIntervalSince1970: at),
            expires: Date(timeIntervalSince1970: expires)
        )
    }

    static func check(_ store: any SirenStore) async throws {
        func name(_ guid: String) async throws -> String? {
            try await store.record(guid: guid, api: api)?.entity.actions[0].name
        }

        try await store.keep([record("1"), record("ä'\"", "https://b.example:444/y")])
        #expect(try await store.record(guid: "1", api: api) == record("1"))
        #expect(try await store.record(guid: "ä'\"", api: api) == record("ä'\"", "https://b.example:444/y"))
        #expect(try await store.record(guid: "2", api: api) == nil)

        // Nothing but the bytes of a GUID counts.
        let guids = ["42", "42\0", "42\0x", "\0", "é", "e\u{301}", "É"]
        for guid in guids { try await store.keep([record(guid, "https://g.example/x", .document, guid)]) }
        for guid in guids {
            let found = try await store.record(guid: guid, api: api)
            for text in [found?.guid, found?.entity.actions[0].name] {
                #expect(text.map { Array($0.utf8) } == Array(guid.utf8))
            }
        }

        // Less of an entity does not replace more that is fresh; as much does.
        try await store.keep([record("1", "https://a.example/x", .embedded, at: 60, "less")])
        #expect(try await name("1") == "a")
        try await store.keep([record("1", "https://a.example/x", .document, at: 61, "same")])
        #expect(try await name("1") == "same")
        try await store.keep([record("1", "https://a.example/x", .link, at: 61.5, expires: 99, "link")])
        #expect(try await name("1") == "link")

        // Another server loses as soon as the API shows the least, and never wins.
        let theirs = record("theirs", expires: 1e9, isTrusted: false, "theirs")
        try await store.keep([theirs])
        #expect(try await store.record(guid: "theirs", api: api) == theirs)
        try await store.keep([record("theirs", "https://a.example/x", .link, expires: 1, "ours")])
        #expect(try await name("theirs") == "ours")
        try await store.keep([record("theirs", at: 1e9, isTrusted: false, "theirs")])
        #expect(try await name("theirs") == "ours")

        let later = Date(timeIntervalSince1970: 500)
        try await store.renew(url: record("1").url, api: api, at: later, expires: later)
        #expect(try await store.record(guid: "1", api: api)?.expires == later)
        #expect(try await store.record(guid: "1", api: api)?.at == later)
        #expect(try await store.record(guid: "ä'\"", api: api)?.expires != later)

        try await store.forget(url: record("1").url, api: api)
        #expect(try await store.record(guid: "1", api: api) == nil)
        #expect(try await store.record(guid: "ä'\"", api: api) != nil)

        // Origins: without the usual port and in another case it is the same one.
        let urls = [
            "https://c.example/x", "https://c.example:443/y", "https://C.example/z", "http://c.example/x",
            "https://c.example:444/x", "https://sub.c.example/",
        ]
        try await store.keep(urls.map { record($0, $0) })
        try await store.wipe(origin: URL(string: "https://c.example/any"), api: nil)
        for (index, url) in urls.enumerated() {
            #expect(try await (store.record(guid: url, api: api) == nil) == (index < 3), "\(url)")
        }

        // Of another API nothing is seen, renewed, forgotten or wiped, unless all of an origin is.
        let other = URL(string: "https://a.example/other")
        let another = record(urls[4], urls[4], .link, isTrusted: false, api: try #require(other), "another")
        try await store.keep([another])
        #expect(try await name(urls[4]) == "a")
        try await store.renew(url: another.url, api: api, at: later, expires: later)
        try await store.wipe(origin: another.url, api: api)
        #expect(try await store.record(guid: urls[4], api: api) == nil)
        #expect(try await store.record(guid: urls[4], api: another.api) == another)
        try await store.keep([record(urls[4], urls[4])])
        try await store.forget(url: another.url, api: api)
        #expect(try await store.record(guid: urls[4], api: another.api) == another)
        try await store.wipe(origin: nil, api: api)
        #expect(try await store.record(guid: urls[5], api: api) == nil)
        #expect(try await store.record(guid: urls[4], api: another.api) == another)
        try await store.keep([record(urls[4], urls[4])])
        try await store.wipe(origin: another.url, api: nil)
        #expect(try await store.record(guid: urls[4], api: api) == nil)
        #expect(try await store.record(guid: urls[4], api: another.api) == nil)
        try await store.keep([record(urls[4], urls[4]), another])
        try await store.wipe(origin: nil, api: nil)
        #expect(try await store.record(guid: urls[4], api: another.api) == nil)
        #expect(try await store.record(guid: urls[4], api: api) == nil)

        // What is not trusted makes room, then the oldest.
        try await store.keep((0..<10).map { record("n\($0)", at: Double($0)) })
        for number in 0..<30 { try await store.keep([record("f\(number)", at: 100, isTrusted: false)]) }
        for number in 0..<10 { #expect(try await store.record(guid: "n\(number)", api: api) != nil) }
        for number in 0..<21 { try await store.keep([record("n\(number)", at: Double(number))]) }
        #expect(try await store.record(guid: "n0", api: api) == nil)
        #expect(try await store.record(guid: "n20", api: api) != nil)
        var count = 0
        for number in 0..<21 where try await store.record(guid: "n\(number)", api: api) != nil { count += 1 }
        #expect((15...20).contains(count))
    }

    /// What a store with room for 10,000 bytes has to do.
    static func checkBytes(_ store: any SirenStore) async throws {
        func count(_ guids: [String]) async throws -> Int {
            var count = 0
            for guid in guids where try await store.record(guid: guid, api: api) != nil { count += 1 }
            return count
        }
        let guids = (0..<100).map { "\($0)" }
        for (index, guid) in guids.enumerated() { try await store.keep([record(guid, at: Double(index))]) }
        #expect(try await (5...30).contains(count(guids)))
        #expect(try await store.record(guid: "99", api: api) != nil)
        // Each text counts that a server chooses.
        let long = (0..<10).map { "\($0)" + String(repeating: "x", count: 3000) }
        for (index, guid) in long.enumerated() { try await store.keep([record(guid, at: Double(100 + index))]) }
        #expect(try await (1...3).contains(count(long)))
        #expect(try await count(guids) == 0)
        for (index, text) in long.enumerated() {
            var record = record("tag\(index)", at: Double(200 + index))
            record.entityTag = text
            try await store.keep([record])
        }
        #expect(try await (1...3).contains(count((0..<10).map { "tag\($0)" })))
    }
}
