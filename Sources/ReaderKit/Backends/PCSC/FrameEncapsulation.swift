/// How a reader takes a raw frame for the card within a command APDU, there being no standard that all follow.
///
/// | Form | Command | Answer |
/// |---|---|---|
/// | SpringCard | `FF FE protocol 00 Lc frame 00` | frame, `9000`; `6Fxx` with the reader's status |
/// | ACS ACR122 | `FF 00 00 00 Lc D4 42 frame`, or `D4 40 01 frame` | `D5 43` or `D5 41`, status of the PN532, frame, `9000` |
/// | Identiv uTrust 37xx | `FF EF 00 00 Lc frame 00` | frame, `9000` |
/// | PC/SC 3, transparent session | `FF C2 00 01 Lc 95 length frame 00` | data objects `C0`, `92`, `96`, `97`, `9000` |
enum FrameEncapsulation: String, Sendable, CaseIterable {
    case springCard
    /// The PN532's InCommunicateThru: the frame as it is.
    case acr122
    /// The PN532's InDataExchange with its first target.
    case acr122Exchange
    case identiv
    case transparentSession

    init?(reader name: String) {
        let name = name.lowercased()
        guard let (_, form) = Self.readers.first(where: { name.contains($0.0) }) else { return nil }
        self = form
    }

    private static let readers: [(String, FrameEncapsulation)] = [
        ("springcard", .springCard), ("socket mobile", .springCard), ("prox'n'roll", .springCard),
        ("acr122", .acr122), ("touchatag", .acr122), ("aet62", .acr122), ("aet65", .acr122), ("utrust 37", .identiv),
        ("acr1251", .transparentSession), ("acr1252", .transparentSession), ("acr1255", .transparentSession),
        ("acr1281", .transparentSession), ("acr1552", .transparentSession), ("acr1555", .transparentSession),
        ("walletmate", .transparentSession),
    ]

    /// The forms that a reader may take, in the order in which they are tried: that of its make, which its name tells, or a
    /// card's name that only readers of the ACR122 family give.
    ///
    /// The ACR122's forms are not among those that a reader of unknown make is asked: it may take them for a command of its
    /// own.
    static func candidates(reader name: String, card: StorageCard?) -> [FrameEncapsulation] {
        let isACR122 = card.map { [0xF004, 0xF011, 0xF012].contains($0.nameCode) } ?? false
        switch FrameEncapsulation(reader: name) ?? (isACR122 ? .acr122 : nil) {
        case .acr122: return [.acr122, .acr122Exchange]
        case let form?: return [form]
        case nil: return [.springCard, .transparentSession]
        }
    }

