import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct TagAccessOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The password of an NTAG, 8 digits; '-' asks for it. It is neither kept nor shown.",
            discussion: "On the command line other users of this machine can see it: prefer '-'.",
            valueName: "hex"
        )
    )
    var password: String?

    @Option(
        help: ArgumentHelp(
            "A key of a MIFARE Classic, 12 digits, or of a DESFire or NTAG 424, 32 digits; '-' asks for it.",
            discussion: """
                That of a Classic is tried before the public ones. That of the others is tried once: 'format' takes \
                the card's AES master key, 'lock' the key 0 of the NDEF application.
                """,
            valueName: "hex"
        )
    )
    var key: String?

    @Flag(help: "The key is key B of the sectors, not key A.")
    var keyB = false

    func validate() throws {
        if keyB, key == nil { throw ValidationError("--key-b needs --key.") }
        if password == "-", key == "-" { throw ValidationError("Only one of --password and --key can be asked for.") }
    }

    func access(_ output: Output) async throws -> TagAccess {
        var access = TagAccess(side: keyB ? .b : .a)
        if let password { access.password = try await Self.secret(password, [4], "password", output) }
        if let key {
            let bytes = try await Self.secret(key, [6, 16], "key", output)
            access.key = ClassicKey(bytes)
            access.cardKey = SecretKey(bytes)
        }
        return access
    }

    /// The message never quotes what was typed.
    private static func secret(
        _ text: String,
        _ counts: [Int],
        _ name: String,
        _ output: Output
    ) async throws -> [UInt8] {
        var typed = text
        if text == "-" {
            typed = try await SecretPrompt.ask("The \(name), in hexadecimal: ")
        } else {
            output.message("warning: a \(name) on the command line can be seen by other users of this machine")
        }
        guard let bytes = try? Hex.decode(typed), counts.contains(bytes.count) else {
            let digits = counts.map { "\(2 * $0)" }.joined(separator: " or ")
            throw ToolFailure("A \(name) has \(digits) hexadecimal digits.", exit: ToolExit.malformed)
        }
        return bytes
    }
}

struct TagAccess: Sendable {
    var password: [UInt8]?
    /// A key of six bytes.
    var key: ClassicKey?
    var side = ClassicKey.Side.a
    /// A key of sixteen bytes.
    var cardKey: SecretKey?

    /// Opens the card as a tag of its kind.
    ///
    /// - Parameter usesCardKey: whether ``cardKey`` is of use for what shall be done with the tag.
    func open(_ card: CardOnReader, usesCardKey: Bool = false) throws -> any NDEFTag {
        guard let tag = try TagReader.open(over: card.channel, limits: .maximum) else {
            throw ToolFailure("The card on the reader is no tag for NDEF messages. 'readerctl info' shows what it is.")
        }
        if let key {
            guard tag.type == .mifareClassic else {
                throw ToolFailure("A --key of 12 digits is for MIFARE Classic; this is a \(tag.type.name) tag.")
            }
            var keys = ClassicKeys.publicKeys
            for sector in 0..<40 { keys[sector, side] = key }
            return MIFAREClassicTag(card.channel, limits: .maximum, keys: keys)
        }
        if cardKey != nil {
            guard tag.type == .type4, usesCardKey else {
                throw ToolFailure("A --key of 32 digits is for 'format' and 'lock' of a DESFire or NTAG 424.")
            }
        }
        if let password {
            guard tag.type == .type2 else {
                throw ToolFailure("--password is for NTAG; this is a \(tag.type.name) tag.")
            }
            // The tag sends the password itself, also where it has to be sent again.
            return Type2Tag(card.channel, limits: .maximum, password: password)
        }
        return tag
    }
}

enum SecretPrompt {
    /// A line from standard input, not echoed where that is a terminal.
    static func ask(_ prompt: String) async throws -> String {
        var before = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &before) == 0
        if isTerminal {
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
            FileHandle.standardError.write(Data(prompt.utf8))
        }
        defer {
            if isTerminal {
                tcsetattr(STDIN_FILENO, TCSANOW, &before)
                Output.tell("")
            }
        }
        return try await BlockingThread.run(name: "secret") { try InputLines($0).next() ?? "" }
    }
}
