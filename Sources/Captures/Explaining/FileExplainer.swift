import CardCore
import CardPasses
import CardTags

/// Files of a card with the NDEF application (Type 4 tag): choosing, reading and writing them, with the message once all of
/// it is known; and reading and writing the files of other applications.
struct FileExplainer: ExchangeExplainer {
    /// A file as far as it was shown.
    private struct File {
        var bytes: [Int: UInt8] = [:]
        /// How many bytes are known from the first one on, without a gap.
        var prefix = 0
        var isTold = false

        static let end = 1 << 20

        mutating func note(_ content: [UInt8], at offset: Int) {
            for (index, byte) in content.enumerated() where offset + index < Self.end {
                if bytes.updateValue(byte, forKey: offset + index) != byte { isTold = false }
            }
            while bytes[prefix] != nil { prefix += 1 }
        }

        func part(_ range: Range<Int>) -> [UInt8] { range.compactMap { bytes[$0] } }
    }

    private static let container: [UInt8] = [0xE1, 0x03]

    private var files: [[UInt8]: File] = [:]
    private var selected: [UInt8]?
    /// Where the next part of an answer that was announced belongs.
    private var following: Int?

    mutating func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.cla & 0xF0 == 0x00 else { return nil }
        switch apdu.ins {
        case Instruction.select where apdu.p1 != 0x04 && state.selection == .ndef: return select(apdu)
        case Instruction.select:
            (files, selected, following) = ([:], nil, nil)
            return nil
        case Instruction.readBinary: return read(apdu, at: apdu.p1 & 0x80 == 0 ? apdu.parameter : nil, state)
        case Instruction.withObjects(Instruction.readBinary):
            return read(apdu, at: Self.number(in: BERTLV.decodePrefix(apdu.data).objects), state)
        case Instruction.updateBinary:
            return write(apdu, at: apdu.p1 & 0x80 == 0 ? apdu.parameter : nil, apdu.data, apdu.dataOffset, state)
        case Instruction.withObjects(Instruction.updateBinary):
            let objects = BERTLV.decodePrefix(apdu.data).objects
            let content = objects.find(0x53)?.value ?? []
            let place = apdu.dataOffset + max(0, apdu.data.count - content.count)
            return write(apdu, at: Self.number(in: objects), content, place, state)
        case Instruction.getResponse: return readMore(apdu, state)
        default: return nil
        }
    }

    /// The offset that an object `54` states.
    private static func number(in objects: [BERTLV]) -> Int? {
        objects.find(0x54)?.value.flatMap(ExplanationText.number)
    }

    // MARK: Commands

    private mutating func select(_ apdu: RecordedExchange.Parts) -> ExplainedExchange {
        let name = Self.name(of: apdu.data, container: files[Self.container])
        let field = apdu.dataFields("file", name)
        if apdu.isSuccess {
            selected = apdu.data
            files[apdu.data] = nil
            following = nil
        }
        return ExplainedExchange(
            .init("SELECT: chooses " + (name.map { "the \($0)" } ?? "a file"), field),
            .init(
                StatusText.title(apdu, "the file is chosen", [.fileNotFound: "there is no such file"]),
                apdu.answerFields("file control information")
            )
        )
    }

    private mutating func read(
        _ apdu: RecordedExchange.Parts,
        at offset: Int?,
        _ state: ConversationState
    ) -> ExplainedExchange {
        let count = apdu.expectedLength.map { "\(ExplanationText.count($0))" } ?? "bytes"
        let content =
            apdu.ins == Instruction.withObjects(Instruction.readBinary)
            ? Array(Type4Files.objectValue(apdu.body)) : apdu.body
        following = apdu.status?.sw1 == 0x61 ? offset.map { $0 + content.count } : nil
        return ExplainedExchange(
            .init("READ BINARY: reads \(count)\(place(offset))", apdu.dataFields("offset")),
            .init(
                StatusText.title(apdu, "\(ExplanationText.count(content.count)) of the file"),
                take(content, at: offset, standingAt: apdu.body.count - content.count, apdu, state)
            )
        )
    }

    private mutating func readMore(_ apdu: RecordedExchange.Parts, _ state: ConversationState) -> ExplainedExchange {
        let offset = following
        following = apdu.status?.sw1 == 0x61 ? offset.map { $0 + apdu.body.count } : nil
        return ExplainedExchange(
            .init("GET RESPONSE: fetches the rest of the answer", apdu.dataFields()),
            .init(
                StatusText.title(apdu, ExplanationText.count(apdu.body.count)),
                take(apdu.body, at: offset, standingAt: 0, apdu, state)
            )
        )
    }

    private mutating func write(
        _ apdu: RecordedExchange.Parts,
        at offset: Int?,
        _ content: [UInt8],
        _ place: Int,
        _ state: ConversationState
    ) -> ExplainedExchange {
        let title = "UPDATE BINARY: writes \(ExplanationText.count(content.count))\(self.place(offset))"
        let answer = ExplainedExchange.Message(StatusText.title(apdu, "it is written"), apdu.answerFields())
        guard apdu.isSuccess else { return ExplainedExchange(.init(title, apdu.dataFields()), answer) }
        let fields = note(content, at: offset, standingAt: place, state)
        return ExplainedExchange(.init(title, fields + apdu.faults), answer)
    }

    /// ` of the capability container, from offset 0`.
    private func place(_ offset: Int?) -> String {
        guard let offset else { return " of a file by its short name" }
        let name = selected.flatMap { Self.name(of: $0, container: files[Self.container]) }
        return (name.map { " of the \($0)" } ?? "") + ", from offset \(offset)"
    }

    // MARK: Content

    private mutating func take(
        _ content: [UInt8],
        at offset: Int?,
        standingAt place: Int,
        _ apdu: RecordedExchange.Parts,
        _ state: ConversationState
    ) -> [ExplainedField] {
        guard apdu.isSuccess || apdu.status?.sw1 == 0x61 || apdu.status == .endReached else {
            return apdu.answerFields()
        }
        return note(content, at: offset, standingAt: place, state) + StatusText.field(apdu)
    }

    /// Notes what a file holds, and explains what is whole now.
    private mutating func note(
        _ content: [UInt8],
        at offset: Int?,
        standingAt place: Int,
        _ state: ConversationState
    ) -> [ExplainedField] {
        guard !content.isEmpty else { return [] }
        let whole = ExplainedField("content", at: place, content, text: ExplanationText.ascii(content))
        guard state.selection == .ndef, let offset, let selected else { return [whole] }
        files[selected, default: File()].note(content, at: offset)
        let range = offset..<(offset + content.count)
        let isContainer = selected == Self.container
        return [whole]
            + (isContainer
                ? containerFields(shown: range, standingAt: place)
                : messageFields(of: selected, shown: range, standingAt: place))
    }

    /// The capability container once all of it is known: in its place if all of it is shown here.
    private mutating func containerFields(shown: Range<Int>, standingAt place: Int) -> [ExplainedField] {
        guard let file = files[Self.container], !file.isTold, file.prefix >= Type4Tag.containerLength else { return [] }
        let length = max(Type4Tag.containerLength, min(file.part(0..<2).number(at: 0, count: 2), 256))
        guard file.prefix >= length else { return [] }
        files[Self.container]?.isTold = true
        let isHere = shown.lowerBound == 0 && shown.upperBound >= length
        let bytes = file.part(0..<length)
        var reader = FieldReader(bytes, at: isHere ? place : 0)
        reader.take("length of the container", 2) { "\($0.number(at: 0, count: 2))" }
        reader.take("version", 1) { "\(TagArea.Version(byte: $0[0]))" }
        reader.take("longest answer", 2) { ExplanationText.count($0.number(at: 0, count: 2)) }
        reader.take("longest command", 2) { ExplanationText.count($0.number(at: 0, count: 2)) }
        reader.rest { TLVFields.make($0, at: $1, Self.control) }
        guard !isHere else { return reader.fields }
        return [ExplainedField("capability container", at: nil, bytes, isJoined: true, fields: reader.fields)]
    }

    private static let control = TagDictionary([
        0x04: .init("file of the message") { .init(fields: fileControl($0, $1, sizeLength: 2)) },
        0x05: .init("file of the maker") { .init(fields: fileControl($0, $1, sizeLength: 2)) },
        0x06: .init("file of the message, large") { .init(fields: fileControl($0, $1, sizeLength: 4)) },
    ])

    private static func fileControl(_ value: [UInt8], _ start: Int, sizeLength: Int) -> [ExplainedField] {
        var reader = FieldReader(value, at: start)
        reader.take("file", 2)
        reader.take("size", sizeLength) { ExplanationText.count($0.number(at: 0, count: $0.count)) }
        reader.take("reading", 1) { access($0[0]) }
        reader.take("writing", 1) { access($0[0]) }
        reader.rest("more")
        return reader.fields
    }

    private static func access(_ byte: UInt8) -> String {
        switch TagArea.Access(byte, never: 0xFF) {
        case .free: "free"
        case .never: "never"
        case .proprietary: "with a key, or as the maker decides"
        }
    }

    /// The length of the message where it is shown, and the message once all of it is known.
    private mutating func messageFields(of id: [UInt8], shown: Range<Int>, standingAt place: Int) -> [ExplainedField] {
        let size = lengthSize(of: id)
        guard isMessageFile(id), let file = files[id], file.prefix >= size else { return [] }
        let length = file.part(0..<size).number(at: 0, count: size)
        var fields: [ExplainedField] = []
        if shown.lowerBound == 0, shown.upperBound >= size {
            let meaning = length == 0 ? "there is none, or it is being written" : ExplanationText.count(length)
            fields.append(ExplainedField("length of the message", at: place, file.part(0..<size), meaning: meaning))
        }
        let range = size..<(size + length)
        guard !file.isTold, length > 0, file.prefix >= range.upperBound else { return fields }
        files[id]?.isTold = true
        let isHere = shown.lowerBound <= range.lowerBound && shown.upperBound >= range.upperBound
        let offset = isHere ? place + range.lowerBound - shown.lowerBound : nil
        return fields + [NDEFFields.message(file.part(range), at: offset)]
    }

    /// Whether the capability container states that the message is there, or states nothing yet.
    private func isMessageFile(_ id: [UInt8]) -> Bool {
        let control = Self.controls(in: files[Self.container]).filter { $0.tag == 0x04 || $0.tag == 0x06 }
        return control.isEmpty || control.contains { $0.value?.prefix(2).elementsEqual(id) == true }
    }

    /// How many bytes the length of the message has: four where the capability container describes a large file.
    private func lengthSize(of id: [UInt8]) -> Int {
        let control = Self.controls(in: files[Self.container])
        return control.contains { $0.tag == 0x06 && $0.value?.prefix(2).elementsEqual(id) == true } ? 4 : 2
    }

    private static func controls(in file: File?) -> [BERTLV] {
        guard let file, file.prefix > 7 else { return [] }
        return BERTLV.decodePrefix(file.part(7..<min(file.prefix, 256))).objects
    }

    private static func name(of id: [UInt8], container file: File?) -> String? {
        if let name = FileNames.meaning(of: id) { return name }
        let control = controls(in: file).first { $0.value?.prefix(2).elementsEqual(id) == true }
        switch control?.tag {
        case 0x04, 0x06: return "file of the message"
        case 0x05: return "file of the maker"
        default: return nil
        }
    }
}

