/// A summary of an identifier: one JSON object with the keys `kind`, `manufacturer`, `hex`, `hexReversed`, `decimal`,
/// `decimalReversed`, `wiegand26` and `wiegand34`. All keys are always there; what does not apply is `null`.
///
/// The decimal forms have at least ten digits. The Wiegand forms are made from the low-order three and four bytes of the
/// identifier as read, its last ones, whatever its length: for `00D507D0` from `D507D0`, for `04A1B2C3D4E580` from
/// `D4E580` and `C3D4E580`.
public struct UIDSummary: Sendable, Hashable, Encodable {
    /// The identifier.
    public var uid: CardUID

    /// The forms to list under `forms`, each with `form` and `text`; with none the key is not there.
    public var forms: [PrintedForm]

    /// The summary of an identifier.
    public init(_ uid: CardUID, forms: [PrintedForm] = []) {
        self.uid = uid
        self.forms = forms
    }

    /// The keys, which are a contract.
    private enum CodingKeys: String, CodingKey {
        case kind, manufacturer, hex, hexReversed, decimal, decimalReversed, wiegand26, wiegand34, forms
    }

    /// Writes all keys, `null` included.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(uid.kind, forKey: .kind)
        try container.encode(uid.manufacturer, forKey: .manufacturer)
        try container.encode(uid.hex, forKey: .hex)
        try container.encode(uid.hexReversed, forKey: .hexReversed)
        try container.encode(uid.decimal, forKey: .decimal)
        try container.encode(uid.decimalReversed, forKey: .decimalReversed)
        try container.encode(uid.wiegand26, forKey: .wiegand26)
        try container.encode(uid.wiegand34, forKey: .wiegand34)
        guard !forms.isEmpty else { return }
        try container.encode(forms.map { ["form": $0.name, "text": uid.text(as: $0)] }, forKey: .forms)
    }
}
