extension Club {
    /// What ``CaptureLayerDecodedData/decodedData`` holds of a tap. It never changes who the member is.
    public enum DecodedDataParseFormat: Int, Sendable, Hashable, CaseIterable {
        /// The text that says who the member is: the card's four fields, or else what the club looks the member up by.
        case defaultRFID = 0
        /// The bytes of the NDEF message on the card.
        case NDEF  // swift-format-ignore: AlwaysUseLowerCamelCase
    }
}
