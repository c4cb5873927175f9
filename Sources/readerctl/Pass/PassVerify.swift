import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

/// `readerctl pass verify`
struct PassVerify: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Says what a recorded pass is worth: a capture, an address, a token, an answer of a phone.",
        discussion: """
            INPUT is the path of a capture, of which each tap is judged at its time; an address, as a tag writes it; a \
            signed token; an NDEF message in hexadecimal; or, in hexadecimal, an answer of an iPhone to GET VAS DATA or \
            the cryptogram in it. A tap of Google Wallet cannot be opened again from its recording: its keys ended with \
            it; 'readerctl pass explain' shows what can be seen of it.

            Exit code 0 if every tap names a member, 1 if one does not, 65 for malformed input, 66 for a missing file.

            EXAMPLES
              readerctl pass verify --passes passes.json tap.capture
              readerctl pass verify --passes passes.json 'https://club.example/t?e=EF96…&c=94EE…'
              readerctl pass verify --passes passes.json --at 2026-11-21T08:30:00Z 704B9F2A00…

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

    func perform() async throws {
        let out = output.output
        try await out.tellingErrors {
            let site = try await PassConfiguration(path: passes).site(folder: PassOptions.folder(of: passes))
            let isAccepted =
                FileManager.default.fileExists(atPath: input) || input.hasSuffix(".capture")
                ? try await verifyCapture(site, out) : try verifyText(site, out)
            if !isAccepted { throw ToolExit.failure }
        }
    }

    private func verifyCapture(_ site: PassSite, _ out: Output) async throws -> Bool {
        var capture = try Capture(contentsOf: input)
        if let at { capture.started = at }
        let start = capture.started ?? Date()
        let backend = ReplayBackend([capture], mode: .byCommand, speed: .asFastAsPossible) { _ in start }
        var (count, accepted) = (0, 0)
        for await event in backend.events() {
            try Task.checkCancellation()
            guard case .cardInserted(let presence) = event else { continue }
            let reading = try await backend.withCard(presence) {
                CardReading(over: $0, limits: .default, site: site, at: presence.at)
            }
            var verdict = PassVerdict("verified", reading)
            verdict.at = ISO8601.text(presence.at)
            verdict.reader = presence.reader.name
            try out.result(verdict, text: "\(ISO8601.text(presence.at))\n\(verdict.text)")
            count += 1
            if verdict.isAccepted { accepted += 1 }
        }
        if count == 0 { out.message("There is no card in the capture.") }
        return count > 0 && count == accepted
    }

    private func verifyText(_ site: PassSite, _ out: Output) throws -> Bool {
        let now = at ?? Date()
        let card = try uid.map { try CardUID(text: $0, technology: .iso14443a) }
        let reading: CardReading
        if let bytes = try? Hex.decode(input), !bytes.isEmpty {
            reading = try Self.reading(of: bytes, card, site, now)
        } else {
            let record: NDEFRecord =
                SignedTokenVerifier.isToken(input)
                ? .mime(type: "application/jwt", payload: Array(input.utf8)) : try .uri(input)
            guard SignedTokenVerifier.isToken(input) || input.contains("://") else {
                throw ToolFailure(
                    "'\(input)' is neither a file, an address, a token nor hexadecimal. See 'readerctl pass verify --help'.",
                    exit: ToolExit.malformed
                )
            }
            reading = CardReading(records: [record], uid: card, site: site, at: now)
        }
        let verdict = PassVerdict("verified", reading)
        try out.result(verdict, text: verdict.text)
        return verdict.isAccepted
    }

    /// An answer of a phone, a cryptogram, or an NDEF message, told apart by how it begins.
    private static func reading(
        of bytes: [UInt8],
        _ card: CardUID?,
        _ site: PassSite,
        _ now: Date
    ) throws -> CardReading {
        let status: [UInt8] = [0x90, 0x00]
        if bytes.first == 0x70 {
            let answer = bytes.suffix(2) == status[...] ? bytes : bytes + status
            return CardReading(appleAnswer: try ResponseAPDU(bytes: answer), site: site, at: now)
        }
        if let message = try? NDEFMessage(decoding: bytes) {
            return CardReading(records: message.records, uid: card, site: site, at: now)
        }
        let objects = [BERTLV(0x70, objects: [BERTLV(0x9F2A, []), BERTLV(0x9F27, bytes)])]
        let answer = try ResponseAPDU(bytes: try objects.encoded() + status)
        return CardReading(appleAnswer: answer, site: site, at: now)
    }
}
