/// The two kinds of files in which members travel.
public enum IOFileType: String, Sendable, Hashable, CaseIterable {
    /// A list of records in JSON.
    case userList
    /// Comma-separated values, for spreadsheets.
    case csv

    /// The ending of the file's name, without the dot: `musrl` or `mucsv`.
    public var fileExtension: String {
        switch self {
        case .userList: "musrl"
        case .csv: "mucsv"
        }
    }
}
