/// The options of a benchmark: `--name value` pairs and `--name` flags.
public struct Arguments: Sendable {
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// Why the arguments are not understood.
    public struct Failure: Error, CustomStringConvertible {
        /// What is wrong, and what is understood.
        public var description: String

        /// A failure.
        public init(description: String) { self.description = description }
    }

    /// Reads the arguments after the program's name.
    ///
    /// - Throws: ``Failure`` for a name that is not known, or a missing value.
    public init(_ arguments: [String] = CommandLine.arguments, options: [String], flags known: [String] = []) throws {
        let usage = (options.map { "\($0) VALUE" } + known).map { "[\($0)]" }.joined(separator: " ")
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            if known.contains(name) {
                flags.insert(name)
            } else if options.contains(name), let value = rest.popFirst() {
                values[name] = value
            } else {
                throw Failure(description: "\(name) is not understood here; usage: \(usage)")
            }
        }
    }

    /// Whether the flag was given.
    public func has(_ flag: String) -> Bool { flags.contains(flag) }

    /// The value of an option, or `nil` if it was not given.
    public func text(_ name: String) -> String? { values[name] }

    /// The number of an option, or the default.
    ///
    /// - Throws: ``Failure`` if it is no number of that type.
    public func number<Number: FixedWidthInteger>(_ name: String, default value: Number) throws -> Number {
        guard let text = values[name] else { return value }
        let isHexadecimal = text.hasPrefix("0x")
        guard let number = Number(isHexadecimal ? String(text.dropFirst(2)) : text, radix: isHexadecimal ? 16 : 10)
        else { throw Failure(description: "\(name) takes a number, not \(text)") }
        return number
    }
}
