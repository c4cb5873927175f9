import CardCore
import CardPasses
import CardTags

/// Goes through the exchanges with one card, and asks for each the protocols that know something of it.
struct ExchangeWalk {
    private var state: ConversationState
    private var explainers: [any ExchangeExplainer]

    init(_ facts: CardFacts) {
        state = ConversationState(facts)
        // The first that knows something of an exchange is the one that is heard.
        explainers = [
            FileExplainer(), SelectionExplainer(), AppleVASExplainer(), SmartTapExplainer(), DESFireExplainer(),
            ReaderExplainer(), PollingExplainer(), TagFrameExplainer(), StandardExplainer(),
        ]
    }

    mutating func explain(_ exchange: Capture.Exchange) -> ExplainedExchange {
        let explained = explain(RecordedExchange(exchange), depth: 0)
        // Where the link was broken, what was selected is not any more.
        if case .fault = exchange.answer { state.selection = .none }
        return explained
    }

    private mutating func explain(_ exchange: RecordedExchange, depth: Int) -> ExplainedExchange {
        if depth < RecordedExchange.depthLimit, let wrapping = FrameWrapping.find(in: exchange, state) {
            let inner = explain(wrapping.inner, depth: depth + 1)
            return Self.outer(exchange, wrapping, inner)
        }
        defer { state.note(exchange) }
        for index in explainers.indices {
            if let explained = explainers[index].explain(exchange, &state) { return explained }
        }
        return ExplainedExchange(.init("not known here"), .init("not known here"))
    }

    private static func outer(
        _ exchange: RecordedExchange,
        _ wrapping: FrameWrapping,
        _ inner: ExplainedExchange
    ) -> ExplainedExchange {
        guard !wrapping.carrier.isEmpty else { return inner }
        func field(_ bytes: [UInt8], _ offset: Int, _ message: ExplainedExchange.Message) -> ExplainedField {
            let fields = message.fields.map { $0.moved(by: offset) }
            return ExplainedField("carried", at: offset, bytes, meaning: message.title, fields: fields)
        }
        let command = ExplainedExchange.Message(
            "\(wrapping.carrier): \(inner.command.title)",
            [field(wrapping.inner.command, wrapping.commandOffset, inner.command)]
        )
        let status = exchange.apdu.map { StatusText.field($0) } ?? []
        guard let answer = wrapping.inner.answer, !answer.isEmpty else {
            let title = exchange.apdu.map { ReaderExplainer.title($0, "nothing came back from the card") }
            return ExplainedExchange(command, .init(title ?? inner.answer.title, status))
        }
        return ExplainedExchange(
            command,
            .init(inner.answer.title, [field(answer, wrapping.answerOffset, inner.answer)] + status)
        )
    }
}

/// A frame or command for the card that stands within a command to the reader, or an APDU that stands within a frame.
struct FrameWrapping {
    /// What stands within, as if it stood alone.
    let inner: RecordedExchange
    /// Where the inner command begins in the command, and the inner answer in the answer.
    let commandOffset: Int
    let answerOffset: Int
    /// What carries it, for titles.
    let carrier: String

    /// The wrappings of ``FrameEncapsulation``, ISO-DEP blocks, and APDUs in raw frames; `nil` for all else.
    static func find(in exchange: RecordedExchange, _ state: ConversationState) -> FrameWrapping? {
        switch exchange.carrier {
        case .apdu: return exchange.apdu.flatMap { $0.cla == 0xFF ? withinCommand($0) : nil }
        case .frame: return withinFrame(exchange, state)
        case .control:
            guard exchange.command.first == 0xFF, exchange.command.count >= CaptureLimits.shortestCommand else {
                return nil
            }
            let inner = RecordedExchange(.apdu, exchange.command, exchange.answer)
            return FrameWrapping(inner: inner, commandOffset: 0, answerOffset: 0, carrier: "escape")
        }
    }

    private static func withinCommand(_ apdu: RecordedExchange.Parts) -> FrameWrapping? {
        if let (carrier, skip, answerSkip) = apdu.carriedFrame {
            guard apdu.data.count > skip else { return nil }
            let isAnswered = apdu.isSuccess && apdu.body.count > answerSkip
            let inner = bits(Array(apdu.data[skip...]), isAnswered ? Array(apdu.body[answerSkip...]) : nil)
            let commandOffset = apdu.dataOffset + skip
            return FrameWrapping(inner: inner, commandOffset: commandOffset, answerOffset: answerSkip, carrier: carrier)
        }
        guard apdu.ins == Instruction.transparentExchange, apdu.parameter == 0x0001 else { return nil }
        let sent = TLVFields.make(apdu.data, at: 0, ReaderExplainer.sessionTags)
        let came = TLVFields.make(apdu.body, at: 0, ReaderExplainer.sessionTags)
        guard let (content, offset) = object("95", sent) ?? object("93", sent) else { return nil }
        let answer = object("97", came)
        return FrameWrapping(
            inner: bits(content, answer?.content),
            commandOffset: apdu.dataOffset + offset,
            answerOffset: answer?.offset ?? 0,
            carrier: "reader: carries a frame (transparent session)"
        )
    }

