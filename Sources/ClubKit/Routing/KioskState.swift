/// What the kiosk is doing, as far as it matters to whoever processes a message.
public enum KioskState: String, Sendable, Hashable, Codable, CaseIterable {
    /// It serves people: a message may be shown at once. (The original's `active`.)
    case serving
    /// Nobody is there. (The original's `inactive`.)
    case idle
    /// Somebody works on it: nothing is to be shown. (The original's `background`.)
    case maintenance
}
