import Foundation

/// What a reader's report contains about a card, without a conversation with it.
///
/// What a template read counts as a pass by what the template looks for; without that knowledge only where it cannot be
/// anything else, since a reader puts other particulars there too.
///
/// | what the report has | the pass |
/// | --- | --- |
/// | template D1 | its data, kind `appleVAS` |
/// | template D2 | its data, kind `smartTap` |
/// | template 40 to 4F, or data that is an NDEF message in hexadecimal | as of a tag, kind `ndef` or `text` |
/// | four fields, a JSON object or an address as data or identifier | as of a tag, kind `text` or `ndef` |
/// | another template from 13 on | its data, kind `uid` |
/// | an identifier of 4, 7, 8 or 10 bytes in hexadecimal | kind `uid`, by the rules for all cards |
/// | any other identifier of one word | itself, kind `uid` |
///
/// A wallet's pass is not trusted beyond `identifier`: the reader may have proven it with a key, but its line can be
/// imitated. What proves itself in the line, an address that a tag signed or a token, counts as on a card; but a token
/// that names its card is refused, since only the line names the card. A place with rules for cards (``CardRule``) or
/// tokens reads texts by them. A line that is not well formed is a tap of which nothing could be read, with the
/// problem `readFailed`.
package struct ReportReading {
    private var reading: CardReading
    private let tag: SmartReaderTag
    private let limits: NDEFLimits
    private let site: PassSite?

    /// The first template number that describes what the template looks for; below are the numbers of a reader's
    /// templates.
    private static let firstLookUp: UInt8 = 0x13

    /// Reads a report, with the passes of a place as for a card; `nil` if it is no tap: a card that went, or a reader
    /// that states that it is there.
    package static func read(
        _ line: String,
        limits: NDEFLimits = .default,
        site: PassSite? = nil,
        at now: Date = Date()
    ) -> CardReading? {
        do throws(SmartReaderLineError) {
            guard case .tag(let tag) = try SmartReaderLine(decoding: line), tag.move != .remove else { return nil }
            var report = ReportReading(tag, limits, site, now)
            report.read()
            report.reading.judgement.rank()
            return report.reading
        } catch {
            var reading = CardReading(facts: CardFacts())
            reading.problems = [ScanEvent.Problem(.readFailed, "\(error)")]
            return reading
        }
    }

    private init(_ tag: SmartReaderTag, _ limits: NDEFLimits, _ site: PassSite?, _ now: Date) {
        self.tag = tag
        self.limits = limits
        self.site = site
        reading = CardReading(facts: CardFacts(technology: tag.technology), site: site, at: now)
        reading.judgement.isReported = true
        reading.card =
            switch tag.technology {
            case .iso14443a: "ISO 14443 A card"
            case .iso14443b: "ISO 14443 B card"
            case .felica: "FeliCa"
            case .iso15693: "ISO 15693 tag"
            case nil: "unknown"
            }
    }

    private mutating func read() {
        let content = tag.data ?? tag.id
        switch tag.template {
        case 0xD1:
            reading.card = "Apple Wallet pass"
            if tag.data != nil { takeUID() }
            take(content, as: .appleVAS)
        case 0xD2:
            reading.card = "Google Wallet pass"
            if tag.data != nil { takeUID() }
            take(content, as: .smartTap)
        case (0x40...0x4F)?:
            if tag.data != nil { takeUID() }
            if !takeMessage(content, isExpected: true), !takeText(content) { take(content, as: .ndef) }
        case let template?:
            takeUID()
            takeContent(isData: template >= Self.firstLookUp)
        case nil:
            takeUID()
            takeContent(isData: false)
        }
        reading.judgement.addUIDPass()
    }

    private mutating func takeUID() {
        guard let bytes = tag.identifierBytes, CardUID.lengths.contains(bytes.count) else { return }
        reading.judgement.uid = CardUID(readerBytes: bytes, technology: tag.technology)
    }

    private mutating func takeContent(isData: Bool) {
        if let data = tag.data {
            if takeMessage(data, isExpected: false) || takeText(data) { return }
            if isData { return take(data, as: .uid) }
        }
        guard reading.uid == nil, !tag.id.isEmpty, !takeText(tag.id) else { return }
        take(tag.id, as: .uid)
    }

    /// One word that names somebody. Several words, as in a greeting on a tag, name nobody.
    private mutating func take(_ text: String, as kind: Pass.Kind) {
        guard MemberID.isUsable(text) else {
            let message = "the reader reports a pass that is too long or not printable; check its template"
            return reading.judgement.note(.invalidPass, message)
        }
        let isPass = kind == .appleVAS || kind == .smartTap
        guard isPass || !text.contains(where: \.isWhitespace) else { return }
        reading.judgement.take(Pass(kind: kind, id: text, assurance: .identifier))
    }

    /// Takes a text that can only be meant as a pass or an address; any, at a place that describes what texts are
    /// passes.
    private mutating func takeText(_ text: String) -> Bool {
        let record: NDEFRecord?
        let hasRules = site.map { !$0.cards.isEmpty || $0.tokens != nil } ?? false
        if hasRules, !Self.isWebAddress(text) {
            record = try? NDEFRecord.text(text)
        } else if SmartReaderRules.isAddress(text) {
            record = try? NDEFRecord.uri(text)
        } else if text.contains("|") || text.first == "{" {
            record = try? NDEFRecord.text(text)
        } else {
            return false
        }
        if let record { reading.judgement.take([record]) }
        return true
    }

    /// Takes an NDEF message in hexadecimal; `isExpected` is whether it can be nothing else if it begins as a message
    /// does.
    private mutating func takeMessage(_ text: String, isExpected: Bool) -> Bool {
        guard let bytes = try? Hex.decode(text), bytes.count >= 3, bytes[0] & 0x80 != 0 else { return false }
        let (message, fault) = NDEFMessage.decodeLeniently(bytes, limits: limits)
        guard isExpected || fault == nil else { return false }
        reading.ndef = message.records
        if let fault {
            reading.judgement.note(.ndefMalformed, "\(fault)")
        } else {
            reading.judgement.take(message.records)
        }
        return true
    }

    private static func isWebAddress(_ text: String) -> Bool {
        SmartReaderRules.isAddress(text) && text.contains("://")
    }
}
