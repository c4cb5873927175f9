import CardCore
import Foundation

/// One step that mends something, shown to a person before it is taken, and undone by ``RepairJournal/undo(only:_:)``.
public enum RepairStep: Sendable, Hashable, Codable {
    /// Writes a file with mode 0644, in place of what is there.
    case write(path: String, contents: String)
    /// Writes a value to a file of `/sys`, which the kernel forgets when the machine starts again.
    case set(path: String, value: String)
    /// Runs a program, and to undo it another.
    case run([String], undo: [String])
    /// Runs a program that makes the steps before it count, such as a restart; also when those were undone.
    case apply([String])

    /// What it does, as a command where there is one.
    public var text: String {
        switch self {
        case .write(let path, let contents):
            "write \(path), \(contents.split(separator: "\n", omittingEmptySubsequences: false).count - 1) lines"
        case .set(let path, let value): "echo \(value) > \(path)"
        case .run(let words, _), .apply(let words): words.joined(separator: " ")
        }
    }
}

/// Takes repair steps and remembers how each is undone, in a file.
///
/// The file is written before each step, so that what a killed process had begun can be undone too.
public struct RepairJournal: Sendable {
    /// Something that kept a step from being taken.
    public struct Failure: Error, CustomStringConvertible {
        /// What happened and what to do.
        public var description: String
    }

    /// A step, and what was there before it.
    private struct Entry: Codable {
        var at: Date
        /// The check whose trouble it mended.
        var check: String
        var step: RepairStep
        /// What the file held; `nil` if there was none.
        var before: Data?
        var mode: UInt32?
    }

    /// The file.
    public let path: String
    private let machine: Machine

    /// Creates a journal.
    ///
    /// - Parameter path: by default `clubkit/doctor.json` in `$XDG_STATE_HOME`, or else in `~/.local/state`; for root
    ///   `/var/lib/clubkit-doctor/doctor.json`, where nobody else writes.
    public init(machine: Machine, path: String? = nil) {
        self.machine = machine
        let home = machine.environment["HOME"] ?? "/root"
        let state = machine.environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let own = machine.isRoot ? Self.rootFolder : home + "/.local/state/clubkit"
        let folder = state.map { $0 + "/clubkit" } ?? own
        self.path = path ?? machine.root + folder + "/doctor.json"
    }

    private static let rootFolder = "/var/lib/clubkit-doctor"

    /// Whether root has a journal that this process does not use.
    public var isOfRootElsewhere: Bool {
        let other = machine.root + Self.rootFolder + "/doctor.json"
        return path != other && access(FileSteps.parent(of: other), F_OK) == 0
            && (access(other, F_OK) == 0 || errno == EACCES)
    }

    /// Takes a step.
    ///
    /// - Parameters:
    ///   - step: what is to be done.
    ///   - check: the id of the check whose trouble it mends.
    /// - Throws: ``Failure`` if it could not be taken; nothing has changed then, unless a program that was run changed it.
    public func take(_ step: RepairStep, for check: String) throws {
        try makeFolder()
        try whileLocked { try takeLocked(step, for: check) }
    }

    private func takeLocked(_ step: RepairStep, for check: String) throws {
        var entries = try entries()
        var entry = Entry(at: machine.now, check: check, step: step)
        switch step {
        case .write(let path, _), .set(let path, _):
            entry.before = machine.bytes(path, atMost: 16 << 20).map { Data($0) }
            entry.mode = machine.status(path).map { $0.st_mode & 0o7777 }
            if entry.before == nil, machine.exists(path) { throw Failure(description: "\(path) cannot be read.") }
        case .run, .apply: break
        }
        entries.append(entry)
        try keep(entries)
        do {
            switch step {
            case .write(let path, let contents): try write(Data(contents.utf8), to: path, mode: entry.mode ?? 0o644)
            case .set(let path, let value): try set(Data((value + "\n").utf8), path)
            case .run(let words, _), .apply(let words): try run(words)
            }
        } catch {
            entries.removeLast()
            try? keep(entries)
            throw error
        }
    }

    /// Undoes steps that were taken, the last first, and then applies what was restored.
    ///
    /// A file that was changed since is left as it is. What could not be undone stays in the journal, which is written
    /// after each step.
    ///
    /// - Parameters:
    ///   - isChosen: whether the steps for a check, by its id, are to be undone.
    ///   - done: called for each step with the check's id, what was done and what kept it from being done.
    /// - Throws: ``Failure`` if the journal cannot be read or written.
    public func undo(
        only isChosen: (String) -> Bool = { _ in true },
        _ done: (_ check: String, _ step: String, Failure?) -> Void
    ) throws {
        try whileLocked { try undoLocked(only: isChosen, done) }
    }

    private func undoLocked(only isChosen: (String) -> Bool, _ done: (String, String, Failure?) -> Void) throws {
        let entries = try entries()
        let chosen = entries.indices.filter { isChosen(entries[$0].check) }
        let isApplied = { (index: Int) in if case .apply = entries[index].step { true } else { false } }
        var undone: Set<Int> = []
        var applied: Set<RepairStep> = []
        for index in chosen.reversed().filter({ !isApplied($0) }) + chosen.filter(isApplied) {
            let entry = entries[index]
            do {
                // One restart does for all.
                let isRepeated = isApplied(index) && !applied.insert(entry.step).inserted
                let text = isRepeated ? nil : try undo(entry)
                undone.insert(index)
                try keep(entries.indices.filter { !undone.contains($0) }.map { entries[$0] })
                if let text { done(entry.check, text, nil) }
            } catch let failure as Failure {
                done(entry.check, entry.step.text, failure)
            }
        }
    }

