import ReaderKit
import ToolSupport

extension InfoSection {
    static func reader(_ card: CardOnReader) -> InfoSection {
        let reader = card.presence.reader
        let capabilities = card.channel.capabilities
        // What no reader can do that is reached this way.
        var missing: [Technology]?
        #if NFC
        if reader.backend == .nfc { missing = LibNFC.missingTechnologies }
        #endif
        let (command, response) = (capabilities.longestCommand, capabilities.longestResponse)
        return InfoSection(
            json: [
                "name": reader.name, "backend": reader.backend, "serial": reader.serial, "longestCommand": command,
                "longestResponse": response, "extendedLength": capabilities.extendedLength,
                "readerCommands": capabilities.hasPseudoAPDUs, "missingTechnologies": missing,
            ] as JSONObject,
            lines: [
                "name": reader.name, "backend": reader.backend.rawValue, "serial": reader.serial,
                "APDUs": "commands up to \(command) bytes, answers up to \(response)",
                "extended": capabilities.extendedLength.map { $0 ? "yes" : "no" } ?? "only trying tells",
                "class FF": capabilities.hasPseudoAPDUs ? "answered by the reader" : "not known to the reader",
                "not read": missing.map {
                    let names = $0.map(\.rawValue).joined(separator: ", ")
                    return "\(names): libnfc does not know it; use a reader of PC/SC for it"
                },
            ]
        )
    }

    /// Whether the reader announces to phones that passes are wanted, and what follows from it.
    static func phonePasses(_ reader: ReaderInfo) -> InfoSection {
        let annotations = PollingAnnotation.support(by: reader)
        let findings = PassFinding.findings(reader: reader)
        var lines: InfoLines = ["annotations": annotations.meaning]
        for finding in findings {
            lines.add(["finding": finding.what, "so": finding.consequence, "do": finding.advice])
        }
        return InfoSection(json: ["annotations": annotations, "findings": findings] as JSONObject, lines: lines)
    }

    static func atr(_ bytes: [UInt8]) throws -> InfoSection {
        let atr = try ATR(bytes)
        let protocols = atr.protocols.map { "T=\($0)" }
        let warnings = atr.warnings.map { "\($0)" }
        var lines: InfoLines = [
            "bytes": bytes.hex, "card": atr.cardName, "technology": atr.technology?.rawValue ?? "unknown",
            "protocols": protocols.joined(separator: ", "),
            "historical": atr.historicalBytes.isEmpty ? "none" : atr.historicalBytes.hex,
        ]
        for warning in warnings { lines.add("warning", warning) }
        return InfoSection(
            json: [
                "bytes": bytes.hex, "card": atr.cardName, "technology": atr.technology, "protocols": protocols,
                "historicalBytes": atr.historicalBytes.hex, "tckValid": atr.isTCKValid,
                "warnings": warnings.isEmpty ? nil : warnings,
            ] as JSONObject,
            lines: lines
        )
    }

    /// What else a reader reported, such as the answers of anticollision.
    static func facts(_ values: [CardFacts.Value]) -> InfoSection? {
        guard !values.isEmpty else { return nil }
        var lines: InfoLines = [:]
        for value in values { lines.add(value.name, value.bytes.hex) }
        return InfoSection(json: Dictionary(lines.all.map { ($0.name, $0.value) }) { first, _ in first }, lines: lines)
    }

    static func uid(_ uid: CardUID) -> InfoSection {
        let kind =
            switch uid.kind {
            case .fixed: "fixed"
            case .random: "random, another one at each tap"
            case .nonUnique: "not unique, other cards may have it"
            }
        return InfoSection(
            json: UIDSummary(uid),
            lines: [
                "hex": uid.hex, "reversed": uid.hexReversed, "kind": kind,
                "manufacturer": uid.manufacturer ?? "unknown",
                "decimal": "\(uid.decimal), reversed \(uid.decimalReversed)", "Wiegand 26": uid.wiegand26 ?? "-",
                "Wiegand 34": uid.wiegand34 ?? "-",
            ]
        )
    }

    /// What the card is taken for.
    ///
    /// - Parameter isRecorded: whether what the card did not answer may only be what it was not asked.
    static func product(_ card: Card, isRecorded: Bool) -> InfoSection {
        let product = card.product
        let evidence = card.evidence.filter { !isRecorded || $0.finding != "the tag does not know GET VERSION" }
        let use: String? =
            switch card.use {
            case .phone: "phone or watch"
            case .payment: "payment card"
            case .identityDocument: "identity document"
            case .general: nil
            }
        var lines: InfoLines = [
            "name": "\(product.name) (\(card.certainty.rawValue))", "memory": product.memory.map { "\($0) bytes" },
            "tag": card.tagType?.name, "use": use,
        ]
        for (index, item) in evidence.enumerated() {
            lines.add(index == 0 ? "evidence" : "", "\(item.source.rawValue): \(item.finding)")
        }
        return InfoSection(
            json: [
                "name": product.name, "family": product.family.rawValue, "memory": product.memory,
                "certainty": card.certainty.rawValue, "use": card.use.rawValue, "technology": card.technology,
                "tagType": card.tagType,
                "evidence": evidence.map { ["source": $0.source.rawValue, "finding": $0.finding] },
            ] as JSONObject,
            lines: lines
        )
    }

    static func ndef(_ card: CardOnReader) throws -> InfoSection? {
        let content = try TagReader.readNDEF(over: card.channel, limits: .maximum)
        guard content.type != nil else { return nil }
        let state = TagState(content)
        var lines: InfoLines = ["tag": state.summary, "mapping": state.version.map { "version \($0)" }]
        if let read = state.readAccess, let write = state.writeAccess {
            lines.add("access", "reading \(read), writing \(write)")
        }
        if state.state == .empty { lines.add("message", "none") }
        for record in state.records ?? [] { lines.add("record", RecordText.describe(record)) }
        lines.add("malformed", state.error.map { "\($0)" })
        return InfoSection(json: state, lines: lines)
    }
}
