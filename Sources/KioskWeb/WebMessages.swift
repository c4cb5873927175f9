#if NETWORK
import CQREncode
import CardCore
import Foundation
import KioskKit

/// What the pages get, as JSON. `version` changes when an older page could not read it.
private let version = 1

/// What the visitor's page shows.
struct VisitorMessage: Encodable {
    var version = KioskWeb.version
    var scene: VisitorScene
    var taps: [TapRow]
    var theme: ThemeMessage
    var words: [String: String]
    var privacySeconds: Double

    /// The number of rows that a page shows.
    private static let rows = 5

    init(_ scene: VisitorScene, taps: [TapRow], theme: Theme, look: ThemeMessage) {
        self.scene = scene
        self.taps = Array(taps.prefix(Self.rows))
        self.theme = look
        privacySeconds = theme.privacySeconds
        let words = Words(theme)
        self.words = [
            "latest": words.text(.latestTaps), "connecting": words.text(.connecting),
            "disconnected": words.text(.disconnected), "soundOn": words.text(.soundOn),
            "soundOff": words.text(.soundOff),
        ]
    }
}

/// What the desk's page shows.
struct DeskMessage: Encodable {
    var version = KioskWeb.version
    var taps: [TapRow]
    var trouble: String?
    var theme: ThemeMessage
    var words: [String: String]

    init(_ scene: DeskScene, theme: Theme, look: ThemeMessage) {
        (taps, trouble, self.theme) = (scene.taps, scene.trouble, look)
        let words = Words(theme)
        self.words = [
            "title": scene.title, "visitsToday": scene.visitsToday, "connecting": words.text(.connecting),
            "disconnected": words.text(.disconnected),
        ]
    }
}

/// The look of a page.
struct ThemeMessage: Encodable, Hashable {
    struct Gradient: Encodable, Hashable {
        var to: String
        var direction: Theme.Gradient.Direction
    }

    struct Border: Encodable, Hashable {
        var width: Int
        var color: String
    }

    struct Shadow: Encodable, Hashable {
        var color: String
        var x: Int, y: Int, blur: Int
    }

    struct Join: Encodable, Hashable {
        var address: String
        /// The rows of a QR code, of 0 and 1.
        var qr: [String]
    }

    var clubName: String
    var language: Language
    var direction: String
    var colors: [String: String]
    var gradient: Gradient?
    var border: Border?
    var radius: Int
    var shadow: Shadow?
    /// Whether there is a logo.
    var logo: Bool
    /// The tones that have a sound.
    var sounds: [VisitorScene.Tone]
    var join: Join?
    /// Changes whenever the theme's files may have changed.
    var version: Int

    init(_ theme: Theme, version: Int) {
        clubName = theme.clubName
        language = theme.language
        direction = theme.language.isRightToLeft ? "rtl" : "ltr"
        let colors = theme.colors
        self.colors = [
            "background": colors.background.hex, "text": colors.text.hex, "muted": colors.muted.hex,
            "accent": colors.accent.hex, "success": colors.success.hex, "warning": colors.warning.hex,
            "failure": colors.failure.hex,
        ]
        gradient = theme.gradient.map { Gradient(to: $0.end.hex, direction: $0.direction) }
        if theme.border.width > 0 {
            border = Border(width: theme.border.width, color: (theme.border.color ?? colors.accent).hex)
        }
        radius = theme.radius
        shadow = theme.shadow.map { Shadow(color: $0.color.hex, x: $0.x, y: $0.y, blur: $0.blur) }
        logo = theme.logo != nil
        sounds = VisitorScene.Tone.allCases.filter { theme.sounds[$0] != nil }
        join = theme.joinAddress.map { Join(address: $0.absoluteString, qr: QRCode.rows(of: $0.absoluteString)) }
        self.version = version
    }
}

/// What the kiosk is like, for programs that come late.
struct KioskSnapshot: Encodable {
    struct LatestTap: Encodable {
        var id: UUID
        /// In ISO 8601, as in all events.
        var at: String
        var outcome: String
    }

    var version = KioskWeb.version
    var state: String
    var readers: [String]
    var trouble: String?
    var visitsToday: Int
    var lastTap: LatestTap?

    init(_ status: KioskStatus) {
        state = status.state.rawValue
        readers = status.readers.filter { $0.fault == nil }.map(\.reader.name)
        trouble = status.trouble?.sentence
        visitsToday = status.visitsToday
        lastTap = status.lastTap.map { LatestTap(id: $0.eventID, at: ISO8601.text($0.at), outcome: $0.outcome.name) }
    }
}

func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // All of it is numbers and texts, which can be encoded.
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
}

/// A QR code (ISO/IEC 18004), which libqrencode makes.
enum QRCode {
    /// Returns the rows of a text's code, dark modules as 1; empty if the text is too long for one.
    static func rows(of text: String) -> [String] {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return [] }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        return (0..<width).map { row in
            String((0..<width).map { code.pointee.data[row * width + $0] & 1 == 1 ? "1" : "0" })
        }
    }
}
#endif
