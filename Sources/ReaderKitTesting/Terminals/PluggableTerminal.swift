import Foundation
import Glibc
import ReaderKit
import Synchronization

/// A pseudo-terminal that can be unplugged and plugged in again, under a link that stays the same.
final class PluggableTerminal: Sendable {
    /// The symbolic link to the terminal, if it has one.
    let link: String?

    private let device: any TerminalDevice
    private let line = Mutex<TerminalLine?>(nil)

    init(_ device: any TerminalDevice, link: String?) {
        self.device = device
        self.link = link
    }

    deinit { unplug() }

    /// The path of the terminal: the link, if there is one. `nil` while it is not plugged in.
    var path: String? { line.withLock { $0 }.map { link ?? $0.path } }

    var isPluggedIn: Bool { line.withLock { $0 != nil } }

    var isOpenedByProgram: Bool { line.withLock { $0?.isOpenedByProgram ?? false } }

    /// Takes the terminal away. Returns when nothing is left of it; nothing happens if it is not plugged in.
    func unplug() {
        line.withLock { line in
            guard let old = line else { return }
            if let link, Self.target(of: link) == old.path { Glibc.unlink(link) }
            old.end()
            line = nil
        }
    }

    /// Opens a new terminal once the device is prepared. Nothing happens if it is plugged in.
    func plugIn(_ prepare: () -> Void = {}) throws(ReaderError) {
        try line.withLock { (line) throws(ReaderError) in
            guard line == nil else { return }
            prepare()
            let new = try TerminalLine(device)
            if let link {
                do throws(ReaderError) { try Self.place(link, to: new.path) } catch {
                    new.end()
                    throw error
                }
            }
            line = new
        }
    }

    private static func target(of link: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: link)
    }

    /// The link appears whole, also where an old one is replaced. Its name before that fits no pattern, as udev's do not.
    private static func place(_ link: String, to path: String) throws(ReaderError) {
        let url = URL(fileURLWithPath: link)
        let temporary = url.deletingLastPathComponent().path + "/.\(url.lastPathComponent).\(getpid())"
        Glibc.unlink(temporary)
        let isFree = target(of: link) != nil || access(link, F_OK) != 0
        guard isFree, symlink(path, temporary) == 0, rename(temporary, link) == 0 else {
            let number = isFree ? errno : EEXIST
            Glibc.unlink(temporary)
            throw TerminalLine.failure("make the link to a simulated reader", number)
        }
    }
}
