import KioskKit
import KioskTerminal

/// What the frames are drawn of: each kind of scene, and what makes it hard to draw.
enum SampleScenes {
    typealias Sample = (name: String, scene: VisitorScene)

    static let taps: [TapRow] =
        [
            TapRow(time: "14:05", text: "Ada Lovelace", detail: "visit 10"),
            TapRow(time: "14:01", text: "王小明", detail: "visit 3"),
            TapRow(time: "13:58", text: "محمد", detail: "visit 7"),
            TapRow(time: "13:40", text: "Zoe\u{308} 👩🏽‍🚀", detail: "already counted"),
            TapRow(
                time: "9:12",
                text: "A member with a name that is so long that it has to be cut at a width of eighty columns",
                detail: ""
            ),
        ] + (1...30).map { TapRow(time: "8:\(60 - $0)", text: "Member \($0)", detail: "visit \($0)") }

    static let all: [Sample] = [
        sample(.rest, .neutral, "Hold your card or phone to the reader", ["to the left of the door"]),
        sample(.idle, .neutral, "Welcome", []),
        sample(.visit, .success, "Welcome back, Ada!", ["Your 7th visit", "Last time: yesterday"]) {
            $0.stamps = .init(filled: 7, total: 10)
        },
        sample(.reading, .busy, "Reading your card", ["Keep it on the reader"]),
        sample(.firstVisit, .celebration, "Welcome, Grace!", ["Your first visit", "Nice to meet you"]) {
            $0.stamps = .init(filled: 1, total: 10)
        },
        sample(.milestone, .celebration, "Tenth visit, Ada!", ["Your 10th visit"]) {
            $0.stamps = .init(filled: 10, total: 10)
            $0.rewards = ["A free coffee", "10 % off everything at the bar today"]
        },
        sample(.birthday, .celebration, "Happy birthday, Zoe\u{308}!", ["Your 4th visit"]) {
            $0.rewards = ["A slice of cake"]
        },
        sample(.alreadyCounted, .neutral, "Already counted, Ada", ["Your visit at 14:05 stands"]),
        sample(
            .refused,
            .failure,
            "This card is not valid here",
            ["It was blocked on 3 May", "Please ask at the desk"]
        ),
        sample(.holdLonger, .warning, "Hold your card a little longer", ["It left before it was read"]),
        sample(.readerTrouble, .warning, "Please ask the staff", ["The reader does not answer"]) {
            $0.note =
                "Reader 'ACR122U': pull its plug, wait five seconds, plug it in again. 'readerctl doctor' shows more."
        },
        sample(.storageTrouble, .failure, "Visits cannot be recorded", ["Please ask the staff"]) {
            $0.note = "The disk is full."
        },
        sample(.maintenance, .warning, "Back soon", ["The kiosk is under maintenance"]),
        sample(
            .announcement,
            .neutral,
            "The sauna is closed on Friday, and we open an hour later on Saturday and Sunday",
            []
        ),
        // The texts of other scripts, and what does not fit.
        sample(.visit, .success, "欢迎回来，王小明！", ["这是您第 7 次光临，感谢您的支持"], .chinese) {
            $0.stamps = .init(filled: 3, total: 5)
            $0.rewards = ["免费咖啡一杯"]
        },
        sample(.visit, .success, "مرحبا محمد!", ["هذه زيارتك رقم 7"], .arabic) {
            $0.stamps = .init(filled: 2, total: 5)
        },
        sample(.visit, .success, String(repeating: "Anneliese Karoline Wilhelmine ", count: 8), lines(12)) {
            $0.stamps = .init(filled: 250, total: 500)
            $0.rewards = lines(9)
            $0.note = lines(9).joined(separator: " ")
        },
    ]

    private static func lines(_ count: Int) -> [String] { (1...count).map { "Line \($0) of many, 漢字 and 👩‍👩‍👧‍👦 in it" } }

    private static func sample(
        _ kind: VisitorScene.Kind,
        _ tone: VisitorScene.Tone,
        _ title: String,
        _ lines: [String],
        _ language: Language = .english,
        _ change: (inout VisitorScene) -> Void = { _ in }
    ) -> Sample {
        var scene = VisitorScene(
            kind: kind,
            tone: tone,
            clubName: "Harbour Swimming Club",
            title: title,
            lines: lines,
            language: language
        )
        change(&scene)
        return ("\(kind.rawValue), \(tone.rawValue), \(language.rawValue)", scene)
    }
}
