import CardCore
import CardPasses

/// SELECT: of applications by name, and what they answer; of files.
struct SelectionExplainer: ExchangeExplainer {
    /// The name of the data objects of a template that any application may answer.
    static let template = TagDictionary([
        0x6F: .init("file control information"),
        0x62: .init("file control parameters"),
        0x64: .init("file management data"),
        0x84: .ascii("name of the application"),
        0xA5: .init("what is the application's own"),
        0xBF0C: .init("what the issuer says"),
        0x61: .init("an application"),
        0x4F: .meaning("name of an application") { KnownApplication(named: $0)?.name },
        0x50: .ascii("label"),
        0x87: .init("priority") { value, _ in .init(meaning: value.first.map { "\($0 & 0x0F), the lowest first" }) },
        0x73: .init("details"),
        0x82: .init("kind of file"),
        0x83: .init("file"),
        0x88: .init("short name of the file"),
        0x9F38: .init("what a payment application wants to be told"),
        0x9F0A: .init("what the application can be chosen by"),
        0x5F2D: .ascii("languages"),
    ])

    func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.ins == Instruction.select, apdu.cla != 0xFF, apdu.cla & 0xF0 != 0x90 else {
            return nil
        }
        if apdu.p1 == 0x04 { return byName(apdu) }
        guard state.selection != .ndef else { return nil }
        return ExplainedExchange(
            .init(
                "SELECT: chooses a file" + (apdu.data.isEmpty ? "" : " (\(FileNames.name(of: apdu.data)))"),
                apdu.dataFields("file", FileNames.meaning(of: apdu.data))
            ),
            .init(
                StatusText.title(apdu, "the file is chosen"),
                TLVFields.make(apdu.body, at: 0, Self.template) + StatusText.field(apdu)
            )
        )
    }

    private func byName(_ apdu: RecordedExchange.Parts) -> ExplainedExchange {
        let known = KnownApplication(named: apdu.data)
        let name = known?.name ?? ExplanationText.ascii(apdu.data) ?? ExplanationText.hex(apdu.data, longest: 32)
        let meaning = known?.purpose ?? "an application that is not known here"
        let purpose = known?.purpose ?? "asks for an application that is not known here"
        let text = ExplanationText.ascii(apdu.data)
        let fields = apdu.dataFields("name", meaning, text: text)
        return ExplainedExchange(.init("SELECT \(name): \(purpose)", fields), answer(to: known, apdu))
    }

    private func answer(to known: KnownApplication?, _ apdu: RecordedExchange.Parts) -> ExplainedExchange.Message {
        var tags = Self.template
        let title: String
        switch known?.kind {
        case .wallet: (title, tags) = walletAnswer(apdu)
        case .smartTap where apdu.isSuccess: return smartTapAnswer(apdu)
        case .payment where apdu.isSuccess:
            title = StatusText.title(apdu, "a payment application answers; nothing more should be asked of it")
        case .identityDocument where apdu.isSuccess:
            title = StatusText.title(apdu, "a passport or an identity card; nothing more should be asked of it")
        default: title = StatusText.title(apdu, "it is there", [.fileNotFound: "there is no such application"])
        }
        return .init(title, TLVFields.make(apdu.body, at: 0, tags) + StatusText.field(apdu))
    }

    private func walletAnswer(_ apdu: RecordedExchange.Parts) -> (title: String, tags: TagDictionary) {
        guard let word = apdu.status else { return (StatusText.title(apdu, ""), Self.template) }
        var tags = Self.template
        let title: String
        switch WalletSelection(ResponseAPDU(data: apdu.body, statusWord: word)) {
        case .apple(let template):
            let version = (try? AppleVASApplication(template)).map { " \($0.version.major).\($0.version.minor)" } ?? ""
            (title, tags) = ("Apple's wallet answers (Apple VAS\(version))", AppleVASExplainer.selection)
        case .google(let template):
            let offer = (try? SmartTapApplication(template)) == nil ? "does not offer" : "offers"
            (title, tags) = ("Google's wallet answers, and \(offer) Smart Tap 2.1", SmartTapExplainer.selection)
        case .unknown(let label):
            title = "a wallet that is not known here answers (\(ExplanationText.quote(label)))"
        case .malformed: title = "something answers that is no wallet's template"
        case .absent: title = ""
        }
        let absent = "no wallet answers: it is no phone, or one that was not told that passes are wanted, or is locked"
        return (StatusText.title(apdu, title, title.isEmpty ? [.fileNotFound: absent] : [:]), tags)
    }

    private func smartTapAnswer(_ apdu: RecordedExchange.Parts) -> ExplainedExchange.Message {
        var reader = FieldReader(apdu.body, at: 0)
        reader.take("oldest version", 2)
        reader.take("newest version", 2) { $0 == [0x00, 0x01] ? "Smart Tap 2.1" : nil }
        reader.rest { SmartTapFields.message($0, at: $1) }
        let title = StatusText.title(apdu, "Smart Tap is there, and gives a number to be signed")
        return .init(title, reader.fields + StatusText.field(apdu))
    }
}
