import ClubKit
import Foundation
import ReaderKit

extension KioskFile {
    /// A key of the file. Reading, checking, the example and the documentation all follow ``all``.
    package struct Key: Sendable {
        /// As `http.address`: those with a dot stand in a group.
        package let name: String
        /// The option of `clubctl kiosk` that sets the same.
        package let option: String
        let form: Form
        /// What holds without it, in words.
        package let initial: String
        /// What it is for, in whole sentences.
        package let meaning: String
        /// A value as the file has it.
        package let example: String
        /// Whether the example sets it.
        var isSet = false
        /// Options beside which the key does not count, besides its own.
        var yieldsTo: [String] = []
        /// What stands at the path that it names.
        var content: Content?

        /// Whether it takes several values.
        package var isList: Bool { form.isList }
        /// The last part of the name.
        package var leaf: String { String(name.split(separator: ".").last ?? "") }
        /// The first part of a name with two; empty for the others.
        package var group: String { name.contains(".") ? String(name.prefix { $0 != "." }) : "" }

        init(
            _ name: String,
            _ option: String,
            _ form: Form,
            initial: String,
            example: String,
            isSet: Bool = false,
            yieldsTo: [String] = [],
            content: Content? = nil,
            _ meaning: String
        ) {
            (self.name, self.option, self.form, self.initial, self.meaning) = (name, option, form, initial, meaning)
            (self.example, self.isSet, self.yieldsTo, self.content) = (example, isSet, yieldsTo, content)
        }

        /// The keys and groups that stand at the top, or in a group, in their order.
        static func names(in group: String) -> [String] {
            var names: [String] = []
            for key in all {
                let name = key.group == group ? key.leaf : group.isEmpty ? key.group : ""
                if !name.isEmpty, !names.contains(name) { names.append(name) }
            }
            return names
        }
    }

    /// What a key's path leads to.
    package enum Content: Sendable, Hashable {
        case database, passes, scenarios, theme, program, token, socket
        /// A folder of its own.
        case folder
    }

    /// What may stand behind a key.
    struct Form: Sendable {
        /// What belongs there, as in "expected a text".
        let what: String
        /// What to do about something else.
        let hint: String
        /// The values that there are, if they are few.
        var words: [String] = []
        var (isFlag, isPath, isList, isMapping) = (false, false, false, false)
        let accepts: @Sendable (String) -> Bool

        init(_ what: String, _ hint: String, accepts: @escaping @Sendable (String) -> Bool) {
            (self.what, self.hint, self.accepts) = (what, hint, accepts)
        }

