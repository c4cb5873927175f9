import Foundation
import Testing

@testable import CardCore

@Suite("Watching files of a folder", .timeLimit(.minutes(5)))
struct FolderWatchTests {
    private let folder = FileManager.default.temporaryDirectory.path + "/watch-\(UUID().uuidString)"

    private static let slow: FolderWatch.Pauses = {
        var pauses = FolderWatch.Pauses()
        pauses.watching = .seconds(3600)
        pauses.blind = .milliseconds(1)
        return pauses
    }()

    private func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }

    private func make() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    private func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    /// What happens one after another, and whether it is of the file `a`.
    private var steps: [(String, isReported: Bool, () throws -> Void)] {
        let files = FileManager.default
        return [
            ("nothing", false, {}),
            ("the folder comes", true, make),
            ("the file comes", true, { try write("a", "1") }),
            ("another comes", false, { try write("b", "1") }),
            ("the file is written", true, { try write("a", "22") }),
            ("another is moved to it", true, { _ = rename("\(folder)/b", "\(folder)/a") }),
            ("it is removed", true, { try remove("\(folder)/a") }),
            ("another is written", false, { try write("b", "22") }),
            ("it comes again", true, { try write("a", "333") }),
            ("the folder goes", true, { try files.moveItem(atPath: folder, toPath: folder + "-old") }),
            (
                "a file where the folder is now", false,
                { try Data().write(to: URL(fileURLWithPath: folder + "-old/a")) }
            ),
            ("another folder comes", true, make),
            ("its file comes", true, { try write("a", "4444") }),
            ("the folder is removed", true, { try remove(folder) }),
            ("what went before", false, { try remove(folder + "-old") }),
        ]
    }

    @Test("Each change of the named file is reported once, others are not", arguments: [true, false])
    func changes(usesNotification: Bool) throws {
        let watch = FolderWatch(folder, names: ["a"], usesNotification: usesNotification)
        var failures: [String] = []
        for (name, isReported, action) in steps {
            try action()
            // What happened on this machine's own disk is to be read at once.
            if watch.wait(until: .now) != isReported { failures.append(name) }
            while watch.wait(until: .now) {}
        }
        #expect(failures.isEmpty)
    }

    @Test("Whoever waits for a folder that is gone sleeps")
    func gone() throws {
        try make()
        let watch = FolderWatch(folder, names: ["a"])
        try remove(folder)
        while watch.wait(until: .now) {}
        func processorTime() -> Int {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
        }
        let before = processorTime()
        #expect(!watch.wait(until: .now + .milliseconds(400)))
        #expect(processorTime() - before < 100_000)
    }

    @Test("Each write counts where it was asked for, before the file is closed", arguments: [true, false])
    func eachWrite(isAskedFor: Bool) throws {
        try make()
        defer { try? remove(folder) }
        let watch = FolderWatch(folder, names: ["log"], eachWrite: isAskedFor)
        let file = open("\(folder)/log", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        var status = stat()
        #expect(pwrite(file, "1", 1, 0) == 1 && fstat(file, &status) == 0)
        while watch.wait(until: .now) {}
        // With the former size and time only an event shows it.
        #expect(pwrite(file, "2", 1, 0) == 1 && futimens(file, [status.st_mtim, status.st_mtim]) == 0)
        #expect(watch.wait(until: .now) == isAskedFor)
    }

    @Test("A thread that waits wakes at a change, and at the end")
    func waking() async throws {
        try make()
        defer { try? remove(folder) }
        var changes = FolderWatch.changes(in: folder, of: ["a"], pauses: Self.slow).makeAsyncIterator()
        for text in ["1", "22"] {
            try write("a", text)
            #expect(await changes.next() != nil)
        }
        let watch = FolderWatch(folder, names: ["a"], pauses: Self.slow)
        await withCheckedContinuation { continuation in
            DetachedThread.start(name: "test") {
                #expect(!watch.wait())
                continuation.resume()
            }
            watch.end()
        }
        #expect(!watch.wait(until: .now + .seconds(3600)))
    }
}
