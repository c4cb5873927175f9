#if PCSC
import ReaderKit
import ReaderKitTesting
import Testing

/// A way in which a simulated card comes to this package.
final class WayIn {
    let name: String
    private let backend: any ReaderBackend
    private let insert: (any SimulatedCard) throws -> Void
    private let remove: () -> Void
    private var events: AsyncStream<ReaderEvent>.Iterator

    private init(
        _ name: String,
        _ backend: any ReaderBackend,
        insert: @escaping (any SimulatedCard) throws -> Void,
        remove: @escaping () -> Void
    ) {
        self.name = name
        self.backend = backend
        self.insert = insert
        self.remove = remove
        events = backend.events().makeAsyncIterator()
    }

    /// In process, through the real pcscd, through the real libnfc.
    static func all() throws -> [WayIn] {
        let simulated = SimulatedBackend()
        let slot = VirtualCardReader()
        var ways = [
            WayIn("in process", simulated) {
                simulated.insert($0)
            } remove: {
                simulated.remove()
            },
            WayIn("pcscd", PCSCBackend()) {
                try slot.present($0)
            } remove: {
                slot.remove()
            },
        ]
        #if NFC
        let board = try PN532Terminal()
        let connection = try #require(board.connectionString)
        let configuration = NFCConfiguration(connectionStrings: [connection], pollInterval: .milliseconds(20))
        ways.append(
            WayIn("libnfc", NFCBackend(configuration: configuration)) {
                board.insert($0)
            } remove: {
                board.remove()
            }
        )
        #endif
        return ways
    }

    /// Why a card of that kind cannot come this way, or `nil`.
    func obstacle(to card: any SimulatedCard) -> String? {
        backend.kind == .nfc ? PN532Terminal.obstacle(to: card) : nil
    }

    /// Presents a card, reads it as a tap, talks to it, takes it away, and waits until that was seen.
    ///
    /// - Parameter site: what passes are read; without it what is on the card.
    func present<Result: Sendable>(
        _ card: any SimulatedCard,
        site: PassSite? = nil,
        _ conversation: @escaping @Sendable (any CardChannel) throws -> Result
    ) async throws -> (scan: ScanEvent, result: Result) {
        try insert(card)
        defer { remove() }
        while let event = await events.next() {
            guard case .cardInserted(let presence) = event else { continue }
            let scan = await CardScanner(backend, configuration: ScannerConfiguration(site: site)).scan(presence)
            let result = try await backend.withCard(presence, perform: conversation)
            remove()
            while let event = await events.next() {
                if case .cardRemoved = event { return (scan, result) }
            }
        }
        throw ReaderError(.cancelled, attempting: "wait for the card")
    }
}
#endif
