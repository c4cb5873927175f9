import Foundation
import TestSupport
import Testing

@testable import Diagnosis

/// `readerctl doctor` where the trouble is real.
@Suite(.timeLimit(.minutes(10)))
struct DoctorToolTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Runs a shell script that has a `/run/pcscd`, a `/etc/reader.conf.d` and other mounts of its own, with `doctor` as a
    /// command for the tool, and returns what it prints.
    private func scene(_ script: String, _ arguments: String = "--json") async throws -> (
        checks: [String: [String: Any]], lines: [[String: Any]], outcome: Tool.Outcome
    ) {
        let text = """
            set -e
            mount -t tmpfs tmpfs /run/pcscd
            mount -t tmpfs tmpfs /etc/reader.conf.d
            \(script)
            set +e
            '\(Tool.readerctl.path)' doctor --database '\(scratch.file("club/club.sqlite"))' \(arguments)
            """
        let file = try scratch.write(text, to: "scene.sh")
        // The process namespace ends all that the scene started.
        let running = try RunningTool(
            program: "/usr/bin/unshare",
            ["-m", "-p", "-f", "--mount-proc", "--kill-child", "sh", file]
        )
        let outcome = await running.finish()
        let checks = outcome.objects.filter { $0["event"] as? String == "check" }
        return (Dictionary(checks.map { ($0["id"] as? String ?? "", $0) }) { $1 }, outcome.objects, outcome)
    }

    private func severity(_ check: [String: Any]?) -> String? { check?["severity"] as? String }

    @Test("[real pcscd] nothing runs: the next step is to start pcscd")
    func nothing() async throws {
        let result = try await scene("")
        #expect(result.outcome.status == 1)
        let summary = try #require(result.lines.first)
        #expect(summary["event"] as? String == "summary")
        #expect(summary["severity"] as? String == "broken")
        #expect(summary["summary"] as? String == "pcscd does not run: start it.")
        #expect((summary["next"] as? [String])?.isEmpty == false)
        #expect(severity(result.checks["pcsc.service"]) == "broken")
        #expect(result.lines.count == result.checks.count + 1)
        for (id, check) in result.checks {
            for key in ["title", "severity", "message"] { #expect(check[key] is String, "\(id) \(key)") }
            for key in ["evidence", "remedy", "repair"] { #expect(check[key] is [Any], "\(id) \(key)") }
        }
    }

    @Test("[real pcscd] a killed pcscd leaves its socket behind")
    func killed() async throws {
        let result = try await scene(
            """
            /usr/sbin/pcscd --foreground & daemon=$!
            until [ -S /run/pcscd/pcscd.comm ]; do sleep 0.05; done
            kill -KILL $daemon; wait $daemon 2>/dev/null || true
            """
        )
        let service = result.checks["pcsc.service"]
        #expect(severity(service) == "broken")
        #expect((service?["message"] as? String)?.contains("nobody answers") == true)
        #expect(result.outcome.status == 1)
    }

    @Test("[real pcscd] pcscd runs, and has no reader")
    func noReader() async throws {
        let result = try await scene(Self.daemon)
        for id in ["pcsc.service", "pcsc.protocol", "pcsc.access"] {
            #expect(severity(result.checks[id]) == "fine", "\(id)")
        }
        #expect(severity(result.checks["pcsc.readers"]) == "note")
        #expect((result.lines.first?["summary"] as? String)?.hasPrefix("No reader is connected") == true)
        #expect(result.outcome.status == 1)
    }

    private static let daemon = """
        /usr/sbin/pcscd --foreground & daemon=$!
        until [ -S /run/pcscd/pcscd.comm ]; do sleep 0.05; done
        """

    @Test("[real pcscd] a pcscd that hangs is reported")
    func hanging() async throws {
        let result = try await scene(Self.daemon + "\nkill -STOP $daemon")
        let service = result.checks["pcsc.service"]
        #expect(severity(service) == "broken")
        #expect((service?["message"] as? String)?.contains("it hangs") == true)
        #expect(result.outcome.status == 1)
    }

    @Test("A full file system, and one in memory")
    func fullDisk() async throws {
        let folder = scratch.file("club")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let mount = "mount -t tmpfs -o size=2m tmpfs '\(folder)'\n"
        let full = try await scene(mount + "head -c 1500000 /dev/zero > '\(folder)/full'", "--json --only club")
        #expect(severity(full.checks["club.space"]) == "broken")
        #expect(severity(full.checks["club.filesystem"]) == "warning")
        let small = try await scene("mount -t tmpfs -o size=30m tmpfs '\(folder)'", "--json --only club.space")
        #expect(severity(small.checks["club.space"]) == "warning")
        #expect(small.outcome.status == 0)
        let roomy = try await scene("mount -t tmpfs -o size=90m tmpfs '\(folder)'", "--json --only club.space")
        #expect(severity(roomy.checks["club.space"]) == "fine")
    }

    // MARK: - A described USB bus

    /// Runs the tool where the USB bus is described by a file, with a shell.
    private func onBus(_ script: String) async throws -> Tool.Outcome {
        let text = script.replacingOccurrences(of: "doctor ", with: "'\(Tool.readerctl.path)' doctor ")
        let running = try RunningTool(
            program: "/usr/bin/umockdev-run",
            ["-d", Fixtures.path + "/usb/s550.umockdev", "--", "sh", "-c", text],
            environment: ["XDG_STATE_HOME": scratch.file("state")]
        )
        return await running.finish()
    }

    @Test("[umockdev] an S550 on the bus is what lsusb prints")
    func bus() async throws {
        let listed = try await onBus("lsusb -d 1c34:").output
        #expect(listed.contains("ID 1c34:6122 SpringCard S550"))
        let verbose = try await onBus("lsusb -v -d 1c34: 2>/dev/null").output
        #expect(verbose.contains("bInterfaceClass        11"))
        let outcome = try await onBus("doctor --json --only usb --only driver.list")
        let checks = Dictionary(outcome.objects.map { ($0["id"] as? String ?? "", $0) }) { $1 }
        #expect(severity(checks["usb.reader"]) == "fine")
        let seen = try #require((checks["usb.reader"]?["evidence"] as? [String])?.first)
        #expect(seen.contains("1c34:6122") && seen.contains("interface classes 0b, ff"))
        #expect(severity(checks["usb.profile"]) == "fine")
        #expect(severity(checks["driver.list"]) == "fine")
        #expect(severity(checks["usb.power"]) == "warning")
        #expect(outcome.status == 0)
    }

    @Test("[umockdev] --fix keeps a reader awake, --undo lets it sleep again; without either nothing is changed")
    func fixing() async throws {
        let power = "cat /sys/bus/usb/devices/1-1/power/control"
        let outcome = try await onBus(
            """
            \(power); doctor --only usb.power >/dev/null; \(power)
            doctor --only usb.power --fix </dev/null; echo "status $?"; \(power)
            doctor --only usb.power --fix --yes; \(power); doctor --undo; \(power); doctor --undo
            """
        )
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.filter { $0 == "auto" || $0 == "on" } == ["auto", "auto", "auto", "on", "auto"])
        #expect(lines.contains("status 64"))
        #expect(lines.contains("Done: echo on > /sys/bus/usb/devices/1-1/power/control"))
        #expect(lines.contains("Now: The kernel does not suspend the reader."))
        #expect(outcome.messages.contains("add --yes"))
        #expect(outcome.messages.contains("There is nothing to undo"))
        // A step that cannot be taken, as what undoes it cannot be kept.
        let failing = try await onBus(
            "export XDG_STATE_HOME=/dev/null/state; doctor --only usb.power --fix --yes; echo \"status $?\"; \(power)"
        )
        #expect(failing.output.contains("Not done: echo on"))
        #expect(failing.output.hasSuffix("status 1\nauto\n"))
    }

    @Test("[umockdev] --fix asks at a terminal, where colours are shown")
    func asking() async throws {
        let bus = ["/usr/bin/umockdev-run", "-d", Fixtures.path + "/usb/s550.umockdev", "--"]
        let arguments = ["doctor", "--only", "usb.power", "--fix"]
        // `swift test` may have switched colours off.
        let environment = ["XDG_STATE_HOME": scratch.file("state"), "NO_COLOR": ""]
        let refusing = try TerminalTool(.readerctl, arguments, prefix: bus, environment: environment)
        #expect(await refusing.expect("Do this? [y/N]") != nil)
        #expect(refusing.screen.contains("\u{1B}[33m"))
        refusing.type("\r")
        #expect(await refusing.finish() == 0)
        #expect(!refusing.screen.contains("Done:"))
        let plain = environment.merging(["NO_COLOR": "1"]) { $1 }
        let agreeing = try TerminalTool(.readerctl, arguments, prefix: bus, environment: plain)
        #expect(await agreeing.expect("Do this? [y/N]") != nil)
        agreeing.type("y\r")
        #expect(await agreeing.finish() == 0)
        #expect(agreeing.screen.contains("Done: echo on >"))
        #expect(!agreeing.screen.contains("\u{1B}["))
    }

    @Test("[umockdev] the report has no serial number, and replaces no file")
    func report() async throws {
        let file = scratch.file("report.txt")
        let outcome = try await onBus("doctor --report '\(file)' --only usb")
        #expect(outcome.status == 0)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains("1c34:6122"))
        #expect(text.contains("‹serial›") && !text.contains("A1B2C3D4"))
        #expect(text.contains("What to ask next:"))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await Tool.readerctl.run("doctor", "--report", file, "--only", "clock").status == 74)
        #expect(try await Tool.readerctl.run("doctor", "--report", "-").status == 64)
        let onFull = try await scene(
            """
            mount -t tmpfs -o size=4k tmpfs /mnt
            head -c 4096 /dev/zero >/mnt/full
            '\(Tool.readerctl.path)' doctor --only clock --report /mnt/report || true
            ls /mnt >&2
            """
        )
        #expect(onFull.outcome.messages.contains("No space left on device"))
        #expect(onFull.outcome.messages.contains("\nfull\n"))
    }

    // MARK: - The tool

    @Test("Programs that have a file open are those that fuser prints")
    func holders() async throws {
        let file = try scratch.write("x", to: "device")
        let holder = try RunningTool(program: "/bin/sh", ["-c", "exec 7<'\(file)'; echo ready >&2; exec sleep 60"])
        defer { holder.kill() }
        _ = await holder.message(containing: "ready")
        let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path
        let found = RunningPrograms().holders(of: path).map(\.pid)
        let fuser = try await RunningTool(program: "/usr/bin/fuser", [file]).finish()
        #expect(found == fuser.output.split(whereSeparator: \.isWhitespace).compactMap { Int32($0) })
        #expect(found == [holder.identifier])
    }

    @Test("[real libnfc] a device that answers, and one that is not there")
    func libnfc() async throws {
        let board = try PN532Terminal(link: scratch.file("pn532"))
        let found = try await Tool.readerctl.run(
            "doctor",
            "--json",
            "--only",
            "nfc",
            environment: ["LIBNFC_DEFAULT_DEVICE": "pn532_uart:" + scratch.file("pn532")]
        )
        let devices = try #require(found.objects.first { $0["id"] as? String == "nfc.devices" })
        #expect(severity(devices) == "fine")
        #expect((devices["message"] as? String)?.contains("pn532_uart") == true)
        #expect((devices["evidence"] as? [String])?.first?.contains("pn53x_usb") == true)
        withExtendedLifetime(board) {}
        let missing = try await Tool.readerctl.run(
            "doctor",
            "--json",
            "--only",
            "nfc",
            environment: ["LIBNFC_DEFAULT_DEVICE": "pn532_uart:/dev/ttyNONE"]
        )
        #expect(missing.status == 1)
        #expect((missing.objects.first?["summary"] as? String)?.contains("not there: /dev/ttyNONE") == true)
    }

    @Test func usage() async throws {
        for arguments in [["--only", "no.such"], ["--yes"], ["--fix", "--watch"], ["--undo", "--report", "x"]] {
            let outcome = try await Tool.readerctl.start(["doctor"] + arguments).finish()
            #expect(outcome.status == 64, "\(arguments)")
        }
    }

    @Test("A kiosk that waits for a reader prints the doctor's sentence")
    func kiosk() async throws {
        let kiosk = try Tool.clubctl.start([
            "kiosk", "--database", scratch.file("club.sqlite"), "--reader", "smart-reader:" + scratch.file("no-line"),
            "--doctor-after", "0.1",
        ])
        #expect(await kiosk.message(containing: "'readerctl doctor' shows what to do.") != nil)
        kiosk.kill(SIGINT)
        _ = await kiosk.finish()
    }
}

