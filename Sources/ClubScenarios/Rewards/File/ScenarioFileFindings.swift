/// What is found in a file, up to a number.
struct ScenarioFileFindings: Error {
    private(set) var all: [ScenarioConfiguration.Finding] = []
    private var isMore = false

    var isEmpty: Bool { all.isEmpty }

    /// Whether further ones are only counted, so that they need not be worked out.
    var isFull: Bool { all.count >= ScenarioConfigurationError.mostFindings }

    init() {}

    /// A single finding.
    init(_ line: Int, _ column: Int, _ message: String, _ hint: String) {
        add(line, column, "", message, hint)
    }

    mutating func add(_ line: Int, _ column: Int, _ path: String, _ message: String, _ hint: @autoclosure () -> String)
    {
        guard !isFull else {
            isMore = true
            return
        }
        all.append(.init(line: line, column: column, path: path, message: message, hint: hint()))
    }

    /// By line and column; the last one says so if there are more.
    var sorted: [ScenarioConfiguration.Finding] {
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
