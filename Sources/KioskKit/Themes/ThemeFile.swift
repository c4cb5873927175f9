import ClubKit
import Foundation
import ReaderKit

/// A file with a ``Theme``, in YAML or JSON. Every key is optional.
///
/// ```yaml
/// clubName: Boulder Hall
/// place: to the left of the door
/// language: de            # en, de, zh-Hans, ar
/// region: AT
/// logo: logo.svg          # paths are relative to the file
/// colors: { background: "#101828", accent: "#5bc0eb" }   # text, muted, success, warning, failure
/// gradient: { to: "#203048", direction: down }           # right, downRight, downLeft
/// border: { width: 2, color: "#5bc0eb" }
/// radius: 12
/// shadow: { color: "#000000", x: 0, y: 4, blur: 12 }
/// sounds: { success: ding.wav }
/// texts:
///   de:
///     welcomeName: "Servus, {name}"
///     visitsLeft: { one: "Noch {count} Eintritt", other: "Noch {count} Eintritte" }
/// joinAddress: https://club.example/join
/// greetingSeconds: 4
/// privacySeconds: 8
/// idleSeconds: 600
/// ```
public struct ThemeFile: Sendable, Hashable {
    /// The longest file, in bytes.
    public static let longestFile = 262_144

    /// The path of the file.
    public let path: String

    /// Names a file, which need not exist yet.
    public init(_ path: String) {
        self.path = path
    }

    /// Reads the file.
    ///
    /// - Throws: ``ThemeFileError`` with all that is wrong with the file, or why it cannot be read.
    public func load() throws(ThemeFileError) -> Theme {
        do throws(ThemeFileError) {
            return try Self.theme(from: text(), folder: FileSteps.parent(of: path))
        } catch {
            var error = error
            error.path = path
            throw error
        }
    }

    /// Reads a theme from text.
    ///
    /// - Parameters:
    ///   - text: YAML or JSON.
    ///   - folder: what paths in the text are relative to.
    /// - Throws: ``ThemeFileError`` with all that is wrong, by line and column.
    public static func theme(from text: String, folder: String = "") throws(ThemeFileError) -> Theme {
        var reader = ThemeReader(folder: folder)
        reader.read(text)
        guard reader.findings.isEmpty else { throw ThemeFileError(path: nil, findings: reader.findings) }
        return reader.theme
    }

    /// Returns what the file holds now, then what it holds after each change.
    ///
    /// After an error the former theme remains in use; the next element comes as soon as the file is readable again,
    /// also if it is as before. The file may be rewritten, replaced by another, or absent for a while. The sequence has
    /// a thread of its own and ends with the task that reads it.
    public func changes() -> AsyncStream<Result<Theme, ThemeFileError>> { changes(pauses: FolderWatch.Pauses()) }

    /// For an editor that first moves the file away, and then writes it anew.
    private static let settling: UInt32 = 100_000

    func changes(
        pauses: FolderWatch.Pauses,
        usesNotification: Bool = true
    ) -> AsyncStream<Result<Theme, ThemeFileError>> {
        let (stream, continuation) = AsyncStream.makeStream(of: Result<Theme, ThemeFileError>.self)
        let name = (path as NSString).lastPathComponent
        let folder = FileSteps.parent(of: path)
        let watch = FolderWatch(folder, names: [name], pauses: pauses, usesNotification: usesNotification)
        continuation.onTermination = { _ in watch.end() }
        DetachedThread.start(name: "theme file") {
            var last: Result<Theme, ThemeFileError>?
            while true {
                let result = Result { () throws(ThemeFileError) in try load() }
                if result != last { continuation.yield(result) }
                last = result
                guard watch.wait() else { break }
                usleep(Self.settling)
            }
            continuation.finish()
        }
        return stream
    }

    private func text() throws(ThemeFileError) -> String {
        func failure(_ message: String, _ hint: String) -> ThemeFileError {
            ThemeFileError(path: path, findings: [.init(line: 0, column: 0, place: "", message: message, hint: hint)])
        }
        // A pipe without a writer would be waited for.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0 else {
            let reason = String(cString: strerror(errno))
            if file >= 0 { close(file) }
            var error = failure("the file cannot be read: \(reason)", "Check the path, and that this user may read it.")
            error.isUnreadable = true
            throw error
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw failure("this is no file", "Check the path: it names a folder, a pipe or a device.")
        }
        guard let data = try? handle.read(upToCount: Self.longestFile + 1) ?? Data() else {
            throw failure("the file cannot be read", "Check the disk.")
        }
        guard data.count <= Self.longestFile else {
            throw failure("the file is longer than \(Self.longestFile) bytes", "Check that it is the right one.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw failure("the file is not written in UTF-8", "Save it as UTF-8.")
        }
        return text
    }
}

/// What is wrong with the file of a theme.
public struct ThemeFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file; `nil` for text.
    public var path: String?
    /// All that was found, by line and column.
    public var findings: [Finding]
    /// Whether the file is absent or may not be read, which is the only finding then.
    public var isUnreadable = false

    /// One thing that is wrong.
    public struct Finding: Sendable, Hashable {
        /// The line, from 1; 0 where it is about the whole file.
        public var line: Int
        /// The column, from 1; 0 where it is about the whole file.
        public var column: Int
        /// The key and those around it, such as `colors.text`; empty at the top.
        public var place: String
        /// What is wrong.
        public var message: String
        /// What is allowed, or what to do.
        public var hint: String
    }

    /// A line for each finding: where, what is wrong, and what is allowed.
    public var description: String {
        findings.map { finding in
            let line = finding.line > 0 ? ":\(finding.line):\(finding.column)" : ""
            let place = finding.place.isEmpty ? "" : "\(finding.place): "
            return "\(path ?? "theme")\(line): \(place)\(finding.message). \(finding.hint)"
        }.joined(separator: "\n")
    }
}
