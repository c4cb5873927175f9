import ArgumentParser
import ClubKit
import Diagnosis
import Foundation
import KioskKit
import KioskTerminal
import ReaderKit
import ToolSupport

struct Setup: ToolCommand {
    static let configuration = CommandConfiguration(
        abstract: "Asks five questions, tries each answer, and writes the kiosk's file.",
        discussion: """
            The club's name, its reader, the first member's card, the screen, and whether the kiosk starts with the \
            machine. An answer that does not work can be given again. Nothing is changed before the last one; Control-C \
            ends it until then. A file that was there is kept beside the new one.

            It needs a terminal and has no JSON: 'clubctl config example' prints a file for those who write it by hand.

            EXAMPLES
              sudo clubctl setup
              clubctl setup --config kiosk.conf --database club.sqlite
            """
    )

    @Option(
        help: ArgumentHelp(
            "The kiosk's file.",
            discussion: "By default that which \(KioskFile.variable) names, or \(KioskFile.standardPath).",
            valueName: "file"
        ),
        completion: .file()
    )
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The club's database, by default that of the file.",
            discussion: "Without either /var/lib/clubkit/club.sqlite for root, else that of this user.",
            valueName: "path"
        ),
        completion: .file(extensions: ["sqlite"])
    )
    var database: String?

    @Option(help: .hidden)
    var cardTimeout = 30.0

    func perform() async throws {
        guard Terminal.canAsk else {
            throw ToolFailure(
                "setup asks questions, and there is no terminal to ask on. 'clubctl config example' prints a file to "
                    + "write by hand.",
                exit: ToolExit.usage
            )
        }
        let environment = ProcessInfo.processInfo.environment
        let path = FileSteps.absolute(
            config ?? ClubPlace.configuration(environment: environment) ?? KioskFile.standardPath
        )
        try await Interview(draft: try KioskDraft(path: path, database: database), cardTimeout: cardTimeout).run()
    }
}

/// An answer that does not work, and why.
private struct WrongAnswer: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// The questions, in their order.
private final class Interview {
    var draft: KioskDraft
    let cardTimeout: Double
    private let out = Output(json: false)
    private var member: (tap: ScanEvent, name: String)?
    private var isWritten = false

    init(draft: KioskDraft, cardTimeout: Double) {
        (self.draft, self.cardTimeout) = (draft, cardTimeout)
    }

    func run() async throws {
        out.message("Five questions, and the kiosk's file is written: \(draft.path)")
        out.message("Control-C ends it; nothing is changed before the last answer.")
        try await askName()
        try await askReader()
        try await askCard()
        try await askScreen()
        try await askStart()
        let file = draft.path == KioskFile.standardPath ? "" : " \(draft.path.shellQuoted)"
        let sudo = geteuid() == 0 ? "sudo " : ""
        out.message("Done. '\(sudo)clubctl config check\(file)' checks the file after a change.")
    }

    /// Asks until the answer works.
    private func ask(_ question: String, _ take: (String) async throws -> Void) async throws {
        out.message("\n" + question)
        while true {
            let line = try await BlockingThread.run(name: "question") { try InputLines($0).next() }
            guard let line else {
                throw ToolFailure("the answers ended before the last question.")
            }
            do {
                if line.contains("\u{FFFD}") { throw WrongAnswer("The answer is not in UTF-8.") }
                return try await take(line.trimmingCharacters(in: .whitespaces))
            } catch let error where !(error is CancellationError) {
                try Task.checkCancellation()
                out.message("\(error)\nOnce more:")
            }
        }
    }

    // MARK: - The five questions

    private func askName() async throws {
        let former = draft.file["clubName"]
        try await ask("1 of 5: What is the club's name?" + (former.map { " Enter keeps '\($0)'." } ?? "")) { answer in
            guard let name = answer.isEmpty ? former : answer else { throw WrongAnswer("A club needs a name.") }
            try draft.set(["clubName": KioskFile.scalar(name)])
            try draft.tryWriting()
        }
        out.message("The screen will show '\(draft.file["clubName"] ?? "")'.")
    }

