import Glibc

/// Why a screen could not be opened in a terminal.
public struct TerminalError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Standard input or standard output is no terminal.
        case notATerminal
        /// The process has another session open.
        case alreadyOpen
        /// The system refused a call.
        case system
    }

    /// What happened.
    public var kind: Kind
    /// The attempted operation, to be read after "could not": "read the terminal's settings".
    public var attempt: String
    /// The `errno` of the call that failed; 0 if none did.
    public var code: Int32

    init(_ kind: Kind, attempting attempt: String, code: Int32 = 0) {
        self.kind = kind
        self.attempt = attempt
        self.code = code
    }

    /// The remedy.
    public var hint: String {
        switch kind {
        case .notATerminal: "Start it in a terminal, or without the screen ('--plain')."
        case .alreadyOpen: "Close the other session first."
        case .system: "Check that the terminal is still there, and how many files are open ('ulimit -n')."
        }
    }

    /// The attempt, what happened, and the remedy.
    public var description: String {
        let cause =
            switch kind {
            case .notATerminal: "it is no terminal"
            case .alreadyOpen: "this process shows a screen already"
            case .system: "\(String(cString: strerror(code))) (errno \(code))"
            }
        return "could not \(attempt): \(cause). \(hint)"
    }
}
