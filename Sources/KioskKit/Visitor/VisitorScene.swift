import Foundation

/// What the visitor's screen shows at one moment, in the words of its language: all that a view has to draw.
public struct VisitorScene: Sendable, Hashable, Codable {
    /// The kinds of scenes.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nobody is there: where to hold the card.
        case rest
        /// Nobody was there for a while.
        case idle
        /// A card is being read.
        case reading
        /// A new member's first visit.
        case firstVisit
        /// A visit.
        case visit
        /// A visit with a round number.
        case milestone
        /// A visit on the member's birthday.
        case birthday
        /// A tap inside the cooldown.
        case alreadyCounted
        /// A tap that was refused.
        case refused
        /// A card that was removed before it was read.
        case holdLonger
        /// The readers cannot be used.
        case readerTrouble
        /// Taps cannot be recorded.
        case storageTrouble
        /// The kiosk is under maintenance.
        case maintenance
        /// A message for everybody.
        case announcement
    }

    /// How a scene feels, from which views take colours and sounds.
    public enum Tone: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing happens.
        case neutral
        /// Work is under way.
        case busy
        /// All is well.
        case success
        /// Somebody has reason to be glad.
        case celebration
        /// Something should be done.
        case warning
        /// Something was refused.
        case failure
    }

    /// A stamp card.
    public struct Stamps: Sendable, Hashable, Codable {
        /// How many stamps the member has, 0 to `total`.
        public var filled: Int
        /// How many stamps earn the reward.
        public var total: Int

        /// Creates a stamp card.
        public init(filled: Int, total: Int) {
            self.filled = filled
            self.total = total
        }
    }

    /// The kind of scene.
    public var kind: Kind
    /// How it feels.
    public var tone: Tone
    /// The club's name.
    public var clubName: String
    /// The sentence to read from afar.
    public var title: String
    /// What follows the title, in order: the visit's number, what to do, notices.
    public var lines: [String] = []
    /// The member's stamp card, if a scenario keeps one.
    public var stamps: Stamps?
    /// What the visit brought, in words.
    public var rewards: [String] = []
    /// What a member of the staff should know, such as that there is no reader.
    public var note: String?
    /// The language of all of it.
    public var language: Language
    /// The identifier of the tap or announcement that is shown; `nil` at rest. Two may be in the same words.
    public var id: UUID?

    /// Creates a scene.
    public init(kind: Kind, tone: Tone, clubName: String, title: String, lines: [String] = [], language: Language) {
        self.kind = kind
        self.tone = tone
        self.clubName = clubName
        self.title = title
        self.lines = lines
        self.language = language
    }
}
