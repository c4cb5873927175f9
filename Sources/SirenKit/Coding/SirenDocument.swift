import PlainJSON

/// A document that was read: its entity, and where it is not as it should be.
public struct SirenDocument: Sendable, Hashable {
    /// How strictly a document is read.
    public enum Mode: Sendable, Hashable {
        /// What can be used is used, and what is not as it should be is listed.
        case lenient
        /// A document that is not as it should be is refused.
        case strict
    }

    /// The entity, with all that could be used.
    public var entity: SirenEntity
    /// Where the document is not as it should be: at most 1000 places.
    public var violations: [SirenViolation]

    /// Reads a document.
    ///
    /// Numbers keep their text. Unknown members are kept. Of two actions or fields of one name both are kept, and the
    /// first counts. A text where a list of texts belongs is taken for a list of one; what cannot be used is left out: a
    /// link or an action without `href`, an action or a field without `name`, and members of another type.
    ///
    /// - Parameter bytes: JSON (RFC 8259) in UTF-8.
    /// - Throws: ``SirenDecodingError`` if the bytes are no JSON object, or, if strict, if there are violations.
    public init(decoding bytes: [UInt8], _ mode: Mode = .lenient) throws(SirenDecodingError) {
        let (value, doubled): (SirenValue, ViolationList)
        do throws(JSONLexer.Fault) {
            (value, doubled) = try bytes.withUnsafeBufferPointer { all throws(JSONLexer.Fault) in
                var reader = SirenReader(all)
                let value = try reader.value()
                return (value, reader.violations)
            }
        } catch {
            throw .malformed(SirenDecodingError.Place(error.offset, in: bytes), expected: error.message)
        }
        guard case .object(let object) = value else { throw .notAnObject }
        var decoder = SirenDecoder(violations: doubled)
        entity = decoder.root(object)
        violations = decoder.violations.all.map { violation in
            SirenViolation(path: "$" + violation.path, rule: violation.rule, expected: violation.expected)
        }
        if mode == .strict, !violations.isEmpty { throw .violations(violations) }
    }
}

/// Why bytes were not taken for an entity.
public enum SirenDecodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where something is in a text.
    public struct Place: Sendable, Hashable {
        /// In bytes, from 0.
        public var offset: Int
        /// From 1.
        public var line: Int
        /// In bytes, from 1.
        public var column: Int

        init(_ offset: Int, in bytes: [UInt8]) {
            let before = bytes.prefix(offset)
            self.offset = offset
            line = 1 + before.count { $0 == 0x0A }
            column = offset - (before.lastIndex(of: 0x0A) ?? -1)
        }
    }

    /// The bytes are no JSON.
    case malformed(Place, expected: String)
    /// The bytes are JSON and no object.
    case notAnObject
    /// The document is not as it should be.
    case violations([SirenViolation])

    /// What was attempted, what happened, and what a person can do.
    public var description: String {
        let attempt = "the document cannot be read as Siren"
        return switch self {
        case .malformed(let place, let expected):
            "\(attempt): expected \(expected) in line \(place.line), column \(place.column); ask who sent it for JSON"
        case .notAnObject: "\(attempt): it is JSON and no object; ask who sent it for an entity"
        case .violations(let violations):
            "\(attempt) strictly: \(violations.map(\.description).joined(separator: "; ")); correct it, or read leniently"
        }
    }
}
