import CardCore
import CardPasses

/// Google Smart Tap 2.1: what a terminal and a phone exchange after SELECT. What is encrypted stays so.
struct SmartTapExplainer: ExchangeExplainer {
    /// The data of an answer that comes in parts, so far, and how many parts that is.
    private var parts: (data: [UInt8], count: Int)?

    mutating func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.cla == 0x90, state.isSmartTap || Self.isMeant(apdu) else { return nil }
        let records = SmartTapFields.leniently(apdu.data)
        switch apdu.ins {
        case Instruction.negotiateSecureSession:
            parts = nil
            let collector = SmartTapFields.collector(in: records)
            return ExplainedExchange(
                command("NEGOTIATE SECURE SESSION: \(collector ?? "a terminal") shows its signature", apdu),
                negotiated(apdu)
            )
        case Instruction.getSmartTapData:
            parts = nil
            let whose = SmartTapFields.collector(in: records).map { " of \($0)" } ?? ""
            let services = ExplanationText.list(SmartTapFields.services(in: records), none: "passes")
            return ExplainedExchange(
                command("GET SMART TAP DATA: asks for \(services)\(whose)", apdu),
                dataAnswer(apdu)
            )
        case Instruction.getResponse:
            return ExplainedExchange(command("GET MORE DATA: fetches the next part", apdu), dataAnswer(apdu))
        case Instruction.pushSmartTapData:
            return ExplainedExchange(
                command("PUSH SMART TAP DATA: tells the phone what became of its passes", apdu),
                answer(apdu, apdu.body, "the phone took it")
            )
        default:
            // DESFire has the same class, and is no phone.
            guard state.isSmartTap else { return nil }
            return ExplainedExchange(
                command("instruction \([apdu.ins].hex) of Smart Tap, which is not known here", apdu),
                answer(apdu, apdu.body, "done")
            )
        }
    }

    /// Whether the data are Smart Tap's although nothing of it was selected.
    private static func isMeant(_ apdu: RecordedExchange.Parts) -> Bool {
        let names: [UInt8: String] = [
            Instruction.negotiateSecureSession: "ngr", Instruction.getSmartTapData: "srq",
            Instruction.pushSmartTapData: "spr",
        ]
        return names[apdu.ins].flatMap { SmartTapFields.leniently(apdu.data).first(named: $0) } != nil
    }

    private func command(_ title: String, _ apdu: RecordedExchange.Parts) -> ExplainedExchange.Message {
        .init(title, SmartTapFields.message(apdu.data, at: apdu.dataOffset) + apdu.faults)
    }

    /// A phone that accepts the terminal gives its key; without it no session can follow, whatever the status word.
    private func negotiated(_ apdu: RecordedExchange.Parts) -> ExplainedExchange.Message {
        let session = SmartTapFields.leniently(apdu.body).first(named: "nrs").map(\.payload) ?? []
        let hasKey = SmartTapFields.leniently(session).first(named: "dpk") != nil
        var message = answer(apdu, apdu.body, "the phone accepts it, and gives its key for this tap")
        if !hasKey, let status = apdu.status, SmartTapStatus(status) == .done {
            message.title = StatusText.title(status, "the phone gives no key for this tap, so nothing can follow")
        }
        return message
    }

    /// Joins the parts of an answer, and explains them at the last one.
    private mutating func dataAnswer(_ apdu: RecordedExchange.Parts) -> ExplainedExchange.Message {
        guard let status = apdu.status else { return .init(StatusText.title(apdu, "")) }
        var (data, count) = parts ?? ([], 0)
        // As much as a reader would fetch.
        if data.count <= SmartTapLimits.data { data += apdu.body }
        count += 1
        guard SmartTapStatus(status) != .moreData else {
            parts = (data, count)
            let part = apdu.body.isEmpty ? "" : ", which is explained with the last part"
            return .init(
                StatusText.title(status, "part \(count) of the answer; there is more to be fetched"),
                apdu.answerFields("part \(count)", "a part of the answer" + part, status: Self.meaning(of: status))
            )
        }
        parts = nil
        guard count > 1 else { return answer(apdu, data, Self.given(data)) }
        var message = answer(apdu, [], Self.given(data))
        let own = ExplainedField("part \(count)", at: 0, apdu.body, meaning: "the last part of the answer")
        let whole = ExplainedField(
            "answer of \(ExplanationText.count(count, "part"))",
            at: nil,
            data,
            isJoined: true,
            fields: SmartTapFields.message(data, at: 0)
        )
        message.fields = (apdu.body.isEmpty ? [] : [own]) + [whole] + message.fields
        return message
    }

    private static func given(_ data: [UInt8]) -> String {
        guard let answer = SmartTapFields.leniently(data).first(named: "srs"),
            let flags = SmartTapFields.leniently(answer.payload).first(named: "reb")?.payload.first
        else { return "the phone gives nothing that can be read" }
        return "the phone gives a bundle that is " + (flags & 0x01 == 0 ? "not encrypted" : "encrypted for this tap")
    }

    private func answer(_ apdu: RecordedExchange.Parts, _ data: [UInt8], _ success: String) -> ExplainedExchange.Message
    {
        guard let status = apdu.status else { return .init(StatusText.title(apdu, "")) }
        let meaning = Self.meaning(of: status)
        return .init(
            StatusText.title(status, status.isSuccess ? success : meaning),
            SmartTapFields.message(data, at: 0) + StatusText.field(apdu, meaning)
        )
    }

    static func meaning(of status: StatusWord) -> String {
        let meaning = SmartTapStatus(status).meaning
        return details[status.rawValue].map { "\(meaning) (\($0))" } ?? meaning
    }

    private static let details: [UInt16: String] = [
        0x9002: "the signature was made in advance", 0x9101: "nothing is to be paid yet",
        0x9102: "nothing is to be paid yet", 0x9201: "something cryptographic", 0x9203: "while it was carried out",
        0x9302: "several fit", 0x9400: "the command is not known", 0x9402: "the records could not be read",
        0x9403: "a key, number or signature is wrong", 0x9404: "nothing was begun that could go on",
        0x9407: "no collector was told", 0x9408: "the address to push to is bad",
    ]

    // MARK: Tags of the answer to SELECT

    static let selection = TagDictionary([
        0xC0: .meaning("version of the wallet") { ExplanationText.number($0).map { "\($0)" } },
        0xC1: .meaning("what the phone is ready for") { value in value.first.map { ExplanationText.bits($0, modes) } },
        0xC2: .init("nonce of the phone", "to be signed by the terminal"),
        0xC3: .init("ephemeral key of the phone", "a compressed point, for this tap"),
        0x73: .init("details of the application"),
        0xDF6D: .init("oldest version"),
        0xDF4D: .meaning("newest version") { $0 == [0x00, 0x01] ? "Smart Tap 2.1" : nil },
        0xDF62: .meaning("what the application can do") { value in
            value.first.map { ExplanationText.bits($0, [0x01: "its SELECT may be left out", 0x02: "passes"]) }
        },
        0xDF6E: .init("nonce of the phone", "to be signed by the terminal"),
        0xDF6B: .init("ephemeral key of the phone", "a compressed point, for this tap"),
    ]).adding(SelectionExplainer.template)

    private static let modes: KeyValuePairs<UInt8, String> = [
        0x04: "passes are asked for", 0x08: "passes are on", 0x40: "payment is asked for", 0x80: "payment is on",
    ]
}
