import CardCore
import Foundation
import Testing

@testable import ReaderKit

#if PCSC

/// Who else uses PC/SC, by a made-up `/proc`.
@Suite final class PCSCClientsTests {
    private let root = NSTemporaryDirectory() + "proc-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private static func maps(_ paths: String...) -> String {
        paths.map { "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234       \($0)\n" }.joined()
            + "7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0          [stack]\n7fff0000-7fff1000 r-xp 0 00:00 0\n"
    }

    private static let library = "/usr/lib/x86_64-linux-gnu/libpcsclite.so.1.0.0"

    private func add(_ pid: String, _ name: String?, maps: String?) throws {
        let folder = "\(root)/\(pid)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if let name { try Data("\(name)\n".utf8).write(to: URL(fileURLWithPath: folder + "/comm")) }
        if let maps { try Data(maps.utf8).write(to: URL(fileURLWithPath: folder + "/maps")) }
    }

    private var clients: PCSCClients { PCSCClients(root: root) { $0.pid == 100 } }

    /// What a process looks like, and how it is told: `nil` if it is not.
    private static let processes: [(pid: String, name: String?, maps: String?, told: String?)] = [
        ("200", "firefox", maps("/usr/lib/firefox/libxul.so", library), "firefox (pid 200)"),
        ("201", "bash", maps("/usr/bin/bash"), nil),
        ("202", "pcscd", maps("/usr/lib/libpcsclite.so.1"), nil),
        ("203", "deleted", maps(library + " (deleted)"), "deleted (pid 203)"),
        ("204", "elsewhere", maps("/snap/core/1/libpcsclite_real.so.1"), "elsewhere (pid 204)"),
        ("205", "folder", maps("/opt/libpcsclite.so/other.so"), nil),
        ("206", "spaces in it", maps("/opt/a folder/libpcsclite.so.1"), "spaces in it (pid 206)"),
        // Somebody else's: only the name can be read, and two names say enough.
        ("207", "scdaemon", nil, "perhaps scdaemon (pid 207)"),
        ("208", "firefox", nil, nil),
        ("209", "scdaemon", maps("/usr/lib/gnupg/scdaemon"), nil),
        // Ourselves, threads of the kernel, processes that are gone, names that are no numbers.
        ("100", "readerctl", maps(library), nil),
        ("2", "kthreadd", "", nil),
        ("210", nil, nil, nil),
        ("self", "swift", maps(library), nil),
        ("-5", "odd", maps(library), nil),
        ("99999999999", "odd", maps(library), nil),
        // A program may call itself anything.
        ("211", "a\u{1B}[31mb", maps(library), "a?[31mb (pid 211)"),
        ("212", "", maps(library), nil),
    ]

    @Test(arguments: processes.indices) func process(_ index: Int) throws {
        let (pid, name, maps, told) = Self.processes[index]
        try add(pid, name, maps: maps)
        #expect(clients.others().map(\.description) == (told.map { [$0] } ?? []))
    }

    @Test func severalInTheirOrder() throws {
        for (pid, name, maps, _) in Self.processes { try add(pid, name, maps: maps) }
        #expect(clients.others().map(\.pid) == [200, 203, 204, 206, 211, 207])
    }

    @Test func noProc() {
        #expect(PCSCClients(root: "/nowhere").others() == [])
        let error = PCSCClients(root: "/nowhere").sharingError(attempting: "connect to the card")
        #expect(error.kind == .sharingViolation && error.detail == nil)
        #expect(error.hint == ReaderError.Kind.sharingViolation.advice)
    }

    /// The error says who, and what can be done about just that program.
    @Test(
        arguments: [
            (["scdaemon"], "used by scdaemon (pid 300)", "gpgconf --kill scdaemon"),
            (["firefox"], "used by firefox (pid 300)", "browser"),
            (["mytool"], "used by mytool (pid 300)", "Close mytool"),
            (["pcsc_scan", "x"], "used by one of pcsc_scan (pid 300), x (pid 301)", "pcsc_scan"),
            (
                ["a", "b", "c", "d", "e"], "used by one of a (pid 300), b (pid 301), c (pid 302), 2 more", "Close a"
            ),
        ] as [([String], String, String)]
    )
    func error(_ names: [String], _ detail: String, _ advice: String) async throws {
        for (index, name) in names.enumerated() { try add("\(300 + index)", name, maps: Self.maps(Self.library)) }
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        fake.fail(.connect, with: .sharingViolation, forEver: true)
        let backend = PCSCBackend(library: fake.library, configuration: FakePCSC.configuration, clients: clients)
        let error = await readerError { try await backend.withCard(fake.presence("A")) { _ in } }
        #expect(error?.kind == .sharingViolation)
        #expect(error?.code?.rawValue == 0x8010_000B)
        #expect(error?.detail == detail)
        #expect(error?.hint.contains(advice) == true)
        #expect(error?.description.contains("SCARD_E_SHARING_VIOLATION") == true)
    }
}
#endif
