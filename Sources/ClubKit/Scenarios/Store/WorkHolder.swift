import Foundation
import Glibc
import Synchronization

/// Who has something in hand that is yet to be delivered or processed: one opening of a store, in one process.
///
/// It is told apart from a later process with the same number by when that began and by the machine's start, and from
/// another opening in the same process by an identifier. Of a process in another container nothing can be seen, so it
/// counts as gone: kiosks in several containers must not share a database.
struct WorkHolder: Sendable, Hashable {
    private var pid: Int32
    /// In ticks since the machine was started, as `/proc/PID/stat` has it.
    private var began: UInt64
    private var boot: String
    private var opening: String

    /// The openings of this process that have not ended.
    private static let openings = Mutex<Set<String>>([])

    /// A new opening in this process; ``end()`` ends it.
    init() {
        pid = getpid()
        began = Self.beginning(of: pid) ?? 0
        boot = Self.boot
        opening = UUID().uuidString
        let opening = opening
        Self.openings.withLock { _ = $0.insert(opening) }
    }

    /// Reads ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, let pid = Int32(parts[0]), let began = UInt64(parts[1]) else { return nil }
        (self.pid, self.began, boot, opening) = (pid, began, String(parts[2]), String(parts[3]))
    }

    var text: String { "\(pid):\(began):\(boot):\(opening)" }

    /// What it has in hand is anybody's from now on.
    func end() {
        Self.openings.withLock { _ = $0.remove(opening) }
    }

    /// Whether it still has in hand what it took.
    var isAlive: Bool {
        guard boot == Self.boot, Self.beginning(of: pid) == began else { return false }
        return pid != getpid() || Self.openings.withLock { $0.contains(opening) }
    }

    /// Whether what is noted under a text is still in somebody's hand.
    static func isAlive(_ text: String) -> Bool { WorkHolder(text)?.isAlive ?? false }

    /// Which start of the machine this is.
    private static let boot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }()

    private static func beginning(of pid: Int32) -> UInt64? {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            // The name of the program may hold anything, also parentheses.
            let end = stat.lastIndex(of: ")")
        else { return nil }
        let fields = stat[end...].dropFirst().split(separator: " ")
        // The 22nd field; the first behind the name is the third.
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}
