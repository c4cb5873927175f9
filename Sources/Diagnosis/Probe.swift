import CardCore
import Foundation
import ReaderKit
import Synchronization

/// Calls into the libraries of readers, which may never return: each runs in a process of its own that can be killed.
public enum Probe: String, Sendable, CaseIterable {
    /// Speaks to pcscd's socket as libpcsclite does, and listens to what libpcsclite sends first.
    case service
    /// Asks libpcsclite for the readers and what each is like. No card is touched, and none is powered.
    case readers
    /// Asks libnfc for its drivers and devices.
    case nfc

    /// The first argument of a process that is to answer a probe; the probe's name follows it.
    static let argument = "--answer-probe"

    /// Answers a probe and ends the process, if that is what it was started for.
    ///
    /// A program that uses ``ProbeRunner/ownExecutable`` calls this before all else in its main function.
    public static func answerIfAsked() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, arguments[1] == argument, let probe = Probe(rawValue: arguments[2]) else { return }
        // Who has started it may have been killed meanwhile.
        alarm(5)
        probe.answer { line in
            guard let data = try? JSONEncoder().encode(line) else { return }
            _ = (data + [10]).withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        }
        _exit(0)
    }

    /// How libraries are asked to report more than their results.
    var environment: [String: String] { self == .nfc ? ["LIBNFC_LOG_LEVEL": "3"] : [:] }
}

/// One thing that a probe did, and what came of it. It is written before the call and after it, so that of a call that
/// hangs the beginning is known.
struct ProbeLine: Sendable, Hashable, Codable {
    /// What was done; of a call in a library, its name.
    enum Step: String, Sendable, Codable {
        /// Connecting to pcscd's socket, ``code`` being 0 or `errno`.
        case connect
        /// pcscd's protocol version, or in ``code`` why there is none: `ECONNRESET` if pcscd closed the connection,
        /// `ETIMEDOUT` if it was silent.
        case daemonProtocol
        /// libpcsclite's protocol version.
        case clientProtocol
        case context = "SCardEstablishContext"
        case list = "SCardListReaders"
        /// For one reader.
        case state = "SCardGetStatusChange"
        /// Without a card, for what one reader's driver can do.
        case features = "SCardConnect or SCardControl"
        case devices = "nfc_list_devices"
        /// Of a device that libnfc's configuration names, which it lists whether it is there or not; ``code`` is `EBUSY`
        /// if another program has its line, and `ENODEV` if nothing answers.
        case device = "nfc_open"
    }

    var step: Step
    /// Whether it is the step's beginning.
    var begins = false
    /// What the call returned.
    var code: UInt32?
    /// The reader's name.
    var name: String?
    /// The names of readers or devices.
    var names: [String]?
    /// Numbers: a protocol's major and minor version, a reader's state, its vendor and product.
    var numbers: [UInt32]?
    /// Whether the driver passes escape commands.
    var passesEscape: Bool?
}

/// How probes are run.
public struct ProbeRunner: Sendable {
    /// Runs a probe, on the calling thread, for at most so long, and returns the lines that it printed.
    let run: @Sendable (Probe, Duration) -> ProgramOutcome

    /// Runs this program once more, as ``Probe/answerIfAsked()`` expects it.
    public static let ownExecutable = ownExecutable(as: nil)

    /// Runs this program once more as another user, which takes root.
    ///
    /// - Parameter user: a login name, or `nil` for the user of this process.
    public static func ownExecutable(as user: String?) -> ProbeRunner {
        ProbeRunner { probe, limit in
            // By its own name, since another program's list of processes would show 'exe'.
            let name = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
            let path = access(name, X_OK) == 0 ? name : "/proc/self/exe"
            let words = user.map { ["/usr/sbin/runuser", "-u", $0, "--", path] } ?? [path]
            return ProgramOutcome(
                running: words[0],
                words.dropFirst() + [Probe.argument, probe.rawValue],
                environment: probe.environment,
                within: limit,
                merged: true
            )
        }
    }
}

