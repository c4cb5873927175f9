import ClubKit
import Foundation
import ReaderKit
import Synchronization
import ToolSupport

/// Where a file that a person asked for goes: to a path, or to standard output.
struct Destination: Sendable {
    /// `-` is standard output.
    let path: String
    /// Whether it may take the place of a file.
    var replaces = false

    var name: String { path == "-" ? "standard output" : path }

    /// Calls the closure with the path of a file to write.
    ///
    /// What goes to standard output takes the way through a pipe: it may be a file, which is not to be replaced.
    func write<Value>(_ work: (String) async throws -> Value) async throws -> Value {
        guard path == "-" else {
            guard OtherUser.isAtWork else { return try await work(path) }
            return try await deliver(work)
        }
        guard let (reading, writing) = makePipe() else {
            throw ToolFailure("could not make a pipe: \(String(cString: strerror(errno)))", exit: ToolExit.inputOutput)
        }
        async let copied = Self.copy(from: reading)
        let result: Result<Value, any Error>
        do {
            result = .success(try await work("/dev/fd/\(writing)"))
        } catch {
            result = .failure(error)
        }
        // Once: by the next time its number may be another file's.
        close(writing)
        // Where standard output cannot be written, that is why the work failed.
        try await copied
        return try result.get()
    }

    /// Writes a file, which is there whole or not at all: one that it would have replaced stays.
    func save(_ bytes: [UInt8]) throws {
        if path == "-" {
            if let code = Output.write(bytes[...], to: STDOUT_FILENO) { throw Output.failure(code) }
            return
        }
        try requireFree()
        do throws(FileSteps.Failure) {
            try put(at: path) { file throws(FileSteps.Failure) in try FileSteps.write(bytes[...], to: file) }
        } catch {
            throw failure(error.code)
        }
    }

    private func failure(_ code: Int32) -> ToolFailure {
        ToolFailure("could not write \(path): \(String(cString: strerror(code))).", exit: ToolExit.inputOutput)
    }

    /// Has the club's user write a file, or a folder of files, of its own, and copies that to its place for the caller.
    private func deliver<Value>(_ work: (String) async throws -> Value) async throws -> Value {
        try requireFree()
        // Where there is room for a whole club.
        let (isMade, folder) = FileSteps.unique("/var/tmp/clubkit-output-") { mkdtemp($0) != nil }
        guard isMade else { throw failure(errno) }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let made = folder + "/" + ((path as NSString).lastPathComponent)
        let value = try await work(made)
        do throws(FileSteps.Failure) {
            guard let files = try? FileManager.default.contentsOfDirectory(atPath: made) else {
                try copy(made, to: path)
                return value
            }
            try OtherUser.asCaller(writing: path) { () throws(FileSteps.Failure) in
                guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last }
            }
            var done: [String] = []
            do throws(FileSteps.Failure) {
                for file in files.sorted() {
                    try copy(made + "/" + file, to: path + "/" + file)
                    done.append(path + "/" + file)
                }
            } catch {
                OtherUser.asCaller(writing: path + "/") { for file in done { unlink(file) } }
                throw error
            }
        } catch {
            throw failure(error.code)
        }
        return value
    }

    /// Refuses a place that is taken, before anything is written.
    private func requireFree() throws {
        let (kind, isEmpty) = OtherUser.asCaller(writing: path) { () -> (mode_t?, Bool) in
            var status = stat()
            guard lstat(path, &status) == 0 else { return (nil, false) }
            let names = try? FileManager.default.contentsOfDirectory(atPath: path)
            return (status.st_mode & S_IFMT, names?.isEmpty == true)
        }
        switch kind {
        case nil: return
        case S_IFDIR where isEmpty && !replaces: return
        case S_IFREG where replaces:
            guard OtherUser.isOfClub(path) else { return }
            throw TransferError(.notWritable, file: path, detail: "it is the member database itself")
        case S_IFREG, S_IFDIR: throw TransferError(.exists, file: path)
        default: throw TransferError(.notWritable, file: path, detail: "it is no regular file")
        }
    }

    private func copy(_ file: String, to place: String) throws(FileSteps.Failure) {
        let source = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard source >= 0 else { throw .last }
        defer { close(source) }
        try put(at: place) { target throws(FileSteps.Failure) in
            try FileSteps.read(source) { bytes throws(FileSteps.Failure) in try FileSteps.write(bytes, to: target) }
        }
    }

    /// Fills a file beside the place, and moves it there.
    private func put(
        at place: String,
        _ fill: (Int32) throws(FileSteps.Failure) -> Void
    ) throws(FileSteps.Failure) {
        try OtherUser.asCaller(writing: place) { () throws(FileSteps.Failure) in
            let (target, name) = try FileSteps.makeTemporary(beside: place)
            defer { close(target) }
            do throws(FileSteps.Failure) {
                try fill(target)
                try FileSteps.synchronise(target)
                if replaces {
                    try FileSteps.move(name, replacing: place)
                } else {
                    try FileSteps.move(name, toFree: place)
                }
            } catch {
                unlink(name)
                throw error
            }
            FileSteps.synchroniseFolder(of: place)
        }
    }

    /// Copies to standard output until the writer is gone.
    private static func copy(from reading: Int32) async throws {
        let failure: Int32? = await withCheckedContinuation { continuation in
            DetachedThread.start(name: "output") {
                let failure = copyNow(from: reading)
                close(reading)
                continuation.resume(returning: failure)
            }
        }
        if let failure {
            // Whoever read has seen enough.
            throw failure == EPIPE ? ToolExit.success : Output.failure(failure)
        }
    }

    private static func copyNow(from reading: Int32) -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : nil }
            if let failure = Output.write(buffer.prefix(count), to: STDOUT_FILENO) { return failure }
        }
    }
}

/// Texts that come one after the other, from whatever thread.
final class Collected: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock(\.self) }

    func add(_ text: String) {
        texts.withLock { $0.append(text) }
    }
}
