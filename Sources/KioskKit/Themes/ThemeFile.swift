import ClubKit
import ClubScenarios
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
            return try Self.theme(from: bytes(), folder: FileSteps.parent(of: path))
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
        try theme(from: Array(text.utf8), folder: folder)
    }

    private static func theme(from bytes: [UInt8], folder: String) throws(ThemeFileError) -> Theme {
        var reader = ThemeReader(folder: folder)
        reader.read(bytes)
        guard reader.findings.isEmpty else { throw ThemeFileError(findings: reader.findings.sorted) }
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

    private func bytes() throws(ThemeFileError) -> [UInt8] {
        do throws(YAMLFile.Unreadable) {
            return try YAMLFile.bytes(path)
        } catch {
            throw ThemeFileError(findings: [error.finding], isUnreadable: error.openError != nil)
        }
    }
}

/// What is wrong with the file of a theme.
public struct ThemeFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file; `nil` for text.
    public var path: String?
    /// All that was found, by line and column.
    public var findings: [YAMLFinding]
    /// Whether the file is absent or may not be read, which is the only finding then.
    public var isUnreadable = false

    /// A line for each finding: where, what is wrong, and what is allowed.
    public var description: String { findings.map { $0.text(in: path ?? "theme") }.joined(separator: "\n") }
}
