import CardCore

/// A person's or a club's card (vCard 2.1, 3.0 of RFC 2426, 4.0 of RFC 6350), as some membership cards carry it.
///
/// Its description omits what it contains about the person.
public struct VCard: Sendable, Hashable {
    /// The version of the standard that the card follows.
    public var version = Version.v3_0

    /// The properties in the order in which they are written, without `BEGIN`, `VERSION` and `END`.
    public var properties: [Property]

    /// A version of the standard.
    public enum Version: String, Sendable, Hashable, CaseIterable, Codable {
        /// Of the versit Consortium, with quoted-printable values.
        case v2_1 = "2.1"
        /// RFC 2426.
        case v3_0 = "3.0"
        /// RFC 6350.
        case v4_0 = "4.0"
    }

    /// A line of a card.
    public struct Property: Sendable, Hashable {
        /// The word before the name that joins properties which belong together, if there is one.
        public var group: String?
        /// The name in upper case, such as `FN`.
        public let name: String
        /// The parameters, without those of the encoding and the character set, which are undone.
        public var parameters: [Parameter]
        /// The value as it is written, in one line: `\n` for a line break, and a backslash before `,`, `;` and `\`
        /// that are part of a text.
        public let rawValue: String
        /// Whether the value is a text in the character set that it states. One that is not has none: what cannot be read
        /// is no name. In base64 it may be a picture, and ``rawValue`` stays as it is written, with its `ENCODING`.
        public let isText: Bool

        init(
            group: String? = nil,
            name: String,
            parameters: [Parameter] = [],
            rawValue: String,
            isText: Bool = true
        ) {
            self.group = group
            self.name = name.uppercased()
            self.parameters = parameters
            self.rawValue = VCardText.oneLine(rawValue)
            self.isText = isText
        }

        /// The value as one text; empty where it is none.
        public var text: String { isText ? VCardText.unescape(rawValue) : "" }

        /// The components of a value such as that of `N`, each as a text; none where it is no text.
        public var components: [String] {
            isText ? VCardText.split(rawValue) { $0 == "\\" && !$1 }.map(VCardText.unescape) : []
        }
    }

    /// A parameter of a property.
    public struct Parameter: Sendable, Hashable {
        /// The name in upper case, such as `TYPE`. Empty where version 2.1 has a bare word.
        public let name: String
        /// The value, without quotes, as it is written; several values are separated by commas.
        public var value: String

        init(_ name: String, _ value: String) {
            self.name = name.uppercased()
            self.value = value
        }
    }

    /// The most properties that a card may have.
    public static let mostProperties = 256

    // MARK: - What is usual

    /// The properties of a name, compared without regard to case.
    public func all(_ name: String) -> [Property] {
        let name = name.uppercased()
        return properties.filter { $0.name == name }
    }

    /// The first property of a name whose text is not empty, without white space round it.
    public func first(_ name: String) -> String? { all(name).lazy.map(\.text.trimmed).first { !$0.isEmpty } }

    /// The parts of the name (`N`): family name, given name, further names, titles before and after.
    public var nameComponents: [String] { all("N").first?.components ?? [] }

    /// The name: `FN`, or else title, given name, further names, family name and suffix of `N`.
    public var name: String? {
        if let name = first("FN") { return name }
        let parts = nameComponents.map(\.trimmed)
        let order = [3, 1, 2, 0, 4].compactMap { parts.indices.contains($0) && !parts[$0].isEmpty ? parts[$0] : nil }
        return order.isEmpty ? nil : order.joined(separator: " ")
    }

    /// The names under which clubs write a member's number; the first that the card has counts.
    public static let memberNumberNames = [
        "X-MEMBER-NUMBER", "X-MEMBER-ID", "X-MEMBER-NO", "X-MEMBERNUMBER", "X-MEMBERID", "X-MEMBERSHIP-NUMBER",
        "X-MEMBERSHIP-ID", "X-MEMBER",
    ]

    /// The member's number, from the first of ``memberNumberNames`` that the card has.
    public var memberNumber: String? { numberName.flatMap(first) }

    /// The first of the names that has a value, be it one that cannot be read: another then does not take its place.
    private var numberName: String? { Self.memberNumberNames.first { first($0) != nil || hasNoText($0) } }

    private func hasNoText(_ name: String) -> Bool { all(name).contains { !$0.isText } }

    /// Whether the card has a member's number that cannot be read.
    package var hasUnreadableNumber: Bool { numberName != nil && memberNumber == nil }

    /// Whether the card has a name that cannot be read, and no other.
    package var hasUnreadableName: Bool { name == nil && (hasNoText("FN") || hasNoText("N")) }
}

extension VCard: Redacted {
    /// The version and the number of properties. Their contents are omitted, so that they do not end up in a log.
    public var description: String { "vCard \(version.rawValue) (\(properties.count) properties)" }
}

extension VCard.Property: Redacted {
    /// The name of the property, without its value.
    public var description: String { "\(name) (\(rawValue.utf8.count) bytes)" }
}

/// The escapes of a vCard's values.
enum VCardText {
    private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\r" }

    /// A value in one line: every line break as `\n`.
    static func oneLine(_ value: String) -> String {
        guard value.unicodeScalars.contains(where: { isLineBreak($0) || $0 == "\\" }) else { return value }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        var isAfterReturn = false
        for scalar in value.unicodeScalars {
            defer { isAfterReturn = scalar == "\r" }
            if isLineBreak(scalar) {
                if scalar == "\n", isAfterReturn { continue }
                // A backslash at the end of a line would escape the one that is written for the break.
                if isEscaped { result.append("\\") }
                isEscaped = false
                result.append(contentsOf: "\\n".unicodeScalars)
            } else if isEscaped {
                isEscaped = false
                result.append(scalar == "N" ? "n" : scalar)
            } else {
                isEscaped = scalar == "\\"
                result.append(scalar)
            }
        }
        if isEscaped { result.append("\\") }
        return String(result)
    }

    /// The text that a value in one line stands for. A backslash before another character than those that are escaped
    /// stands for itself.
    static func unescape(_ value: String) -> String {
        guard value.utf8.contains(UInt8(ascii: "\\")) else { return value }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in value.unicodeScalars {
            if isEscaped {
                isEscaped = false
                switch scalar {
                case "n", "N": result.append("\n")
                case "\\", ",", ";", ":": result.append(scalar)
                default:
                    result.append("\\")
                    result.append(scalar)
                }
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.append(scalar)
            }
        }
        if isEscaped { result.append("\\") }
        return String(result)
    }

    /// A text cut at its semicolons; never empty.
    ///
    /// - Parameter isProtected: whether the scalar behind one is protected, by a backslash or in quotes.
    static func split(_ text: String, _ isProtected: (Unicode.Scalar, _ itself: Bool) -> Bool) -> [String] {
        var parts = [String.UnicodeScalarView()]
        var isInside = false
        for scalar in text.unicodeScalars {
            if scalar == ";", !isInside {
                parts.append(String.UnicodeScalarView())
            } else {
                isInside = isProtected(scalar, isInside)
                parts[parts.count - 1].append(scalar)
            }
        }
        return parts.map { String($0) }
    }

    /// Whether a text can be the name of a property, a group or a parameter: letters, digits and hyphens of ASCII.
    /// Underscores, which no standard allows, are found on cards.
    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
    }
}
