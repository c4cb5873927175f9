/// Something that happened to the readers of a backend.
public enum ReaderEvent: Sendable, Hashable {
    /// The service behind the readers is gone; all its readers were reported as removed before.
    case serviceLost(ReaderError)
    /// The service is there (again); the readers that it has follow.
    case serviceBack
    /// A reader is there.
    case readerAdded(ReaderInfo)
    /// A reader is gone. The removal of its card, if it had one, was reported before.
    case readerRemoved(ReaderInfo)
    /// A card was presented.
    case cardInserted(CardPresence)
    /// The card of that presentation left the field.
    case cardRemoved(CardPresence)
    /// A card came and went too quickly to be read; only the edge is known.
    case cardMissed(CardPresence)
    /// A reader describes what it read by itself. There is no card to talk to. Each is one tap at a reader in
    /// Smart Reader mode.
    case cardReported(ReaderReport)
    /// A call on the reader did not return; the reader is unusable until its card or its service is gone. Also a reader
    /// that is there and cannot be opened, since another program holds it for example; it was not reported as added
    /// then.
    case readerStuck(ReaderInfo, ReaderError)
    /// A stuck reader serves again.
    case readerRecovered(ReaderInfo)
    /// No more can be done in this process; see ``ReaderError/Kind/exhausted``.
    case failed(ReaderError)
}

extension ReaderEvent {
    /// The reader that the event is about, or `nil` if it is about all.
    public var reader: ReaderInfo? {
        switch self {
        case .serviceLost, .serviceBack, .failed: nil
        case .readerAdded(let info), .readerRemoved(let info), .readerStuck(let info, _), .readerRecovered(let info):
            info
        case .cardInserted(let presence), .cardRemoved(let presence), .cardMissed(let presence): presence.reader
        case .cardReported(let report): report.reader
        }
    }
}

/// What a return code of a library below means: a line of its table of codes.
struct CodeEntry: Sendable {
    /// The name in the library's header.
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

    /// The typed error of a code.
    ///
    /// - Parameter entry: its line, or `nil` if the library's header does not define it.
    static func error(
        _ entry: CodeEntry?,
        _ code: ReaderError.Code,
        attempting attempt: String,
        detail: String?
    ) -> ReaderError {
        ReaderError(
            entry?.kind ?? .other,
            attempting: attempt,
            code: code,
            detail: detail ?? entry?.detail,
            advice: entry?.advice
        )
    }
}
