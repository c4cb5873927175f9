#if NETWORK
import ClubKit
import Foundation
import TestSupport
import Testing

@testable import KioskKit
@testable import KioskWeb

extension BrowserTests {
    // MARK: Languages and themes

    private struct Shown: Decodable, Equatable {
        var language: String, direction: String, title: String, latest: String, club: String, background: String
    }

    private static let shown = """
        { language: document.documentElement.lang, direction: document.documentElement.dir,
          title: title.textContent, latest: latest.textContent, club: club.textContent,
          background: getComputedStyle(document.body).backgroundColor }
        """

    @Test("[real Chromium] Another theme is shown at once, in each language and its direction")
    func themes() async throws {
        try await withPage { kiosk, browser in
            kiosk.tap("Ann")
            try await browser.wait(for: "!aside.hidden")
            try await browser.run("window.isSame = true")
            for (language, background) in zip(Language.allCases, [0x10, 0x20, 0x30, 0x40] as [UInt8]) {
                var theme = Theme.full(language)
                theme.colors.background = RGBColor(red: background, green: 0, blue: 0)
                kiosk.server.show(theme)
                try await browser.wait(for: "document.documentElement.lang === '\(language.rawValue)'")
                let shown: Shown = try await browser.value(of: Self.shown)
                let words = Words(theme)
                let expected = Shown(
                    language: language.rawValue,
                    direction: language == .arabic ? "rtl" : "ltr",
                    title: words.text(.welcomeName, [.name: .text("Ann")]),
                    latest: words.text(.latestTaps),
                    club: theme.clubName,
                    background: "rgb(\(background), 0, 0)"
                )
                #expect(shown == expected)
                let direction: String = try await browser.value(of: "getComputedStyle(title).direction")
                #expect(direction == expected.direction)
            }
            let isSame: Bool = try await browser.value(of: "window.isSame")
            #expect(isSame, "the page was loaded again")
        }
    }

    @Test(
        "[real Chromium] Every kind of scene has its words in the page, in each language",
        arguments: Language.allCases
    )
    func scenes(_ language: Language) async throws {
        let theme = Theme.full(language)
        // In this theme from the start: the page is at rest already, as in the first sample.
        try await withPage(theme) { kiosk, browser in
            for scene in theme.samples {
                kiosk.show(scene, taps: theme.sampleRows, theme: theme)
                try await browser.wait(for: "document.body.dataset.kind === '\(scene.kind)'")
                let text: String = try await browser.value(of: "document.body.innerText")
                let rewards = scene.rewards + [scene.note].compactMap(\.self)
                for sentence in [scene.title] + scene.lines + rewards {
                    #expect(text.contains(sentence), "\(scene.kind)")
                }
                let stamps: [Int] = try await browser.value(
                    of: "['svg', 'svg.filled'].map((kind) => stamps.hidden ? 0 : stamps.querySelectorAll(kind).length)"
                )
                #expect(stamps == [scene.stamps?.total ?? 0, scene.stamps?.filled ?? 0], "\(scene.kind)")
            }
        }
    }

    @Test(
        "[real Chromium] The code of the address to join has a light edge of four modules, and square modules of whole pixels"
    )
    func code() async throws {
        try await withPage(.full(.english)) { _, browser in
            try await browser.wait(for: "!join.hidden")
            let figures: [Double] = try await browser.run(
                """
                const { x, y, width, height } = code.firstElementChild.getBBox();
                const box = code.viewBox.baseVal;
                const size = code.getBoundingClientRect();
                const light = getComputedStyle(code).backgroundColor === "rgb(255, 255, 255)" ? 1 : 0;
                return [x - box.x, y - box.y, box.width - width, box.height - height, (size.width / box.width) % 1, light];
                """
            )
            #expect(figures == [4, 4, 8, 8, 0, 1])
        }
    }

    // MARK: Texts of strangers

    @Test("[real Chromium] Names that are markup, scripts or control characters are names")
    func hostileNames() async throws {
        let names = [
            #"<img src=x onerror="window.isBroken=1">"#, "<script>window.isBroken=1</script>",
            "</bdi></b><iframe srcdoc=x>", "javascript:isBroken=1", "\u{1B}[2J\u{1B}]0;x\u{7}", "A\u{202E}nn",
            "&lt;b&gt;", "${isBroken=1}", "a\u{0}b\u{85}c\u{2028}d\u{2029}e",
        ]
        try await withPage(quick) { kiosk, browser in
            try await browser.run(
                """
                window.violations = 0;
                addEventListener("securitypolicyviolation", () => violations++);
                """
            )
            let address = kiosk.address
            for page in ["", "desk"] {
                try await browser.open(address + page)
                try await browser.wait(for: Self.isConnected)
                let elements = "[...new Set([...document.body.querySelectorAll('*')].map((e) => e.localName))].sort()"
                kiosk.tap("Ann")
                try await browser.wait(for: "rows.innerText.includes('Ann')")
                let before: [String] = try await browser.value(of: elements)
                for name in names {
                    kiosk.tap(name)
                    let plain = Words.plain(name)
                    try await browser.wait(for: "rows.innerText.includes(arguments[0])", plain)
                }
                // What the kiosk shows by itself is over.
                try await kiosk.rest()
                var theme = Theme()
                theme.clubName = names[0]
                for (name, tone) in zip(names, VisitorScene.Tone.allCases + VisitorScene.Tone.allCases) {
                    // As no kiosk would send it: whole, in every place that has a text.
                    var scene = VisitorScene(
                        kind: .announcement,
                        tone: tone,
                        clubName: name,
                        title: name,
                        lines: [name],
                        language: .english
                    )
                    (scene.rewards, scene.note) = ([name], name)
                    let row = TapRow(time: name, text: name, detail: name)
                    kiosk.show(scene, taps: [row], theme: theme)
                    kiosk.show(DeskScene(title: name, visitsToday: name, trouble: name, taps: [row]), theme: theme)
                    try await browser.wait(for: "title.textContent === arguments[0]", name)
                }
                let after: [String] = try await browser.value(of: elements)
                #expect(Set(after).subtracting(before).isSubset(of: ["p", "li", "svg", "use", "bdi"]), "\(after)")
                #expect(!after.contains("img") || before.contains("img"))
                let faults: [Int] = try await browser.value(
                    of: """
                        [document.querySelectorAll("iframe, [onerror], [srcdoc], [src='x']").length,
                         document.querySelectorAll("script").length - 1, window.isBroken ?? 0, window.violations ?? 0]
                        """
                )
                #expect(faults == [0, 0, 0, 0])
                kiosk.server.show(quick)
            }
            // Chromium reports each breach of the policy, also those before a page listened.
            #expect(try await browser.complaints() == [])
        }
    }