    /// A single byte of at most 0F is an acknowledgement of four bits.
    private static func bits(_ command: [UInt8], _ answer: [UInt8]?) -> RecordedExchange {
        let isAcknowledgement = answer.map { $0.count == 1 && $0[0] <= 0x0F } ?? false
        return RecordedExchange(.frame, command, answer, answerBits: isAcknowledgement ? 4 : 8)
    }

    private static func object(_ tag: String, _ fields: [ExplainedField]) -> (content: [UInt8], offset: Int)? {
        guard let field = fields.first(where: { $0.name.hasPrefix(tag + " ") }), let bytes = field.bytes,
            let offset = field.offset, !bytes.isEmpty
        else { return nil }
        return (bytes, offset + field.length - bytes.count)
    }

    /// An APDU as a frame, or as the content of an ISO-DEP block.
    private static func withinFrame(_ exchange: RecordedExchange, _ state: ConversationState) -> FrameWrapping? {
        guard state.tagType == .type4 || state.tagType == nil, exchange.commandBits == 8, exchange.answerBits == 8,
            let first = exchange.command.first
        else { return nil }
        // An information block: 02 or 03, with a card identifier 0A or 0B and one byte more.
        let skips: [UInt8: Int] = [0x00: 0, 0x80: 0, 0x90: 0, 0xFF: 0, 0x02: 1, 0x03: 1, 0x0A: 2, 0x0B: 2]
        guard let skip = skips[first], exchange.command.count > skip + 3 else { return nil }
        let command = Array(exchange.command[skip...])
        guard (try? APDULayout(command)) != nil else { return nil }
        if let answer = exchange.answer {
            guard answer.count >= skip + 2, (0x61..<0xA0).contains(answer[answer.count - 2]) else { return nil }
        }
        let inner = RecordedExchange(.apdu, command, exchange.answer.map { Array($0[skip...]) })
        let carrier = skip == 0 ? "" : "ISO-DEP block"
        return FrameWrapping(inner: inner, commandOffset: skip, answerOffset: skip, carrier: carrier)
    }
}

/// What is known of a card at some point of the conversation with it.
struct ConversationState: Sendable {
    /// What answers to the next command.
    enum Selection: Sendable, Hashable {
        /// Nothing was selected, or it is not known what.
        case none
        /// A wallet, under the name `OSE.VAS.01`.
        case wallet(Wallet)
        case smartTap
        case ndef
        /// Any other application, by its name.
        case application([UInt8])
    }

    enum Wallet: Sendable, Hashable {
        case apple, google, unknown
    }

    var selection = Selection.none
    let technology: Technology?
    let tagType: TagType?
    var memory: ObservedMemory?
    /// The card's, once the reader has said it.
    private(set) var identifier: [UInt8]?

    init(_ facts: CardFacts) {
        identifier = facts["uid"]
        technology = facts.shownTechnology
        tagType = TagReader.type(of: facts)
        memory = tagType.flatMap(ObservedMemory.init)
    }

    /// Whether Smart Tap's commands are Smart Tap's, and not another application's with the same class.
    var isSmartTap: Bool { selection == .smartTap || selection == .wallet(.google) }

    mutating func note(_ exchange: RecordedExchange) {
        guard let apdu = exchange.apdu, apdu.isSuccess else { return }
        if apdu.cla == 0xFF, apdu.ins == Instruction.getData, apdu.parameter == 0 { identifier = apdu.body }
        guard let name = apdu.selectedName else { return }
        switch KnownApplication(named: name)?.kind {
        case .wallet:
            switch WalletSelection(ResponseAPDU(data: apdu.body, statusWord: .success)) {
            case .apple: selection = .wallet(.apple)
            case .google: selection = .wallet(.google)
            default: selection = .wallet(.unknown)
            }
        case .smartTap: selection = .smartTap
        case .ndef: selection = .ndef
        default: selection = .application(name)
        }
    }
}
