#if NFC && PCSC
import Foundation
import ReaderKitTesting
import Testing

@testable import ReaderKit

/// The real libnfc, with a simulated PN532 at the other end of a pseudo-terminal.
@Suite(.timeLimit(.minutes(10)), .serialized) struct NFCTerminalTests {
    private static func backend(_ board: PN532Terminal) throws -> NFCBackend {
        NFCBackend(
            library: .system,
            configuration: NFCConfiguration(
                connectionStrings: [try #require(board.connectionString)],
                pollInterval: .milliseconds(20)
            ),
            abandoned: AbandonedThreads()
        )
    }

    @Test(arguments: NFCCards.all) func sameEventAsInProcess(_ sample: NFCCards.Sample) async throws {
        let board = try PN532Terminal()
        let taps = Taps(Scanning.scanner(try Self.backend(board)))
        try await until("the reader") { taps.readers.contains { if case .readerAdded = $0 { true } else { false } } }
        for number in 1...2 {
            board.insert(try sample.card())
            try await taps.until("tap \(number); \(taps.readers)") { $0.count == number }
            board.remove()
            try await until("its end") {
                taps.readers.count { if case .cardRemoved = $0 { true } else { false } } == number
            }
        }
        let expected = try #require(await Scanning.scan(try sample.card()))
        for tap in taps.all {
            #expect(tap.backend == .nfc)
            #expect(tap.withoutWay == expected.withoutWay)
        }
        #expect(taps.all.count == 2)
    }
}
#endif
