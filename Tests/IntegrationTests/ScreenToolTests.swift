import Foundation
import Testing

/// `clubctl screen preview` where there is no terminal.
@Suite struct ScreenPreviewToolTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("Every state is printed, as text of the size that was asked for and as JSON")
    func states() async throws {
        let text = try await Tool.clubctl.run("screen", "preview", "--size", "60x20", "--language", "de")
        #expect(text.status == 0 && text.messages == "")
        let lines = text.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.filter { $0.hasPrefix("== ") }.count == 14)
        #expect(text.output.contains("== firstVisit") && text.output.contains("Willkommen, Jürgen"))
        #expect(lines.allSatisfy { $0.count <= 60 })
        let json = try await Tool.clubctl.run("screen", "preview", "--json", "--state", "visit").objects
        #expect(json.count == 1 && json[0]["kind"] as? String == "visit" && json[0]["language"] as? String == "en")
        #expect((json[0]["stamps"] as? [String: Int]) == ["filled": 7, "total": 10])
    }

    @Test("A theme is used; one that is wrong is reported whole, with the exit code of malformed input")
    func themes() async throws {
        let good = try scratch.write("clubName: Riverside\ncolors: {text: '#777777'}\n", to: "good.yaml")
        let outcome = try await Tool.clubctl.run("screen", "preview", "--theme", good, "--state", "rest")
        #expect(outcome.status == 0 && outcome.output.contains("Riverside") && outcome.messages.contains("contrast"))
        let bad = try scratch.write("clubname: Riverside\nlanguage: fr\n", to: "bad.yaml")
        let refused = try await Tool.clubctl.run("screen", "preview", "--theme", bad)
        #expect(refused.status == 65)
        #expect(refused.messages.contains("bad.yaml:1:1") && refused.messages.contains("bad.yaml:2:"))
        let absent = try await Tool.clubctl.run("screen", "preview", "--theme", scratch.file("absent.yaml"))
        #expect(absent.status == 66)
        for size in ["0x10", "80", "80x24x3", "x", "80x99999"] {
            #expect(try await Tool.clubctl.run("screen", "preview", "--size", size).status == 64)
        }
    }

    @Test("A kiosk whose theme is wrong does not open, and makes no database")
    func kioskTheme() async throws {
        let bad = try scratch.write("language: fr\n", to: "bad.yaml")
        let database = scratch.file("club.sqlite")
        let outcome = try await Tool.clubctl.run("kiosk", "--theme", bad, "--database", database, "--once")
        #expect(outcome.status == 65 && !FileManager.default.fileExists(atPath: database))
    }
}

#if PCSC
import ReaderKit
import ReaderKitTesting
import TestSupport

extension ThroughPCSCD {
    /// `clubctl kiosk` with its screen, in a terminal program.
    @Suite struct ScreenToolTests {
        private let daemon: PCSCDaemon
        private let slot = VirtualCardReader()
        private let scratch: ScratchFolder

        init() throws {
            daemon = try PCSCDaemon()
            scratch = try ScratchFolder()
        }

        private func tool(_ arguments: [String]) throws -> RunningTool {
            let socket = ["-S", scratch.file("tmux"), "-f", "/dev/null", "-u"]
            return try RunningTool(program: "/usr/bin/tmux", socket + arguments)
        }

        @discardableResult
        private func tmux(_ arguments: String...) async throws -> String {
            await (try tool(arguments)).finish().output
        }

        private func screen() async throws -> String { try await tmux("capture-pane", "-p") }