struct ProbeReport: Sendable {
    var lines: [ProbeLine]
    /// What a library logged besides.
    var log: [String]
    /// Whether it was killed because it took too long.
    var isOverTime: Bool
    /// Why it did not run, in a sentence; `nil` if it did.
    var failure: String?

    init(_ outcome: ProgramOutcome) {
        isOverTime = outcome.isOverTime
        if let error = outcome.startError {
            failure = "The libraries of readers cannot be asked: \(String(cString: strerror(error)))."
        } else if outcome.output.isEmpty, !isOverTime {
            failure = "The libraries of readers cannot be asked: the program that asks them ended."
        }
        var (lines, log) = ([ProbeLine](), [String]())
        for text in outcome.output.split(separator: "\n") {
            if let line = try? JSONDecoder().decode(ProbeLine.self, from: Data(text.utf8)) {
                lines.append(line)
            } else {
                log.append(String(text))
            }
        }
        (self.lines, self.log) = (lines, log)
    }

    func result(_ step: ProbeLine.Step) -> ProbeLine? { lines.first { $0.step == step && !$0.begins } }

    /// The step that did not return.
    var hangs: ProbeLine? { isOverTime ? lines.last.flatMap { $0.begins ? $0 : nil } : nil }
}

/// The reports of probes, each run at most once, when the first check asks for it.
final class ProbeResults: Sendable {
    /// How long a probe may take. Checks wait for it, so it is less than their own time.
    static let limit = Duration.milliseconds(2500)

    /// The report of one probe. Who asks second waits for the first.
    private final class Slot: Sendable {
        let report = Mutex<ProbeReport?>(nil)
    }

    /// What `pcscd --version` prints.
    let daemonText = Mutex<String??>(nil)

    private let runner: ProbeRunner?
    private let slots = Dictionary(uniqueKeysWithValues: Probe.allCases.map { ($0, Slot()) })

    init(_ runner: ProbeRunner?) { self.runner = runner }

    /// Returns the report, for which the thread waits; `nil` if no library can be asked.
    subscript(probe: Probe) -> ProbeReport? {
        guard let runner else { return nil }
        return slots[probe]?.report.withLock { report in
            if let report { return report }
            let made = ProbeReport(runner.run(probe, Self.limit))
            report = made
            return made
        }
    }
}

// MARK: - In the other process

extension Probe {
    fileprivate func answer(_ report: (ProbeLine) -> Void) {
        switch self {
        case .service: PCSCHandshake.answer(report)
        case .readers: Self.askReaders(report)
        case .nfc: Self.askNFC(report)
        }
    }

    private static func askReaders(_ report: (ProbeLine) -> Void) {
        #if PCSC
        let library = PCSCLibrary.system
        report(ProbeLine(step: .context, begins: true))
        let (code, context) = library.establishContext()
        report(ProbeLine(step: .context, code: code.rawValue))
        guard code.isSuccess else { return }
        report(ProbeLine(step: .list, begins: true))
        let (listed, names) = library.listReaders(context)
        report(ProbeLine(step: .list, code: listed.rawValue, names: names))
        for name in names {
            report(ProbeLine(step: .state, begins: true, name: name))
            var states = [PCSCLibrary.ReaderState(name: name)]
            let code = library.getStatusChange(context, 0, &states)
            report(ProbeLine(step: .state, code: code.rawValue, name: name, numbers: [states[0].event]))
        }
        for name in names {
            report(ProbeLine(step: .features, begins: true, name: name))
            let (code, handle, _) = library.connect(context, name, .direct, 0)
            var line = ProbeLine(step: .features, code: code.rawValue, name: name)
            if code.isSuccess {
                let features = PCSCFeatures.read { library.control(handle, $0, []).answer }
                line.numbers = features.product
                line.passesEscape = features.passesEscape
                _ = library.disconnect(handle, .leave)
            }
            report(line)
        }
        #endif
    }

