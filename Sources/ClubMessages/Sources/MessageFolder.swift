import CardCore
import ClubRecords
import Foundation

/// Takes messages from files in a directory.
///
/// Each file whose name ends in `.json` and does not begin with a dot is a message, at most ``Message/longest`` bytes.
/// Others are left alone, so a writer makes the file under another name and renames it when it is whole. Of those that are
/// there the first by name is taken first. An empty file is taken for one that is yet to be written.
///
/// A file is removed once its message is in the inbox and was processed. Where the inbox fails, as with a full disk, it
/// stays and is tried again. A file whose message has no identifier is known by its name, content and time, so that it is
/// processed once even if the program is killed before it could be removed.
///
/// What is no message is moved to the directory `rejected` in the directory, beside a file with `.reason` at the end of
/// its name that says why: malformed and overlong files, symbolic links, directories, pipes.
///
/// It works on a thread of its own, which sleeps until the system tells of a file; file systems that do not tell are
/// looked at each second.
public final class MessageFolder: Sendable {
    /// Where the files come.
    public let path: String

    private let router: MessageRouter
    private let pauses: Pauses
    private let service = Service<FolderServer>()

    /// How long to wait where nothing tells when to go on, and how much to do before that.
    struct Pauses: Sendable {
        /// After the inbox failed, and twice as long each time after that, up to the last.
        var firstRetry = Duration.milliseconds(250)
        var lastRetry = Duration.seconds(30)
        /// Until the directory is looked at though nothing was told of it: networks tell nothing of others' files.
        var look = Duration.seconds(10)
        /// The same where the system tells nothing at all.
        var blindLook = Duration.seconds(1)
        /// How many files are taken before the directory is looked at again.
        var portion = 256
    }

    /// A directory, which is not looked at before ``start()``.
    ///
    /// - Parameters:
    ///   - path: the directory; a relative one is from the current directory.
    ///   - router: who gets the messages.
    public convenience init(path: String, router: MessageRouter) {
        self.init(path: path, router: router, pauses: Pauses())
    }

    init(path: String, router: MessageRouter, pauses: Pauses) {
        self.path = FileSteps.absolute(path)
        self.router = router
        self.pauses = pauses
    }

    /// Takes the files that are there, and those that come, until ``stop()``. The directory is made with mode 0700 if it
    /// is missing. Starting what is started does nothing.
    ///
    /// - Throws: where the directory cannot be used; ``ClubError/Kind/invalidValue`` if everybody on this machine may
    ///   write into it.
    public func start() async throws(ClubError) {
        try await service.start(name: "message-folder", FolderServer.attempt) { thread in
            FolderServer(path: path, router: router, pauses: pauses, thread: thread)
        }
    }

    /// Ends. A message that is being processed is brought to its end; its file is removed after the next start.
    public func stop() async {
        await service.stop()
    }

    /// How often the thread woke up.
    var wakeUps: Int { service.current?.wakeUps ?? 0 }
}