        static let text = Form("a text", "Write a text of at most 200 characters on one line.") { text in
            !text.allSatisfy(\.isWhitespace) && text.count <= 200
                && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
        static let bytes = Form("a text", "Write it in double quotes.") { !$0.isEmpty && $0.utf8.count <= 200 }
        static let path = Form("a path", "Relative paths begin at the folder of this file.") { text in
            (1...4096).contains(text.utf8.count) && !text.utf8.contains(0)
        }.with { $0.isPath = true }
        static let truth = word(["true", "false"]).with { $0.isFlag = true }
        static let readers = Form(
            "readers",
            "Write their names, or pcsc:, nfc: and smart-reader:, as in a list; technology: takes "
                + "\(Technology.allCases.map(\.rawValue).joined(separator: ", "))."
        ) { text in
            if case .replay = ReaderSelector(text) { false } else { ReaderSelector(text) != nil }
        }.with { $0.isList = true }
        static let templates = Form("a template and what it looks for", "Write it as 1=D1, the number from 1 to 4.") {
            $0.wholeMatch(of: /[1-4]=[0-9A-Fa-f]{2}/) != nil
        }.with { $0.isList = true }
        static let address = Form("an address and a port", "Write it as 127.0.0.1:8080, or the port alone.") {
            ListenAddress($0) != nil
        }
        static let hosts = Form("names of hosts", "Write them without a port, as screen.club.example.") {
            ListenAddress.isHost($0)
        }.with { $0.isList = true }
        static let header = Form("the name of a header", "Write it as X-Remote-User.") { ListenAddress.isHeader($0) }
        static let types = text.with { $0.isList = true }
        static let programs = Form("types of messages with programs", "Write each as 'type: /path/of/program'.") {
            (1...4096).contains($0.utf8.count) && !$0.utf8.contains(0)
        }.with { ($0.isMapping, $0.isPath) = (true, true) }

        static func word(_ words: [String]) -> Form {
            let all = words.joined(separator: ", ")
            return Form("one of \(all)", "Write one of these words.") { words.contains($0) }.with { $0.words = words }
        }

        static func number(_ range: ClosedRange<Double>) -> Form {
            let (low, high) = (range.lowerBound, range.upperBound)
            return Form("a number", "It is \(low.formatted(.plain)) to \(high.formatted(.plain)), without a unit.") {
                Double($0).map(range.contains) == true
            }
        }

        static func whole(_ range: ClosedRange<Int>) -> Form {
            Form("a whole number", "It is \(range.lowerBound) to \(range.upperBound), without a unit.") {
                Int($0).map(range.contains) == true
            }
        }

        private func with(_ change: (inout Form) -> Void) -> Form {
            var form = self
            change(&form)
            return form
        }
    }
}

extension KioskFile.Key {
    /// All keys, in the order of the example.
    package static let all: [KioskFile.Key] = [
        .init(
            "clubName",
            "--club-name",
            .text,
            initial: "the theme's",
            example: "Boulder Hall",
            "The club's name on the screen, in place of the theme's."
        ),
        .init(
            "database",
            "--database",
            .path,
            initial: "that of the user who runs the kiosk",
            example: "/var/lib/clubkit/club.sqlite",
            isSet: true,
            content: .database,
            "The members' database, which is made if it is missing. The other commands of clubctl find it here."
        ),
        .init(
            "readers",
            "--reader",
            .readers,
            initial: "all readers",
            example: "[\"pcsc:\", \"smart-reader:\"]",
            yieldsTo: ["--replay"],
            "The readers that are served, also those that are plugged in later: the beginning of a name, a serial "
                + "number, or pcsc:, nfc: and smart-reader:. A * stands for any part of a name (pcsc:*PICC*), not: leaves "
                + "readers out (not:*SAM*), and technology:felica takes only such cards. 'readerctl list' shows them."
        ),
        .init(
            "readerLights",
            "--reader-lights",
            .word(ReaderLightsChoice.allCases.map(\.rawValue)),
            initial: "reader",
            example: "both",
            "Whose light and sound answer a tap: the reader's own (reader), the kiosk's besides, once the tap is recorded "
                + "(both), or the kiosk's alone (kiosk), for which a setting is written into SpringCard's readers."
        ),
        .init(
            "passes",
            "--passes",
            .path,
            initial: "none",
            example: "passes.json",
            content: .passes,
            """
            The file of the passes that are read and accepted: wallets of phones, cards that sign. It also says whether a \
            card's own number counts where its message could not be asked for (`uidDespite`).
            """
        ),
        .init(
            "scenarios",
            "--scenarios",
            .path,
            initial: "none",
            example: "scenarios.yaml",
            content: .scenarios,
            "The file of what visits bring: rewards, stamp cards, tiers."
        ),
        .init(
            "cooldownSeconds",
            "--cooldown",
            .number(0...31_622_400),
            initial: "30",
            example: "30",
            "Further taps of a member within this time are not counted; 0 counts every tap."
        ),
        .init(
            "expiryWarningDays",
            "--expiry-warning",
            .whole(0...3660),
            initial: "14",
            example: "14",
            "From how many days before the end of a membership a tap announces it; 0 for never."
        ),
        .init(
            "visitsWarning",
            "--visits-warning",
            .whole(0...1_000_000),
            initial: "2",
            example: "2",
            "From how few visits that are left of a pack a tap announces it."
        ),
        .init(
            "retentionDays",
            "--retention",
            .whole(1...36_500),
            initial: "for ever",
            example: "365",
            """
            Visits that are older are removed, when the kiosk opens and once a day; members keep their totals. After a clock \
            leapt by more than a year nothing is removed for a week.
            """
        ),
        .init(
            "maintenance",
            "--maintenance",
            .truth,
            initial: "false",
            example: "true",
            "Whether the kiosk begins in maintenance: it reads and shows cards, and counts nothing."
        ),
        .init(
            "smartReader.templates",
            "--smart-reader-template",
            .templates,
            initial: "none",
            example: "[1=D1, 2=D2]",
            "What the templates of readers in Smart Reader mode look for: the code of register 03t0."
        ),
        .init(
            "smartReader.format",
            "--smart-reader-format",
            .word(SmartReaderFormat.allCases.map(\.rawValue)),
            initial: "each line is taken as what it looks like",
            example: "json",
            "The one form of their lines."
        ),
        .init(
            "smartReader.prefix",
            "--smart-reader-prefix",
            .bytes,
            initial: "nothing",
            example: "\"+\"",
            "What stands before each identifier in plain text."
        ),
        .init(
            "smartReader.suffix",
            "--smart-reader-suffix",
            .bytes,
            initial: "a line end",
            example: "\";\"",
            "What stands behind it; a line end counts in any case."
        ),
        .init(
            "smartReader.speed",
            "--smart-reader-speed",
            .word(SmartReaderConfiguration.speeds.map(String.init)),
            initial: "115200",
            example: "115200",
            "The speed of serial lines in bits per second."
        ),
        .init(
            "screen.theme",
            "--theme",
            .path,
            initial: "none",
            example: "theme.yaml",
            content: .theme,
            "The file of the colours and words of the screen, which is read again when it changes."
        ),
        .init(
            "screen.language",
            "--language",
            .word(Language.allCases.map(\.rawValue)),
            initial: "the theme's, else en",
            example: "en",
            "The language of the screen, in place of the theme's."
        ),
        .init(
            "screen.plain",
            "--plain",
            .truth,
            initial: "false",
            example: "true",
            "Whether a kiosk in a terminal prints a line for each event, in place of the visitor's screen."
        ),
        .init(
            "screen.desk",
            "--desk",
            .truth,
            initial: "false",
            example: "true",
            "Whether names stay in the list of the latest taps: for a screen that only the staff see."
        ),
        .init(
            "http.address",
            "--http",
            .address,
            initial: "nothing is served",
            example: "127.0.0.1:8080",
            isSet: true,
            "Where the screen is served to browsers, and events to programs."
        ),
        .init(
            "http.tokenFile",
            "--http-token",
            .path,
            initial: "none",
            example: "/var/lib/clubkit/token",
            content: .token,
            "The file of the secret that other machines need, which is made if it is missing."
        ),
        .init(
            "http.names",
            "--http-name",
            .hosts,
            initial: "its own name and addresses",
            example: "[screen.club.example]",
            "Further names by which browsers reach the kiosk."
        ),
        .init(
            "http.proxyHeader",
            "--http-proxy-header",
            .header,
            initial: "none",
            example: "X-Remote-User",
            "The header in which a proxy on this machine names whom it has let in."
        ),
        .init(
            "messages.socket",
            "--listen",
            .path,
            initial: "none",
            example: "/run/clubkit/messages",
            yieldsTo: ["--replay"],
            content: .socket,
            "The Unix socket on which programs of the kiosk's user send messages."
        ),
        .init(
            "messages.folder",
            "--messages",
            .path,
            initial: "none",
            example: "/var/lib/clubkit/messages",
            yieldsTo: ["--replay"],
            content: .folder,
            "The folder from which messages are taken, one a .json file."
        ),
        .init(
            "messages.programs",
            "--on",
            .programs,
            initial: "none",
            example: "{ print: /usr/local/bin/print-voucher }",
            content: .program,
            "The programs that take messages, by the types of the messages."
        ),
        .init(
            "messages.cardTypes",
            "--card-messages",
            .types,
            initial: "none",
            example: "[print]",
            "The types of messages that are taken from cards too. Anybody can write a card."
        ),
        .init(
            "messages.timeoutSeconds",
            "--message-timeout",
            .number(0.001...86_400),
            initial: "30",
            example: "30",
            "After which time a program that takes a message is ended."
        ),
        .init(
            "backups.count",
            "--snapshots",
            .whole(0...1000),
            initial: "7",
            example: "7",
            "How many daily snapshots of the database are kept; 0 makes none."
        ),
        .init(
            "backups.folder",
            "--snapshot-folder",
            .path,
            initial: "beside the database",
            example: "/var/backups/clubkit",
            content: .folder,
            "The folder of the snapshots, which is that of this database alone."
        ),
    ]
}

/// Whose light and sound answer a tap at the reader.
package enum ReaderLightsChoice: String, Sendable, CaseIterable {
    /// The reader's own; it is sent nothing.
    case reader
    /// The kiosk's besides, once the tap is recorded.
    case both
    /// The kiosk's alone, for which a setting is written into SpringCard's readers: register 02D0.
    case kiosk
}

extension FormatStyle where Self == FloatingPointFormatStyle<Double> {
    /// Without separators of thousands, in every locale.
    fileprivate static var plain: Self { .number.grouping(.never).locale(Locale(identifier: "en_US_POSIX")) }
}