    static let startSession: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00, 0x00]
    static let endSession: [UInt8] = [0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00, 0x00]

    private static let attempt = "exchange a raw frame"

    /// The command APDU that carries a frame; ``ReaderError/Kind/unsupported`` for a frame that the form does not
    /// carry: one that ends in an incomplete byte, an empty one, or one that is too long.
    func command(_ frame: RawFrame, technology: Technology?) throws(ReaderError) -> [UInt8] {
        guard frame.bitsInLastByte == 8 else {
            throw ReaderError(.unsupported, attempting: Self.attempt, detail: "it carries whole bytes only")
        }
        let (header, content, end): ([UInt8], [UInt8], [UInt8]) =
            switch self {
            case .springCard: ([0xFF, 0xFE, Self.springCardProtocol(technology), 0x00], frame.bytes, [0x00])
            case .acr122: ([0xFF, 0x00, 0x00, 0x00], [0xD4, 0x42] + frame.bytes, [])
            case .acr122Exchange: ([0xFF, 0x00, 0x00, 0x00], [0xD4, 0x40, 0x01] + frame.bytes, [])
            case .identiv: ([0xFF, 0xEF, 0x00, 0x00], frame.bytes, [0x00])
            case .transparentSession:
                ([0xFF, 0xC2, 0x00, 0x01], (try? BERTLV(0x95, frame.bytes).encoded()) ?? [], [0x00])
            }
        guard !frame.bytes.isEmpty, let length = UInt8(exactly: content.count) else {
            let detail = "a frame of \(frame.bytes.count) bytes does not fit into this reader's commands"
            throw ReaderError(.unsupported, attempting: Self.attempt, detail: detail)
        }
        return header + [length] + content + end
    }

    private static func springCardProtocol(_ technology: Technology?) -> UInt8 {
        switch technology {
        case .iso14443a, nil: 0x01
        case .iso14443b: 0x02
        case .iso15693: 0x04
        case .felica: 0x07
        }
    }

    // MARK: - Answers

    /// What a reader's answer to ``command(_:technology:)`` contains.
    enum Outcome: Hashable {
        case frame(RawFrame)
        /// The reader carried the frame and the card was silent (``ReaderError/Kind/timeout``, which is how many refuse a
        /// command) or what it sent arrived damaged (``ReaderError/Kind/communication``).
        case fault(ReaderError)
        case unknownCommand
        /// Something else went wrong, and whether the reader knows this form is unknown.
        case unclear(ReaderError)
    }

    func outcome(of answer: [UInt8], technology: Technology?) -> Outcome {
        guard let response = try? ResponseAPDU(bytes: answer) else {
            return .unclear(ReaderError(.invalidAnswer, attempting: Self.attempt))
        }
        let status = response.statusWord
        guard response.isSuccess else {
            if self == .springCard, status.sw1 == 0x6F, let code = status.readerStatus {
                // 01 is a mute card, 1B one that answers too late.
                return .fault(Self.error(code == 0x01 || code == 0x1B ? .timeout : .communication, status))
            }
            if status.refusesCommand { return .unknownCommand }
            return .unclear(Self.error(status.rawValue == 0x6401 ? .timeout : .communication, status))
        }
        switch self {
        case .springCard, .identiv:
            // They report nothing else when the card is silent.
            guard !response.data.isEmpty else { return .unclear(ReaderError(.timeout, attempting: Self.attempt)) }
            return .frame(Self.frame(response.data, technology))
        case .acr122: return Self.pn532(response.data, 0x43, technology)
        case .acr122Exchange: return Self.pn532(response.data, 0x41, technology)
        case .transparentSession: return Self.session(response.data)
        }
    }

    private static func pn532(_ data: [UInt8], _ answer: UInt8, _ technology: Technology?) -> Outcome {
        guard data.count >= 3, data.starts(with: [0xD5, answer]) else {
            return .unclear(
                ReaderError(.invalidAnswer, attempting: attempt, detail: "the reader's answer is not a PN532's")
            )
        }
        // The high bits indicate more data and NAD, which no frame in this use has.
        let status = data[2] & 0x3F
        guard status == 0 else {
            return .fault(error(status == 0x01 ? .timeout : .communication, status, "PN532 status"))
        }
        guard data.count > 3 else { return .fault(ReaderError(.timeout, attempting: attempt)) }
        return .frame(frame(Array(data[3...]), technology))
    }

    private static func session(_ data: [UInt8]) -> Outcome {
        let objects: [BERTLV]
        do {
            objects = try BERTLV.decode(data)
        } catch {
            return .unclear(ReaderError(.invalidAnswer, attempting: attempt, detail: error.message))
        }
        // C0: which object failed, and a status word. 96: bits for checksum, collision, parity and framing.
        if let bytes = objects.find(0xC0)?.value, bytes.count == 3 {
            let status = StatusWord(sw1: bytes[1], sw2: bytes[2])
            switch status.rawValue {
            case 0x9000, 0x6282: break
            case 0x6401: return .fault(error(.timeout, status))
            case 0x6A81, 0x6D00: return .unknownCommand
            default: return .fault(error(.communication, status))
            }
        }
        if let status = objects.find(0x96)?.value?.first, status & 0x0F != 0 {
            return .fault(error(.communication, status, "response status"))
        }
        guard let bytes = objects.find(0x97)?.value, !bytes.isEmpty else {
            return .fault(ReaderError(.timeout, attempting: attempt))
        }
        let bits = Int(objects.find(0x92)?.value?.first ?? 0) & 0x07
        return .frame(RawFrame(bytes, bitsInLastByte: bits == 0 ? 8 : bits))
    }

    /// A single byte of at most 0F from a type A card is an acknowledgement of four bits: no whole frame is so short.
    private static func frame(_ bytes: [UInt8], _ technology: Technology?) -> RawFrame {
        let isAcknowledgement =
            bytes.count == 1 && bytes[0] <= 0x0F && (technology == .iso14443a || technology == nil)
        return RawFrame(bytes, bitsInLastByte: isAcknowledgement ? 4 : 8)
    }

    private static func error(_ kind: ReaderError.Kind, _ status: StatusWord) -> ReaderError {
        error(kind, status.rawValue, status.name)
    }

    private static func error(_ kind: ReaderError.Kind, _ status: some BinaryInteger, _ name: String) -> ReaderError {
        ReaderError(kind, attempting: attempt, code: ReaderError.Code(rawValue: Int64(status), name: name))
    }
}
