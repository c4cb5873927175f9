import Foundation

/// What this process uses.
public enum ProcessFigures {
    /// Memory that is resident, in bytes.
    public static var residentBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Memory, what is shared with other processes by its share (PSS), in bytes; 0 if the system has no such figure.
    public static var proportionalBytes: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Pss:") })
        else { return 0 }
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 } ?? 0
    }

    /// Open file descriptors.
    public static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    /// Processor time of all threads so far, in seconds.
    public static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension Duration {
    /// Whole milliseconds, for reports.
    public var milliseconds: Int { Int((Double(components.seconds) + Double(components.attoseconds) / 1e18) * 1000) }
}

extension Double {
    /// With that many digits after the point, for reports.
    public func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}
