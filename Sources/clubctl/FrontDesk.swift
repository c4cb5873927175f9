import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// Hands taps to the club, prints what becomes of them, and keeps count.
final class FrontDesk {
    let club: Club
    let output: Output
    private var counts: [String: Int] = [:]

    init(club: Club, output: Output) {
        self.club = club
        self.output = output
    }

    /// How long to wait before a tap that could not be committed is given again; giving it again is safe.
    private static let pauses: [Duration] = [.milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2)]

    /// Takes in one tap. What it prints is committed. A store that is full or in use for a moment is asked again.
    ///
    /// - Throws: ``ClubError`` when the tap could not be committed; it was printed as an `error` line before.
    func receive(_ tap: ScanEvent) async throws {
        do {
            // A replay with the same ids gives the club taps that it has; they are told as what they were, not counted.
            let isKnown = try await club.hasReceived(tap.id)
            let receipt = try await insist(tap)
            counts["taps", default: 0] += 1
            counts[isKnown ? "known" : receipt.outcome.name, default: 0] += 1
            if output.isJSON { try output.result(tap, text: "") }
            try output.result(
                ClubEvent.received(receipt),
                text: describe(receipt) + (isKnown ? " (received before)" : "")
            )
        } catch let error as ClubError {
            if output.isJSON { try output.result(ClubEvent.error(error, at: tap.at), text: "") }
            output.message("\(error)")
            throw error
        }
    }

    private func insist(_ tap: ScanEvent) async throws -> Receipt {
        var pauses = Self.pauses[...]
        while true {
            do {
                return try await club.receive(tap)
            } catch {
                let passes = error.kind == .busy || error.kind == .diskFull || error.kind == .inputOutput
                guard passes, let pause = pauses.popFirst() else { throw error }
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Tells that readers cannot be used: a message, and with `--json` an `error` line.
    func tell(_ error: ReaderError, of reader: ReaderInfo? = nil) throws {
        if output.isJSON { try output.result(ReaderErrorLine(error, reader: reader, at: Date()), text: "") }
        output.message("\(error)")
    }

    /// Prints how many taps there were and what became of them.
    func printAccount() throws {
        func count(_ name: String) -> Int { counts[name] ?? 0 }
        let account = """

            Taps         \(count("taps"))
            New members  \(count("created"))
            Visits       \(count("created") + count("visit"))
            Repeats      \(count("repeat"))
            Ignored      \(count("ignored"))
            Rejected     \(count("rejected"))
            """ + (count("known") == 0 ? "" : "\nKnown        \(count("known")), received before and not counted again")
        if output.isJSON {
            output.message(account)
        } else {
            try output.text(account)
        }
    }

    private func describe(_ receipt: Receipt) -> String {
        let time = LocalTime.text(receipt.at.timeIntervalSince1970).suffix(8)
        let member = receipt.member.map { member in
            let name = (member.username ?? "").isEmpty ? member.userId : "\(member.username ?? "") (\(member.userId))"
            return name.filter { !$0.isNewline }
        }
        let who = member ?? "somebody"
        let visits = receipt.member?.numVisits ?? 0
        switch receipt.outcome {
        case .created: return "\(time)  welcome   \(who), first visit"
        case .visit: return "\(time)  visit     \(who), visit \(visits)"
        case .repeat: return "\(time)  repeat    \(who), counted already"
        case .ignored(let reason): return "\(time)  ignored   \(reason.message)"
        case .rejected(let reason): return "\(time)  rejected  \(reason.message)"
        }
    }
}
