@preconcurrency import CEdit
import Foundation
import Synchronization
import ToolSupport

/// Lines typed on a terminal, with editing and a history (libedit, through its readline interface).
///
/// The library keeps its state in globals, so there is one editor in a process, used by one thread.
final class LineEditor {
    private let cancellation: CardOnReader.Cancellation
    private let signals = Interrupts()

    /// - Parameter history: earlier lines, the oldest first.
    init(history: [String], _ cancellation: CardOnReader.Cancellation) {
        self.cancellation = cancellation
        // Results go to standard output, which may be a file; what is typed belongs to the terminal.
        if let messages = fdopen(dup(STDERR_FILENO), "w") {
            setvbuf(messages, nil, _IONBF, 0)
            rl_outstream = messages
        }
        using_history()
        stifle_history(Int32(CommandHistory.longest))
        for line in history { add_history(line) }
    }

    /// Makes a line one that the arrow keys bring back.
    func remember(_ line: String) {
        add_history(line)
    }

    /// Lets a person type a line; `nil` at the end of the input (Ctrl-D). Ctrl-C drops what was typed; on a line on which
    /// nothing was typed it ends the tool, with exit code 130.
    func line(_ prompt: String) throws -> String? {
        let restore = signals.take()
        defer { restore() }
        while true {
            Self.typed.withLock { $0 = .nothing }
            rl_callback_handler_install(prompt) { line in
                LineEditor.typed.withLock { $0 = line.map { .line(String(cString: $0)) } ?? .end }
                free(line)
            }
            // Puts the terminal back into the state in which it was.
            defer { rl_callback_handler_remove() }
            switch try edit() {
            case .line(let line): return line
            case .end:
                Output.tell("")
                return nil
            case .dropped: Output.tell("^C")
            case .nothing: return nil
            }
        }
    }

    private enum Typed {
        case nothing
        case line(String)
        case end
        case dropped
    }

    /// The library calls back without a context.
    private static let typed = Mutex(Typed.nothing)

    private func edit() throws -> Typed {
        var isTouched = false
        while true {
            try InputFile.wait(for: STDIN_FILENO, or: [cancellation.descriptor, signals.descriptor])
            try cancellation.check()
            if signals.receive() {
                guard isTouched else {
                    Output.tell("")
                    throw ToolExit.interrupted
                }
                return .dropped
            }
            isTouched = true
            rl_callback_read_char()
            let typed = Self.typed.withLock { $0 }
            if case .nothing = typed { continue }
            return typed
        }
    }
}

/// Takes Ctrl-C for the editor while a line is typed; at any other time it ends the tool.
private final class Interrupts {
    /// What a signal handler may do is little: it writes a byte here.
    private static let ends: (read: Int32, write: Int32) = {
        let ends = makePipe() ?? (-1, -1)
        for end in [ends.read, ends.write] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        return ends
    }()

    var descriptor: Int32 { Self.ends.read }

    /// Takes the signal, and returns what restores it.
    func take() -> () -> Void {
        // Made before a handler could need it.
        _ = Self.ends
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            let saved = errno
            var byte: UInt8 = 1
            _ = write(Interrupts.ends.write, &byte, 1)
            errno = saved
        }
        var before = sigaction()
        sigaction(SIGINT, &action, &before)
        return { sigaction(SIGINT, &before, nil) }
    }

    /// Whether the signal came since this was last asked.
    func receive() -> Bool {
        var byte: UInt8 = 0
        var hasCome = false
        while read(Self.ends.read, &byte, 1) == 1 { hasCome = true }
        return hasCome
    }
}
