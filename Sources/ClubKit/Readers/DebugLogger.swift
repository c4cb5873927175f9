import Foundation
import Synchronization

/// Keeps the latest messages of a program in memory, for a screen that shows them to a technician.
///
/// It is off until ``Club/setDebugMode(isActivated:)``, keeps the latest ``capacity`` messages until the program ends,
/// and omits data that identifies people and cards. It may be used from any thread.
public final class DebugLogger: Sendable {
    /// The logger of the program.
    public static let shared = DebugLogger()

    /// The number of messages kept.
    public static let capacity = 1000

    /// The maximum length of a message, in characters; longer ones are truncated.
    public static let longestMessage = 1024

    private struct State {
        var isActivated = false
        var messages: [String] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Whether messages are kept.
    public var isActivated: Bool { state.withLock { $0.isActivated } }

    /// Begins or ends keeping messages; without a value, toggles it. Existing messages stay.
    public func toggleDebug(isActivated: Bool? = nil) {
        state.withLock { $0.isActivated = isActivated ?? !$0.isActivated }
    }

    /// Keeps a message, without data that identifies people and cards, if debug mode is on. The usual form is
    /// "TypeName - text".
    public func addDebugMessage(_ message: @autoclosure () -> String) {
        guard isActivated else { return }
        let message = message()
        let plain = Redaction.redacted(PlainText.line(String(message.prefix(Self.longestMessage))))
        state.withLock { state in
            guard state.isActivated else { return }
            if state.messages.count == Self.capacity { state.messages.removeFirst() }
            state.messages.append(plain)
        }
    }

    /// Returns the messages, the oldest first.
    public func getAllMessages() -> [String] { state.withLock { $0.messages } }

    /// Removes all messages.
    public func clear() {
        state.withLock { $0.messages = [] }
    }
}

/// Leaves out of a text what may identify a person or a card.
enum Redaction {
    static let mark = "…"

    /// The text, with a mark in place of membership texts (`number|id|payload|name`), e-mail addresses, identifiers in
    /// hexadecimal and long numbers.
    static func redacted(_ text: String) -> String {
        var text = text[...]
        var end = ""
        if text.lazy.filter({ $0 == "|" }).count >= 3, let first = text.firstIndex(of: "|") {
            // The name at the end of a membership text may have spaces: nothing behind it can be distinguished from it.
            let start = text[..<first].lastIndex(of: " ").map { text.index(after: $0) } ?? text.startIndex
            text = text[..<start]
            end = mark
        }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return words.map { isTelling($0) ? mark : String($0) }.joined(separator: " ") + end
    }

    /// Whether a word may identify somebody: an address, eight hexadecimal digits of which one is a decimal one, or seven
    /// digits, whatever separates them.
    private static func isTelling(_ word: Substring) -> Bool {
        if let at = word.firstIndex(of: "@"), at != word.startIndex, word.index(after: at) != word.endIndex {
            return true
        }
        var (run, digits) = (0, 0)
        for character in word.unicodeScalars {
            switch character {
            case "0"..."9":
                run += 1
                digits += 1
            case "a"..."f", "A"..."F": run += 1
            case "-", ":", ".", "_": continue
            default: (run, digits) = (0, 0)
            }
            if run >= 8 && digits > 0 || digits >= 7 { return true }
        }
        return false
    }
}