#if PCSC
import ReaderKit
import ReaderKitTesting

extension ThroughPCSCD {
    /// The doctor with readers in the real pcscd.
    @Suite struct DoctorThroughPCSCDTests {
        private let daemon: PCSCDaemon

        init() throws { daemon = try PCSCDaemon() }

        private func checks(_ only: String) async throws -> [String: [String: Any]] {
            let outcome = try await Tool.readerctl.run("doctor", "--json", "--only", only)
            return Dictionary(outcome.objects.map { ($0["id"] as? String ?? "", $0) }) { $1 }
        }

        @Test("[real pcscd] a kiosk whose pcscd is killed prints the doctor's sentence")
        func killed() async throws {
            let scratch = try ScratchFolder()
            let kiosk = try Tool.clubctl.start([
                "kiosk", "--database", scratch.file("club.sqlite"), "--reader", "Virtual PCD 00 00", "--doctor-after",
                "0.1",
            ])
            #expect(await kiosk.message(containing: "Serving") != nil)
            daemon.kill()
            #expect(await kiosk.message(containing: "'readerctl doctor' shows what to do.") != nil)
            kiosk.kill(SIGINT)
            _ = await kiosk.finish()
        }

        @Test("[real pcscd] virtual readers are those of pcsc_scan, and a warning about the network")
        func virtualReaders() async throws {
            let checks = try await checks("pcsc")
            let names = try #require(checks["pcsc.readers"]?["evidence"] as? [String])
            let scan = try await RunningTool(program: "/usr/bin/pcsc_scan", ["-r"]).finish().output
            #expect(names.count == 2)
            for name in names { #expect(scan.contains(name)) }
            #expect(checks["pcsc.readers"]?["severity"] as? String == "note")
            #expect(checks["pcsc.virtual"]?["severity"] as? String == "warning")
            #expect((checks["pcsc.virtual"]?["evidence"] as? [String])?.contains("TCP port 35963 is open") == true)
            #expect(checks["pcsc.answers"]?["severity"] as? String == "fine")
        }

        @Test("[real pcscd] a program that keeps a reader to itself")
        func holder() async throws {
            let library = PCSCLibrary.system
            let context = library.establishContext().context
            defer { _ = library.releaseContext(context) }
            let (code, handle, _) = library.connect(context, "Virtual PCD 00 00", .direct, 0)
            #expect(code.isSuccess)
            _ = library.disconnect(handle, .leave)
            let exclusive = library.connect(context, "Virtual PCD 00 00", .exclusive, 0)
            // Without a card a reader cannot be connected to exclusively; with one it can.
            #expect(!exclusive.code.isSuccess)
            let slot = VirtualCardReader()
            try slot.present(try #require(SimulatedNTAG.formatted(.ntag213, uid: SimulatedNTAG.sampleUID, message: [])))
            var held = exclusive
            try await until("the card is connected to") {
                held = library.connect(context, "Virtual PCD 00 00", .exclusive, 3)
                return held.code.isSuccess
            }
            let check = try await checks("pcsc.holder")["pcsc.holder"]
            #expect(check?["severity"] as? String == "broken")
            #expect((check?["message"] as? String)?.contains("keeps Virtual PCD 00 00 to itself") == true)
            // The doctor's own probe uses PC/SC too, and is not what has to be ended.
            let remedies = try #require(check?["remedy"] as? [[String: Any]])
            #expect(!remedies.contains { ($0["words"] as? String)?.contains("readerctl") == true })
            let own = ProcessInfo.processInfo.processIdentifier
            #expect((check?["evidence"] as? [String])?.contains { $0.hasSuffix("(pid \(own))") } == true)
            _ = library.disconnect(held.handle, .leave)
            #expect(try await checks("pcsc.holder")["pcsc.holder"]?["severity"] as? String != "broken")
        }

        @Test("[real pcscd] a reader whose card hangs is named, in time")
        func hanging() async throws {
            let emulation = try Tool.readerctl.start(["emulate", "--card", "ntag213"])
            defer { emulation.kill() }
            let library = PCSCLibrary.system
            let context = library.establishContext().context
            defer { _ = library.releaseContext(context) }
            var states = [PCSCLibrary.ReaderState(name: "Virtual PCD 00 00")]
            // Until SCARD_STATE_PRESENT.
            try await until("the card is there") {
                _ = library.getStatusChange(context, 0, &states)
                return states[0].event & 0x20 != 0
            }
            emulation.kill(SIGSTOP)
            var check: [String: Any]?
            // pcscd looks at the card every 400 ms, and hangs from then on.
            let end = ContinuousClock.now + .seconds(20)
            while check?["severity"] as? String != "broken", ContinuousClock.now < end {
                check = try await checks("pcsc.answers")["pcsc.answers"]
            }
            let message = try #require(check?["message"] as? String)
            #expect(message.hasPrefix("The reader Virtual PCD 00 00 does not answer"), "\(message)")
        }

        @Test("[real pcscd] --watch reports that pcscd goes and comes back")
        func watch() async throws {
            let tool = try Tool.readerctl.start(["doctor", "--watch", "--json", "--only", "pcsc.service"])
            #expect(await tool.next("check")?["severity"] as? String == "fine")
            // As if it had crashed.
            kill(try #require(daemon.processIdentifier), SIGKILL)
            let gone = await tool.next("change")
            #expect(gone?["severity"] as? String == "broken")
            #expect(gone?["was"] as? String == "fine")
            try daemon.start()
            let back = await tool.next("change")
            #expect(back?["severity"] as? String == "fine")
            tool.kill(SIGINT)
            #expect(await tool.finish().status == 130)
        }
    }
}
#endif
