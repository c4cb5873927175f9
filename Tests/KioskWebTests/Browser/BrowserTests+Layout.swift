#if NETWORK
import ClubKit
import Foundation
import KioskKit
import TestSupport
import Testing

@testable import KioskWeb

/// axe-core, which looks for what keeps people from using a page: PyPI's axe-playwright-python has it, which Scripts/setup
/// installs.
private enum Axe {
    static let script: String? = {
        let folder = Fixtures.directory + "/../.build/witnesses/lib"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return versions.lazy.compactMap { version in
            try? String(
                contentsOfFile: "\(folder)/\(version)/site-packages/axe_playwright_python/axe.min.js",
                encoding: .utf8
            )
        }.first
    }()

    static let run = """
        const done = arguments[arguments.length - 1];
        const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
        axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] }).then(
          (found) => done(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html + n.failureSummary)}`)),
          (error) => done([String(error)]),
        );
        """
}

extension BrowserTests {
    /// Shows every scene of a language on the page, one after the other.
    private func showAll(
        _ theme: Theme,
        _ kiosk: ServedKiosk,
        _ browser: Browser,
        _ look: (VisitorScene) async throws -> Void
    ) async throws {
        for scene in theme.samples {
            kiosk.show(scene, taps: theme.sampleRows, theme: theme)
            try await browser.wait(
                for: "document.body.dataset.kind === '\(scene.kind)' && "
                    + "document.documentElement.lang === '\(theme.language.rawValue)'"
            )
            // The sign moves, once or for as long as it is shown.
            try await browser.run(
                """
                for (const movement of sign.getAnimations({ subtree: true })) {
                  if (Number.isFinite(movement.effect.getComputedTiming().endTime)) movement.finish();
                  else movement.cancel();
                }
                """
            )
            try await look(scene)
        }
    }

    private func showDesk(_ theme: Theme, _ kiosk: ServedKiosk, _ browser: Browser) async throws {
        try await browser.open(kiosk.address + "desk")
        kiosk.show(theme.sampleDesk, theme: theme)
        try await browser.wait(
            for: "trouble.textContent && document.documentElement.lang === '\(theme.language.rawValue)'"
        )
    }

    // MARK: Accessibility

    @Test(
        "[real Chromium] axe-core finds no fault of WCAG 2.2, level AA, in any scene nor on the desk's page",
        .enabled(if: Axe.script != nil, "axe-core is not installed: run Scripts/setup --tests"),
        arguments: [Theme.full(.english), .full(.arabic), .light(.english)]
    )
    func axe(_ theme: Theme) async throws {
        let script = try #require(Axe.script)
        try await withPage(theme) { kiosk, browser in
            try await browser.run(script + "; window.axe = axe")
            try await showAll(theme, kiosk, browser) { scene in
                let found: [String] = try await browser.call(Axe.run)
                #expect(found == [], "\(scene.kind)")
            }
            try await showDesk(theme, kiosk, browser)
            try await browser.run(script + "; window.axe = axe")
            let found: [String] = try await browser.call(Axe.run)
            #expect(found == [], "the desk")
        }
    }

    // MARK: Sizes

    /// Returns what is cut, lies on something else, or can only be seen by scrolling sideways.
    private static let faults = """
        const root = document.documentElement;
        const faults = [];
        const [width, height] = [root.clientWidth, root.scrollHeight];
        if (root.scrollWidth > width) {
          const wide = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > width);
          const names = wide.map((e) => e.id || e.getAttribute("class") || e.localName);
          faults.push(`it scrolls sideways: ${root.scrollWidth} of ${width}, because of ${names}`);
        }
        const unseen = ".unseen, template, .symbols";
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        for (let text; (text = texts.nextNode()); ) {
          const parent = text.parentElement;
          if (!text.data.trim() || parent.closest(unseen) || !parent.checkVisibility()) continue;
          const range = document.createRange();
          range.selectNodeContents(text);
          for (const { left, right, top, bottom } of range.getClientRects()) {
            const isInside = left > -1 && right < width + 1 && top + scrollY > -1 && bottom + scrollY < height + 1;
            if (!isInside) faults.push(`'${text.data}' is at ${[left, right, top, bottom]} of ${[width, height]}`);
          }
        }
        for (const element of document.body.querySelectorAll("*")) {
          if (element.closest(unseen + ", svg") || !element.checkVisibility()) continue;
          const isCut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== "visible";
          if (isCut) faults.push(`${element.id} is cut`);
        }
        const boxes = [...document.querySelectorAll("header > *, main > .scene > *, aside > *, .desk main > *")]
          .filter((box) => box.checkVisibility() && box.getBoundingClientRect().height > 0);
        for (const one of boxes) {
          for (const other of boxes.slice(boxes.indexOf(one) + 1)) {
            const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
            const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (across > 1 && down > 1) faults.push(`${one.id || one.className} lies on ${other.id || other.className}`);
          }
        }
        return faults;
        """

