import ClubKit
import ClubScenarios
import Foundation

/// Puts what happens at a kiosk into the words of its theme.
public struct VisitorScenes: Sendable {
    /// How the screen looks and speaks.
    public let theme: Theme
    /// The texts in the theme's language.
    public let words: Words
    private let timeZone: TimeZone

    /// Every which visit is greeted as a milestone.
    public static let milestone = 10

    /// The custom field in which a member's birthday stands, as `YYYY-MM-DD` or `MM-DD`, or in
    /// another form that can mean one day only.
    public static let birthdayField = "birthday"

    /// Creates the scenes of a theme.
    ///
    /// - Parameter timeZone: the time zone of days and birthdays.
    public init(_ theme: Theme, in timeZone: TimeZone = .current) {
        self.theme = theme
        words = Words(theme)
        self.timeZone = timeZone
    }

    private func scene(
        _ kind: VisitorScene.Kind,
        _ tone: VisitorScene.Tone,
        _ title: String,
        _ lines: [String] = []
    ) -> VisitorScene {
        VisitorScene(
            kind: kind,
            tone: tone,
            clubName: theme.clubName,
            title: title,
            lines: lines,
            language: theme.language
        )
    }

    /// Returns what is shown while nobody taps: where to hold the card, or why there is no use in it.
    public func rest(_ status: KioskStatus) -> VisitorScene {
        let ask = [words.text(.askAtDesk)]
        switch (status.trouble?.kind, status.state) {
        case (.storage, _):
            var scene = scene(.storageTrouble, .warning, words.text(.cannotRecord), ask)
            scene.note = note(status)
            return scene
        case (_, .maintenance): return scene(.maintenance, .warning, words.text(.maintenance), ask)
        case (.readers, _):
            var scene = scene(.readerTrouble, .warning, words.text(.outOfOrder), ask)
            scene.note = note(status)
            return scene
        case (nil, .serving), (nil, .idle):
            var lines = theme.place == nil ? [] : [words.text(.place)]
            if let address = theme.joinAddress {
                lines.append(words.text(.join, [.address: .text(address.absoluteString)]))
            }
            var scene =
                status.state == .idle
                ? scene(.idle, .neutral, words.text(.idle), lines)
                : scene(.rest, .neutral, words.text(.holdCard), lines)
            scene.note = clockNote(status)
            return scene
        }
    }

    /// What the staff do about a clock that cannot be right.
    func clockNote(_ status: KioskStatus) -> String? {
        status.wrongDay.map { words.text(.clockWrong, [.date: .text(words.day($0, in: timeZone))]) }
    }

    /// What the staff do about trouble: what the store reports, or for readers what the doctor found, or else what the
    /// reader is known for.
    func note(_ status: KioskStatus) -> String {
        if let fault = status.storageFault { return "\(fault)" }
        if let diagnosis = status.diagnosis { return diagnosis }
        if let reader = status.readers.first(where: { $0.fault != nil })?.reader {
            return words.text(.readerStuck, [.reader: .text(reader.name)])
        }
        return words.text(status.serviceFault == nil ? .noReader : .serviceLost)
    }

    /// Returns what is shown while a card is read.
    public func reading() -> VisitorScene { scene(.reading, .busy, words.text(.reading)) }

    /// Returns a message for everybody, with an identifier.
    public func announcement(_ message: String, id: UUID = UUID()) -> VisitorScene {
        var scene = scene(.announcement, .neutral, words.text(.announcement), [Words.plain(message)])
        scene.id = id
        return scene
    }

    /// Returns the answer to a tap.
    public func answer(to tap: RecordedTap) -> VisitorScene {
        var scene = words(to: tap)
        scene.id = tap.receipt.eventID
        return scene
    }

