import Foundation

/// A folder in which serial lines of readers get a name when they are plugged in, and lose it when they are pulled out.
///
/// `smart-reader-SERIAL` is the line of the reader with that serial number. `smart-reader` is the line of one that has
/// none; where it stands for the same line as another name, the other counts.
public struct SmartReaderFolder: Sendable, Hashable {
    /// Where it is. It need not be there while no reader is.
    public var path: String

    /// The folder of the udev rules.
    public static let standard = SmartReaderFolder("/dev/clubkit")

    private static let name = "smart-reader"

    /// A folder.
    public init(_ path: String) {
        self.path = path
    }

    /// The serial number in a line's path, if its name is of the form that has one.
    static func serial(inName path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let name = path[path.index(after: slash)...]
        let start = "\(Self.name)-"
        return name.hasPrefix(start) && name.count > start.count ? String(name.dropFirst(start.count)) : nil
    }

    /// The paths of the lines that are there, each line once.
    func lines() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let known = names.filter { $0 == Self.name || Self.serial(inName: "/\($0)") != nil }
        var seen: Set<String> = []
        // The longer name first, which tells more.
        return known.sorted { ($0 == Self.name ? 1 : 0, $0) < ($1 == Self.name ? 1 : 0, $1) }
            .map { "\(path)/\($0)" }
            .filter { path in DeviceNode.resolve(path).map { seen.insert($0).inserted } ?? false }
    }
}
