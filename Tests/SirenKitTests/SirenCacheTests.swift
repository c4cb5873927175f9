import Foundation
import GRDB
import TestSupport
import Testing

@testable import SirenCache
@testable import SirenKit

/// What is kept in a file outlasts the process.
@Suite(.timeLimit(.minutes(10))) final class SirenCacheTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "siren-\(UUID().uuidString)"
    ).path
    private var path: String { folder + "/cache.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    @Test func theFileKeepsTheStoresRules() async throws {
        try await StoreRules.check(FileSirenStore(path: path, capacity: 20))
    }

    @Test func aClientGoesOnAfterARestart() async throws {
        let url = "https://shop.example/orders/42"
        let shop = Shop([
            "GET \(url)": [.siren(SirenClientTests.order)],
            "GET https://shop.example/orders/43": [.siren("{}")],
        ])
        _ = try await SirenClient(shop.transport, store: FileSirenStore(path: path)).follow(
            SirenLink(rel: [], href: url)
        )
        let transport = shop.transport
        let client = try SirenClient(transport, store: FileSirenStore(path: path))
        _ = try await client.follow(rel: "next", ofEntityWithGUID: url)
        _ = try await client.submit(actionNamed: "add", onEntityWithGUID: url, parameters: ["count": 2])
        #expect(
            transport.lines == [
                "GET https://shop.example/orders/43", "POST https://shop.example/orders/items?new",
            ]
        )
    }

    @Test func aChangeThatIsCancelledForgets() async throws {
        let url = "https://shop.example/orders/42"
        let (started, start) = AsyncStream<Void>.makeStream()
        let transport = InMemoryTransport { request in
            guard request.method == "DELETE" else { return .siren(SirenClientTests.order) }
            start.yield()
            try await Task.sleep(for: .seconds(600))
            return SirenResponse()
        }
        let client = try SirenClient(transport, store: FileSirenStore(path: path))
        _ = try await client.follow(SirenLink(rel: [], href: url))
        let task = Task { try await client.submit(actionNamed: "drop", onEntityWithGUID: url) }
        var starts = started.makeAsyncIterator()
        await starts.next()
        _ = try await client.link(rel: "next", ofEntityWithGUID: url)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: SirenRequestError.linkNotFound(rel: "next", guid: url)) {
            try await client.link(rel: "next", ofEntityWithGUID: url)
        }
    }

    @Test func severalAPIsShareTheFile() async throws {
        func client(_ host: String) throws -> (SirenClient, InMemoryTransport) {
            let document = #"{"links":[{"rel":["self"],"href":"/42"}],"properties":{"id":42}}"#
            let shop = Shop(["GET https://\(host)/api/": [.siren(document)]])
            var session = shop.session
            session.mapping = try SirenGUIDMapping(["": "properties.id"])
            let store = try FileSirenStore(path: path)
            let transport = shop.transport
            return (try SirenClient(transport, session, base: "https://\(host)/api", store: store), transport)
        }
        let (one, ones) = try client("one.example")
        let (other, others) = try client("other.example")
        _ = try await one.manifest()
        await #expect(throws: SirenRequestError.linkNotFound(rel: "self", guid: "42")) {
            try await other.follow(rel: "self", ofEntityWithGUID: "42")
        }
        _ = try await other.manifest()
        _ = try await one.follow(rel: "self", ofEntityWithGUID: "42")
        _ = try await other.follow(rel: "self", ofEntityWithGUID: "42")
        #expect(ones.lines.last == "GET https://one.example/42")
        #expect(others.lines.last == "GET https://other.example/42")
        try await one.wipe()
        await #expect(throws: SirenRequestError.linkNotFound(rel: "self", guid: "42")) {
            try await one.link(rel: "self", ofEntityWithGUID: "42")
        }
        _ = try await other.link(rel: "self", ofEntityWithGUID: "42")
    }

    @Test func onlyItsOwnerReadsTheFile() async throws {
        let cache = try FileSirenStore(path: path)
        try await cache.keep([StoreRules.record("1")])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(files.contains("cache.sqlite") && files.count > 1)
        for file in files {
            let mode =
                try FileManager.default.attributesOfItem(atPath: folder + "/" + file)[.posixPermissions]
                as? Int
            #expect(mode == 0o600, "\(file)")
        }
    }

    @Test func aFileThatOthersReadBecomesItsOwners() async throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        #expect(chmod(path, 0o666) == 0)
        let cache = try FileSirenStore(path: path)
        try await cache.keep([StoreRules.record("1")])
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            #expect(chmod(folder + "/" + file, 0o644) == 0)
        }
        let again = try FileSirenStore(path: path)
        try await again.keep([StoreRules.record("2")])
        #expect(try await again.record(guid: "1", api: StoreRules.api) != nil)
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
        _ = cache
    }

    @Test func aFileAtTheEndOfALinkIsTaken() async throws {
        let link = folder + "/link.sqlite"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(throws: (any Error).self) { try FileSirenStore(path: link) }
        try await FileSirenStore(path: path).keep([StoreRules.record("1")])
        #expect(try await FileSirenStore(path: link).record(guid: "1", api: StoreRules.api) != nil)
        let other = folder + "/other"
        try Data("none of yours".utf8).write(to: URL(fileURLWithPath: other))
        try FileManager.default.createSymbolicLink(atPath: folder + "/no", withDestinationPath: other)
        #expect(throws: FileSirenStore.NotACache.self) { try FileSirenStore(path: self.folder + "/no") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: other)) == Data("none of yours".utf8))
    }

    @Test func aFileOfALaterVersionIsBegunAnew() async throws {
        try await FileSirenStore(path: path).keep([StoreRules.record("1")])
        try await DatabaseQueue(path: path).write { db in
            try db.execute(
                sql: "DROP TABLE record; CREATE TABLE record (a); CREATE TABLE more (b); PRAGMA user_version = 99"
            )
        }
        let cache = try FileSirenStore(path: path)
        try await cache.keep([StoreRules.record("2")])
        #expect(try await cache.record(guid: "1", api: StoreRules.api) == nil)
        #expect(try await cache.record(guid: "2", api: StoreRules.api) != nil)
    }

    @Test func whatIsWipedIsGone() async throws {
        let cache = try FileSirenStore(path: path)
        for round in 0..<50 {
            try await cache.keep([StoreRules.record("\(round)", "https://a.example/geheim/\(round)")])
        }
        #expect(try bytes().contains("geheim"))
        try await cache.wipe(origin: URL(string: "https://a.example"))
        #expect(try !bytes().contains("geheim"))
    }

    /// All that is in the files, as text.
    private func bytes() throws -> String {
        try FileManager.default.contentsOfDirectory(atPath: folder).map { file in
            String(
                decoding: try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file)),
                as: UTF8.self
            )
        }.joined()
    }

    @Test func bytesAreBounded() async throws {
        try await StoreRules.checkBytes(FileSirenStore(path: path, capacity: .max, bytes: 10_000))
    }

    @Test func otherFilesStayAsTheyAre() throws {
        for text in ["a", String(repeating: "text ", count: 1000)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: FileSirenStore.NotACache(path: path)) { try FileSirenStore(path: path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
        }
        #expect(throws: POSIXError.self) { try FileSirenStore(path: folder + "/no/cache") }
    }

    @Test func aFileThatWasHardlyBegunIsTaken() async throws {
        do { try await DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE a (b); DROP TABLE a") } }
        let cache = try FileSirenStore(path: path)
        try await cache.keep([StoreRules.record("1")])
        #expect(try await cache.record(guid: "1", api: StoreRules.api) != nil)
    }

    @Test func tablesOfOthersStayAsTheyAre() async throws {
        let other = try DatabaseQueue(path: path)
        try await other.write { try $0.execute(sql: "CREATE TABLE a (b)") }
        #expect(throws: FileSirenStore.NotACache(path: path)) { try FileSirenStore(path: path) }
        #expect(try await other.read { try $0.tableExists("a") })
    }

    @Test func damagedCachesAreBegunAnew() async throws {
        do { try await FileSirenStore(path: path).keep([StoreRules.record("1")]) }
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in 100..<data.count { data[index] = 0xA5 }
        try data.write(to: URL(fileURLWithPath: path))
        for file in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
        let cache = try FileSirenStore(path: path)
        #expect(try await cache.record(guid: "1", api: StoreRules.api) == nil)
        try await cache.keep([StoreRules.record("2")])
        #expect(try await cache.record(guid: "2", api: StoreRules.api) != nil)
    }

    /// What becomes of the first page of a file that still has the mark of a cache.
    static let firstPages: [@Sendable (Data) -> Data] = [
        { Data(repeating: 0xA5, count: 16) + $0.dropFirst(16) }, { $0.prefix(72) }, { $0.prefix(511) },
        { $0.prefix(68) + $0[68..<72] + Data(repeating: 0, count: $0.count - 72) },
        { Data(repeating: 0, count: 68) + $0[68..<72] + Data(repeating: 0, count: $0.count - 72) },
    ]

    @Test(arguments: firstPages.indices) func aDamagedFirstPageIsBegunAnew(_ index: Int) async throws {
        do { try await FileSirenStore(path: path).keep([StoreRules.record("1")]) }
        for file in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try Self.firstPages[index](data).write(to: URL(fileURLWithPath: path))
        let cache = try FileSirenStore(path: path)
        #expect(try await cache.record(guid: "1", api: StoreRules.api) == nil)
        try await cache.keep([StoreRules.record("2")])
        #expect(try await cache.record(guid: "2", api: StoreRules.api) != nil)
    }

    /// Whoever has it open knows that it is one.
    @Test func anOpenCacheWithoutItsMarkIsBegunAnew() async throws {
        let (one, other) = (try FileSirenStore(path: path), try FileSirenStore(path: path))
        try await other.keep([StoreRules.record("1")])
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: [UInt8](repeating: 0xA5, count: Self.page))
        try file.truncate(atOffset: UInt64(Self.page))
        try file.close()
        for end in ["-wal", "-shm"] { unlink(path + end) }
        for cache in [one, other] {
            try await cache.keep([StoreRules.record("2")])
            #expect(try await cache.record(guid: "2", api: StoreRules.api) != nil)
        }
    }

    private static let page = 4096

    /// Keeps enough for several pages, and returns the file.
    private func fill() async throws -> Data {
        do { try await FileSirenStore(path: path).keep((0..<200).map { StoreRules.record("\($0)") }) }
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(data.count > 20 * Self.page)
        return data
    }

    @Test func damageOfAnyPageIsNoticed() async throws {
        let whole = try await fill()
        for page in 1..<whole.count / Self.page {
            var data = whole
            let bytes = page * Self.page..<(page + 1) * Self.page
            data.replaceSubrange(bytes, with: [UInt8](repeating: 0xA5, count: Self.page))
            for file in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + file) }
            try data.write(to: URL(fileURLWithPath: path))
            let cache = try FileSirenStore(path: path)
            for guid in ["0", "100", "199"] {
                #expect(try await cache.record(guid: guid, api: StoreRules.api) == nil, "page \(page)")
            }
            try await cache.keep([StoreRules.record("x")])
            #expect(try await cache.record(guid: "x", api: StoreRules.api) != nil)
        }
    }

    @Test func damageOfAnOpenFileIsNoError() async throws {
        let whole = try await fill()
        let (one, other) = (try FileSirenStore(path: path), try FileSirenStore(path: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(Self.page))
        try file.write(contentsOf: [UInt8](repeating: 0xA5, count: whole.count - Self.page))
        try file.close()
        // Then the first no longer goes by what it remembers of the file.
        try await other.keep([StoreRules.record("y")])
        #expect(try await one.record(guid: "0", api: StoreRules.api) == nil)
        try await one.keep([StoreRules.record("x")])
        let next = try FileSirenStore(path: path)
        for cache in [one, next] { #expect(try await cache.record(guid: "x", api: StoreRules.api) != nil) }
    }

    @Test func aRecordThatWasDamagedIsNotThere() async throws {
        do { try await FileSirenStore(path: path).keep([StoreRules.record("1"), StoreRules.record("2")]) }
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let entity = try #require(data.range(of: Data(StoreRules.record("1").entity.json)))
        data[entity.lowerBound] = 0xA5
        try data.write(to: URL(fileURLWithPath: path))
        let cache = try FileSirenStore(path: path)
        let records = [
            try await cache.record(guid: "1", api: StoreRules.api),
            try await cache.record(guid: "2", api: StoreRules.api),
        ]
        #expect(records.compactMap(\.self).count == 1)
    }

    @Test func processesShareTheFile() async throws {
        let caches = try (0..<4).map { _ in try FileSirenStore(path: path) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, cache) in caches.enumerated() {
                group.addTask {
                    for round in 0..<25 { try await cache.keep([StoreRules.record("\(index)-\(round)")]) }
                }
            }
            try await group.waitForAll()
        }
        for index in 0..<4 {
            #expect(try await caches[3 - index].record(guid: "\(index)-24", api: StoreRules.api) != nil)
        }
    }
}

