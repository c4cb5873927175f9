import BenchmarkSupport
import CTransmit
import Foundation
import ReaderKit
import ReaderKitTesting

/// Compares a transmit through ReaderKit with a plain C client of libpcsclite: the same pcscd, the same virtual card, in
/// one process, in alternating blocks.
@main
struct PCSCTransmit {
    private static let command: [UInt8] = [0xFF, 0xB0, 0x00, 0x04, 0x10]

    static func main() async throws {
        let arguments = try Arguments(options: ["--rounds", "--block"])
        let rounds = try arguments.number("--rounds", default: 10)
        let block = try arguments.number("--block", default: 500)
        guard PCSCDaemon.isIsolated else {
            print("Run it as 'Scripts/isolated Benchmarks/.build/release/pcsc-transmit': it needs a pcscd of its own.")
            exit(69)
        }
        let daemon = try PCSCDaemon()
        defer { daemon.terminate() }
        let slot = VirtualCardReader()
        let backend = PCSCBackend()
        try slot.present(SimulatedNTAG(.ntag213))
        var presence: CardPresence?
        for await event in backend.events() {
            if case .cardInserted(let card) = event {
                presence = card
                break
            }
        }
        guard let presence else { return }

        var code: UInt32 = 0
        guard let client = ctransmit_open(presence.reader.name, &code) else {
            throw PCSCCode(rawValue: code).error(attempting: "connect with the plain C client")
        }
        defer { ctransmit_close(client) }
        var inside: [Double] = []
        var outside: [Double] = []
        print("round   C p50 us   inside / C   outside / C")
        for round in 0...rounds {
            // Each form's own round comes between two of C's, so that a drift of the machine shows in both.
            let first = try plainC(client, block)
            let isolated = try await backend.withCard(presence) { channel in
                try (0..<block).map { _ in
                    let start = ContinuousClock.now
                    _ = try channel.transmit(command)
                    return (ContinuousClock.now - start) / .nanoseconds(1)
                }
            }
            let second = try plainC(client, block)
            let connection = try await backend.connect(to: presence)
            var awaited: [Double] = []
            for _ in 0..<block {
                let start = ContinuousClock.now
                _ = try await connection.transmit(command)
                awaited.append((ContinuousClock.now - start) / .nanoseconds(1))
            }
            await connection.close()
            let third = try plainC(client, block)
            let (c1, c2) = ((first.median + second.median) / 2, (second.median + third.median) / 2)
            // The first round warms up.
            guard round > 0 else { continue }
            inside.append(isolated.median / c1)
            outside.append(awaited.median / c2)
            print(
                String(
                    format: "%5d %10.1f %12.3f %13.3f",
                    round,
                    c1 / 1000,
                    isolated.median / c1,
                    awaited.median / c2
                )
            )
        }
        print(
            String(
                format: "median of the rounds: %.3f inside the reader's isolation, %.3f with one await per APDU",
                inside.median,
                outside.median
            )
        )
        daemon.kill()
        exit(inside.median <= 1.10 && outside.median <= 1.40 ? 0 : 1)
    }

    private static func plainC(_ client: OpaquePointer, _ block: Int) throws -> [Double] {
        var times = [UInt64](repeating: 0, count: block)
        let code = ctransmit_block(client, command, command.count, block, &times)
        guard code == 0 else { throw PCSCCode(rawValue: code).error(attempting: "transmit with the plain C client") }
        return times.map { Double($0) }
    }
}
