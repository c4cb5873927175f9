/// Whose light and sound answer a tap at the reader.
package enum ReaderLightsChoice: String, Sendable, CaseIterable {
    /// The reader's own; it is sent nothing.
    case reader
    /// The kiosk's besides, once the tap is recorded.
    case both
    /// The kiosk's alone, for which a setting is written into SpringCard's readers: register 02D0.
    case kiosk
}