/// All that no protocol claims: commands by their names in ISO/IEC 7816-4, and what is not known, reported as such.
struct StandardExplainer: ExchangeExplainer {
    func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu else { return raw(exchange) }
        return ExplainedExchange(
            .init(title(exchange, apdu), apdu.dataFields()),
            .init(StatusText.title(apdu, "done"), apdu.answerFields())
        )
    }

    private func title(_ exchange: RecordedExchange, _ apdu: RecordedExchange.Parts) -> String {
        let header = try? CommandAPDU(bytes: [apdu.cla, apdu.ins, apdu.p1, apdu.p2])
        if let title = header?.title { return title }
        let parameters = [apdu.p1, apdu.p2].hex
        return "class \([apdu.cla].hex), instruction \([apdu.ins].hex), parameters \(parameters): not known here"
    }

    private func raw(_ exchange: RecordedExchange) -> ExplainedExchange {
        let what =
            if case .control(let code) = exchange.carrier {
                "escape command \(String(code, radix: 16, uppercase: true))"
            } else {
                "frame \(exchange.command.prefix(1).hex)"
            }
        func field(_ bytes: [UInt8]) -> [ExplainedField] { bytes.isEmpty ? [] : [ExplainedField("data", at: 0, bytes)] }
        let answer = exchange.answer ?? []
        return ExplainedExchange(
            .init("\(what): not known here", field(exchange.command)),
            .init(ExplanationText.count(answer.count), field(answer))
        )
    }
}

