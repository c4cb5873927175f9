import Foundation

/// The other programs of this machine that use PC/SC, found in `/proc`.
///
/// A program talks to pcscd through libpcsclite, so it has that library among its mappings. Those are shown to root and
/// to the user who runs the program; of other users' programs only the name is known, and the few that are known to hold
/// readers are named by it.
package struct PCSCClients: Sendable {
    package struct Client: Sendable, Hashable {
        package var pid: Int32
        package var name: String
        /// Whether it was seen to have libpcsclite loaded, rather than known by its name.
        package var isCertain: Bool
    }

    private let programs: RunningPrograms
    private let isOmitted: @Sendable (RunningPrograms.Program) -> Bool

    /// - Parameter isOmitted: whether a program is not reported; by default this one.
    package init(
        root: String = "/proc",
        omitting isOmitted: @escaping @Sendable (RunningPrograms.Program) -> Bool = { $0.pid == getpid() }
    ) {
        programs = RunningPrograms(root: root)
        self.isOmitted = isOmitted
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
        programs.all().compactMap(client).sorted {
            ($0.isCertain ? 0 : 1, $0.pid) < ($1.isCertain ? 0 : 1, $1.pid)
        }
    }

    private func client(_ program: RunningPrograms.Program) -> Client? {
        guard program.name != "pcscd", !isOmitted(program) else { return nil }
        // Of a browser there are many processes, and most have never seen a reader.
        let hasLibrary = programs.hasLibrary("libpcsclite", program.pid)
        guard hasLibrary ?? (program.name == "scdaemon" || program.name == "pcsc_scan") else { return nil }
        return Client(pid: program.pid, name: program.name, isCertain: hasLibrary != nil)
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
    package var description: String { (isCertain ? "" : "perhaps ") + "\(name) (pid \(pid))" }
}
