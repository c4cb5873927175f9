import CardCore

/// All that no protocol claims: commands by their names in ISO/IEC 7816-4, and what is not known, told as such.
struct StandardExplainer: ExchangeExplainer {
    func explain(_ exchange: SaidExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu else { return raw(exchange) }
        return ExplainedExchange(
            .init(title(exchange, apdu), apdu.dataFields()),
            .init(StatusText.title(apdu, "done"), apdu.answerFields())
        )
    }

    private func title(_ exchange: SaidExchange, _ apdu: SaidExchange.Parts) -> String {
        let header = try? CommandAPDU(bytes: [apdu.cla, apdu.ins, apdu.p1, apdu.p2])
        if let title = header?.title { return title }
        let parameters = [apdu.p1, apdu.p2].hex
        return "class \([apdu.cla].hex), instruction \([apdu.ins].hex), parameters \(parameters): not known here"
    }

    private func raw(_ exchange: SaidExchange) -> ExplainedExchange {
        let what: String
        if case .control(let code) = exchange.carrier {
            what = "escape command \(String(code, radix: 16, uppercase: true)): not known here"
        } else {
            what = "frame \(ExplanationText.hex(Array(exchange.command.prefix(1)))): not known here"
        }
        func field(_ bytes: [UInt8]) -> [ExplainedField] {
            bytes.isEmpty ? [] : [ExplainedField("data", offset: 0, length: bytes.count, bytes: bytes)]
        }
        let answer = exchange.answer ?? []
        return ExplainedExchange(
            .init(what, field(exchange.command)),
            .init(ExplanationText.count(answer.count), field(answer))
        )
    }
}
