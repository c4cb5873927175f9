#if NETWORK
import ClubKit
import Foundation
import ReaderKit
import TestSupport

@testable import KioskKit
@testable import KioskWeb

/// A kiosk with a reader whose screens are served, and on which taps are recorded without cards.
@MainActor
final class ServedKiosk {
    let model = KioskModel()
    let server: KioskServer
    private(set) var port = 0
    private var versions = 0

    /// Serves a kiosk, lets it be used, and stops it.
    static func use(_ theme: Theme = Theme(), _ body: (ServedKiosk) async throws -> Void) async throws {
        let kiosk = ServedKiosk(theme)
        do {
            try await kiosk.start()
            try await body(kiosk)
        } catch {
            await kiosk.server.stop()
            throw error
        }
        await kiosk.server.stop()
    }

    private init(_ theme: Theme) {
        server = KioskServer(model, theme: theme)
        model.note(Self.reader)
    }

    /// A reader that is connected.
    static let reader = ScannerEvent.reader(.readerAdded(ReaderInfo(name: "Front", backend: .simulated)))

    /// Starts the server, after a stop at the same port.
    func start() async throws { port = try await server.start(host: "127.0.0.1", port: port, showsNames: true) }

    /// The visitor's page.
    var address: String { "http://127.0.0.1:\(port)/" }

    /// What a theme calls something.
    func text(_ key: Words.Key) -> String { Words(server.theme).text(key) }

    /// Records the tap of a member.
    func tap(_ name: String) { model.note(recorded: Self.tap(name)) }

    /// Returns what is known of the tap of a member.
    static func tap(_ name: String, _ outcome: Receipt.Outcome = .visit, visits: Int = 3, stamps: Int? = nil)
        -> RecordedTap
    {
        var receipt = Receipt(eventID: UUID(), at: Date(), reader: "Front", backend: .simulated, outcome: outcome)
        receipt.member = Member(userId: name, username: name, numVisits: visits)
        var tap = RecordedTap(receipt: receipt)
        tap.stampCard = stamps.map { StampCard(scenario: "coffee", title: "a coffee", stamps: $0, size: 10) }
        return tap
    }

    /// Waits until nobody is greeted any more.
    func rest() async throws {
        let isRest = { (frame: WebFrame) in frame.text.contains(#""kind":"rest""#) }
        let (first, rest) = server.visitorFeed.stream()
        guard !first.contains(where: isRest) else { return }
        for await frame in rest where isRest(frame) { return }
    }

    /// Shows a scene on the visitor's page, whatever the kiosk does.
    func show(_ scene: VisitorScene, taps: [TapRow] = [], theme: Theme) {
        let look = look(theme)
        server.visitorFeed.publish { json(VisitorMessage(scene, taps: taps, theme: theme, look: look)) }
    }

    /// Shows a scene on the desk's page, whatever the kiosk does.
    func show(_ scene: DeskScene, theme: Theme) {
        let look = look(theme)
        server.deskFeed.publish { json(DeskMessage(scene, theme: theme, look: look)) }
    }

    private func look(_ theme: Theme) -> ThemeMessage {
        versions += 1
        return ThemeMessage(theme, version: versions)
    }
}

extension Theme {
    /// A theme in a language, with all that a page may show.
    static func full(_ language: Language) -> Theme {
        var theme = Theme()
        theme.language = language
        theme.joinAddress = URL(string: "https://club.example/join")
        // Its switch is there, though there is nothing to hear.
        theme.sounds = [.success: "/missing.wav"]
        switch language {
        case .english: (theme.clubName, theme.place) = ("Riverside Club", "to the left of the door")
        case .german: (theme.clubName, theme.place) = ("Sportverein Oberföhring", "links neben der Tür")
        case .chinese: (theme.clubName, theme.place) = ("河畔俱乐部", "门的左边")
        case .arabic: (theme.clubName, theme.place) = ("نادي الضفة", "إلى يسار الباب")
        }
        return theme
    }

    /// A theme of dark colours on a gradient of light ones, with all that boxes may have.
    static func light(_ language: Language) -> Theme {
        var theme = full(language)
        func color(_ value: UInt32) -> RGBColor {
            RGBColor(red: UInt8(value >> 16 & 255), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
        }
        theme.colors.background = color(0xFFFFFF)
        theme.colors.text = color(0x101828)
        theme.colors.muted = color(0x475467)
        theme.colors.accent = color(0x1D4ED8)
        theme.colors.success = color(0x166534)
        theme.colors.warning = color(0x92400E)
        theme.colors.failure = color(0xB91C1C)
        theme.gradient = Theme.Gradient(to: color(0xE0E7FF), direction: .downRight)
        (theme.border.width, theme.shadow, theme.radius) = (3, Theme.Shadow(), 24)
        theme.logo = Fixtures.directory + "/../Sources/KioskWeb/Pages/icon.svg"
        return theme
    }

    /// An example of every kind of scene.
    var samples: [VisitorScene] { VisitorScenes(self, in: .gmt).samples() }

    /// Some rows of taps, each of a tap of its own.
    var sampleRows: [TapRow] {
        VisitorScenes(self, in: .gmt).sampleRows().map { row in
            TapRow(time: row.time, text: row.text, detail: row.detail)
        }
    }

    /// The desk on a day with trouble.
    var sampleDesk: DeskScene {
        let words = Words(self)
        return DeskScene(
            title: words.text(.tapsToday),
            visitsToday: words.text(.visitsToday, [.count: .number(3)]),
            trouble: "There is no reader on the USB bus: plug it in, or try another cable and port.",
            taps: sampleRows
        )
    }
}
#endif
