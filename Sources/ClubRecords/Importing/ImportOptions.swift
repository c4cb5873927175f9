import CardCore

/// The options of an import.
public struct ImportOptions: Sendable, Hashable {
    /// The format of the file; `nil` to determine it from the extension, or else from the content.
    public var format: TransferFormat?

    /// The mappings of columns whose name does not determine their value.
    public var mappings: [ColumnMapping]

    /// How the file is written, where that does not show.
    public var layout: FileLayout

    /// How existing members are treated.
    public var mode: MergeMode

    /// Whether it is a dry run: the report is the same and nothing is changed.
    public var dryRun: Bool

    /// The maximum number of rows to review (malformed, skipped, with conflicts) in ``ImportReport/rows``.
    public var keptRows: Int

    /// Creates options.
    public init(
        format: TransferFormat? = nil,
        mappings: [ColumnMapping] = [],
        layout: FileLayout = FileLayout(),
        mode: MergeMode = .merge,
        dryRun: Bool = false,
        keptRows: Int = 1000
    ) {
        self.format = format
        self.mappings = mappings
        self.layout = layout
        self.mode = mode
        self.dryRun = dryRun
        self.keptRows = keptRows
    }
}

/// How a file is written, where its content does not show that.
public struct FileLayout: Sendable, Hashable {
    /// What stands between the fields of a CSV file: a character of ASCII that is no letter, digit or quote; `nil` finds
    /// it by the names of the columns.
    public var delimiter: Character?

    /// The number of lines above the column names of a CSV file; with 0 they are looked for.
    public var skippedLines: Int

    /// The encoding; `nil` for UTF-8.
    public var encoding: TextEncoding?

    /// The order of the numbers of dates that do not show it.
    public var dateOrder: DateOrder?

    /// Creates a layout.
    public init(
        delimiter: Character? = nil,
        skippedLines: Int = 0,
        encoding: TextEncoding? = nil,
        dateOrder: DateOrder? = nil
    ) {
        self.delimiter = delimiter
        self.skippedLines = skippedLines
        self.encoding = encoding
        self.dateOrder = dateOrder
    }

    /// A delimiter by its name: the character itself, `tab`, `\t`, `comma`, `semicolon`, `pipe` or `space`; `nil` for what
    /// is none.
    public static func delimiter(_ name: String) -> Character? {
        let names: [String: Character] = [
            "tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " ",
        ]
        if let character = names[name.lowercased()] { return character }
        guard name.count == 1, let character = name.first, let byte = character.asciiValue else { return nil }
        let isControl = byte < 0x20 && byte != 0x09 && byte < 0x1C || byte == 0x7F
        return isControl || byte.isASCIIAlphanumeric || character == "\"" || character == "'" ? nil : character
    }
}

/// How existing members are treated in a merge.
public enum MergeMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Members are merged: visits are added by the rule of the ledger, the latest change of each value wins, and empty
    /// values of a file replace nothing.
    case merge
    /// Existing members are not changed; only unknown ones are created.
    case addOnly
    /// As ``merge``, with the names and custom fields of a file as changed now: for corrections made in a spreadsheet.
    /// Of several rows of one member the first wins; values of the others that differ are reported as conflicts.
    case overwrite
}

/// The mapping of a column of a file to a member's value.
public struct ColumnMapping: Sendable, Hashable {
    /// The name in the file: a column of a CSV file, a key of a user list.
    public var column: String

    /// The value: one of the five base values (`MembershipUser.CodingKeys`) or a custom field; `nil` omits the column.
    public var field: String?

    /// The form in which the column has cards' numbers, by its name (`PrintedForm`): the `userId` is the identifier that
    /// a card of that number has. `nil` if the column has it as it is.
    public var form: String?

    /// Creates a mapping.
    public init(column: String, field: String?, form: String? = nil) {
        self.column = column
        self.field = field
        self.form = form
    }

    /// Parses `COLUMN=FIELD`, or `COLUMN=userId:FORM`, the only field that takes a form; `COLUMN=` omits the column. The
    /// last `=` divides, since names of fields have none. `nil` without one, or without a column.
    public init?(_ text: String) {
        guard let divider = text.lastIndex(of: "="), divider > text.startIndex else { return nil }
        self.init(column: String(text[..<divider]), target: String(text[text.index(after: divider)...]))
    }

    /// What stands behind the column: `FIELD`, `userId:FORM`, or nothing.
    package init(column: String, target: String) {
        if let colon = target.firstIndex(of: ":"), target[..<colon].lowercased() == "userid" {
            self.init(column: column, field: "userId", form: String(target[target.index(after: colon)...]))
        } else if let colon = target.lastIndex(of: ":"),
            case let form = String(target[target.index(after: colon)...]), PrintedForm(name: form) != nil
        {
            // Of another field a form is refused, instead of being taken for a part of its name.
            self.init(column: column, field: String(target[..<colon]), form: form)
        } else {
            self.init(column: column, field: target.isEmpty ? nil : target)
        }
    }

    /// The same, written.
    package var target: String { (field ?? "") + (form.map { ":\($0)" } ?? "") }
}