/// What is kept outlasts a process that is killed.
@Suite final class SirenCacheKillTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "siren-\(UUID().uuidString)"
    ).path
    private var path: String { folder + "/cache.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    @Test func aCacheThatWasHardlyBegunIsBegunAgain() async throws {
        var random = SeededNumbers(seed: 10)
        for round in 0..<50 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try Self.writer)
            process.arguments = [path + "\(round)"]
            process.standardOutput = FileHandle.nullDevice
            try process.start()
            let file = path + "\(round)"
            try await until("the file is there") { FileManager.default.fileExists(atPath: file) }
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<5000, using: &random)))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let cache = try FileSirenStore(path: path + "\(round)")
            try await cache.keep([StoreRules.record("x")])
            #expect(try await cache.record(guid: "x", api: StoreRules.api) != nil)
        }
    }

    private static var writer: String {
        get throws {
            try #require(Bundle.main.executableURL).deletingLastPathComponent().path + "/siren-cache-writer"
        }
    }

    @Test func aKilledProcessLeavesTheFileReadable() async throws {
        var random = SeededNumbers(seed: 9)
        var (kept, cut) = (0, 0)
        for _ in 0..<200 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: try Self.writer)
            process.arguments = [path]
            let output = Pipe()
            process.standardOutput = output
            try process.start()
            // It says when it begins.
            _ = try output.fileHandleForReading.read(upToCount: 1)
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<20_000, using: &random)))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            if process.terminationReason == .uncaughtSignal { cut += 1 }

            let cache = try FileSirenStore(path: path)
            for number in 0..<20 {
                guard let record = try await cache.record(guid: "\(number)", api: StoreRules.api) else { continue }
                kept += 1
                let places: [String] = record.entity.links.map(\.href)
                #expect(places.allSatisfy { $0.hasPrefix("https://a.example/\(number)/") })
                // A record is of one time, as a whole.
                #expect(Set(places.map { $0.split(separator: "/").last }).count == 1)
            }
        }
        #expect(cut == 200 && kept > 1000)
    }
}
