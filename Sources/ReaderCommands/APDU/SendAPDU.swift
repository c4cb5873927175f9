import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct SendAPDU: ReportingCommand, OneCardCommand {
    static let configuration = CommandConfiguration(
        commandName: "apdu",
        abstract: "Sends commands to a card and shows its answers.",
        discussion: """
            A command is [CLA]INS[P1P2][:DATA][/LE][=SW] or a whole APDU in hexadecimal; quote it if it has spaces. \
            Up to 8 digits before the first ':', '/' or '=' are a header: 2 are INS, 4 CLA INS, 6 INS P1 P2, 8 all; \
            what is missing is 00. More digits are a whole APDU, sent as it is, after which only =SW may follow. LE \
            has two digits (00 is 256) or four for an extended length (0000 is 65536); without it no answer is asked \
            for. '=' alone expects 9000, and another status word than the expected one ends with exit code 1.

            Without commands it is a shell: line editing and a history on a terminal, plain lines otherwise or if \
            standard error is redirected. 'help', 'select', 'raw' and 'reset' are for the terminal. The history is in \
            $XDG_STATE_HOME/clubkit/apdu-history, or ~/.local/state/clubkit/apdu-history, without commands that may \
            hold a secret. The card is held until the last command, and other programs wait. Each command has 30 s with \
            all that follows from it; all of them together have no limit.

            After 61xx the rest of the answer is fetched, and after 6Cxx the command repeated with the right length; \
            with --no-follow-up each answer is shown as it came. With --raw commands are frames of the card's own \
            protocol, without checksum: HEX or HEX/BITS.

            EXAMPLES
              readerctl apdu FFCA0000/00
              readerctl apdu --app ndef 00A4000C:E103= 00B00000/0F=
              readerctl apdu --raw 60 3004
              readerctl apdu --script check.apdu --json

            JSON keys, one object for each command: command, data, statusWord, statusName, durationMs; for a frame \
            command, data and durationMs. An error is {"error":{"code":...,"message":...}}, and no card in time \
            {"event":"timeout"}.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @OptionGroup var card: CardOptions
    @OptionGroup var source: CardReplayOptions
    @Option(
        help: ArgumentHelp("Send the commands of this file, '-' for standard input; '#' begins a comment."),
        completion: .file()
    )
    var script: String?
    @Option(help: ArgumentHelp("Select the application of this name (AID) first.", valueName: "hex"))
    var aid: String?
    @Option(help: "Select this application first.")
    var app: KnownApplication?
    @Flag(help: "Send frames of the card's own protocol instead of APDUs.")
    var raw = false
    @Flag(help: "Show 61xx and 6Cxx as they come, and do nothing about them.")
    var noFollowUp = false
    @Flag(help: "Show data in lines of 16 bytes, with their text.")
    var hexdump = false
    @Argument(help: "Commands, one an argument.")
    var commands: [String] = []

    enum KnownApplication: String, ExpressibleByArgument, CaseIterable {
        case ndef, vas, smarttap, ppse

        var aid: [UInt8] {
            switch self {
            case .ndef: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
            case .vas: Array("OSE.VAS.01".utf8)
            case .smarttap: [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x11]
            case .ppse: Array("2PAY.SYS.DDF01".utf8)
            }
        }
    }

    func validate() throws {
        if script != nil, !commands.isEmpty { throw ValidationError("Give either commands or --script.") }
        if aid != nil, app != nil { throw ValidationError("Give either --aid or --app.") }
        if raw, aid != nil || app != nil { throw ValidationError("With --raw there is no application to select.") }
    }

    func perform(_ out: Output) async throws {
        // Bytes of one command, apart: each would be sent as a command of its own.
        if commands.count > 1, commands.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) {
            throw ValidationError("One command an argument: quote it, as in \"\(commands.joined(separator: " "))\".")
        }
        let style = APDUSession.Style(isRaw: raw, followsUp: !noFollowUp, hexdump: hexdump)
        let first = try selection()
        // All is read before a card is waited for: a slip of the pen on line 9 must not show after line 8 was sent.
        let script = try await commandsToSend(style)
        // The editor shows what is typed on standard error.
        let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
        try await cards.withCard(out, replaying: source.replay, within: nil) { card in
            let session = APDUSession(card, out, style)
            for command in first { try session.send(command) }
            if let script {
                for (place, command) in script {
                    try card.cancellation.check()
                    try Self.telling(place) { try session.send(command) }
                }
            } else if isTerminal {
                try APDUShell(session, out).run()
            } else {
                try sendLines(session)
            }
        }
    }

    private func selection() throws -> [CardCommand] {
        if let app { return [try .selecting(app.aid)] }
        guard let aid else { return [] }
        do {
            return [try .selecting(try Hex.decode(aid))]
        } catch let error as Hex.Failure {
            throw ToolFailure("could not read the application's name: \(error)", exit: ToolExit.malformed)
        }
    }

    /// The commands of the arguments or of the script, or `nil` where lines are to be read as they come; with where each
    /// stands in the script.
    private func commandsToSend(_ style: APDUSession.Style) async throws -> [(place: String?, command: CardCommand)]? {
        if let script {
            let name = script == "-" ? "standard input" : script
            let lines = String(decoding: try await InputFile.read(script), as: UTF8.self)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            return try lines.enumerated().compactMap { number, line in
                let place = "\(name), line \(number + 1)"
                do {
                    return try CardCommand(line: line, raw: style.isRaw).map { (place, $0) }
                } catch {
                    throw ToolFailure("\(place): \(error)", exit: ToolExit.malformed)
                }
            }
        }
        return commands.isEmpty ? nil : try commands.map { (nil, try CardCommand($0, raw: style.isRaw)) }
    }

    /// Puts the place of the command before an expectation that was not met.
    private static func telling(_ place: String?, _ work: () throws -> Void) throws {
        do {
            try work()
        } catch let error as ToolFailure where error.exit == ToolExit.failure {
            throw ToolFailure((place.map { $0 + ": " } ?? "") + error.message, exit: error.exit)
        }
    }

    /// Plain lines from whoever drives this tool; each is sent as it comes, and the first failure ends it.
    private func sendLines(_ session: APDUSession) throws {
        let lines = InputLines(session.card.cancellation)
        var number = 0
        while let line = try lines.next() {
            number += 1
            let command: CardCommand?
            do {
                command = try CardCommand(line: line, raw: session.style.isRaw)
            } catch {
                throw ToolFailure("line \(number): \(error)", exit: ToolExit.malformed)
            }
            if let command { try Self.telling("line \(number)") { try session.send(command) } }
        }
    }
}
