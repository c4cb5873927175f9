import Foundation

/// Tells a file from every other that had its name, or has it later.
struct FileIdentity: Sendable, Hashable {
    let device: UInt64
    let number: UInt64
    let size: Int64
    let changedSeconds: Int64
    let changedNanoseconds: Int64

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        size = Int64(status.st_size)
        changedSeconds = Int64(status.st_mtim.tv_sec)
        changedNanoseconds = Int64(status.st_mtim.tv_nsec)
    }

    /// That of a path, which is not followed if it is a link; `nil` if nothing is there.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
