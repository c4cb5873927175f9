import ArgumentParser
import ReaderKit
import ToolSupport

/// `readerctl apdu` on a terminal: one command a line, until Ctrl-D.
struct APDUShell {
    private let session: APDUSession
    private let output: Output

    init(_ session: APDUSession, _ output: Output) {
        self.session = session
        self.output = output
    }

    private static let help = """
        [CLA]INS[P1P2][:DATA][/LE][=SW]   a command, or a whole APDU in hexadecimal
        raw HEX[/BITS]                    a frame of the card's own protocol
        select AID                        SELECT by name (ndef, vas, smarttap, ppse, or hexadecimal)
        reset                             powers the card anew
        quit                              ends, as Ctrl-D does

        Ctrl-C drops the line. The arrow keys bring back earlier lines; those with keys, passwords or PINs are
        forgotten at the end.
        """

    private enum Request {
        case nothing, help, reset, quit
        case send(CardCommand)
    }

    /// Runs until the end of the input.
    func run() throws {
        var history = CommandHistory()
        let editor = LineEditor(history: history.lines, session.card.cancellation)
        output.message("The card is held for this session. 'help' explains the commands, Ctrl-D ends.")
        while let line = try editor.line("apdu> ") {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            editor.remember(line)
            let request: Request
            do {
                request = try read(line)
            } catch {
                // Not kept: it may be a key with a slip of the pen.
                output.message("\(error)")
                continue
            }
            switch request {
            case .nothing: break
            case .quit: return
            case .help: output.message(Self.help)
            case .reset: try attempt { try session.reset() }
            case .send(let command):
                keep(line, command, in: &history)
                try attempt { try session.send(command) }
            }
        }
    }

    private func read(_ line: String) throws -> Request {
        let words = line.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let rest = words.count > 1 ? words[1] : ""
        switch words.first?.lowercased() {
        case "help", "?": return .help
        case "quit", "exit": return .quit
        case "reset": return .reset
        case "raw": return .send(try CardCommand(rest, raw: true))
        case "select":
            let name = rest.trimmingCharacters(in: .whitespaces)
            if let known = SendAPDU.KnownApplication(rawValue: name) { return .send(try .selecting(known.aid)) }
            return .send(try .selecting(try Hex.decode(name)))
        default:
            return try CardCommand(line: line, raw: session.style.isRaw).map(Request.send) ?? .nothing
        }
    }

    /// A failure is reported; only one after which no command can succeed ends the session.
    private func attempt(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let error as ReaderError {
            switch error.kind {
            case .cardRemoved, .readerUnavailable, .serviceUnavailable, .serviceStopped, .stuck, .exhausted, .cancelled:
                throw error
            default: output.message("\(error)")
            }
        } catch let error as ToolFailure where error.exit != ToolExit.inputOutput {
            output.message("\(error)")
        }
    }

    private func keep(_ line: String, _ command: CardCommand, in history: inout CommandHistory) {
        do {
            try history.add(line, command)
        } catch {
            output.message("warning: the history could not be written: \(error.localizedDescription)")
        }
    }
}
