#if NETWORK
import ClubKit
import Foundation
import TestSupport
import Testing

@testable import KioskKit
@testable import KioskWeb

/// The pages in a real Chromium.
@MainActor
@Suite(
    .serialized,
    .enabled(if: Browser.isThere, "chromium and chromium-driver are not installed: run Scripts/setup --tests"),
    .timeLimit(.minutes(10))
)
struct BrowserTests {
    /// Opens a kiosk's page, and waits until it shows what the kiosk does.
    func withPage(
        _ theme: Theme = Theme(),
        path: String = "",
        _ body: (ServedKiosk, Browser) async throws -> Void
    ) async throws {
        try await ServedKiosk.use(theme) { kiosk in
            try await Browser.use { browser in
                try await browser.open(kiosk.address + path)
                try await browser.wait(for: Self.isConnected)
                try await body(kiosk, browser)
            }
        }
    }

    static let isConnected = "title.textContent !== '…' && connection.textContent === ''"

    /// A theme whose greetings are over soon, so that taps do not wait for each other.
    var quick: Theme {
        var theme = Theme()
        (theme.greetingSeconds, theme.privacySeconds) = (0.05, 60)
        return theme
    }

    // MARK: Following

    private struct Sight: Decodable {
        var name: String
        /// When the words were in the page, and when the page was drawn with them, in milliseconds since 1970.
        var at: Double, drawn: Double
    }

    /// Notes when each name of a letter and four digits is seen for the first time.
    private static let watch = """
        window.sights = [];
        const known = new Set();
        const now = () => performance.timeOrigin + performance.now();
        new MutationObserver((changes) => {
          const at = now();
          for (const { target } of changes) {
            for (const name of target.textContent.match(/M\\d{4}/g) ?? []) {
              if (known.has(name)) continue;
              known.add(name);
              const channel = new MessageChannel();
              channel.port1.onmessage = () => sights.push({ name, at, drawn: now() });
              requestAnimationFrame(() => channel.port2.postMessage(0));
            }
          }
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
        """

    @Test("[real Chromium] Two hundred taps of as many members are each seen, in their order")
    func taps() async throws {
        let count = 200
        try await withPage(quick) { kiosk, browser in
            try await browser.run(Self.watch)
            var tapped: [Double] = []
            for number in 1...count {
                tapped.append(Date().timeIntervalSince1970 * 1000)
                kiosk.tap("M\(1000 + number)")
                // Not by asking the page, which would be busy with the answer.
                try await kiosk.rest()
                try await browser.wait(for: "sights.length === \(number)")
            }
            let sights: [Sight] = try await browser.value(of: "sights")
            #expect(sights.map(\.name) == (1...count).map { "M\(1000 + $0)" })
            func figures(_ times: [Double]) -> String {
                let sorted = zip(times, tapped).map { $0 - $1 }.sorted()
                let (median, most) = (sorted[sorted.count / 2], sorted[sorted.count * 95 / 100])
                return "median \(median.formatted(1)) ms, p95 \(most.formatted(1)) ms, longest "
                    + "\((sorted.last ?? 0).formatted(1)) ms"
            }
            #expect(zip(sights, tapped).allSatisfy { $0.at - $1 < 5000 })
            TestReport.add(
                section: "browser",
                lines: [
                    "\(count) taps | to the words in the page: \(figures(sights.map(\.at)))",
                    "\(count) taps | to the page drawn with them: \(figures(sights.map(\.drawn)))",
                ]
            )
        }
    }

    @Test(
        "[real Chromium] After a reload and after a restart of the server the page shows what is, and says meanwhile that it is lost"
    )
    func restart() async throws {
        try await withPage { kiosk, browser in
            kiosk.tap("Ann")
            let title = "title.textContent === 'Welcome, Ann'"
            try await browser.wait(for: title)
            try await browser.reload()
            try await browser.wait(for: title + " && " + Self.isConnected)
            await kiosk.server.stop()
            try await browser.wait(for: "connection.textContent === '\(kiosk.text(.disconnected))'")
            let kept: Bool = try await browser.value(of: title + " && rows.innerText.includes('Ann')")
            #expect(kept)
            try await browser.run("window.isSame = true")
            try await kiosk.start()
            try await browser.wait(for: Self.isConnected)
            kiosk.tap("Bea")
            try await browser.wait(for: "title.textContent === 'Welcome, Bea' && window.isSame")
        }
    }

    @Test("[real Chromium] A page that has lost the kiosk keeps no name for longer than the theme allows")
    func privacy() async throws {
        var theme = Theme()
        theme.privacySeconds = 1
        try await withPage(theme) { kiosk, browser in
            kiosk.tap("Ann")
            try await browser.wait(for: "document.body.innerText.includes('Ann')")
            await kiosk.server.stop()
            try await browser.wait(for: "!document.documentElement.outerHTML.includes('Ann')")
            let title: String = try await browser.value(of: "title.textContent")
            #expect(title == kiosk.text(.disconnected))
            try await kiosk.start()
            try await browser.wait(for: Self.isConnected)
        }
    }