    private func askReader() async throws {
        let present = try await draft.readers(all: true).withBackend {
            await $0.listing().readers.map(\.reader)
        }
        let former = draft.file.settings["readers"]?.values.joined(separator: ", ")
        let enter = former.map { "Enter keeps '\($0)'; 'all' takes" } ?? "Enter takes"
        var question = "2 of 5: Which reader? \(enter) all, also those that come later.\n"
        for (index, reader) in present.enumerated() { question += "  \(index + 1)  \(reader.label)\n" }
        if present.isEmpty { question += "  There is none yet: plug one in, or write 'all' to go on without.\n" }
        question += "  Another is named as 'readerctl list' does, or by its line: smart-reader:/dev/ttyACM0"
        try await ask(question) { answer in
            var chosen: String?
            if let number = Int(answer) {
                guard number > 0, number <= present.count else { throw WrongAnswer("There is no reader \(number).") }
                let reader = present[number - 1]
                // The number at the end of a name changes when readers are plugged in; it is there for two of one name.
                let isOnly = present.filter { $0.selectorText == reader.selectorText }.count == 1
                chosen = isOnly ? reader.selectorText : "\(reader.backend.rawValue):\(reader.name)"
            } else if !answer.isEmpty, answer != "all" {
                chosen = answer
            }
            if former == nil || !answer.isEmpty {
                try draft.set(["readers": chosen.map { "[\(KioskFile.scalar($0))]" }])
            }
            if answer == "all" { return }
            let readers = try draft.readers()
            let found = try await readers.withBackend { try await readers.present(of: $0) }
            guard !found.isEmpty else { throw WrongAnswer("There is no reader. Plug one in and press Enter.") }
            for reader in found { out.message("Opened \(reader.reader.label)") }
        }
    }

    private func askCard() async throws {
        let question =
            "3 of 5: What is the name of the first member, who has a card at hand? Enter goes on without one."
        try await ask(question) { name in
            guard !name.isEmpty else { return }
            out.message("Hold the card to the reader, for up to \(Int(cardTimeout)) s.")
            let readers = try draft.readers()
            let site = try draft.file["passes"].map { try PassConfiguration(path: $0).site(besides: $0) }
            let tap = try await readers.withBackend { backend in
                try await Self.firstTap(of: backend, readers, site, within: cardTimeout)
            }
            guard let tap else {
                throw WrongAnswer(
                    "No card was read within \(Int(cardTimeout)) s. Write the name again; Enter goes on without one."
                )
            }
            guard tap.memberKey != nil else {
                throw WrongAnswer("Nothing on this card (\(tap.card)) stays the same, so it names nobody.")
            }
            out.message("Read a card: \(tap.card), on \(tap.reader). It is to become that of \(name).")
            member = (tap, name)
        }
    }

    private static func firstTap(
        of backend: any ReaderBackend,
        _ readers: ReaderSelection,
        _ site: PassSite?,
        within seconds: Double
    ) async throws -> ScanEvent? {
        let configuration = readers.scanning(site)
        return try await withThrowingTaskGroup(of: ScanEvent?.self) { group in
            group.addTask {
                for await tap in CardScanner(backend, configuration: configuration).taps() { return tap }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                return nil
            }
            defer { group.cancelAll() }
            let tap = try await group.next() ?? nil
            try Task.checkCancellation()
            return tap
        }
    }