    @Test("[real Chromium] At 200 % and in the narrowest windows nothing is cut", arguments: Language.allCases)
    func narrow(_ language: Language) async throws {
        var theme = Theme.full(language)
        theme.clubName += " Donaudampfschifffahrtsgesellschaft"
        let long = "Wolfeschlegelsteinhausenbergerdorff, Donaudampfschifffahrtsgesellschaftskapitän"
        func look(_ name: String, _ browser: Browser) async throws {
            for (width, height, scale) in [(640, 400, 2), (960, 540, 2), (320, 568, 1), (320, 256, 1)] {
                try await browser.resize(width: width, height: height, scale: scale)
                let found: [String] = try await browser.run(Self.faults)
                #expect(found == [], "\(name) in \(width)x\(height)")
            }
        }
        try await withPage { kiosk, browser in
            try await showAll(theme, kiosk, browser) { try await look("\($0.kind)", browser) }
            var scene = try #require(theme.samples.first { $0.kind == .milestone })
            (scene.title, scene.rewards) = (long, [long])
            let rows = theme.sampleRows.map { TapRow(time: $0.time, text: long, detail: long) }
            kiosk.show(scene, taps: rows, theme: theme)
            try await browser.wait(for: "title.textContent.startsWith('Wolfe')")
            // The sign is the largest when this part of its movement is over.
            try await browser.run(
                """
                for (const movement of sign.getAnimations({ subtree: true })) {
                  movement.pause();
                  movement.currentTime = movement.effect.getComputedTiming().endTime * 0.6;
                }
                """
            )
            try await look("long names", browser)
            await kiosk.server.stop()
            try await browser.wait(for: "connection.textContent")
            // The switch stays beside the club.
            let tops: [Double] = try await browser.value(
                of: "[sound, connection].map((e) => e.getBoundingClientRect().top)"
            )
            #expect(tops[0] < tops[1])
            try await look("the lost kiosk", browser)
            try await kiosk.start()
            try await showDesk(theme, kiosk, browser)
            try await look("the desk", browser)
        }
    }

    @Test("[real Chromium] Whoever zooms in gets each text in twice its size, though sizes depend on the window")
    func zoom() async throws {
        let theme = Theme.full(.english)
        let sizes = """
            [...document.querySelectorAll("#club, #title, #lines p, #note, #joinText, #rows b, #rows span, #latest")]
              .filter((element) => element.checkVisibility() && element.textContent)
              .map((element) => parseFloat(getComputedStyle(element).fontSize) * devicePixelRatio)
            """
        try await withPage(theme) { kiosk, browser in
            for kind in [VisitorScene.Kind.rest, .visit, .readerTrouble, .announcement] {
                let scene = try #require(theme.samples.first { $0.kind == kind })
                kiosk.show(scene, taps: theme.sampleRows, theme: theme)
                try await browser.wait(for: "document.body.dataset.kind === '\(kind)'")
                for (width, height) in [(1920, 1080), (1080, 1920), (1280, 800)] {
                    try await browser.resize(width: width, height: height)
                    let before: [Double] = try await browser.value(of: sizes)
                    // The most that browsers have.
                    try await browser.resize(width: width / 5, height: height / 5, scale: 5)
                    let after: [Double] = try await browser.value(of: sizes)
                    #expect(before.count == after.count && before.count > 5)
                    #expect(zip(before, after).allSatisfy { $1 >= $0 * 2 - 0.1 }, "\(kind): \(before) \(after)")
                }
            }
        }
    }

    // MARK: Screenshots

    private static let screenshots = ProcessInfo.processInfo.environment["CLUBKIT_SCREENSHOTS"]

    @Test(
        "[real Chromium] Nothing is cut on a wall, on a stand and on a phone; screenshots of it for people",
        arguments: Language.allCases.map(Theme.full) + [.light(.english)]
    )
    func everyScene(_ theme: Theme) async throws {
        let sizes = [(1920, 1080), (1080, 1920), (1024, 600), (800, 480), (390, 844), (844, 390)]
        let version = theme.shadow == nil ? theme.language.rawValue : "light"
        func look(_ name: String, _ browser: Browser) async throws {
            for (width, height) in sizes {
                try await browser.resize(width: width, height: height)
                let found: [String] = try await browser.run(Self.faults)
                #expect(found == [], "\(name) in \(width)x\(height)")
                // On a phone one scrolls; a wall nobody touches.
                let isWhole: Bool = try await browser.value(of: "document.documentElement.scrollHeight <= innerHeight")
                #expect(isWhole || width < 1000 || height < 800, "\(name) in \(width)x\(height)")
                guard let folder = Self.screenshots, !folder.isEmpty else { continue }
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let file = "\(folder)/\(name)-\(version)-\(width)x\(height).png"
                try await browser.screenshot().write(to: URL(fileURLWithPath: file))
            }
        }
        try await withPage(theme) { kiosk, browser in
            try await showAll(theme, kiosk, browser) { try await look("\($0.kind)", browser) }
            await kiosk.server.stop()
            try await browser.wait(for: "connection.textContent")
            try await look("lost", browser)
            try await kiosk.start()
            try await showDesk(theme, kiosk, browser)
            try await look("desk", browser)
        }
    }
}
#endif
