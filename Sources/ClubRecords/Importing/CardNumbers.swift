import CardCore

/// Reads the numbers of cards, as another reader printed them, as the identifiers that the cards show here.
struct CardNumbers: Sendable {
    private let form: PrintedForm

    /// `nil` if no mapping states a form. Throws ``TransferError/Kind/badMapping`` for one that is not known, or by which no
    /// card can be named, and for one of another value than the `userId`.
    init?(_ mappings: [ColumnMapping], file: String) throws(TransferError) {
        if let other = mappings.first(where: { $0.form != nil && $0.field?.lowercased() != "userid" }) {
            let target = PlainText.line(String(other.target.prefix(80)))
            let detail =
                "a column is mapped to '\(target)', and only userId takes the form of a card's number: have a column of "
                + "identifiers for further cards ('readerctl uid --from NUMBER' shows them), or add the cards afterwards "
                + "('clubctl members cards add')"
            throw TransferError(.badMapping, file: file, detail: detail)
        }
        guard let name = mappings.lazy.compactMap(\.form).first else { return nil }
        guard let form = PrintedForm(name: name) else {
            let known = "8H10D, 8H10D-reversed, 14H17D, 14H17D-reversed, hex-reversed and others"
            let detail = "a column is mapped to userId in a form that is not known; 'readerctl uid' shows all: \(known)"
            throw TransferError(.badMapping, file: file, detail: detail)
        }
        guard form.isComplete else {
            let detail =
                "\(form.name) shows only a part of a card's identifier, which other cards share, so nobody can be found by "
                + "it for sure: map the column to a field of its own, search members by it, and give them their card "
                + "when they come ('clubctl members cards add')"
            throw TransferError(.badMapping, file: file, detail: detail)
        }
        self.form = form
    }

    /// The identifier of a number, as a tap of the card shows it.
    func userId(_ number: String) throws(RowFault) -> String {
        let uid: CardUID
        do throws(UIDError) {
            uid = try form.identifier(of: number)
        } catch {
            let reason =
                error.code == .onlyPart
                ? "the number shows only a part of the card's identifier; read the card itself"
                : "this is no card's number in the form \(form.name); 'readerctl uid --from NUMBER' tells which forms fit"
            throw RowFault("userId", reason)
        }
        guard uid.kind == .fixed else {
            let reason = "other cards may have this identifier, so a tap names nobody; write a member id on the card"
            throw RowFault("userId", reason)
        }
        return uid.hex
    }
}
