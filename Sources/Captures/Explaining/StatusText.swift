import CardCore

enum StatusText {
    /// `status 9000: done`, with what it means here where somebody knows better than the standard.
    static func title(
        _ apdu: RecordedExchange.Parts,
        _ success: String,
        _ meanings: [StatusWord: String] = [:]
    ) -> String {
        guard let status = apdu.status else { return "an answer without a status word" }
        return title(status, meanings[status] ?? (status.isSuccess ? success : status.name))
    }

    static func title(_ status: StatusWord, _ meaning: String) -> String {
        "status \([status.sw1, status.sw2].hex)" + (meaning.isEmpty ? "" : ": \(meaning)")
    }

    /// The status word as a field, with what it means here.
    static func field(_ apdu: RecordedExchange.Parts, _ meaning: String? = nil) -> [ExplainedField] {
        guard let status = apdu.status else { return [] }
        let bytes = [status.sw1, status.sw2]
        return [ExplainedField("status word", at: apdu.body.count, bytes, meaning: meaning ?? status.name)]
    }
}

extension RecordedExchange.Parts {
    /// The command's data as one field, and what is wrong with its lengths.
    func dataFields(_ name: String = "data", _ meaning: String? = nil, text: String? = nil) -> [ExplainedField] {
        guard !data.isEmpty else { return faults }
        return [ExplainedField(name, at: dataOffset, data, text: text, meaning: meaning)] + faults
    }

    var faults: [ExplainedField] {
        guard let error else { return [] }
        return [ExplainedField(name: "lengths", length: 0, meaning: error.message)]
    }

    /// The answer's data as one field, and its status word.
    func answerFields(_ name: String = "data", _ meaning: String? = nil, status: String? = nil) -> [ExplainedField] {
        (body.isEmpty ? [] : [ExplainedField(name, at: 0, body, meaning: meaning)]) + StatusText.field(self, status)
    }
}

/// Files of ISO/IEC 7816-4 cards that are known by their numbers.
enum FileNames {
    static func name(of id: [UInt8]) -> String { known[id] ?? ExplanationText.hex(id, longest: 32) }

    static func meaning(of id: [UInt8]) -> String? { known[id] }

    private static let known: [[UInt8]: String] = [
        [0xE1, 0x03]: "capability container", [0x3F, 0x00]: "master file", [0x2F, 0x00]: "EF.DIR",
        [0x2F, 0x01]: "EF.ATR", [0x01, 0x1C]: "EF.CardAccess", [0x01, 0x1E]: "EF.COM",
    ]
}