    private func askScreen() async throws {
        let former = draft.file["http.address"] ?? "127.0.0.1:8080"
        let isServed = draft.isNew || draft.file["http.address"] != nil
        let kept = isServed ? "1" : draft.file["screen.plain"] == "true" ? "3" : "2"
        let question = """
            4 of 5: Where do visitors see the screen? Enter takes \(kept).
              1  in a browser, at \(former)
              2  in the terminal in which the kiosk is started
              3  nowhere
              Or write another address and port for browsers; 0.0.0.0:8080 is for those of other machines, with a secret.
            """
        try await ask(question) { answer in
            let answer = answer.isEmpty ? kept : answer
            if ["2", "3"].contains(answer) {
                let plain = answer == "3" ? "true" : nil
                var values: [String: String?] = ["screen.plain": plain]
                for key in KioskFile.Key.all where key.group == "http" { values[key.name] = .some(nil) }
                try draft.set(values)
                if answer == "2" { try Self.preview(draft.file, out) }
                return
            }
            let address = answer == "1" ? former : answer
            let lowest = Machine().number("/proc/sys/net/ipv4/ip_unprivileged_port_start") ?? 1024
            guard let place = ListenAddress(address), Int(address).map({ $0 > 9 }) ?? true else {
                throw WrongAnswer("Write 1, 2 or 3, or an address and a port, such as 127.0.0.1:8080.")
            }
            let service = MachineDiagnosis.serviceSandbox(reading: draft.path, on: Machine())
            guard place.port >= lowest || service?.mayUseAllPorts == true else {
                throw WrongAnswer(
                    "Only root may listen on ports below \(lowest), and the kiosk is not root. \(KioskFile.portHint)"
                )
            }
            #if NETWORK
            var values: [String: String?] = ["http.address": KioskFile.scalar(address), "screen.plain": nil]
            if !place.isLoopback, draft.file["http.tokenFile"] == nil {
                values["http.tokenFile"] = KioskFile.scalar(FileSteps.folder(of: draft.database) + "http-token")
            }
            try draft.set(values)
            if let reason = place.reasonNotToListen {
                guard reason == EADDRINUSE, await Service.isActive() else {
                    throw WrongAnswer(
                        "Nothing can listen on \(address): \(String(cString: strerror(reason))). Write another."
                    )
                }
            }
            out.message("The screen will be at http://\(place.hostInURL):\(place.port)/")
            if !place.isLoopback {
                let token = (draft.file["http.tokenFile"] ?? "").shellQuoted
                out.message(
                    "Other machines begin at /enter?token=… there, with the secret that the kiosk makes at its start:\n"
                        + "  sudo cat \(token)\nThe service answers this machine alone. For others: sudo systemctl edit clubkit, and there, for\n"
                        + "example, [Service] and IPAddressAllow=192.168.1.0/24; then: sudo systemctl restart clubkit"
                )
            }
            #else
            _ = place
            throw WrongAnswer("This clubctl was built without the network: write 2 or 3.")
            #endif
        }
    }

    private static func preview(_ file: KioskFile, _ out: Output) throws {
        var theme = try file["screen.theme"].map { try ThemeFile($0).load() } ?? Theme()
        theme.clubName = file["clubName"] ?? theme.clubName
        let scenes = VisitorScenes(theme)
        guard let scene = scenes.samples().first(where: { $0.kind == .rest }) else { return }
        let size = TerminalCanvas.Size(columns: min(Terminal.width, 80), rows: 12)
        let canvas = TerminalView.canvas(scene, taps: [], theme: theme, size: size)
        out.message(canvas.lines.joined(separator: "\n"))
    }

    private func askStart() async throws {
        let usual = geteuid() == 0 ? "yes" : "no"
        try await ask("5 of 5: Start the kiosk now, and with the machine? Write yes or no; Enter takes \(usual).") {
            answer in
            let answer = answer.isEmpty ? usual : answer
            switch answer.lowercased() {
            case "y", "yes":
                guard geteuid() == 0 else {
                    throw WrongAnswer(
                        "Only root may do that. Write no, and then call: sudo systemctl enable --now \(Service.name)"
                    )
                }
                try await Service.require(reading: draft.path)
            case "n", "no": break
            default: throw WrongAnswer("Write yes or no.")
            }
            // Once: a service that does not start is no reason to begin anew.
            if !isWritten {
                try draft.write(out)
                isWritten = true
            }
            if let first = member {
                try await draft.add(first.tap, first.name, out)
                member = nil
            }
            guard answer.lowercased().hasPrefix("y") else {
                out.message("A kiosk that runs goes by the former file until: sudo systemctl restart \(Service.name)")
                if await Service.isEnabled() {
                    out.message("It starts with the machine until: sudo systemctl disable --now \(Service.name)")
                }
                return
            }
            try await Service.start()
            out.message("The kiosk runs, and starts with the machine.")
        }
    }
}

