/// A Smart Poster record's content: a URI with titles and advice on it (NFC Forum Smart Poster RTD).
public struct NDEFSmartPoster: Sendable, Hashable {
    /// The URI.
    public var uri: String

    /// The titles, one for each language, in the order in which they are written.
    public var titles: [NDEFText]

    /// What to do with the URI, or `nil` if the poster omits it.
    public var action: Action?

    /// The size in bytes of what the URI leads to, or `nil` if the poster omits it.
    public var size: UInt32?

    /// The media type of what the URI leads to, or `nil` if the poster omits it.
    public var mimeType: String?

    /// The icons: records of a media type, `image/…` or `video/…`.
    public var icons: [NDEFRecord]

    /// Records of other types, to be ignored according to the standard, in the order in which they are written.
    public var others: [NDEFRecord]

    /// What to do with a URI.
    public enum Action: Sendable, Hashable {
        /// Do it: open the page, send the message, call the number.
        case perform
        /// Keep it for later.
        case save
        /// Open it to be edited.
        case edit
        /// A code that the standard reserves.
        case reserved(UInt8)

        /// The action with that code.
        public init(code: UInt8) {
            switch code {
            case 0: self = .perform
            case 1: self = .save
            case 2: self = .edit
            default: self = .reserved(code)
            }
        }

        /// The code in the payload.
        public var code: UInt8 {
            switch self {
            case .perform: 0
            case .save: 1
            case .edit: 2
            case .reserved(let code): code
            }
        }
    }

    /// A poster.
    public init(
        uri: String,
        titles: [NDEFText] = [],
        action: Action? = nil,
        size: UInt32? = nil,
        mimeType: String? = nil,
        icons: [NDEFRecord] = [],
        others: [NDEFRecord] = []
    ) {
        self.uri = uri
        self.titles = titles
        self.action = action
        self.size = size
        self.mimeType = mimeType
        self.icons = icons
        self.others = others
    }

    /// The first title.
    public var title: String? { titles.first?.text }
}
