import PlainJSON

/// Where and how a document is not as it should be.
public struct SirenViolation: Sendable, Hashable, CustomStringConvertible {
    /// What is broken.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// A member that the specification names has a value of another type.
        case type
        /// A required member is absent.
        case missing
        /// A sub-entity's `rel` is empty.
        case emptyRelation
        /// An action's `method` is none of the five.
        case method
        /// A field's `type` is none of the nineteen.
        case fieldType
        /// A link's `type` is no media type.
        case mediaType
        /// Two actions, or two fields, have one name: the first counts.
        case doubledName
        /// Two members of an object have one name: the first counts.
        case doubledMember
        /// A relation is neither registered nor a URI (RFC 8288), or a link has none.
        case relation
        /// An `href` is no reference to a resource (RFC 3986).
        case reference
        /// An embedded link has what only an embedded representation has, or an `href` is no text.
        case embeddedLink
        /// A field's constraint, or its `class`, which the schema does not know, has a value of another type.
        case constraint

        /// Whether the published schema asks for it. It lets pass what breaks only the specification's words.
        public var isOfSchema: Bool {
            switch self {
            case .type, .missing, .emptyRelation, .method, .fieldType, .mediaType: true
            case .doubledName, .doubledMember, .relation, .reference, .embeddedLink, .constraint: false
            }
        }
    }

    /// Where: a JSON path (RFC 9535), such as `$.links[0].href`. Of an absent member it is where that would be.
    public var path: String
    /// What is broken.
    public var rule: Rule
    /// What should be there, such as "a text".
    public var expected: String

    /// All of it in one line.
    public var description: String { "\(path): expected \(expected)" }
}

/// A step of a JSON path.
enum PathStep {
    case member(String)
    case element(Int)

    /// A longer name is cut: a document's names may be as long as it is.
    static let longestName = 100

    var text: String {
        switch self {
        case .element(let index): return "[\(index)]"
        case .member(let name):
            let isPlain =
                name.utf8.count <= Self.longestName
                && name.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
                && name.utf8.first.map { ($0 ^ 0x30) >= 10 } ?? false
            if isPlain { return "." + name }
            var quoted: [UInt8] = []
            let cut = name.unicodeScalars.prefix(Self.longestName)
            quoted.appendJSON(quoting: String(cut).utf8)
            return "[\(String(decoding: quoted, as: UTF8.self))]" + (cut.endIndex == name.endIndex ? "" : "…")
        }
    }
}

extension UInt8 {
    var isASCIILetter: Bool { (self | 0x20) &- UInt8(ascii: "a") < 26 }
    /// Of ASCII.
    var isAlphanumeric: Bool { isASCIILetter || self ^ 0x30 < 10 }
}

/// Violations as they are found. Paths grow from their ends, so that what is as it should be costs nothing.
struct ViolationList {
    /// Of more than these nobody needs to know, and a hostile document has as many as it likes.
    static let most = 1000

    private(set) var all: [SirenViolation] = []

    var count: Int { all.count }

    /// - Parameter step: where, from the value at which the reading is.
    mutating func add(_ rule: SirenViolation.Rule, _ expected: String, at step: PathStep? = nil) {
        guard all.count < Self.most else { return }
        all.append(SirenViolation(path: step?.text ?? "", rule: rule, expected: expected))
    }

    /// States, for those added since then, which member or element contains them.
    mutating func move(since count: Int, under step: @autoclosure () -> PathStep) {
        guard all.count > count else { return }
        let text = step().text
        for index in count..<all.count { all[index].path = text + all[index].path }
    }
}
