/// A finding at a place of a file of YAML or JSON: the fault and its remedy.
public struct YAMLFinding: Sendable, Hashable {
    /// The line, from 1; 0 for the file as a whole.
    public var line: Int

    /// The column in characters (Unicode scalars), from 1; 0 for the file as a whole.
    public var column: Int

    /// The place among the values, as `scenarios[1].when[0].events`; empty for the whole and for faults of the
    /// syntax.
    public var path: String

    /// The fault, without a full stop.
    public var message: String

    /// The remedy, in whole sentences.
    public var hint: String

    package init(line: Int, column: Int, path: String, message: String, hint: String) {
        (self.line, self.column, self.path, self.message, self.hint) = (line, column, path, message, hint)
    }

    /// Returns one line for people, which begins with the file, the line and the column.
    public func text(in file: String) -> String {
        let place = line > 0 ? "\(file):\(line):\(column): " : "\(file): "
        return place + (path.isEmpty ? "" : "\(path): ") + "\(message). \(hint)"
    }
}

extension YAMLFinding: CustomStringConvertible {
    /// One line for people, without the file.
    public var description: String {
        (line > 0 ? "line \(line), column \(column): " : "") + (path.isEmpty ? "" : "\(path): ") + "\(message). \(hint)"
    }
}

/// What is found in a file, up to a number.
package struct YAMLFindings: Error {
    package private(set) var all: [YAMLFinding] = []
    private var isMore = false

    /// The maximum number of findings of a file.
    static let most = 200

    package var isEmpty: Bool { all.isEmpty }

    /// Whether further ones are only counted, so that they need not be worked out.
    package var isFull: Bool { all.count >= Self.most }

    package init() {}

    init(_ line: Int, _ column: Int, _ message: String, _ hint: String) {
        add(line, column, "", message, hint)
    }

    package mutating func add(
        _ line: Int,
        _ column: Int,
        _ path: String,
        _ message: String,
        _ hint: @autoclosure () -> String
    ) {
        guard !isFull else {
            isMore = true
            return
        }
        all.append(.init(line: line, column: column, path: path, message: message, hint: hint()))
    }

    /// By line and column; the last one reports it if there are more.
    package var sorted: [YAMLFinding] {
        let sorted = all.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }.map(\.element)
        guard isMore else { return sorted }
        return sorted + [
            .init(
                line: 0,
                column: 0,
                path: "",
                message: "there is more to be said than \(all.count) findings",
                hint: "Mend these first and check the file again."
            )
        ]
    }
}