/// The kiosk's file as it will be.
private struct KioskDraft {
    let path: String
    /// What is replaced: where a link leads, which stays one.
    private let target: String
    private(set) var file: KioskFile
    private var text: String
    private let former: (text: String, status: stat)?

    private static let blank = KioskFile.example(omitting: ["http.address"])

    init(path: String, database: String?) throws {
        self.path = path
        target = try Self.target(of: path)
        var (text, file): (String, KioskFile?) = (Self.blank, nil)
        former = try Self.content(path)
        if let former {
            do throws(KioskFileError) {
                (text, file) = (former.text, try KioskFile(path: path))
            } catch {
                throw ToolFailure(
                    "\(error)\nMend this first, or name another file with --config.",
                    exit: ToolExit.malformed
                )
            }
        }
        self.text = text
        self.file = try file ?? KioskFile(text: text, path: path)
        let own = geteuid() == 0 ? "/var/lib/clubkit/club.sqlite" : DatabaseLocation.standard().path
        let place = database.map(FileSteps.absolute) ?? file?["database"] ?? own
        if self.file["database"] != place { try set(["database": KioskFile.scalar(place)]) }
        try tryWriting()
        try AnothersClub.check(place, mayBeNew: true)
    }

    var database: String { file["database"] ?? "" }

    /// Whether there was no file.
    var isNew: Bool { former == nil }

    private static func target(of path: String) throws -> String {
        var status = stat()
        guard let real = realpath(path, nil) else {
            guard errno == ENOENT, lstat(path, &status) == 0 else { return path }
            throw ToolFailure("\(path) is a link to a file that is not there. Remove it first.", exit: ToolExit.noInput)
        }
        defer { free(real) }
        guard stat(real, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ToolFailure("\(path) is no file. Name one with --config.", exit: ToolExit.noInput)
        }
        return String(cString: real)
    }

