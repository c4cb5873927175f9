import ClubKit
import KioskKit
import ReaderKit

/// The use case: whoever holds a card to a reader is received, and the model knows of it.
@MainActor
final class Reception {
    let model = KioskModel()
    private let club: Club

    init(_ club: Club) { self.club = club }

    /// Serves readers. A recording has an end, and this returns when the model knows of its last tap.
    func serve(_ backend: any ReaderBackend) async throws {
        try await club.open()
        let (known, continuation) = AsyncStream.makeStream(of: Receipt.self, bufferingPolicy: .bufferingNewest(1))
        model.observe { _, news in
            if case .tap(let tap) = news { continuation.yield(tap.receipt) }
        }
        // At once, so that no tap comes before it.
        let following = Task.immediate { [model, club] in
            defer { continuation.finish() }
            try await model.follow(club)
        }
        let taps = CardScanner(backend).events().compactMap { [model] event -> ScanEvent? in
            await model.note(event)
            if case .scan(let tap) = event { return tap } else { return nil }
        }
        var latest: Receipt?
        for await receipt in club.receipts(of: taps) { latest = receipt }
        // The model follows the store, and so knows of a tap some moments after its receipt.
        if let latest { for await receipt in known where receipt.eventID == latest.eventID { break } }
        following.cancel()
        try await club.close()
    }
}