        private func waitFor(_ what: String, _ condition: () async throws -> Bool) async throws {
            let end = ContinuousClock.now + .seconds(60)
            while try await !condition() {
                if ContinuousClock.now > end {
                    Issue.record("\(what):\n\(try await screen())")
                    return
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }

        private func member(_ text: String, uid: UInt8) throws -> SimulatedNTAG {
            let message = try NDEFMessage([.text(text)]).encoded()
            return try #require(SimulatedNTAG.formatted(.ntag213, uid: [4, 1, 2, 3, 4, 5, uid], message: message))
        }

        @Test("[real pcscd] Taps are answered on the screen, which follows its size and leaves the terminal as it was")
        func terminal() async throws {
            let program = """
                stty -a > '\(scratch.file("before"))'
                '\(Tool.clubctl.path)' kiosk --database '\(scratch.file("club.sqlite"))' --reader 'Virtual PCD 00 00'
                echo "ended with $?"
                stty -a > '\(scratch.file("after"))'
                cat
                """
            let file = try scratch.write(program, to: "kiosk.sh")
            // A server that a client starts would keep what Foundation waits for at the client's end.
            let server = try tool(["-D"])
            try await waitFor("tmux") { await (try tool(["ls"])).finish().status == 0 }
            try await tmux("new-session", "-d", "-x", "80", "-y", "24", "sh", file)
            try await waitFor("at rest") { try await screen().contains("Hold your card or phone here") }
            #expect(try await tmux("display", "-p", "#{alternate_on} #{cursor_flag}") == "1 0\n")
            try slot.present(try member("4|U1|x|Ann", uid: 1))
            try await waitFor("the greeting") { try await screen().contains("Welcome, Ann") }
            #expect(try await screen().contains("First visit"))
            try await tmux("resize-window", "-x", "110", "-y", "34")
            try await waitFor("the new size") {
                let lines = try await screen().split(separator: "\n", omittingEmptySubsequences: false)
                return lines.contains { $0.filter { $0 == "─" }.count > 90 }
            }
            slot.remove()
            try await waitFor("at rest again") { try await screen().contains("Hold your card or phone here") }
            let pane = try await panePID()
            let children = try String(contentsOfFile: "/proc/\(pane)/task/\(pane)/children", encoding: .utf8)
            let kiosk = try #require(Int32(children.split(separator: " ").first ?? ""))
            kill(kiosk, SIGTERM)
            try await waitFor("the end") { try await screen().contains("ended with 130") }
            #expect(try await tmux("display", "-p", "#{alternate_on} #{cursor_flag}") == "0 1\n")
            try await waitFor("the settings") {
                (FileManager.default.contents(atPath: scratch.file("after"))?.count ?? 0) > 200
            }
            let before = try String(contentsOfFile: scratch.file("before"), encoding: .utf8)
            let after = try String(contentsOfFile: scratch.file("after"), encoding: .utf8)
            // The window has another size by now.
            #expect(before.split(separator: "\n").dropFirst() == after.split(separator: "\n").dropFirst())
            // What was printed meanwhile, and the account of it.
            #expect(try await screen().contains("New members  1"))
            // It was started with SIGTERM blocked.
            server.kill()
            _ = await server.finish()
        }

        #if NETWORK
        @MainActor
        @Test("[real pcscd] [real Chromium] Taps are answered in a browser", .enabled(if: Browser.isThere))
        func browser() async throws {
            let theme = try scratch.write("greetingSeconds: 1\n", to: "theme.yaml")
            let kiosk = try Tool.clubctl.start([
                "kiosk", "--database", scratch.file("club.sqlite"), "--reader", "Virtual PCD 00 00", "--plain",
                "--http", "127.0.0.1:0", "--theme", theme,
            ])
            let message = try #require(await kiosk.message(containing: "The screen is at"))
            let address = try #require(message.firstMatch(of: /http:\S+\//)?.0.description)
            try await Browser.use { browser in
                try await browser.open(address)
                try await browser.wait(for: "title.textContent === 'Hold your card or phone here'")
                // When words were first seen, by the clock that this process has too.
                try await browser.run(
                    """
                    window.seen = {};
                    new MutationObserver(() => {
                        seen[title.textContent] ??= performance.timeOrigin + performance.now();
                    }).observe(title, { childList: true, characterData: true, subtree: true });
                    """
                )
                var delays: [Double] = []
                for number in 1...20 {
                    let name = "Member \(number)"
                    let card = try member("4|U\(number)|x|\(name)", uid: UInt8(number))
                    let start = Date().timeIntervalSince1970 * 1000
                    try slot.present(card)
                    try await browser.wait(for: "seen['Welcome, ' + arguments[0]]", name)
                    let seen: Double = try await browser.run("return seen['Welcome, ' + arguments[0]]", name)
                    delays.append(seen - start)
                    slot.remove()
                    // So that no greeting waits for the one before.
                    try await browser.wait(for: "title.textContent === 'Hold your card or phone here'")
                }
                delays.sort()
                print(
                    "20 taps through pcscd to words in Chromium: median \(Int(delays[10])) ms, longest \(Int(delays[19])) ms"
                )
            }
            kiosk.kill(SIGTERM)
            #expect(await kiosk.finish().status == 130)
        }
        #endif

        private func panePID() async throws -> String {
            try await tmux("display", "-p", "#{pane_pid}").trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }
}
#endif
