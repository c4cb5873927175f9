extension ScenarioConfiguration {
    /// Something about a place of a configuration file: what is wrong there and what to do.
    public struct Finding: Sendable, Hashable {
        /// The line, from 1; 0 if it is about the file as a whole.
        public var line: Int

        /// The column in characters (Unicode scalars), from 1; 0 if it is about the file as a whole.
        public var column: Int

        /// The place among the values, as `scenarios[1].when[0].events`; empty for the whole and for faults of the
        /// syntax.
        public var path: String

        /// What is wrong, without a full stop.
        public var message: String

        /// What a person can do about it, in whole sentences.
        public var hint: String

        /// A finding.
        public init(line: Int, column: Int, path: String, message: String, hint: String) {
            self.line = line
            self.column = column
            self.path = path
            self.message = message
            self.hint = hint
        }

        /// One line for people, which begins with the file, the line and the column.
        public func text(in file: String) -> String {
            let place = line > 0 ? "\(file):\(line):\(column): " : "\(file): "
            return place + (path.isEmpty ? "" : "\(path): ") + "\(message). \(hint)"
        }
    }
}

extension ScenarioConfiguration.Finding: CustomStringConvertible {
    /// One line for people, without the file.
    public var description: String {
        (line > 0 ? "line \(line), column \(column): " : "") + (path.isEmpty ? "" : "\(path): ") + "\(message). \(hint)"
    }
}
