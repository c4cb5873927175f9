import Foundation

/// The programs that run on this machine, as `/proc` shows them. Of other users' programs only root sees the files.
package struct RunningPrograms: Sendable {
    package struct Program: Sendable, Hashable, CustomStringConvertible {
        package var pid: Int32
        /// The name of its process, as `ps` shows it; control characters are shown as `?`.
        package var name: String

        package var description: String { "\(name) (pid \(pid))" }
    }

    private let root: String
    private let ownPid: Int32

    /// Creates a view of a folder with a folder for each process, of which one is the one that looks.
    package init(root: String = "/proc", ownPid: Int32 = getpid()) {
        self.root = root
        self.ownPid = ownPid
    }

    /// The programs by their number, without those that have ended and whose parent has not noticed yet.
    package func all() -> [Program] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return names.compactMap(Int32.init).filter { $0 > 0 }.sorted().compactMap { pid in
            if status(of: pid)?.contains("\nState:\tZ") == true { return nil }
            return name(of: pid).map { Program(pid: pid, name: $0) }
        }
    }

    /// Returns the programs other than this that have a device open.
    package func holders(of node: String) -> [Program] {
        all().filter { program in
            let files = "\(root)/\(program.pid)/fd"
            return program.pid != ownPid
                && ((try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []).contains {
                    (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\($0)")) == node
                }
        }
    }

    /// Whether a process is this one, or was started by it or by what it has started.
    package func isOwn(_ pid: Int32) -> Bool {
        var pid = pid
        // Processes come and go while they are followed.
        for _ in 0..<64 where pid > 1 {
            if pid == ownPid { return true }
            let line = status(of: pid)?.split(separator: "\n").first { $0.hasPrefix("PPid:\t") }
            guard let parent = line.flatMap({ Int32($0.dropFirst(6)) }) else { return false }
            pid = parent
        }
        return false
    }

    /// Whether a library is among a program's mappings; `nil` where they may not be looked at.
    package func hasLibrary(_ name: String, _ pid: Int32) -> Bool? {
        guard let maps = text("\(pid)/maps", atMost: 8 << 20) else { return nil }
        return maps.utf8.split(separator: UInt8(ascii: "\n")).contains { line in
            guard let slash = line.lastIndex(of: UInt8(ascii: "/")) else { return false }
            return line[slash...].dropFirst().starts(with: name.utf8)
        }
    }

    /// A program chooses its name itself, which may hold anything.
    private func name(of pid: Int32) -> String? {
        guard let text = text("\(pid)/comm", atMost: 64) else { return nil }
        let name = text.trimmingCharacters(in: .newlines).unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? "?" : String(scalar)
        }.joined()
        return name.isEmpty ? nil : name
    }

    private func status(of pid: Int32) -> String? { text("\(pid)/status", atMost: 512) }

    /// Reads a file of `/proc`, which has no length and may end at any moment.
    private func text(_ path: String, atMost limit: Int) -> String? {
        guard let file = fopen("\(root)/\(path)", "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < limit {
            let count = fread(&buffer, 1, min(buffer.count, limit - bytes.count), file)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        // Mappings of another user's program open, and then fail to be read.
        return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
