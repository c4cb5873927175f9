import CardCore

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

    /// Whether a fact of that name may stand on the line of a card of that technology.
    ///
    /// What is known of type A before anything was asked is settled; of the others a backend may know more, under names
    /// of lower-case letters, one of them at least behind `f`.
    public static func allows(_ name: String, of technology: Technology?) -> Bool {
        if names.contains(name) { return true }
        guard let technology, technology != .iso14443a, name != "atr", Technology(rawValue: name) == nil else {
            return false
        }
        // Of hexadecimal digits alone it would be taken for the bytes of the fact before.
        return name.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            && name.utf8.contains { $0 > UInt8(ascii: "f") }
    }
}
