import CardCore
import CardPasses

/// A frame or command for the card that stands within a command to the reader, or an APDU that stands within a frame.
struct FrameWrapping {
    /// What stands within, as if it stood alone.
    let inner: SaidExchange
    /// Where the inner command begins in the command, and the inner answer in the answer.
    let commandOffset: Int
    let answerOffset: Int
    /// What carries it, for titles.
    let carrier: String

    /// The wrappings of ``FrameEncapsulation``, ISO-DEP blocks, and APDUs in raw frames; `nil` for all else.
    init?(_ exchange: SaidExchange, _ state: ConversationState) {
        switch exchange.carrier {
        case .apdu:
            guard let apdu = exchange.apdu, apdu.cla == 0xFF, let found = Self.withinCommand(apdu, exchange) else {
                return nil
            }
            self = found
        case .frame:
            guard let found = Self.withinFrame(exchange, state) else { return nil }
            self = found
        case .control:
            guard exchange.command.first == 0xFF, exchange.command.count >= CaptureLimits.shortestCommand else {
                return nil
            }
            self.init(SaidExchange(.apdu, exchange.command, exchange.answer), 0, 0, "escape")
        }
    }

    private init(_ inner: SaidExchange, _ commandOffset: Int, _ answerOffset: Int, _ carrier: String) {
        self.inner = inner
        self.commandOffset = commandOffset
        self.answerOffset = answerOffset
        self.carrier = carrier
    }

    private static func withinCommand(_ apdu: SaidExchange.Parts, _ exchange: SaidExchange) -> FrameWrapping? {
        /// A frame in the data from `skip` on, answered from `answerSkip` on.
        func frame(_ skip: Int, _ answerSkip: Int, _ carrier: String) -> FrameWrapping? {
            guard apdu.data.count > skip else { return nil }
            let isAnswered = apdu.isSuccess && apdu.body.count > answerSkip
            return FrameWrapping(
                bits(Array(apdu.data[skip...]), isAnswered ? Array(apdu.body[answerSkip...]) : nil),
                apdu.dataOffset + skip,
                answerSkip,
                carrier
            )
        }
        switch apdu.ins {
        case 0xFE: return frame(0, 0, "reader: carries a frame (ENCAPSULATE)")
        case 0xEF: return frame(0, 0, "reader: carries a frame")
        case 0x00 where apdu.data.starts(with: [0xD4, 0x42]):
            return frame(2, 3, "reader: carries a frame (InCommunicateThru)")
        case 0x00 where apdu.data.starts(with: [0xD4, 0x40]):
            return frame(3, 3, "reader: carries a frame (InDataExchange)")
        case 0xC2 where apdu.parameter == 0x0001:
            let sent = TLVFields.make(apdu.data, at: 0, ReaderExplainer.sessionTags)
            let came = TLVFields.make(apdu.body, at: 0, ReaderExplainer.sessionTags)
            guard let (content, offset) = Self.object("95", sent) ?? Self.object("93", sent) else { return nil }
            let answer = Self.object("97", came)
            return FrameWrapping(
                bits(content, answer?.content),
                apdu.dataOffset + offset,
                answer?.offset ?? 0,
                "reader: carries a frame (transparent session)"
            )
        default: return nil
        }
    }

    /// A single byte of at most 0F is an acknowledgement of four bits.
    private static func bits(_ command: [UInt8], _ answer: [UInt8]?) -> SaidExchange {
        let isAcknowledgement = answer.map { $0.count == 1 && $0[0] <= 0x0F } ?? false
        return SaidExchange(.frame, command, answer, answerBits: isAcknowledgement ? 4 : 8)
    }

    private static func object(_ tag: String, _ fields: [ExplainedField]) -> (content: [UInt8], offset: Int)? {
        guard let field = fields.first(where: { $0.name.hasPrefix(tag + " ") }), let bytes = field.bytes,
            let offset = field.offset, !bytes.isEmpty
        else { return nil }
        return (bytes, offset + field.length - bytes.count)
    }

    /// An APDU as a frame, or as the content of an ISO-DEP block.
    private static func withinFrame(_ exchange: SaidExchange, _ state: ConversationState) -> FrameWrapping? {
        guard state.tagType == .type4 || state.tagType == nil, exchange.commandBits == 8, exchange.answerBits == 8,
            let first = exchange.command.first
        else { return nil }
        // An information block: 02 or 03, with a card identifier 0A or 0B and one byte more.
        let skip: Int? =
            switch first {
            case 0x00, 0x80, 0x90, 0xFF: 0
            case 0x02, 0x03: 1
            case 0x0A, 0x0B: 2
            default: nil
            }
        guard let skip, exchange.command.count > skip + 3 else { return nil }
        let command = Array(exchange.command[skip...])
        guard (try? APDULayout(command)) != nil else { return nil }
        guard let answer = exchange.answer else {
            return FrameWrapping(SaidExchange(.apdu, command, nil), skip, skip, skip == 0 ? "" : "ISO-DEP block")
        }
        guard answer.count >= skip + 2, let high = answer.dropLast().last, high >= 0x61, high < 0xA0 else { return nil }
        return FrameWrapping(
            SaidExchange(.apdu, command, Array(answer[skip...])),
            skip,
            skip,
            skip == 0 ? "" : "ISO-DEP block"
        )
    }
}