    private static func content(_ path: String) throws -> (text: String, status: stat)? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            guard errno != EACCES else { throw AnothersClub(path: path, user: "root") }
            return nil
        }
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        return (String(decoding: try FileSteps.read(file, until: 1 << 20), as: UTF8.self), status)
    }

    /// Changes settings, and reads the file as it is then: all other settings have to be as before.
    mutating func set(_ values: [String: String?]) throws {
        let others = file.settings.filter { values[$0.key] == nil }.mapValues(\.values)
        func reads(_ text: String) -> KioskFile? {
            guard let file = try? KioskFile(text: text, path: path) else { return nil }
            let same = others.allSatisfy { file.settings[$0.key]?.values == $0.value }
            return same && values.allSatisfy { (file.settings[$0.key] == nil) == ($0.value == nil) } ? file : nil
        }
        var text = KioskFile.edit(text, setting: values)
        if reads(text) == nil {
            // Written in a way that cannot be changed line by line: begun anew, and the former file is kept.
            let kept = KioskFile.Key.all.reduce(into: [String: String?]()) { all, key in
                if let setting = file.settings[key.name] { all[key.name] = key.written(setting) }
            }
            let fresh = KioskFile.edit(Self.blank, setting: kept)
            text = KioskFile.edit(fresh, setting: values)
        }
        if let file = reads(text) {
            (self.text, self.file) = (text, file)
            return
        }
        do throws(KioskFileError) {
            _ = try KioskFile(text: text, path: path)
        } catch {
            throw WrongAnswer(error.findings.map { "\($0.message). \($0.hint)" }.joined(separator: "\n"))
        }
        throw WrongAnswer("This cannot be written into \(path). Write it by hand.")
    }

    /// The readers of the file, or all, set as it specifies.
    func readers(all: Bool = false) throws -> ReaderSelection {
        let arguments = file.arguments().filter {
            $0.hasPrefix("--smart-reader") || !all && $0.hasPrefix("--reader=")
        }
        do {
            return try ReaderArguments.parse(arguments).readers
        } catch {
            throw WrongAnswer(ReaderArguments.message(for: error))
        }
    }

    // MARK: - Writing

    /// Makes a file beside the kiosk's and removes it: what hinders that is known before the last question.
    func tryWriting() throws {
        do throws(FileSteps.Failure) {
            // Root makes the folder with the file.
            if geteuid() == 0, access(FileSteps.folder(of: target), F_OK) != 0 { return }
            let (file, name) = try FileSteps.makeTemporary(beside: target)
            defer {
                close(file)
                unlink(name)
            }
            try FileSteps.write(Array(text.utf8)[...], to: file)
        } catch {
            // Root makes the folder too.
            if geteuid() != 0, [EACCES, ENOENT].contains(error.code) { throw AnothersClub(path: path, user: "root") }
            throw ToolFailure(
                "could not write in the folder of \(path): \(String(cString: strerror(error.code))).",
                exit: ToolExit.inputOutput
            )
        }
    }

    /// Writes the file, so that the kiosk's user may read it, and keeps the one that was there.
    func write(_ out: Output) throws {
        guard text != former?.text else { return }
        var (owner, group, mode) = (geteuid(), getegid(), mode_t(0o640))
        if let status = former?.status { (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o777) }
        if let kiosk = OtherUser.service, Machine(user: kiosk.user).mayOpen(target, writing: false) != true {
            (group, mode) = (kiosk.group, mode | 0o040)
        }
        do throws(FileSteps.Failure) {
            for folder in try Self.makeFolders(FileSteps.folder(of: target)) { chmod(folder, 0o755) }
            let (file, name) = try FileSteps.makeTemporary(beside: target)
            defer { close(file) }
            do throws(FileSteps.Failure) {
                try FileSteps.write(Array(text.utf8)[...], to: file)
                // Somebody else's file becomes that of the user who may write it here.
                guard fchown(file, owner, group) == 0 || errno == EPERM, fchmod(file, mode) == 0 else { throw .last }
                try FileSteps.synchronise(file)
                if former != nil {
                    let kept = "\(target).\(Date().formatted(Self.moment))"
                    guard link(target, kept) == 0 || errno == EEXIST else { throw .last }
                    out.message("The former file is kept as \(kept).")
                }
                try FileSteps.move(name, replacing: target)
            } catch {
                unlink(name)
                throw error
            }
            FileSteps.synchroniseFolder(of: target)
        } catch {
            let reason = String(cString: strerror(error.code))
            throw ToolFailure("could not write \(path): \(reason).", exit: ToolExit.inputOutput)
        }
        out.message("Wrote \(path).")
    }

    /// Makes the folders that are missing, and returns them.
    private static func makeFolders(_ folder: String) throws(FileSteps.Failure) -> [String] {
        var (place, missing) = (folder, [String]())
        while access(place, F_OK) != 0, errno == ENOENT {
            missing.append(place)
            place = FileSteps.folder(of: String(place.dropLast()))
        }
        try FileSteps.makeDirectories(folder)
        return missing
    }

    private static let moment = Date.ISO8601FormatStyle.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)

    /// Makes the first card's member.
    func add(_ tap: ScanEvent, _ name: String, _ out: Output) async throws {
        if let kiosk = OtherUser.service {
            // In folders of its own it makes them itself.
            if OtherUser.first(onWayTo: database) == nil {
                for folder in try Self.makeFolders(FileSteps.folder(of: database)) {
                    lchown(folder, kiosk.user.id, kiosk.group)
                }
            }
            try await kiosk.perform { try await addMember(tap, name, out) }
        } else {
            try await addMember(tap, name, out)
        }
    }

    private func addMember(_ tap: ScanEvent, _ name: String, _ out: Output) async throws {
        let options = try DatabaseOptions.parse(["--database=\(database)"])
        try await options.withNewClub { club in
            let receipt = try await club.receive(tap)
            guard let member = receipt.member else {
                return out.message("The card was not taken, and there is no member yet: \(receipt.outcome)")
            }
            // The kiosk may have taken the same tap, or one before.
            if member.username?.isEmpty ?? true {
                _ = try await club.update(member.userId) { $0.username = name }
                out.message("\(name) is a member now.")
            } else {
                let (id, name) = (member.userId.shellQuoted, name.shellQuoted)
                out.message(
                    "The card is known already, as that of \(member.caption). To change the name:\n"
                        + "  clubctl members edit \(id) --name \(name)"
                )
            }
        }
    }
}

