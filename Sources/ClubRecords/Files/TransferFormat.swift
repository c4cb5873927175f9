/// The forms in which members are written to files and read from them.
public enum TransferFormat: String, Sendable, Hashable, CaseIterable, Codable {
    /// A JSON array of objects, one a member, with the keys of the original library (`.musrl`).
    case userList
    /// Comma-separated values with a line of column names (`.mucsv`, read also from `.csv`).
    case csv
    /// Everything that a club knows, in JSON Lines that end with a checksum (`.clubkit`): the form for moving members
    /// between clubs without loss.
    case clubkit

    /// The extension of files of this form, without a dot.
    public var pathExtension: String {
        switch self {
        case .userList: "musrl"
        case .csv: "mucsv"
        case .clubkit: "clubkit"
        }
    }

    /// The form whose files have that extension (without a dot, in upper or lower case), or `nil` if none has.
    public init?(pathExtension: String) {
        switch pathExtension.lowercased() {
        case "musrl": self = .userList
        case "mucsv", "csv": self = .csv
        case "clubkit": self = .clubkit
        default: return nil
        }
    }
}
