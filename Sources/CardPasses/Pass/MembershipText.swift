import CardCore

/// The four-field membership text `number|id|payload|name` that older clubs write on their cards.
///
/// The second field is the member's id, the fourth the name. The first and third are kept as they are.
public struct MembershipText: Sendable, Hashable {
    /// The first field, the number of the payload's format.
    public var number: String
    /// The member's id, never empty.
    public var id: String
    /// The third field.
    public var payload: String
    /// The member's name; may be empty.
    public var name: String

    /// Why a text is no membership text.
    public enum Failure: Error, Sendable, Hashable {
        /// There are not four fields.
        case fieldCount(Int)
        /// The id is empty.
        case emptyID
        /// The id is longer than ``MemberID/longest``, or has control characters.
        case unusableID

        /// What is wrong and what to do about it.
        public var message: String {
            switch self {
            case .fieldCount(let count):
                "the membership text has \(count) fields instead of 4 (number|id|payload|name); write the card anew"
            case .emptyID: "the membership text has an empty id; write the card anew"
            case .unusableID: "the membership text has an id that is too long or not printable; write the card anew"
            }
        }
    }

    /// Reads a text of exactly four fields. White space round the id and the name does not count.
    public init(parsing text: String) throws(Failure) {
        let fields = text.split(separator: "|", omittingEmptySubsequences: false)
        guard fields.count == 4 else { throw .fieldCount(fields.count) }
        let id = fields[1].trimmed
        guard !id.isEmpty else { throw .emptyID }
        guard MemberID.isUsable(id) else { throw .unusableID }
        number = String(fields[0])
        self.id = id
        payload = String(fields[2])
        name = MemberID.name(fields[3])
    }
}

/// What may serve as a member's id, wherever it was read.
public enum MemberID {
    /// The longest id, in UTF-8 bytes.
    public static let longest = 256

    /// The longest name that is taken over from a card, in characters.
    public static let longestName = 256

    /// Whether a text may be an id: 1 to ``longest`` bytes without control characters, and without the invisible ones that
    /// make two ids look the same or turn their writing round.
    public static func isUsable(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= longest else { return false }
        // Nearly all are plain ASCII, which needs no look at Unicode's tables.
        return text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
            || !text.unicodeScalars.contains { $0.properties.isControl }
    }

    /// A name from a card: printable, trimmed, cut at ``longestName``.
    package static func name(_ text: some StringProtocol) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(
            contentsOf: text.unicodeScalars.filter { !$0.properties.isControl || $0 == "\u{200C}" || $0 == "\u{200D}" }
        )
        return String(String(scalars).trimmed.prefix(longestName))
    }
}

extension Unicode.Scalar.Properties {
    /// The joiners (U+200C, U+200D) are what some scripts and emoji are written with, but no id needs them.
    fileprivate var isControl: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
