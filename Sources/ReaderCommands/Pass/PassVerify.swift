import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct PassVerify: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Judges a recorded pass: a capture, an address, a token, an answer of a phone.",
        discussion: """
            INPUT is the path of a capture, of which each tap is judged at its time; an address, as a tag writes it; a \
            signed token; or in hexadecimal an NDEF message, an answer of an iPhone to GET VAS DATA, or the cryptogram in \
            it. --uid is for tokens that name their card, and is no pass. A tap of Google Wallet cannot be opened again \
            from its recording: its keys ended with it; 'readerctl pass explain' shows what can be seen of it.

            Exit code 0 if every tap names a member, 1 if one does not, 65 for malformed input, 66 for a missing file.

            EXAMPLES
              readerctl pass verify --passes passes.json tap.capture
              readerctl pass verify --passes passes.json 'https://club.example/t?e=EF96...&c=94EE...'
              readerctl pass verify --passes passes.json --at 2026-11-21T08:30:00Z 704B9F2A00...

            JSON, one object a tap: event ("verified"), and the rest as 'readerctl pass read'.
            """
    )

    @OptionGroup var output: OutputOptions
    @Option(
        help: ArgumentHelp("What passes are read and accepted.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var passes: String
    @Option(
        help: ArgumentHelp("When it was presented, in ISO 8601; without it now.", valueName: "time"),
        transform: { text in
            guard let date = ISO8601.date(text) else {
                throw ValidationError("'\(text)' is not a time like 2026-11-21T08:30:00Z.")
            }
            return date
        }
    )
    var at: Date?
    @Option(help: ArgumentHelp("The identifier of the card that it was on, for tokens that name it.", valueName: "hex"))
    var uid: String?
    @Argument(help: "What is judged.")
    var input: String

    /// What was presented, and the name of the card for people.
    private typealias Judged = (judgement: PassJudgement, card: String)

    private static let apple = "Apple Wallet pass"
    private static let unknown = "unknown"

    func perform(_ out: Output) async throws {
        let site = try PassConfiguration(path: passes).site(besides: passes)
        let isAccepted =
            FileManager.default.fileExists(atPath: input) || input.hasSuffix(".capture")
            ? try await verifyCapture(site, out) : try verifyText(site, out)
        if !isAccepted { throw ToolExit.failure }
    }

    private func verifyCapture(_ site: PassSite, _ out: Output) async throws -> Bool {
        var capture = try Capture(contentsOf: input)
        if let at { capture.started = at }
        let start = capture.started ?? Date()
        if capture.started == nil, at == nil {
            out.message("The capture lacks the time of its recording: it is judged as of now, or as of --at.")
        }
        let backend = ReplayBackend([capture], mode: .byCommand, speed: .asFastAsPossible) { _ in start }
        var verdicts: [PassVerdict] = []
        var cards = capture.presentations.makeIterator()
        for await event in backend.events() {
            try Task.checkCancellation()
            let (judged, moment, reader): (Judged, Date, String)
            switch event {
            case .cardInserted(let presence):
                (moment, reader) = (presence.at, presence.reader.name)
                judged = try await Self.judge(cards.next(), presence, backend, site)
            case .cardReported(let report):
                guard let line = ReportReading.read(report.line, site: site, at: report.at) else { continue }
                (judged, moment, reader) = ((line.judgement, line.card), report.at, report.reader.name)
            default: continue
            }
            let verdict = PassVerdict("verified", judged.judgement, card: judged.card, at: moment, reader: reader)
            try out.result(verdict, text: "\(ISO8601.text(moment))\n\(verdict.text)")
            verdicts.append(verdict)
        }
        guard !verdicts.isEmpty else { throw ToolFailure("could not judge \(input): there is no card in it") }
        return verdicts.allSatisfy(\.isAccepted)
    }

    /// What a recorded conversation is worth.
    ///
    /// A phone's answer is judged by itself: whoever recorded it may have asked for other passes, or in other words.
    private static func judge(
        _ presentation: Capture.Presentation?,
        _ presence: CardPresence,
        _ backend: ReplayBackend,
        _ site: PassSite
    ) async throws -> Judged {
        var answers: [ResponseAPDU] = []
        var isSmartTap = false
        for exchange in presentation?.exchanges ?? [] {
            guard case .apdu(let command) = exchange.request, case .bytes(let answer) = exchange.answer else {
                continue
            }
            if command.starts(with: [0x80, Instruction.getData, 0x01, 0x01]),
                let answer = try? ResponseAPDU(bytes: answer)
            {
                answers.append(answer)
            }
            if command.starts(with: [0x90, Instruction.negotiateSecureSession]) { isSmartTap = true }
        }
        if !answers.isEmpty, site.appleVAS != nil {
            var memory = site
            var last: PassJudgement?
            for answer in answers {
                // Which of the answers has the pass is found out first, and does not count as presented.
                memory.memory = VolatilePassMemory()
                last = PassJudgement(appleAnswer: answer, site: memory, at: presence.at)
                guard last?.member == nil else {
                    last = PassJudgement(appleAnswer: answer, site: site, at: presence.at)
                    break
                }
            }
            if let last { return (last, Self.apple) }
        }
        let reading = try await backend.withCard(presence) {
            CardReading(over: $0, limits: .default, site: site, at: presence.at)
        }
        var judgement = reading.judgement
        if isSmartTap, judgement.member == nil { judgement.problems = [PassJudgement.recordedSmartTap] }
        return (judgement, reading.card)
    }

    private func verifyText(_ site: PassSite, _ out: Output) throws -> Bool {
        let now = at ?? Date()
        let card = try uid.map { try CardUID(text: $0, technology: .iso14443a) }
        let judged: Judged
        if let bytes = try? Hex.decode(input), !bytes.isEmpty {
            judged = try Self.judge(bytes, card, site, now)
        } else if SignedTokenVerifier.isToken(input) {
            guard site.tokens != nil else {
                throw ToolFailure(
                    "could not judge the token: \(passes) has no 'tokens' to check it with. Add them to the configuration.",
                    exit: ToolExit.malformed
                )
            }
            // Wherever the place's rules would look for it.
            var site = site
            site.cards = []
            let records: [NDEFRecord] = [.mime(type: "application/jwt", payload: Array(input.utf8))]
            judged = (PassJudgement(records: records, uid: card, site: site, at: now), Self.unknown)
            if card == nil { out.message("A token that names its card is judged with --uid alone.") }
        } else if input.contains("://"), let record = try? NDEFRecord.uri(input) {
            judged = (PassJudgement(records: [record], uid: card, site: site, at: now), Self.unknown)
        } else {
            throw ToolFailure(
                "'\(input.prefix(80))' is neither a file, an address, a token nor hexadecimal. See 'readerctl pass verify --help'.",
                exit: ToolExit.malformed
            )
        }
        let verdict = PassVerdict("verified", judged.judgement, card: judged.card, at: now)
        try out.result(verdict, text: verdict.text)
        return verdict.isAccepted
    }

    /// An answer of a phone, a cryptogram, or an NDEF message, distinguished by how it begins.
    private static func judge(_ bytes: [UInt8], _ card: CardUID?, _ site: PassSite, _ now: Date) throws -> Judged {
        let success: [UInt8] = [0x90, 0x00]
        if bytes.count == 2 || bytes.first == 0x70 {
            let isWhole = bytes.count == 2 || bytes.suffix(2) == success[...]
            let answer = try ResponseAPDU(bytes: isWhole ? bytes : bytes + success)
            return (PassJudgement(appleAnswer: answer, site: site, at: now), Self.apple)
        }
        if let message = try? NDEFMessage(decoding: bytes) {
            return (PassJudgement(records: message.records, uid: card, site: site, at: now), Self.unknown)
        }
        guard (try? AppleVASCryptogram(bytes)) != nil else {
            // As from a tag, of which what can be read counts.
            let (message, fault) = NDEFMessage.decodeLeniently(bytes)
            if fault == nil, !message.records.isEmpty {
                return (PassJudgement(records: message.records, uid: card, site: site, at: now), Self.unknown)
            }
            let reason = "the hexadecimal is neither an answer of a phone, a cryptogram nor an NDEF message."
            throw ToolFailure(reason, exit: ToolExit.malformed)
        }
        let objects = [BERTLV(0x70, objects: [BERTLV(0x9F2A, []), BERTLV(0x9F27, bytes)])]
        let answer = try ResponseAPDU(bytes: try objects.encoded() + success)
        return (PassJudgement(appleAnswer: answer, site: site, at: now), Self.apple)
    }
}
