import NDEFCodec

/// The records of an NDEF message as fields, each with its place.
enum NDEFFields {
    /// The explanation of one record, which begins at `start` and whose payload does so at `payload` of the message. `payload`
    /// is `nil` for a record in chunks.
    typealias Explanation = (_ record: NDEFRecord, _ payload: Int?) -> TagDictionary.Content

    /// The fields of a message's records, and what is wrong with it.
    static func records(
        _ bytes: [UInt8],
        at start: Int,
        name: (NDEFRecord) -> String = name,
        explain: Explanation = { content($0, at: $1, depth: 0) }
    ) -> [ExplainedField] {
        var fields: [ExplainedField] = []
        let fault = bytes.withUnsafeBufferPointer { buffer in
            var scanner = NDEFScanner(buffer, isStrict: false, limits: .maximum)
            while let item = scanner.next() {
                let payload = item.isChunked ? scanner.joined : part(buffer, item.payloadStart, item.payloadCount)
                let record = NDEFRecord(
                    tnf: item.tnf,
                    type: part(buffer, item.typeStart, item.typeCount),
                    id: item.hasID ? part(buffer, item.idStart, item.idCount) : nil,
                    payload: payload
                )
                let said = explain(record, item.isChunked ? nil : start + item.payloadStart)
                fields.append(
                    ExplainedField(
                        name: name(record),
                        offset: start + item.start,
                        length: item.isChunked
                            ? item.payloadCount : item.payloadStart + item.payloadCount - item.start,
                        bytes: payload,
                        text: said.text,
                        meaning: said.meaning,
                        fields: said.fields
                    )
                )
            }
            return scanner.fault
        }
        if let fault, !bytes.isEmpty {
            fields.append(
                ExplainedField(
                    name: fault.isTolerable ? "behind the message" : "not read",
                    offset: start + min(fault.offset, bytes.count),
                    length: max(0, bytes.count - fault.offset),
                    meaning: fault.message
                )
            )
        }
        return fields
    }

    private static func part(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> [UInt8] {
        Array(bytes[start..<(start + count)])
    }

    /// What a record is called: `record U`.
    static func name(_ record: NDEFRecord) -> String {
        "record " + (record.type.isEmpty ? record.tnf.name : record.typeName)
    }

    static func content(_ record: NDEFRecord, at payload: Int?, depth: Int) -> TagDictionary.Content {
        let nested = depth < NDEFLimits.default.nesting ? self.nested(record, at: payload, depth: depth + 1) : []
        switch record.content {
        case .empty: return .init(meaning: "an empty record")
        case .text(let text): return .init(text: text.text, meaning: "a text, language \(text.language)")
        case .uri(let uri): return .init(text: uri, meaning: "an address")
        case .smartPoster(let poster): return .init(text: poster.uri, meaning: "a Smart Poster", fields: nested)
        case .handover(let handover):
            return .init(
                meaning: "a handover, \(handover.kind.rawValue), "
                    + ExplanationText.count(handover.carriers.count, "carrier"),
                fields: nested
            )
        case .handoverCarrier: return .init(meaning: "a carrier to go on over")
        case .signature: return .init(meaning: "a signature over the records before it, which is not verified")
        case .mime(let type, let data):
            return .init(text: ExplanationText.ascii(data), meaning: "data of the type \(ExplanationText.quote(type))")
        case .absoluteURI(let uri, _): return .init(text: uri, meaning: "data of a type that is named by an address")
        case .external(let domain, let type, _):
            return .init(meaning: "data of the type \(ExplanationText.quote(domain + ":" + type))")
        case .androidApplication(let package):
            return .init(text: package, meaning: "an Android application to be started")
        case .unknown: return .init(meaning: "data of an unknown type")
        case .other: return .init(meaning: "a record that is not read further")
        case .malformed(let error): return .init(meaning: error.message)
        }
    }

    private static func nested(_ record: NDEFRecord, at payload: Int?, depth: Int) -> [ExplainedField] {
        guard record.nestedRecords != nil, let payload else { return [] }
        // A handover has its version first.
        let skip = record.isWellKnown("Sp") ? 0 : 1
        let rest = Array(record.payload.dropFirst(skip))
        return records(rest, at: payload + skip, explain: { content($0, at: $1, depth: depth) })
    }

    /// A message with its records; one that was put together stands nowhere.
    static func message(_ bytes: [UInt8], at offset: Int?) -> ExplainedField {
        let fields = records(bytes, at: offset ?? 0)
        return ExplainedField("NDEF message", at: offset, bytes, isJoined: offset == nil, fields: fields)
    }
}
