/// The names of a card's facts that stand on a `card` line.
public enum CaptureFacts {
    /// The facts of each technology, with the name that libnfc gives them.
    public static let ofTechnology: [Technology: [String]] = [
        // ATQA in the order of AN10833 (0044), SELECT acknowledge, identifier, answer to select.
        .iso14443a: ["atqa", "sak", "uid", "ats"],
        // Pseudo-unique identifier, application data, protocol information, card identifier.
        .iso14443b: ["pupi", "appdata", "protinfo", "cid"],
        // Manufacture identifier and parameters, system code.
        .felica: ["idm", "pmm", "syscode"],
        // Identifier with E0 first, data storage format identifier.
        .iso15693: ["uid", "dsfid"],
    ]

    /// All names, of whatever technology.
    public static let names = Set(ofTechnology.values.joined())
}
