import BenchmarkSupport
import Foundation
import ReaderKit
import ReaderKitTesting

/// Measures what a tap with a pass of Apple Wallet costs beside its APDUs: a simulated iPhone at the virtual reader of a
/// real pcscd, from the presented card to the event that says whose pass it is.
@main
struct PassCost {
    /// What a tap may cost beside its APDUs, in ms.
    private static let limit = 5.0

    private static let passType = "pass.com.example.club"
    private static let member = "M-1042"

    static func main() async {
        do {
            // What is deferred is done before the process ends.
            exit(try await run())
        } catch {
            FileHandle.standardError.write(Data("pass-cost: \(error)\n".utf8))
            exit(error is Arguments.Failure ? 64 : 1)
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static func run() async throws -> Int32 {
        let arguments = try Arguments(options: ["--taps", "--block"])
        let taps = max(1, try arguments.number("--taps", default: 2000))
        let block = max(1, try arguments.number("--block", default: 200))
        guard PCSCDaemon.isIsolated else {
            print("Run it as 'Scripts/isolated Benchmarks/.build/release/pass-cost': it needs a pcscd of its own.")
            return 69
        }
        let daemon = try PCSCDaemon()
        defer { daemon.terminate() }
        let key = AppleVASKey()
        let pass = SimulatedApplePhone.Pass(passTypeIdentifier: passType, message: member, readerKey: key.publicKey)
        // One presentation stands for all taps, so the phone's clock stands still too.
        let start = Date()
        let slot = VirtualCardReader()
        try slot.present(SimulatedApplePhone([pass]) { start })
        defer { slot.remove() }
        let backend = TimedBackend(PCSCBackend())
        guard let presence = await presence(backend) else { throw Failure(description: "there is no card") }
        let merchant = AppleVASMerchant(passTypeIdentifier: passType, keys: [key])

        var times = TapTimes()
        // The first block warms up.
        var left = taps + block
        while left > 0 {
            // What was presented before is remembered, and a place has not thousands of taps within minutes.
            let site = PassSite(appleVAS: AppleVASReader([merchant]))
            let scanner = CardScanner(backend, configuration: ScannerConfiguration(site: site))
            for _ in 0..<min(block, left) {
                let sample = try await tap(scanner, backend, presence, merchant)
                if left <= taps { times.add(sample) }
                left -= 1
            }
        }
        times.report()
        let own = times.own.percentile(0.5)
        print(String(format: "own time: median %.3f ms, which has to be at most %.1f ms", own, limit))
        return own <= limit ? 0 : 1
    }

    private static func presence(_ backend: TimedBackend) async -> CardPresence? {
        for await event in backend.events() {
            if case .cardInserted(let presence) = event { return presence }
        }
        return nil
    }

    private static func tap(
        _ scanner: CardScanner,
        _ backend: TimedBackend,
        _ presence: CardPresence,
        _ merchant: AppleVASMerchant
    ) async throws -> TapTimes.Sample {
        let start = ContinuousClock.now
        let event = await scanner.scan(presence)
        let end = ContinuousClock.now
        guard event.memberKey == member, event.problems.isEmpty, event.passes.map(\.kind) == [.appleVAS] else {
            throw Failure(description: "a tap gave no pass: \(event.problems.map(\.message).joined(separator: "; "))")
        }
        let times = backend.times
        // Once more beside the tap, for it cannot be told from outside how long it took within.
        let opening = ContinuousClock.now
        guard case .pass(let cryptogram) = try AppleVASAnswer(try ResponseAPDU(bytes: times.answer)),
            try cryptogram.open(for: merchant).text == member
        else { throw Failure(description: "the last answer has no pass") }
        let opened = ContinuousClock.now
        return TapTimes.Sample(
            whole: end - start,
            exchanges: times.exchanges,
            count: times.count,
            connecting: times.began - start,
            between: times.ended - times.began - times.exchanges,
            leaving: end - times.ended,
            opening: opened - opening
        )
    }
}

/// The times of many taps, in ms.
struct TapTimes {
    /// The times of one tap.
    struct Sample {
        var whole: Duration
        var exchanges: Duration
        var count: Int
        var connecting: Duration
        var between: Duration
        var leaving: Duration
        var opening: Duration
    }

    private(set) var own: [Double] = []
    private var whole: [Double] = []
    private var exchanges: [Double] = []
    private var ratios: [Double] = []
    private var connecting: [Double] = []
    private var between: [Double] = []
    private var leaving: [Double] = []
    private var opening: [Double] = []
    private var count = 0

    mutating func add(_ sample: Sample) {
        func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
        whole.append(milliseconds(sample.whole))
        exchanges.append(milliseconds(sample.exchanges))
        own.append(milliseconds(sample.whole - sample.exchanges))
        ratios.append((sample.whole - sample.exchanges) / sample.exchanges)
        connecting.append(milliseconds(sample.connecting))
        between.append(milliseconds(sample.between))
        leaving.append(milliseconds(sample.leaving))
        opening.append(milliseconds(sample.opening))
        count = sample.count
    }

    func report() {
        print("\(own.count) taps, \(count) APDUs each")
        print("ms                              median     95 %     99 %")
        for (name, values) in [
            ("whole tap", whole), ("its APDUs", exchanges), ("own time", own),
            ("  connecting and locking", connecting), ("  between the APDUs", between),
            ("    of it opening the pass", opening), ("  letting go", leaving), ("own time / APDUs", ratios),
        ] {
            let label = name.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(
                label
                    + String(
                        format: "%10.3f %8.3f %8.3f",
                        values.percentile(0.5),
                        values.percentile(0.95),
                        values.percentile(0.99)
                    )
            )
        }
    }
}

extension [Double] {
    /// The value that this part of all others do not exceed; 0 for none.
    func percentile(_ part: Double) -> Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[Int((Double(count - 1) * part).rounded())]
    }
}
