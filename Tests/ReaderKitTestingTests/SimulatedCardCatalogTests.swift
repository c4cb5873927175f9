import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedCardCatalogTests {
    private static let uri = "https://club.example/m/42"

    /// The one tap that a scanner sees of a card.
    private func scan(_ card: any SimulatedCard) async throws -> ScanEvent {
        let backend = SimulatedBackend()
        backend.insert(card)
        for await event in CardScanner(backend).events() {
            if case .scan(let tap) = event { return tap }
        }
        throw CancellationError()
    }

    @Test(arguments: SimulatedCardCatalog.kinds.map(\.name))
    func madeAndReadBack(_ name: String) async throws {
        let kind = try #require(SimulatedCardCatalog.kind(name.uppercased()))
        #expect(kind.name == name && !kind.title.isEmpty)
        let blank = try SimulatedCardCatalog.make(name)
        // What makes up its identifiers leads to no member, which is said.
        #expect(try await scan(blank).problems.isEmpty == (name != "phone"))
        guard kind.capacity != nil else {
            #expect(throws: SimulatedCardError.noMessages(kind: name)) {
                try SimulatedCardCatalog.make(name, message: [.uri(Self.uri)])
            }
            return
        }
        // Formatted and empty is one state, a message another.
        #expect(try await scan(SimulatedCardCatalog.make(name, message: [])).ndef == [])
        let tap = try await scan(SimulatedCardCatalog.make(name, message: [.uri(Self.uri)]))
        #expect(tap.ndef == [try .uri(Self.uri)])
        #expect(tap.problems.isEmpty)
    }

    @Test(arguments: SimulatedCardCatalog.kinds.filter { $0.capacity != nil }.map(\.name))
    func capacity(_ name: String) throws {
        let capacity = try #require(SimulatedCardCatalog.kind(name)?.capacity)
        let bytes = (0..<capacity).map { UInt8(truncatingIfNeeded: $0 &* 31 | 1) }
        let card = try SimulatedCardCatalog.make(name, messageBytes: bytes)
        let limits = NDEFLimits(payload: 40_000, message: 40_000)
        #expect(try TagReader.readNDEF(over: SimulatedCardChannel(card), limits: limits).ndef == .message(bytes))
        #expect(throws: SimulatedCardError.tooLong(kind: name, length: capacity + 1, capacity: capacity)) {
            try SimulatedCardCatalog.make(name, messageBytes: bytes + [0])
        }
    }

    @Test(arguments: SimulatedCardCatalog.kinds.map(\.name)) func identifiers(_ name: String) throws {
        let kind = try #require(SimulatedCardCatalog.kind(name))
        for length in 0...11 {
            let uid = [kind.firstByte ?? 0x04] + (0..<max(0, length - 1)).map { UInt8($0 + 1) }
            let given = length == 0 ? [] : uid
            if kind.identifierLengths.contains(length) {
                let card = try SimulatedCardCatalog.make(name, uid: given)
                card.powerOn()
                #expect(card.uid == given)
            } else {
                #expect(throws: SimulatedCardError.self) { try SimulatedCardCatalog.make(name, uid: given) }
            }
        }
    }

    @Test func errors() {
        #expect(throws: SimulatedCardError.unknownKind("ntag999")) { try SimulatedCardCatalog.make("ntag999") }
        #expect("\(SimulatedCardError.unknownKind("x"))".contains("ntag213, "))
        let error = #expect(throws: SimulatedCardError.self) {
            try SimulatedCardCatalog.make("icode", uid: [1, 2, 3, 4, 5, 6, 7, 8])
        }
        let text = "could not make a card of the kind 'icode': its identifier has to be 8 bytes, the first of them E0."
        #expect(error.map { "\($0)" } == text)
        #expect(Set(SimulatedCardCatalog.kinds.map(\.name)).count == SimulatedCardCatalog.kinds.count)
    }
}