    private static func askNFC(_ report: (ProbeLine) -> Void) {
        #if NFC
        report(ProbeLine(step: .devices, begins: true))
        // Serial ports are only looked at if the configuration allows it: other devices dislike what libnfc sends.
        guard let context = NFCLibrary.system.makeContext(false) else {
            return report(ProbeLine(step: .devices, code: 1))
        }
        let names = NFCLibrary.system.listDevices(context)
        report(ProbeLine(step: .devices, code: 0, names: names))
        // Those that a file or the environment names are listed without a look.
        let named = Set(Machine().nfcConnections.map(\.1))
        for name in names where named.contains(name) {
            report(ProbeLine(step: .device, begins: true, name: name))
            let code: Int32
            do throws(ReaderError) {
                code = try NFCLibrary.system.canOpen(name, in: context) ? 0 : ENODEV
            } catch {
                code = error.kind == .sharingViolation ? EBUSY : error.kind == .accessDenied ? EACCES : ENODEV
            }
            report(ProbeLine(step: .device, code: UInt32(code), name: name))
        }
        #endif
    }
}

/// The first words between libpcsclite and pcscd: which version of their protocol each speaks.
///
/// `CMD_VERSION` of pcsc-lite's `winscard_msg.h`: a header of two 32-bit numbers (length 12, command 0x11), then major,
/// minor and a code, all in the machine's byte order. pcscd answers with its own major, minor and a code.
enum PCSCHandshake {
    static func socket(_ environment: [String: String]) -> String {
        environment["PCSCLITE_CSOCK_NAME"] ?? "/run/pcscd/pcscd.comm"
    }

    fileprivate static func answer(_ report: (ProbeLine) -> Void) {
        report(ProbeLine(step: .connect, begins: true))
        let file = makeSocket()
        defer { close(file) }
        let path = socket(ProcessInfo.processInfo.environment)
        let connected = withAddress(path) { connect(file, $0, $1) }
        report(ProbeLine(step: .connect, code: connected == 0 ? 0 : UInt32(errno)))
        if connected == 0 {
            report(ProbeLine(step: .daemonProtocol, begins: true))
            // 4:4 is spoken from 1.8.24 to 2.2.3; of others it is refused, with the version that they speak.
            let question: [UInt32] = [12, 0x11, 4, 4, 0]
            _ = question.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            let (numbers, error) = receive(3, from: file)
            report(ProbeLine(step: .daemonProtocol, code: UInt32(error), numbers: numbers.map { Array($0.prefix(2)) }))
        }
        #if PCSC
        report(ProbeLine(step: .clientProtocol, numbers: clientProtocol()))
        #endif
    }

    #if PCSC
    /// Lets libpcsclite connect to a socket that nobody else knows, and reads what it sends first.
    private static func clientProtocol() -> [UInt32]? {
        let (isMade, name) = FileSteps.unique(NSTemporaryDirectory() + "/clubkit-") { mkdtemp($0) != nil }
        guard isMade else { return nil }
        defer { try? FileManager.default.removeItem(atPath: name) }
        let path = name + "/socket"
        let file = makeSocket()
        defer { close(file) }
        guard withAddress(path, { bind(file, $0, $1) }) == 0, listen(file, 1) == 0 else { return nil }
        setenv("PCSCLITE_CSOCK_NAME", path, 1)
        DetachedThread.start(name: "client") { _ = PCSCLibrary.system.establishContext() }
        guard isReadable(file) else { return nil }
        let client = accept(file, nil, nil)
        defer { close(client) }
        return receive(5, from: client).numbers.map { Array($0[2...3]) }
    }
    #endif

    private static func makeSocket() -> Int32 { Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) }

    /// Receives numbers.
    ///
    /// - Returns: the numbers, or why there are none: `ETIMEDOUT` after a second of silence, else `ECONNRESET`.
    private static func receive(_ count: Int, from file: Int32) -> (numbers: [UInt32]?, error: Int32) {
        guard isReadable(file) else { return (nil, ETIMEDOUT) }
        var numbers = [UInt32](repeating: 0, count: count)
        let length = numbers.withUnsafeMutableBytes { recv(file, $0.baseAddress, $0.count, Int32(MSG_WAITALL)) }
        return length == count * 4 ? (numbers, 0) : (nil, ECONNRESET)
    }

    private static func isReadable(_ file: Int32) -> Bool {
        var wanted = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, 1000) > 0
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else {
            errno = ENAMETOOLONG
            return -1
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
