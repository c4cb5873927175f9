/// An event of the readers of a backend.
public enum ReaderEvent: Sendable, Hashable {
    /// The service behind the readers was lost; the removal of all its readers was reported before.
    case serviceLost(ReaderError)
    /// The service is available (again); its readers follow.
    case serviceBack
    /// A reader was connected.
    case readerAdded(ReaderInfo)
    /// A reader was removed. The removal of its card, if it had one, was reported before.
    case readerRemoved(ReaderInfo)
    /// A card was presented.
    case cardInserted(CardPresence)
    /// The card of that presentation was removed.
    case cardRemoved(CardPresence)
    /// A card came and went too quickly to be read; only its presence was detected.
    case cardMissed(CardPresence)
    /// A reader reported what it read by itself. The card cannot be accessed. Each is one tap at a reader in Smart
    /// Reader mode.
    case cardReported(ReaderReport)
    /// A call on the reader did not return; the reader is unusable until its card or its service is gone. Also a
    /// connected reader that cannot be opened, for instance because another program holds it, whose addition was not
    /// reported.
    case readerStuck(ReaderInfo, ReaderError)
    /// A stuck reader is usable again.
    case readerRecovered(ReaderInfo)
    /// The charge of a reader's battery, in percent, when it is first known and when it changes; see ``BatteryBackend``.
    case batteryLevel(ReaderInfo, percent: Int)
    /// Nothing more can be done in this process; see ``ReaderError/Kind/exhausted``.
    case failed(ReaderError)
}

extension ReaderEvent {
    /// The affected reader; `nil` if the event is about all.
    public var reader: ReaderInfo? {
        switch self {
        case .serviceLost, .serviceBack, .failed: nil
        case .readerAdded(let info), .readerRemoved(let info), .readerStuck(let info, _), .readerRecovered(let info):
            info
        case .cardInserted(let presence), .cardRemoved(let presence), .cardMissed(let presence): presence.reader
        case .cardReported(let report): report.reader
        case .batteryLevel(let info, _): info
        }
    }
}

/// What a return code of a library below means: a line of its table of codes.
struct CodeEntry: Sendable {
    var name: String
    var kind: ReaderError.Kind
    var detail: String?
    var advice: String?

    /// The advice for a code that this package's own use of the library should never cause.
    static let bug = "This should not happen; please report it with the steps that led to it."

    init(_ name: String, _ kind: ReaderError.Kind, _ detail: String? = nil, _ advice: String? = nil) {
        self.name = name
        self.kind = kind
        self.detail = detail
        self.advice = advice
    }

    /// The typed error of a code, whose line is `nil` if the library's header does not define it.
    static func error(
        _ entry: CodeEntry?,
        _ code: ReaderError.Code,
        attempting attempt: String,
        detail: String?
    ) -> ReaderError {
        let (kind, detail) = (entry?.kind ?? .other, detail ?? entry?.detail)
        return ReaderError(kind, attempting: attempt, code: code, detail: detail, advice: entry?.advice)
    }
}
