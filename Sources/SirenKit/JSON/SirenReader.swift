import PlainJSON

/// Reads a JSON value whole: numbers keep their text, members their order, and of two members of one name the first counts.
struct SirenReader {
    /// How deep values may be nested.
    static let depth = 128

    private var lexer: JSONLexer
    private(set) var violations = ViolationList()

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        lexer = JSONLexer(bytes)
    }

    /// The one value that the bytes are, white space around it aside.
    static func value(in bytes: [UInt8]) throws(JSONLexer.Fault) -> SirenValue {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONLexer.Fault) in
            var reader = SirenReader(bytes)
            return try reader.value()
        }
    }

    /// The one value that the bytes are, white space around it aside.
    mutating func value() throws(JSONLexer.Fault) -> SirenValue {
        let value = try value(depth: 0)
        try lexer.end()
        return value
    }

    private mutating func value(depth: Int) throws(JSONLexer.Fault) -> SirenValue {
        guard depth < Self.depth else { throw lexer.fault("at most \(Self.depth) levels") }
        switch lexer.next {
        case UInt8(ascii: "{"): return .object(try object(depth))
        case UInt8(ascii: "["): return .array(try array(depth))
        case UInt8(ascii: "\""): return .string(try lexer.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            return switch try lexer.word() {
            case .null: .null
            case .true: .bool(true)
            case .false: .bool(false)
            }
        default: return .number(SirenNumber(written: try lexer.number().text))
        }
    }

    private mutating func object(_ depth: Int) throws(JSONLexer.Fault) -> SirenObject {
        lexer.open()
        var members: [SirenObject.Member] = []
        // Of many members, so that looking for each name among those before it takes no longer the more there are.
        var names: Set<[UInt8]> = []
        while let name = try lexer.name(isFirst: members.isEmpty) {
            let before = violations.count
            let value = try value(depth: depth + 1)
            violations.move(since: before, under: .member(name))
            if members.count == 16 { names = Set(members.map { Array($0.name.utf8) }) }
            let isDoubled =
                members.count < 16
                ? members.contains { SirenObject.isSame($0.name, name) } : !names.insert(Array(name.utf8)).inserted
            if isDoubled {
                violations.add(.doubledMember, "one member of this name", at: .member(name))
            } else {
                members.append(SirenObject.Member(name, value))
            }
        }
        return SirenObject(distinct: members)
    }

    private mutating func array(_ depth: Int) throws(JSONLexer.Fault) -> [SirenValue] {
        lexer.open()
        var values: [SirenValue] = []
        while try lexer.hasElement(isFirst: values.isEmpty) {
            let before = violations.count
            values.append(try value(depth: depth + 1))
            violations.move(since: before, under: .element(values.count - 1))
        }
        return values
    }
}

extension SirenValue {
    /// Appends the value as JSON without white space, members in their order.
    func append(to json: inout [UInt8]) {
        switch self {
        case .null: json.append(contentsOf: "null".utf8)
        case .bool(let value): json.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): json.append(contentsOf: number.text.utf8)
        case .string(let text): json.appendJSON(quoting: text.utf8)
        case .array(let values):
            json.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                value.append(to: &json)
            }
            json.append(UInt8(ascii: "]"))
        case .object(let object):
            json.append(UInt8(ascii: "{"))
            for (index, member) in object.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json.appendJSON(quoting: member.name.utf8)
                json.append(UInt8(ascii: ":"))
                member.value.append(to: &json)
            }
            json.append(UInt8(ascii: "}"))
        }
    }

    /// The value as JSON without white space, in UTF-8.
    public var json: [UInt8] {
        var json: [UInt8] = []
        append(to: &json)
        return json
    }
}