struct KnownApplication: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case wallet, smartTap, ndef, payment, identityDocument, other
    }

    let kind: Kind
    let name: String
    let purpose: String

    private init(_ kind: Kind, _ name: String, _ purpose: String) {
        self.kind = kind
        self.name = name
        self.purpose = purpose
    }

    init?(named name: [UInt8]) {
        if let known = Self.known[name] {
            self = known
        } else if let scheme = Self.paymentSchemes.first(where: { name.starts(with: $0.prefix) }) {
            self.init(.payment, scheme.name, "asks for a payment application")
        } else {
            return nil
        }
    }

    private static let known: [[UInt8]: KnownApplication] = [
        WalletSelection.name: .init(.wallet, "OSE.VAS.01", "asks for the wallet's passes"),
        SmartTapApplication.identifier: .init(.smartTap, "Smart Tap 2", "asks for Google Wallet's passes"),
        [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x01]:
            .init(.other, "Smart Tap 1", "asks for a version of Smart Tap that phones do not have any more"),
        CommandAPDU.selectNDEFApplication.data:
            .init(.ndef, "NDEF application", "asks for the message of a Type 4 tag"),
        CommandAPDU.selectNDEFApplicationVersion1.data:
            .init(.ndef, "NDEF application, mapping 1", "asks for the message of an old Type 4 tag"),
        CardQuestions.Application.payment:
            .init(.payment, "2PAY.SYS.DDF01", "asks which payment applications there are"),
        Array("1PAY.SYS.DDF01".utf8):
            .init(.payment, "1PAY.SYS.DDF01", "asks which payment applications there are, by contacts"),
        CardQuestions.Application.travelDocument:
            .init(.identityDocument, "travel document", "asks whether it is a passport or an identity card"),
        [0xA0, 0x00, 0x00, 0x06, 0x47, 0x2F, 0x00, 0x01]:
            .init(.other, "FIDO", "asks whether it is a security key"),
        [0xA0, 0x00, 0x00, 0x03, 0x08, 0x00, 0x00, 0x10, 0x00, 0x01, 0x00]:
            .init(.other, "PIV", "asks whether it is a card for personal identity verification"),
        [0xD2, 0x76, 0x00, 0x01, 0x24, 0x01]: .init(.other, "OpenPGP", "asks whether it is an OpenPGP card"),
    ]

    /// Registered identifiers of payment schemes.
    private static let paymentSchemes: [(prefix: [UInt8], name: String)] = [
        ([0xA0, 0x00, 0x00, 0x00, 0x03], "Visa"), ([0xA0, 0x00, 0x00, 0x00, 0x04], "Mastercard"),
        ([0xA0, 0x00, 0x00, 0x00, 0x25], "American Express"), ([0xA0, 0x00, 0x00, 0x00, 0x65], "JCB"),
        ([0xA0, 0x00, 0x00, 0x01, 0x52], "Discover"), ([0xA0, 0x00, 0x00, 0x03, 0x33], "UnionPay"),
        ([0xA0, 0x00, 0x00, 0x02, 0x77], "Interac"), ([0xA0, 0x00, 0x00, 0x03, 0x59], "girocard"),
    ]
}
