import CardCore

/// What a card or phone answered when it was asked for the passes of its wallet.
package enum WalletReport: Sendable, Hashable {
    /// An Apple wallet, and what came of each kind of pass.
    case apple(AppleVASReader.Outcome)
    /// A Google wallet, and what it gave.
    case google(SmartTapReader.Finding)
    /// A wallet of which this place reads no passes, by its label.
    case other(String)
    /// No wallet: a card, a phone that is locked, or one that was not told that passes are wanted.
    case absent(StatusWord)
    /// An answer that is malformed.
    case malformed
}
