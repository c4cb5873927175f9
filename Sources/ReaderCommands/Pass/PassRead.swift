import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct PassRead: ReportingCommand, OneCardCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Reads the passes of the phone or card on a reader, and shows what each step returned.",
        discussion: """
            Without --passes it shows which wallet answers, and the content of cards that need no key. What was presented \
            before is not remembered, so a tap may be read again. Exit code 0 if a pass names a member, 1 if none does.

            EXAMPLES
              readerctl pass read --passes passes.json
              readerctl pass read --passes passes.json --json --timeout 60
              readerctl pass read --passes passes.json --replay tap.capture

            JSON: one object with event ("pass"), at, reader, card, uid, uidKind, wallet (kind, version, asked with \
            passTypeIdentifier, answer and madeAt, status, objects), passes (kind, id, assurance, name, type), memberKey, \
            memberName, problems (code, message) and findings (code, what, consequence, advice: what the reader or the \
            phone needs); what is not known is absent. Without a card in time: {"event":"timeout"}.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var passes: PassOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @OptionGroup var card: CardOptions
    @OptionGroup var source: CardReplayOptions

    func perform(_ out: Output) async throws {
        let site = try passes.site() ?? PassSite()
        let report = try await cards.withCard(out, replaying: source.replay) { try Report(of: $0, site) }
        try out.result(report, text: report.text)
        if !report.verdict.isAccepted { throw ToolExit.failure }
    }

    private struct Report: Encodable, Sendable {
        var verdict: PassVerdict
        var findings: [PassFinding]

        init(of card: CardOnReader, _ site: PassSite) throws {
            var reading = CardReading(over: card.channel, limits: .default, site: site, at: card.presence.at)
            if reading.judgement.wallet == nil, reading.fault == nil, TagReader.type(of: card.channel.facts) == .type4 {
                reading.judgement.wallet = try Self.wallet(over: card.channel)
            }
            if let fault = reading.fault { throw fault }
            if card.presence.reader.backend == .replay { reading.judgement.explainRecording() }
            verdict = PassVerdict(
                "pass",
                reading.judgement,
                card: reading.card,
                at: card.presence.at,
                reader: card.presence.reader.name
            )
            var answer: WalletSelection?
            var (apple, google): (AppleVASReader.Outcome?, SmartTapReader.Finding?)
            switch reading.judgement.wallet {
            case .apple(let outcome): apple = outcome
            case .google(let finding): google = finding
            case .absent(let status): answer = .absent(status)
            case .malformed: answer = .malformed
            case .other, nil: break
            }
            findings = PassFinding.findings(
                reader: card.presence.reader,
                wantsSmartTap: site.smartTap != nil,
                facts: card.channel.facts,
                uid: reading.uid,
                walletAnswer: answer,
                appleVAS: apple,
                smartTap: google,
                problems: reading.problems
            )
        }

        /// Which wallet answers, where no passes of it are read here.
        private static func wallet(over channel: any CardChannel) throws(ReaderError) -> WalletReport {
            switch WalletSelection(try channel.exchange(WalletSelection.command)) {
            case .apple: .other("ApplePay")
            case .google: .other("AndroidPay")
            case .unknown(let label): .other(label)
            case .absent(let status): .absent(status)
            case .malformed: .malformed
            }
        }

        func encode(to encoder: any Encoder) throws {
            try JSONObject(verdict, ["findings": findings.isEmpty ? nil : findings]).encode(to: encoder)
        }

        var text: String { ([verdict.text] + findings.map { "  note       \($0.message)" }).joined(separator: "\n") }
    }
}
