import ArgumentParser
import ReaderKit
import ToolSupport

/// The message that a command is to encode or write.
struct NDEFMessageOptions: ParsableArguments, Sendable {
    @Option(help: "A URI record. May be given several times.")
    var uri: [String] = []
    @Option(help: "A text record. May be given several times.")
    var text: [String] = []
    @Option(help: "The language of the texts, as in BCP 47.")
    var language = "en"
    @Argument(help: "A whole message in hexadecimal.")
    var hex: [String] = []

    /// Whether there is one, and not two.
    var isGiven: Bool { hex.isEmpty != (uri.isEmpty && text.isEmpty) }

    func message() throws -> NDEFMessage {
        if !hex.isEmpty {
            let bytes = try bytes()
            do {
                return try NDEFMessage(decoding: bytes)
            } catch {
                throw InputMessageError(in: "HEX", error, advice: "Correct the argument.")
            }
        }
        var records: [NDEFRecord] = []
        guard uri.allSatisfy({ !$0.isEmpty }) else {
            throw ToolFailure("--uri needs a URI that is not empty.", exit: ToolExit.malformed)
        }
        for uri in uri { records.append(try .uri(uri)) }
        for text in text { records.append(try .text(text, language: language)) }
        return NDEFMessage(records)
    }

    /// The bytes of ``hex``.
    func bytes() throws -> [UInt8] {
        do {
            return try Hex.decode(hex.joined(separator: " "))
        } catch {
            throw ToolFailure("could not read HEX: \(error)", exit: ToolExit.malformed)
        }
    }
}
