import ArgumentParser
import ReaderKit
import ReaderKitTesting
import ToolSupport

/// A card to present: what it is called, and how to make it. Each presentation of a recorded card is made anew.
struct EmulatedCard: Sendable {
    var name: String
    var make: @Sendable () -> any SimulatedCard
}

struct EmulatedCardOptions: ParsableArguments, Sendable {
    @Argument(help: "A capture, or a dump of a card's memory.", completion: .file())
    var file: String?
    @Option(help: ArgumentHelp("A new card of this kind; with an image, what it is of.", valueName: "kind"))
    var card: String?
    @Option(help: "The cards of this capture.", completion: .file(extensions: ["capture"]))
    var capture: String?
    @Option(help: "A card with this dump of its memory.", completion: .file())
    var image: String?
    @Option(help: ArgumentHelp("A URI on the new card.", valueName: "uri"))
    var ndefURI: String?
    @Option(help: ArgumentHelp("A text on the new card.", valueName: "text"))
    var ndefText: String?
    @Option(help: "The language of the text, as in BCP 47.")
    var language = "en"
    @Option(help: ArgumentHelp("A whole message in hexadecimal on the new card.", valueName: "hex"))
    var ndefHex: String?
    @Option(help: ArgumentHelp("The identifier of the new card in hexadecimal.", valueName: "hex"))
    var uid: String?

    var isEmpty: Bool { [file, card, capture, image, ndefURI, ndefText, ndefHex, uid].allSatisfy { $0 == nil } }

    /// The cards, in the order in which they are presented.
    func cards() async throws -> [EmulatedCard] {
        let sources = [file, capture, image].compactMap { $0 }
        guard sources.count <= 1, sources.isEmpty == (card != nil) || (capture == nil && card != nil) else {
            throw ValidationError("Give one of: FILE, --card, --capture, --image. --list-cards shows the kinds.")
        }
        guard let path = sources.first else { return [try newCard()] }
        guard ndefURI == nil, ndefText == nil, ndefHex == nil, uid == nil else {
            throw ValidationError("Messages and identifiers can be given with --card alone: a file has its own.")
        }
        let bytes = try await InputFile.read(path)
        if capture != nil || (image == nil && Self.isCapture(bytes)) {
            guard card == nil else { throw ValidationError("--card is for an image; \(path) is a capture.") }
            return try recorded(Capture(parsing: bytes, file: path), path)
        }
        return [try imaged(bytes, path)]
    }

    // MARK: New cards

    private func newCard() throws -> EmulatedCard {
        guard let name = card, let kind = SimulatedCardCatalog.kind(name) else {
            throw ValidationError("\(SimulatedCardError.unknownKind(card ?? ""))")
        }
        let message = try message()
        let identifier = try uid.map { text in
            guard let bytes = try? Hex.decode(text) else {
                throw ValidationError("--uid takes an identifier in hexadecimal.")
            }
            return bytes
        }
        do throws(SimulatedCardError) {
            // The one card lies on the reader at each tap, with what was written to it.
            let card = try SimulatedCardCatalog.make(kind.name, uid: identifier, message: message)
            return EmulatedCard(name: kind.title) { card }
        } catch {
            throw ValidationError("\(error)")
        }
    }

    private func message() throws -> NDEFMessage? {
        if let ndefHex {
            guard ndefURI == nil, ndefText == nil else {
                throw ValidationError("--ndef-hex is a whole message: leave out --ndef-uri and --ndef-text.")
            }
            guard let bytes = try? Hex.decode(ndefHex) else {
                throw ToolFailure("could not read --ndef-hex: it is no hexadecimal.", exit: ToolExit.malformed)
            }
            if bytes.isEmpty { return NDEFMessage() }
            do {
                return try NDEFMessage(decoding: bytes)
            } catch {
                throw InputMessageError(in: "--ndef-hex", error, advice: "Correct the argument.")
            }
        }
        guard ndefURI != nil || ndefText != nil else { return nil }
        guard ndefURI?.isEmpty != true else { throw ValidationError("--ndef-uri needs a URI that is not empty.") }
        var records: [NDEFRecord] = []
        if let ndefURI { records.append(try .uri(ndefURI)) }
        if let ndefText { records.append(try .text(ndefText, language: language)) }
        return NDEFMessage(records)
    }

    // MARK: Files

    /// Whether the first line that states something is that of a capture.
    private static func isCapture(_ bytes: [UInt8]) -> Bool {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        let isLineEnd: (UInt8) -> Bool = { $0 == 0x0A || $0 == 0x0D }
        let lines = text.prefix(65_536).split(whereSeparator: isLineEnd).lazy
            .map { $0.drop { $0 == 0x20 || $0 == 0x09 } }
        return lines.first { !$0.isEmpty && $0.first != UInt8(ascii: "#") }?.starts(with: Array("capture ".utf8))
            ?? false
    }

    private func recorded(_ capture: Capture, _ path: String) throws -> [EmulatedCard] {
        do throws(RecordedCardError) {
            guard !capture.presentations.isEmpty else { throw .noCards }
            var cards: [EmulatedCard] = []
            for presentation in capture.presentations where presentation.connectFault == nil {
                let first = try RecordedCard(presentation)
                let name = (try? ATR(first.atr))?.cardName ?? "recorded card"
                // What makes one makes another.
                cards.append(EmulatedCard(name: name) { (try? RecordedCard(presentation)) ?? first })
            }
            guard !cards.isEmpty else { throw .unreadable }
            return cards
        } catch {
            throw ToolFailure("\(path): \(error)", exit: ToolExit.malformed)
        }
    }

    private func imaged(_ bytes: [UInt8], _ path: String) throws -> EmulatedCard {
        var product: CardImage.Product?
        if let card {
            product = CardImage.Product(kind: card)
            guard product != nil else {
                throw ValidationError("There are no images of cards of the kind '\(card)': take a MIFARE or NTAG one.")
            }
        }
        do throws(CardImageError) {
            let image = try CardImage(contents: bytes, of: product)
            let card = image.card()
            return EmulatedCard(name: image.product.name) { card }
        } catch {
            throw ToolFailure("could not use \(path) as a card's memory: \(error)", exit: ToolExit.malformed)
        }
    }
}