    // MARK: Other sites

    @Test("[real Chromium] A page of another origin reads neither events nor the screen")
    func otherOrigins() async throws {
        let read = """
            const [address, done] = arguments;
            const source = new EventSource(address);
            const end = (word) => (source.close(), done(word));
            for (const name of ["snapshot", "screen", "ping", "message"]) source.addEventListener(name, () => end("read"));
            source.onerror = () => end(source.readyState === EventSource.CLOSED ? "refused" : "lost");
            """
        let fetch = """
            const [address, done] = arguments;
            fetch(address, { mode: "no-cors" }).then(() => done("answered"), () => done("refused"));
            """
        try await withPage { kiosk, browser in
            let address = kiosk.address
            // The pages' own policy would keep them from asking.
            try await browser.tell("Page.setBypassCSP", ["enabled": true])
            try await browser.open(address)
            for path in ["v1/events", "v1/screen"] {
                let own: String = try await browser.call(read, address + path)
                #expect(own == "read")
            }
            try await ServedKiosk.use { other in
                // Another port, which browsers call the same site, another name, and no origin at all.
                for page in [other.address, "http://localhost:\(kiosk.port)/", "data:text/html,<title>x</title>"] {
                    try await browser.open(page)
                    _ = try await browser.complaints()
                    for path in ["v1/events", "v1/screen"] {
                        let answer: String = try await browser.call(read, address + path)
                        #expect(answer == "refused", "\(path) from \(page)")
                    }
                    let answer: String = try await browser.call(fetch, address + "v1/events")
                    #expect(answer == "refused", "\(page)")
                    let complaints = try await browser.complaints()
                    #expect(complaints.contains { $0.contains("403") || $0.contains("CORS") }, "\(complaints)")
                }
            }
        }
    }

    // MARK: The keyboard

    /// A silent sound.
    private func sound() throws -> URL {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).wav")
        let samples = [UInt8](repeating: 128, count: 800)
        func bytes(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(number >> (8 * $0) & 255) } }
        var data = Array("RIFF".utf8) + bytes(36 + samples.count, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4)
        data += bytes(1, 2) + bytes(1, 2) + bytes(8000, 4) + bytes(8000, 4) + bytes(1, 2) + bytes(8, 2)
        data += Array("data".utf8) + bytes(samples.count, 4) + samples
        try Data(data).write(to: file)
        return file
    }

    private struct Switch: Decodable, Equatable {
        var isFocused: Bool, isVisiblyFocused: Bool, outline: Double, label: String
    }

    private static let focus = """
        (() => {
          const style = getComputedStyle(sound);
          return {
            isFocused: document.activeElement === sound, isVisiblyFocused: sound.matches(":focus-visible"),
            outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
            label: sound.getAttribute("aria-label"),
          };
        })()
        """

    @Test("[real Chromium] The keyboard alone reaches the switch of the sounds, shows where it is, and turns it")
    func keyboard() async throws {
        let file = try sound()
        defer { try? FileManager.default.removeItem(at: file) }
        var theme = Theme()
        theme.sounds = [.success: file.path]
        try await withPage(theme) { kiosk, browser in
            let (on, off) = (kiosk.text(.soundOn), kiosk.text(.soundOff))
            try await browser.wait(for: "!sound.hidden")
            let before: Switch = try await browser.value(of: Self.focus)
            #expect(before == Switch(isFocused: false, isVisiblyFocused: false, outline: 0, label: off))
            try await browser.press(Browser.tab)
            for (key, label) in [(nil, off), (" ", on), (Browser.enter, off), (Browser.enter, on), (" ", off)] {
                if let key { try await browser.press(key) }
                let now: Switch = try await browser.value(of: Self.focus)
                #expect(now == Switch(isFocused: true, isVisiblyFocused: true, outline: 3, label: label))
            }
            // What was chosen holds after a reload.
            try await browser.press(" ")
            try await browser.reload()
            try await browser.wait(for: "sound.getAttribute('aria-label') === '\(on)'")
            // A sound that nobody wanted to hear is a complaint.
            kiosk.tap("Ann")
            try await browser.wait(for: "title.textContent === 'Welcome, Ann'")
            // There is nothing else to reach, so the next key leaves the page.
            try await browser.press(Browser.tab, Browser.tab)
            let isLeft: Bool = try await browser.value(of: "document.activeElement === document.body")
            #expect(isLeft)
            #expect(try await browser.complaints() == [])
        }
    }
}
#endif
