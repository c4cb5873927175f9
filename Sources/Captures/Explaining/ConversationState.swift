import CardCore
import CardPasses
import CardTags

/// What is known of a card at some point of the conversation with it.
struct ConversationState: Sendable {
    /// What answers to the next command.
    enum Selection: Sendable, Hashable {
        /// Nothing was selected, or it is not known what.
        case none
        /// A wallet, under the name `OSE.VAS.01`.
        case wallet(Wallet)
        /// Google's Smart Tap.
        case smartTap
        /// The NDEF application of a Type 4 tag.
        case ndef
        /// Any other application, by its name.
        case application([UInt8])
    }

    /// Whose wallet it is.
    enum Wallet: Sendable, Hashable {
        case apple, google, unknown
    }

    var selection = Selection.none
    let technology: Technology?
    /// What the reader took the card for.
    let tagType: TagType?
    /// The memory of a tag as far as it was read or written.
    var memory: RememberedMemory?

    init(_ facts: CardFacts) {
        let atr = facts.atr.flatMap { try? ATR($0) }
        technology = facts.technology ?? atr?.technology
        tagType = TagReader.type(of: facts)
        memory = tagType.flatMap(RememberedMemory.init)
    }

    /// Whether Smart Tap's commands are Smart Tap's, and not another application's with the same class.
    var isSmartTap: Bool { selection == .smartTap || selection == .wallet(.google) }

    /// Notes what an exchange has changed.
    mutating func note(_ exchange: SaidExchange) {
        guard let apdu = exchange.apdu, let name = apdu.selectedName, apdu.isSuccess else { return }
        switch KnownApplication(named: name)?.kind {
        case .wallet:
            switch WalletSelection(ResponseAPDU(data: apdu.body, statusWord: .success)) {
            case .apple: selection = .wallet(.apple)
            case .google: selection = .wallet(.google)
            case .absent, .unknown, .malformed: selection = .wallet(.unknown)
            }
        case .smartTap: selection = .smartTap
        case .ndef: selection = .ndef
        default: selection = .application(name)
        }
    }

    /// The link was broken: what was selected is not any more.
    mutating func forgetSelection() { selection = .none }
}
