import Foundation

/// The system's word that a file has come into a directory.
final class FolderWatch {
    /// Can be read from when something came; -1 where the system does not tell.
    let descriptor: Int32

    init() {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Watches what is at a path now. Watching it twice is the same as once.
    ///
    /// - Returns: whether the system will tell.
    func follow(_ path: String) -> Bool {
        guard descriptor >= 0 else { return false }
        let events = UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
        return inotify_add_watch(descriptor, path, events) >= 0
    }

    /// Takes away what was told: the directory is looked at as a whole.
    func silence() {
        guard descriptor >= 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