    private func words(to tap: RecordedTap) -> VisitorScene {
        switch tap.receipt.outcome {
        case .created, .visit: return greeting(tap)
        case .repeat:
            return scene(.alreadyCounted, .success, words.text(.alreadyCounted), [words.text(.alreadyCountedNote)])
        case .ignored(let reason), .rejected(let reason):
            let lines = [words.text(.advice(reason.code))]
            switch reason.code {
            case .card(.cardRemoved), .card(.readFailed):
                return scene(.holdLonger, .warning, words.text(.holdLonger), lines)
            case .maintenance: return scene(.maintenance, .warning, words.text(.reason(reason.code)), lines)
            default: return scene(.refused, .failure, words.text(.reason(reason.code)), lines)
            }
        }
    }

    private func greeting(_ tap: RecordedTap) -> VisitorScene {
        let member = tap.receipt.member
        let visits = member?.numVisits ?? 1
        let number: [Words.Placeholder: Words.Value] = [.number: .number(visits)]
        let name = member?.username.flatMap { $0.isEmpty ? nil : [Words.Placeholder.name: Words.Value.text($0)] }
        func title(_ anonymous: Words.Key, _ named: Words.Key) -> String {
            name.map { words.text(named, $0) } ?? words.text(anonymous)
        }
        var result: VisitorScene
        if tap.receipt.outcome == .created {
            result = scene(.firstVisit, .celebration, title(.welcome, .welcomeName), [words.text(.firstVisit)])
        } else if isBirthday(member, at: tap.receipt.at) {
            let line = words.text(.visitNumber, number)
            result = scene(.birthday, .celebration, title(.birthday, .birthdayName), [line])
        } else if visits > 0, visits % Self.milestone == 0 {
            let line = words.text(.milestone, number)
            result = scene(.milestone, .celebration, title(.welcome, .welcomeName), [line])
        } else {
            let line = words.text(.visitNumber, number)
            result = scene(.visit, .success, title(.welcome, .welcomeName), [line])
        }
        result.lines += tap.receipt.notices.map { notice in
            switch notice {
            case .expiresSoon(let date): words.text(.membershipEnds, [.date: .text(words.day(date, in: timeZone))])
            case .visitsLeft(let visits): words.text(.visitsLeft, [.count: .number(visits)])
            }
        }
        if let card = tap.stampCard {
            result.stamps = VisitorScene.Stamps(filled: card.stamps, total: card.size)
            let left = card.size - card.stamps
            if left > 0, let title = card.title {
                result.lines.append(words.text(.stampsLeft, [.count: .number(left), .reward: .text(title)]))
            }
        }
        result.rewards = tap.rewards.map { Words.plain($0) }
        return result
    }

    private func isBirthday(_ member: Member?, at date: Date) -> Bool {
        member?.fields[Self.birthdayField].flatMap(Birthday.init)?.isToday(date, in: timeZone) ?? false
    }

    // MARK: The list of taps

    /// Returns a tap as a row of the list of the latest.
    ///
    /// - Parameter showsName: whether the row has the member's name.
    public func row(of receipt: Receipt, showsName: Bool) -> TapRow {
        let outcome: Words.Key =
            switch receipt.outcome {
            case .created: .outcomeFirstVisit
            case .visit: .outcomeVisit
            case .repeat: .outcomeRepeat
            case .ignored: .outcomeIgnored
            case .rejected: .outcomeRefused
            }
        var detail = words.text(outcome)
        if receipt.outcome == .visit, let visits = receipt.member?.numVisits {
            detail = words.text(.visitNumber, [.number: .number(visits)])
        }
        let name = showsName ? receipt.member?.username.map { Words.plain($0) } ?? "" : ""
        let text = receipt.member == nil ? words.text(.notRecognised) : name.isEmpty ? words.text(.someone) : name
        return TapRow(id: receipt.eventID, time: words.time(receipt.at, in: timeZone), text: text, detail: detail)
    }
}

/// A row of the list of the latest taps.
public struct TapRow: Sendable, Hashable, Codable, Identifiable {
    /// The identifier of the tap.
    public var id: UUID
    /// The time of day.
    public var time: String
    /// Who it was, or that nobody was recognised.
    public var text: String
    /// What became of it.
    public var detail: String

    /// Creates a row.
    public init(id: UUID = UUID(), time: String, text: String, detail: String) {
        self.id = id
        self.time = time
        self.text = text
        self.detail = detail
    }
}
