import Foundation

/// The other programs of this machine that use PC/SC, found in `/proc`.
///
/// A program talks to pcscd through libpcsclite, so it has that library among its mappings. Those are shown to root and
/// to the user who runs the program; of other users' programs only the name is known, and the few that are known to hold
/// readers are named by it.
package struct PCSCClients: Sendable {
    /// One program.
    package struct Client: Sendable, Hashable {
        /// The number of its process.
        package var pid: Int32
        /// The name of its process, as `ps` shows it.
        package var name: String
        /// Whether it was seen to have libpcsclite loaded, rather than known by its name.
        package var isCertain: Bool
    }

    private let root: String
    private let ownPid: Int32

    /// - Parameters:
    ///   - root: the folder with a folder for each process.
    ///   - ownPid: the process that is not reported.
    package init(root: String = "/proc", ownPid: Int32 = getpid()) {
        self.root = root
        self.ownPid = ownPid
    }

    /// Programs that hold readers, and how they let go. The kernel keeps the first 15 bytes of a name.
    private static let known: [String: String] = [
        "scdaemon":
            "Put 'pcsc-shared' and 'disable-ccid' into ~/.gnupg/scdaemon.conf, or end it: 'gpgconf --kill scdaemon'.",
        "firefox": "Unload the smart card module in the browser's security devices, or close the browser.",
        "chrome": "Close the browser, or remove its smart card module.",
        "chromium": "Close the browser, or remove its smart card module.",
        "pcsc_scan": "End pcsc_scan.",
        "readerctl": "End the other readerctl.",
        "clubctl": "End the other clubctl; one kiosk serves all readers.",
        "yubikey-agent": "End yubikey-agent while the reader is needed.",
        "ssh-pkcs11-help": "Remove the key from the agent: 'ssh-add -e' and the module's path.",
        "p11-kit-remote": "Close the program that uses the smart card module.",
    ]

    /// The others that use PC/SC now, the certain ones first, by their number.
    package func others() -> [Client] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return names.compactMap(Int32.init).filter { $0 > 0 && $0 != ownPid }.compactMap(client).sorted {
            ($0.isCertain ? 0 : 1, $0.pid) < ($1.isCertain ? 0 : 1, $1.pid)
        }
    }

    private func client(_ pid: Int32) -> Client? {
        guard let name = name(of: pid), name != "pcscd" else { return nil }
        if let hasLibrary = hasLibrary(pid) { return hasLibrary ? Client(pid: pid, name: name, isCertain: true) : nil }
        // Of a browser there are many processes, and most have never seen a reader.
        return name == "scdaemon" || name == "pcsc_scan" ? Client(pid: pid, name: name, isCertain: false) : nil
    }

    /// The name, which the program chooses itself and which may hold anything.
    private func name(of pid: Int32) -> String? {
        guard let text = ProcFile.text("\(root)/\(pid)/comm", atMost: 64) else { return nil }
        let name = text.trimmingCharacters(in: .newlines).unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? "?" : String(scalar)
        }.joined()
        return name.isEmpty ? nil : name
    }

    /// Whether libpcsclite is among the mappings, or `nil` where that may not be looked at.
    private func hasLibrary(_ pid: Int32) -> Bool? {
        guard let maps = ProcFile.text("\(root)/\(pid)/maps", atMost: 8 << 20) else { return nil }
        return maps.utf8.split(separator: UInt8(ascii: "\n")).contains { line in
            guard let slash = line.lastIndex(of: UInt8(ascii: "/")) else { return false }
            return line[slash...].starts(with: "/libpcsclite".utf8)
        }
    }

    /// The error for a reader that another program holds, with its name if it can be found.
    package func sharingError(attempting attempt: String) -> ReaderError {
        let others = others()
        var error = PCSCCode.sharingViolation.error(attempting: attempt)
        guard let first = others.first else { return error }
        let list = others.prefix(3).map(\.description) + (others.count > 3 ? ["\(others.count - 3) more"] : [])
        // Several may use readers, and nothing reports which of them holds this one.
        error.detail = (others.count == 1 ? "used by " : "used by one of ") + list.joined(separator: ", ")
        error.advice = Self.known[first.name] ?? "Close \(first.name), or let it share the reader."
        return error
    }
}

extension PCSCClients.Client: CustomStringConvertible {
    /// As `scdaemon (pid 1234)`.
    package var description: String { (isCertain ? "" : "perhaps ") + "\(name) (pid \(pid))" }
}

/// A file of `/proc`, which has no length and may end at any moment.
private enum ProcFile {
    /// The text, or `nil` if it may not be read.
    static func text(_ path: String, atMost limit: Int) -> String? {
        guard let file = fopen(path, "re") else { return nil }
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
