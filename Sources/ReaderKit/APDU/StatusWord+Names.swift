extension StatusWord {
    /// A short name in the terms of ISO/IEC 7816-4.
    public var name: String { "" }
    /// What it means, as a sentence.
    public var meaning: String { "" }
}
