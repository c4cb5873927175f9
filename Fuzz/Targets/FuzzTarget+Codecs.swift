import Foundation
import ReaderKit

extension FuzzTarget {
    static func runATR(_ bytes: [UInt8]) throws(FuzzFinding) {
        let facts = CardFacts(atr: bytes)
        _ = (TagReader.type(of: facts), CardReading(facts: facts).card)
        _ = CardIdentifier.identify(facts: facts)
        if [4, 7, 8, 10].contains(bytes.count) {
            for technology in [nil, Technology.iso14443a, .iso14443b, .felica, .iso15693] {
                let uid = CardUID(readerBytes: bytes, technology: technology)
                _ = (uid.kind, uid.hex)
                _ = CardIdentifier.identify(facts: CardFacts(technology: technology), uid: uid)
            }
        }
        guard let atr = try? ATR(bytes) else { return }
        _ = (atr.cardName, atr.storageCard, "\(atr)", atr.isContactless)
        try require(atr.bytes.count <= ReaderLimits.atrLength, "an ATR has at most 33 bytes")
        try require((try? ATR(atr.bytes)) != nil, "what is left of an ATR is one")
    }

    static func runBERTLV(_ bytes: [UInt8]) throws(FuzzFinding) {
        let prefix = BERTLV.decodePrefix(bytes)
        guard let objects = try? BERTLV.decode(bytes) else {
            try require(prefix.error != nil, "what is refused has an error")
            return
        }
        try require(prefix.error == nil && prefix.objects == objects, "both decoders agree")
        let encoded = try unfailing("what was decoded can be encoded") { try objects.encoded() }
        let again = try unfailing("what was encoded can be decoded") { try BERTLV.decode(encoded) }
        try require(again == objects, "objects come back from their encoding")
    }

    static func runNDEF(_ bytes: [UInt8]) throws(FuzzFinding) {
        let (lenient, fault) = NDEFMessage.decodeLeniently(bytes)
        if let fault {
            try require((0...bytes.count).contains(fault.offset), "a fault lies in the input")
            _ = "\(fault)"
        }
        if let strict = try? NDEFMessage(decoding: bytes) {
            try require(fault == nil && lenient == strict, "what is accepted strictly is so leniently")
            let encoded = try unfailing("what was decoded can be encoded") { try strict.encoded() }
            try require((try? NDEFMessage(decoding: encoded)) == strict, "a message comes back from its encoding")
        }
        let encoded = try unfailing("lenient: what was decoded can be encoded") {
            try lenient.encoded(mode: .lenient)
        }
        let again = try? NDEFMessage(decoding: encoded, mode: .lenient)
        try require(again == lenient, "lenient: a message comes back from its encoding")
        for record in lenient.records {
            try check(record.content)
            if case .vCard(let card) = record.media { _ = (card.name, card.memberNumber, card.nameComponents) }
            _ = record.nestedRecords
        }
        for record in lenient.records { _ = (try? record.decodedContent(), try? record.decodedMedia()) }
        for pass in NDEFPassReader.read(lenient.records).passes {
            try require(MemberID.isUsable(pass.id), "an id of a pass is usable")
        }
        // JSON is slow, and what is read further is short.
        guard bytes.count <= 512, !lenient.records.isEmpty else { return }
        let json = try unfailing("records can be written as JSON") { try JSONEncoder().encode(lenient.records) }
        let restored = try? JSONDecoder().decode([NDEFRecord].self, from: json)
        try require(restored == lenient.records, "records come back from JSON")
    }

    private static func check(_ content: NDEFContent) throws(FuzzFinding) {
        guard case .smartPoster(let poster) = content else { return }
        let record = try unfailing("a poster can be written") { try NDEFRecord.smartPoster(poster) }
        try require(record.content == content, "a poster comes back")
    }

    static func runCapture(_ bytes: [UInt8]) throws(FuzzFinding) {
        let capture: Capture
        do {
            capture = try Capture(parsing: bytes)
        } catch {
            try require(error.line >= 1 && error.column >= 1, "an error has a place")
            // What is no capture may be another program's log.
            if let conversion = try? CaptureConversion(bytes) {
                let text = conversion.capture.text()
                _ = try unfailing("a converted log is a capture") { try Capture(parsing: text) }
            }
            return
        }
        let text = capture.text()
        let again = try unfailing("what was parsed can be written and parsed") { try Capture(parsing: text) }
        try require(again.text() == text, "the text of a capture stays as it is")
        // Control characters cannot be written; they become spaces.
        if bytes.allSatisfy({ $0 == 0x0A || ($0 >= 0x20 && $0 != 0x7F) }) {
            try require(again == capture, "a capture comes back from its text")
        }
        try require(CaptureComparison(capture, capture, comparingTimes: true).isSame, "a capture is like itself")
        let redacted = CaptureRedaction(of: capture, seed: 1).capture.text()
        _ = try unfailing("what is redacted is a capture") { try Capture(parsing: redacted) }
    }
}
