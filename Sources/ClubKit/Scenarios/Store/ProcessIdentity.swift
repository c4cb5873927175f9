import Foundation
import Glibc

/// A process of this machine, told apart from a later one with the same number by when it began.
struct ProcessIdentity: Sendable, Hashable {
    var pid: Int32
    /// In ticks since the machine was started, as `/proc/PID/stat` has it.
    var began: UInt64

    /// This process.
    static let own = ProcessIdentity(pid: getpid(), began: beginning(of: getpid()) ?? 0)

    private init(pid: Int32, began: UInt64) {
        self.pid = pid
        self.began = began
    }

    /// Reads ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let pid = Int32(parts[0]), let began = UInt64(parts[1]) else { return nil }
        self.init(pid: pid, began: began)
    }

    var text: String { "\(pid):\(began)" }

    /// Whether it is there. Of a process in another container nothing can be seen.
    var isAlive: Bool { Self.beginning(of: pid) == began }

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