    @Test("[real Chromium] Two browsers see the same")
    func two() async throws {
        try await withPage { kiosk, browser in
            try await Browser.use { other in
                try await other.open(kiosk.address)
                for name in ["Ann", "Bea"] {
                    kiosk.tap(name)
                    for browser in [browser, other] {
                        try await browser.wait(for: "title.textContent === 'Welcome, \(name)'")
                    }
                    // Without what has screen readers read a text again, by how often each page was drawn.
                    let text = "document.body.innerText.replaceAll('\\u00a0', '')"
                    let seen: [String] = [try await browser.value(of: text), try await other.value(of: text)]
                    #expect(seen[0].contains(name))
                    #expect(seen[0] == seen[1])
                }
            }
        }
    }

    // MARK: A long run

    private struct Figures {
        var heap: Int, elements: Int, nodes: Int
        /// The memory (PSS) of this process, which serves, in bytes.
        var server: Int
    }

    private func figures(_ browser: Browser) async throws -> Figures {
        struct Heap: Decodable {
            var usedSize: Double
        }
        try await browser.tell("HeapProfiler.collectGarbage")
        let heap: Heap = try await browser.chromium("Runtime.getHeapUsage")
        let counts: [Int] = try await browser.run(
            """
            const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL);
            let nodes = 1;
            while (walker.nextNode()) nodes++;
            return [document.getElementsByTagName("*").length, nodes];
            """
        )
        return Figures(
            heap: Int(heap.usedSize),
            elements: counts[0],
            nodes: counts[1],
            server: ProcessFigures.proportionalBytes
        )
    }

    @Test("[real Chromium] However many taps a page shows, it gets no larger")
    func longRun() async throws {
        let wanted = ProcessInfo.processInfo.environment["KIOSK_WEB_TAPS"].flatMap { Int($0) }
        var theme = quick
        theme.greetingSeconds = 0.001
        try await withPage(theme) { kiosk, browser in
            try await browser.run(
                """
                window.drawn = 0;
                new MutationObserver(() => drawn++).observe(rows, { subtree: true, characterData: true });
                """
            )
            // The desk's list of five hundred taps, at which nobody looks, would take most of the time.
            let (model, view) = (KioskModel(), WebScreenView(kiosk.server))
            model.note(ServedKiosk.reader)
            let screen = Screen(VisitorPresenter(model, theme: theme), view: view, shownAs: view)
            screen.appear()
            defer { screen.destroy() }
            let outcomes: [Receipt.Outcome] = [.created, .visit, .repeat, .rejected(.init(.expired, ""))]
            var (count, all): (Int, [Figures]) = (0, [])
            for _ in 1...5 {
                let (end, limit) = (ContinuousClock.now + .seconds(3), count + (wanted ?? 0) / 5)
                while wanted == nil ? ContinuousClock.now < end : count < limit {
                    count += 1
                    let (outcome, visits, stamps) = (outcomes[count % 4], count % 30, count % 11)
                    model.note(recorded: ServedKiosk.tap("M\(count)", outcome, visits: visits, stamps: stamps))
                    // A pace at which the page can draw nearly all of them; what it has yet to draw waits in the browser.
                    try await Task.sleep(for: .milliseconds(1))
                    if count % 100 == 0 { try await browser.wait(for: "rows.innerText.includes('M\(count)')") }
                }
                count += 1
                model.note(recorded: ServedKiosk.tap("M\(count)", visits: 12, stamps: 3))
                try await browser.wait(
                    for:
                        "rows.firstElementChild.innerText.includes('M\(count)') && document.body.dataset.kind === 'rest'"
                )
                all.append(try await figures(browser))
            }
            let drawn: Int = try await browser.value(of: "drawn")
            #expect(all.allSatisfy { $0.elements == all[0].elements && $0.nodes == all[0].nodes })
            #expect(Double(all[4].heap) <= Double(all[0].heap) * 1.2)
            #expect(Double(all[4].server) <= Double(all[0].server) * 1.2)
            TestReport.add(
                section: "browser",
                line: "\(count) taps, drawn \(drawn) times | heap after each fifth, in KiB: "
                    + all.map { "\($0.heap / 1024)" }.joined(separator: ", ")
                    + "; elements \(all.map { "\($0.elements)" }.joined(separator: ", "))"
                    + "; nodes \(all.map { "\($0.nodes)" }.joined(separator: ", "))"
                    + "; the server's memory in MiB \(all.map { "\($0.server >> 20)" }.joined(separator: ", "))"
            )
        }
    }
}
#endif
