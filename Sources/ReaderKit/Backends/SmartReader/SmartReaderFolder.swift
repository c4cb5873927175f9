import Foundation
import Synchronization

/// A folder in which serial lines of readers have a name while they are connected.
///
/// `smart-reader-SERIAL` is the line of the reader with that serial number. `smart-reader` is the line of one without;
/// if it is the same line as another name, the other name is used.
public struct SmartReaderFolder: Sendable, Hashable {
    /// The path of the folder, which may be absent while no reader is connected.
    public var path: String

    /// The folder of the udev rules.
    public static let standard = SmartReaderFolder("/dev/clubkit")

    private static let name = "smart-reader"

    /// Creates a folder.
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
    package func lines() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let known = names.filter { $0 == Self.name || Self.serial(inName: "/\($0)") != nil }
        var seen: Set<String> = []
        // The longer name first, which has the serial number.
        return known.sorted { ($0 == Self.name ? 1 : 0, $0) < ($1 == Self.name ? 1 : 0, $1) }
            .map { "\(path)/\($0)" }
            .filter { path in DeviceNode.resolve(path).map { seen.insert($0).inserted } ?? false }
    }
}

/// Looks now and then which lines have a name in a folder, while that is wanted.
final class SmartReaderLookout: Sendable {
    private struct State {
        var look: (@Sendable () -> Void)?
        var isScheduled = false
    }

    private let interval: Duration
    private let state = Mutex(State())

    init(every interval: Duration) {
        self.interval = interval
    }

    func want(_ look: (@Sendable () -> Void)?) {
        state.withLock { $0.look = look }
        schedule()
    }

    private func schedule() {
        let isNew = state.withLock { state in
            guard state.look != nil, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        guard isNew else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + interval.seconds) { [weak self] in
            guard let self else { return }
            let look = state.withLock { state in
                state.isScheduled = false
                return state.look
            }
            look?()
            schedule()
        }
    }
}

/// A source of lines of a reader in Smart Reader mode.
public enum SmartReaderSource: Sendable, Hashable {
    /// A serial line, such as `/dev/ttyACM0`.
    case serial(String)
    /// The keyboard as which a reader types, such as `/dev/input/event5`. It is grabbed for this program alone, so that
    /// nothing is typed into another one.
    case keyboard(String)
    /// Standard input, with a line of plain text for each tag.
    case standardInput

    /// Creates the source at a path: `-` is standard input, a path under `/dev/input` a keyboard, any other a serial
    /// line.
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