    private func undo(_ entry: Entry) throws -> String {
        switch entry.step {
        case .write(let path, let contents):
            let now = machine.bytes(path, atMost: 16 << 20).map { Data($0) }
            // One that was killed may have kept the step and not taken it.
            if now == entry.before { return "\(path) is as it was." }
            guard now == Data(contents.utf8) else {
                throw Failure(description: "it was changed since. \(self.path) has what was there before.")
            }
            guard let before = entry.before else {
                guard unlink(machine.root + path) == 0 else { throw Self.failure("remove \(path)") }
                return "Removed \(path)."
            }
            try write(before, to: path, mode: entry.mode ?? 0o644)
            return "Restored \(path)."
        case .set(let path, _):
            // What was unplugged took its files with it.
            guard machine.exists(path), let before = entry.before else { return "\(path) is gone." }
            try set(before, path)
            return "Restored \(path)."
        case .run(let words, let undo):
            if undo.isEmpty { return "Nothing to undo for: \(words.joined(separator: " "))" }
            try run(undo)
            return "Ran: \(undo.joined(separator: " "))"
        case .apply(let words):
            try run(words)
            return "Ran: \(words.joined(separator: " "))"
        }
    }

    // MARK: - Steps

    /// Writes a file whole or not at all.
    private func write(_ data: Data, to path: String, mode: UInt32) throws {
        // A link goes on to lead where it does.
        let target = URL(fileURLWithPath: machine.root + path).resolvingSymlinksInPath().path
        let new = target + ".clubkit-new"
        let folder = FileSteps.parent(of: target)
        // What a killed process left, or somebody put there, is not written through.
        unlink(new)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try data.write(to: URL(fileURLWithPath: new), options: .withoutOverwriting)
        } catch {
            let failure = Self.failure("write \(path)")
            unlink(new)
            throw failure
        }
        guard chmod(new, mode) == 0, rename(new, target) == 0 else {
            let failure = Self.failure("write \(path)")
            unlink(new)
            throw failure
        }
    }

    private func set(_ data: Data, _ path: String) throws {
        let file = open(machine.root + path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard file >= 0 else { throw Self.failure("write \(path)") }
        defer { close(file) }
        let count = data.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard count == data.count else { throw Self.failure("write \(path)") }
    }

    private func run(_ words: [String]) throws {
        guard let program = words.first else { throw Failure(description: "\(path) names no program to run.") }
        guard let outcome = machine.run(program, Array(words.dropFirst()), within: .seconds(30)) else {
            throw Failure(description: "there is no '\(program)' on this machine.")
        }
        guard outcome.status == 0 else {
            let end = outcome.isOverTime ? "it took longer than 30 s" : "it failed"
            throw Failure(description: "\(words.joined(separator: " ")): \(end).")
        }
    }

    private static func failure(_ attempt: String) -> Failure {
        let advice = errno == EACCES || errno == EPERM ? " Try again with sudo." : ""
        return Failure(description: "could not \(attempt): \(String(cString: strerror(errno))).\(advice)")
    }

    // MARK: - The file

    /// What it holds is done by whoever undoes it, so that nobody else may have written it.
    private func entries() throws -> [Entry] {
        var folder = stat()
        guard lstat(FileSteps.folder(of: path) + ".", &folder) == 0 else { return [] }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 || errno != ENOENT else { return [] }
        defer { if file >= 0 { close(file) } }
        var status = stat()
        guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            [folder, status].allSatisfy({ $0.st_uid == geteuid() && $0.st_mode & 0o022 == 0 }),
            let data = try? Data(FileSteps.read(file, until: 16 << 20))
        else { throw Failure(description: "\(path) cannot be read, or others may write it; move it away to go on.") }
        guard let entries = try? JSONDecoder().decode([Entry].self, from: data) else {
            throw Failure(description: "\(path) is damaged; move it away to go on.")
        }
        return entries
    }

    private func keep(_ entries: [Entry]) throws {
        do {
            try JSONEncoder().encode(entries).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw unwritable
        }
        chmod(path, 0o600)
    }

    private var unwritable: Failure {
        Failure(description: "could not write \(path), which is needed to undo it. Try again with sudo.")
    }

    private func makeFolder() throws {
        do {
            try FileManager.default.createDirectory(
                at: URL(fileURLWithPath: path).deletingLastPathComponent(),
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw unwritable
        }
    }

    /// Keeps another doctor from the file meanwhile, which would write over what is added here.
    private func whileLocked(_ work: () throws -> Void) throws {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        // Without its folder there is nothing to undo.
        guard lock >= 0 || errno == ENOENT || errno == ENOTDIR else { throw unwritable }
        defer { if lock >= 0 { close(lock) } }
        while lock >= 0, flock(lock, LOCK_EX) != 0, errno == EINTR {}
        try work()
    }
}
