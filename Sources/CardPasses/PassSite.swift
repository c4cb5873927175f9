import CardCore
import CardTags
import Foundation

/// What passes a place reads, and which of them it accepts as the member.
public struct PassSite: Sendable {
    /// How passes of Apple Wallet are read; `nil` if they are not.
    public var appleVAS: AppleVASReader?

    /// How old the phone may state that its pass of Apple Wallet is, and how far in the future. It is the phone's own
    /// clock.
    public var longestAge: Duration

    /// How passes of Google Wallet are read; `nil` if they are not.
    public var smartTap: SmartTapReader?

    /// Which objects of Google Wallet name a member, the first kind that the phone provides. The others are carried in
    /// ``ScanEvent/objects`` and name nobody: many people may have the same offer.
    ///
    /// With ``SmartTapObject/Kind/customer`` Google's number of its customer names a member, in hexadecimal. It stays while
    /// passes come and go; who was a member by a pass before is another one by it.
    public var smartTapKinds: [SmartTapObject.Kind]

    /// Whose objects of Google Wallet name a member, by the issuers' numbers; `nil` for all that the phone provides to
    /// this collector. It does not apply to ``SmartTapObject/Kind/customer``, whom the wallet names.
    public var smartTapIssuers: Set<UInt64>?

    /// Tags that sign their address at each tap.
    public var signingTags: [SDMSite]

    /// Which records of cards name a member; without rules those that ``NDEFPassReader`` understands.
    public var cards: [CardRule]

    /// How signed tokens on cards are checked; `nil` if they count for no more than their contents.
    public var tokens: SignedTokenVerifier?

    /// Which pass stands for the member where there are several: the first of these kinds. Those of no kind here count for
    /// nothing.
    public var order: [Pass.Kind]

    /// How far a pass has to be trusted to stand for the member.
    public var lowestAssurance: Pass.Assurance

    /// In spite of which problems the card's own identifier counts: of ``unread``, those that the same card has at every
    /// tap. Without any, a card whose message could not be read is nobody.
    public var uidDespite: Set<ScanEvent.Problem.Code>

    /// The problems that ``uidDespite`` may hold: the message may not be read without a key, or could not be asked for.
    public static let unread: Set<ScanEvent.Problem.Code> = [.tagProtected, .tagUnsupported]

    /// What was presented before.
    public var memory: any PassMemory

    /// A place.
    public init(
        appleVAS: AppleVASReader? = nil,
        longestAge: Duration = .seconds(300),
        smartTap: SmartTapReader? = nil,
        smartTapKinds: [SmartTapObject.Kind] = [.loyalty],
        smartTapIssuers: Set<UInt64>? = nil,
        signingTags: [SDMSite] = [],
        cards: [CardRule] = [],
        tokens: SignedTokenVerifier? = nil,
        order: [Pass.Kind] = [.appleVAS, .smartTap, .sdm, .text, .ndef, .uid],
        lowestAssurance: Pass.Assurance = .identifier,
        uidDespite: Set<ScanEvent.Problem.Code> = [],
        memory: any PassMemory = VolatilePassMemory()
    ) {
        self.appleVAS = appleVAS
        self.longestAge = longestAge
        self.smartTap = smartTap
        self.smartTapKinds = smartTapKinds
        self.smartTapIssuers = smartTapIssuers
        self.signingTags = signingTags
        self.cards = cards
        self.tokens = tokens
        self.order = order
        self.lowestAssurance = lowestAssurance
        self.uidDespite = uidDespite
        self.memory = memory
    }
}