extension KioskFile.Key {
    /// A setting as the file has it.
    fileprivate func written(_ setting: KioskFile.Setting) -> String {
        let parts = setting.values.map { value -> String in
            guard name == "messages.programs" else { return KioskFile.scalar(value) }
            let type = String(value.prefix { $0 != "=" })
            return "\(KioskFile.scalar(type)): "
                + KioskFile.scalar(String(value.dropFirst(type.count + 1)))
        }
        if name == "messages.programs" { return "{ \(parts.joined(separator: ", ")) }" }
        return isList ? "[\(parts.joined(separator: ", "))]" : parts.joined()
    }
}

extension ReaderInfo {
    /// How the kiosk's file names the reader. PC/SC's last two numbers depend on what else is plugged in.
    fileprivate var selectorText: String {
        switch backend {
        case .nfc: "nfc:" + name
        case .smartReader: "smart-reader:" + name
        default: "pcsc:" + name.replacing(/\ [0-9A-F]{2} [0-9A-F]{2}$/, with: "")
        }
    }
}

#if NETWORK
extension ListenAddress {
    /// Why no socket can listen there now (`errno`); `nil` if one can.
    fileprivate var reasonNotToListen: Int32? {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0, let first = list?.pointee else {
            return EADDRNOTAVAIL
        }
        defer { freeaddrinfo(list) }
        let descriptor = socket(first.ai_family, first.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), first.ai_protocol)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        return bind(descriptor, first.ai_addr, first.ai_addrlen) == 0 && listen(descriptor, 1) == 0 ? nil : errno
    }
}
#endif

/// The kiosk as a service of systemd.
private enum Service {
    static let name = MachineDiagnosis.service

    /// Refuses where no service reads that file.
    static func require(reading file: String) async throws {
        let (status, command) = try await systemctl("show", "--property=ExecStart", "--value", name)
        guard status == 0 else {
            throw WrongAnswer("There is no systemd on this machine, so nothing can be enabled. Write no.")
        }
        guard !command.isEmpty else { throw WrongAnswer("There is no service \(name) on this machine. Write no.") }
        guard command.replacing("--config=", with: "--config ").contains("--config \(file) ") else {
            throw WrongAnswer(
                "The service \(name) does not read \(file). Write no, and start the kiosk by: "
                    + "clubctl kiosk --config \(file.shellQuoted)"
            )
        }
    }

    static func isActive() async -> Bool { (try? await systemctl("is-active", "--quiet", name).status) == 0 }

    static func isEnabled() async -> Bool { (try? await systemctl("is-enabled", "--quiet", name).status) == 0 }

    /// Starts it now, also one that runs with the former file, and with the machine.
    static func start() async throws {
        for action in ["enable", "restart"] {
            let (status, message) = try await systemctl(action, name)
            guard status == 0 else {
                throw WrongAnswer("systemctl \(action) \(name) failed: \(message)\nWrite yes to try again, or no.")
            }
        }
    }

    private static func systemctl(_ arguments: String...) async throws -> (status: Int32?, message: String) {
        try await BlockingThread.run(name: "systemctl") { _ in
            let outcome = ProgramOutcome(
                running: "/usr/bin/env",
                ["systemctl"] + arguments,
                within: .seconds(120),
                merged: true
            )
            let text = outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
            return (outcome.status, outcome.isOverTime ? "it did not end within 120 s. \(text)" : text)
        }
    }
}

/// The readers of a kiosk's file.
private struct ReaderArguments: ParsableArguments, ReaderCommand {
    @OptionGroup var reader: ReaderOptions
    @OptionGroup var smartReader: SmartReaderOptions
}
