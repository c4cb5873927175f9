/// Where the lines of a reader in Smart Reader mode come from.
public enum SmartReaderSource: Sendable, Hashable {
    /// A serial line, such as `/dev/ttyACM0`.
    case serial(String)
    /// The keyboard as which a reader types, such as `/dev/input/event5`. It is taken for this program alone, so that
    /// nothing is typed into another one.
    case keyboard(String)
    /// Standard input, with a line of plain text for each tag.
    case standardInput

    /// The source at a path: `-` is standard input, what lies under `/dev/input` a keyboard, anything else a serial line.
    public init(_ path: String) {
        if path == "-" {
            self = .standardInput
        } else if path.hasPrefix("/dev/input/") {
            self = .keyboard(path)
        } else {
            self = .serial(path)
        }
    }

    /// The name of the reader: its path, or `-`.
    public var name: String {
        switch self {
        case .serial(let path), .keyboard(let path): path
        case .standardInput: "-"
        }
    }

    /// The reader. Its serial number stands in the name that the udev rules give it
    /// (`/dev/clubkit/smart-reader-000A1B2C`).
    var reader: ReaderInfo {
        ReaderInfo(name: name, backend: .smartReader, serial: SmartReaderFolder.serial(inName: name))
    }
}
