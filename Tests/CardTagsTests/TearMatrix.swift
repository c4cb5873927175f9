import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

/// Writes a message to a card and takes the card away at every command, before and after it carries it out, then twice
/// in a row and while it is being repaired. Counts what is on the card afterwards.
///
/// A card may hold the old message, the new one, or be an interrupted empty tag, which repairing makes a clean empty one
/// and which takes the new message. Anything else is an issue.
struct TearMatrix {
    /// What was found, over all cuts.
    struct Counts: CustomStringConvertible {
        var old = 0, new = 0, repairable = 0, others = 0

        var total: Int { old + new + repairable + others }

        var description: String { "\(old) old, \(new) new, \(repairable) repairable, \(others) others" }
    }

    /// For the report and for issues: "Type 2, NTAG213, 4 to 60 bytes".
    var name: String
    /// The message that the card holds before; no bytes are an empty tag.
    var old: [UInt8]
    /// The message that is written.
    var new: [UInt8]
    /// A card with the old message on it.
    var card: () throws -> any SimulatedCard
    /// A conversation with the card.
    var channel: (any SimulatedCard) -> any CardChannel = { SimulatedCardChannel($0) }
    /// The tag of a conversation.
    var open: (any CardChannel) throws -> (any NDEFTag)? = { try TagReader.open(over: $0) }
    /// The step between the moments of the first cut that are cut a second time: 1 for all of them, `nil` for all of a
    /// short write and about ``pairs`` of a long one. It is four times as long unless there are more rounds.
    var stride: Int?
    /// How many pairs of cuts a long write is tried with.
    static let pairs = 400

    /// Runs all cuts and adds a line to the report `tear`.
    @discardableResult
    func run() throws -> Counts {
        let commands = try countCommands { tag in try tag.writeNDEF(new) }
        var counts = Counts()
        for first in tears(commands) {
            let card = TornCard(try card(), first)
            attempt(card) { tag in try tag.writeNDEF(new) }
            try classify(card, &counts, "cut at \(first)")
        }
        let all = tears(commands)
        let between = step(4) * (stride ?? max(1, all.count * all.count * 2 / TearMatrix.pairs))
        for first in Swift.stride(from: 0, to: all.count, by: between).map({ all[$0] }) {
            for second in tears(commands) {
                let card = TornCard(try card(), first)
                attempt(card) { tag in try tag.writeNDEF(new) }
                card.plan(second)
                attempt(card) { tag in try tag.writeNDEF(new) }
                card.plan(nil)
                try classify(card, &counts, "cut at \(first) and \(second)")
            }
            for second in tears(commands) {
                let card = TornCard(try card(), first)
                attempt(card) { tag in try tag.writeNDEF(new) }
                card.plan(second)
                attempt(card) { tag in _ = try tag.repairNDEF() }
                card.plan(nil)
                try classify(card, &counts, "cut at \(first), and at \(second) of repairing", mayBeRepaired: true)
            }
        }
        TestReport.add(section: "tear", line: "\(name) | \(commands) commands, \(counts.total) cuts | \(counts)")
        return counts
    }

    private func tears(_ commands: Int) -> [TornCard.Tear] {
        (0..<commands).flatMap { [TornCard.Tear($0, afterwards: false), TornCard.Tear($0, afterwards: true)] }
    }

    /// How many commands it takes without a cut.
    private func countCommands(_ body: (inout any NDEFTag) throws -> Void) throws -> Int {
        let card = TornCard(try card())
        card.powerOn()
        var tag = try #require(try open(channel(card)))
        let before = card.commands
        #expect(before == 0)
        try body(&tag)
        return card.commands
    }

    /// Whatever it throws: the card may have been taken away.
    private func attempt(_ card: TornCard, _ body: (inout any NDEFTag) throws -> Void) {
        card.powerOn()
        guard var tag = try? open(channel(card)) else { return }
        try? body(&tag)
    }

    private func read(_ card: TornCard) throws -> TagContent {
        card.powerOn()
        var tag = try #require(try open(channel(card)))
        return try tag.readNDEF()
    }

    private func classify(
        _ card: TornCard,
        _ counts: inout Counts,
        _ moment: String,
        mayBeRepaired: Bool = false
    ) throws {
        card.plan(nil)
        let content: TagContent
        do {
            content = try read(card)
        } catch {
            counts.others += 1
            Issue.record("\(name), \(moment): \(error)")
            return
        }
        switch content.ndef.bytes {
        case old where !content.isInterrupted: counts.old += 1
        case new where !content.isInterrupted: counts.new += 1
        case [] where content.isInterrupted || mayBeRepaired:
            guard try isRepairable(card, content.isInterrupted, moment) else { return counts.others += 1 }
            counts.repairable += 1
        default:
            counts.others += 1
            Issue.record("\(name), \(moment): \(content)")
        }
    }

    private func isRepairable(_ card: TornCard, _ isInterrupted: Bool, _ moment: String) throws -> Bool {
        card.powerOn()
        var tag = try #require(try open(channel(card)))
        let result = try tag.repairNDEF()
        let repaired = try read(card)
        card.powerOn()
        var again = try #require(try open(channel(card)))
        try again.writeNDEF(new)
        let written = try read(card)
        let isGood =
            result == (isInterrupted ? .repaired : .notNeeded) && repaired.ndef == .empty && !repaired.isInterrupted
            && written.ndef.bytes == new && !written.isInterrupted
        if !isGood { Issue.record("\(name), \(moment): \(result), \(repaired), \(written)") }
        return isGood
    }
}
