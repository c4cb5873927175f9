/// What the kiosk is doing, as far as it matters to whoever processes a message.
public enum KioskState: String, Sendable, Hashable, Codable, CaseIterable {
    /// It serves people: a message may be shown at once. (The original's `active`.)
    case serving
    /// Nobody is there, or no tap has come for some minutes. (The original's `inactive`.)
    case idle
    /// Somebody works on it: nothing is to be shown, and taps are acknowledged as ignored and not counted. (The original's
    /// `background`.)
    case maintenance
}
