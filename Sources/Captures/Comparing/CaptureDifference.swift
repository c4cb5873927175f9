/// One difference between two captures.
public struct CaptureDifference: Sendable, Hashable, Codable {
    /// What differs.
    public var kind: Kind

    /// The presentation of the first capture, from 1, or `nil` if it has none there.
    public var leftPresentation: Int?

    /// The presentation of the second capture, from 1, or `nil` if it has none there.
    public var rightPresentation: Int?

    /// The line of the first capture, where its file is known: of the card, or of the command.
    public var leftLine: Int?

    /// The line of the second capture.
    public var rightLine: Int?

    /// The name of the fact or header that differs.
    public var name: String?

    /// What the first capture has there, as captures write it, or `nil` if nothing.
    public var left: String?

    /// What the second capture has there, or `nil` if nothing.
    public var right: String?

    /// What can differ.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// A header line.
        case header
        /// A whole presentation is in one capture only.
        case presentation
        /// The reader of a presentation.
        case reader
        /// A fact of the card, or its technology.
        case fact
        /// The fault with which no conversation was possible.
        case connectFault
        /// A command with its answer is in one capture only.
        case exchange
        /// The answer to the same command.
        case answer
        /// Whether it is told that the card left.
        case removal
        /// A time.
        case time
        /// A line of a reader in Smart Reader mode.
        case line
    }

    /// A difference.
    public init(
        _ kind: Kind,
        presentations: (Int?, Int?) = (nil, nil),
        lines: (Int?, Int?) = (nil, nil),
        name: String? = nil,
        left: String?,
        right: String?
    ) {
        self.kind = kind
        (leftPresentation, rightPresentation) = presentations
        (leftLine, rightLine) = lines
        self.name = name
        self.left = left
        self.right = right
    }
}

extension CaptureDifference: CustomStringConvertible {
    /// Some lines for people: what, where, and behind `-` and `+` what each capture has.
    public var description: String {
        func place(_ label: String, _ presentation: Int?, _ line: Int?) -> String? {
            let parts = [presentation.map { "card \($0)" }, line.map { "line \($0)" }].compactMap { $0 }
            return parts.isEmpty ? nil : "\(label) " + parts.joined(separator: ", ")
        }
        let places = [
            place("A", leftPresentation, leftLine), place("B", rightPresentation, rightLine),
        ].compactMap { $0 }.joined(separator: "; ")
        var text = kind.title + (name.map { " '\($0)'" } ?? "") + (places.isEmpty ? "" : " (\(places))")
        func add(_ mark: String, _ value: String?) {
            for line in (value ?? "").split(separator: "\n") { text += "\n  \(mark) \(line)" }
        }
        add("-", left)
        add("+", right)
        return text
    }
}

extension CaptureDifference.Kind {
    /// The name for people.
    public var title: String {
        switch self {
        case .header: "header"
        case .presentation: "presentation"
        case .reader: "reader"
        case .fact: "fact"
        case .connectFault: "fault of the card"
        case .exchange: "exchange"
        case .answer: "answer"
        case .removal: "removal"
        case .time: "time"
        case .line: "Smart Reader line"
        }
    }
}
