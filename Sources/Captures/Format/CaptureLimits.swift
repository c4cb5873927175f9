/// Limits that hold for capture files, which may come from anybody.
public enum CaptureLimits {
    /// The newest version of the format that this package reads, and the one that it writes.
    public static let version = 1

    /// The longest file, in bytes: 16 MiB.
    public static let fileLength = 16 * 1024 * 1024

    /// The longest line, in bytes: 256 KiB. The longest answer takes 196 614 with a space between its bytes.
    public static let lineLength = 256 * 1024

    /// The largest number of header lines.
    public static let headers = 1000

    /// The shortest command APDU, in bytes: its header.
    public static let shortestCommand = 4

    /// The longest command APDU, in bytes: an extended one with 65 535 bytes of data.
    public static let longestCommand = 65_544

    /// The shortest answer to a command APDU, in bytes: its status word.
    public static let shortestAnswer = 2

    /// The latest time, in seconds since the start: ten digits.
    public static let latestSecond = 9_999_999_999

    /// The largest number of a reader.
    public static let readerNumber = 999
}
