import ArgumentParser
import ReaderKit
import ToolSupport

/// `readerctl pass vas`
struct PassVAS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vas",
        abstract: "Makes keys for passes of Apple Wallet.",
        subcommands: [Keygen.self]
    )

    /// `readerctl pass vas keygen`
    struct Keygen: ToolCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a key that opens passes, and the public key that goes into them.",
            discussion: """
                The private key stays on the readers' computers. The public key goes into pass.json of every pass, as \
                nfc.encryptionPublicKey, before the pass is signed and given out.

                EXAMPLES
                  readerctl pass vas keygen -o vas.pem

                JSON keys: key (the file), identifier (what cryptograms name the key by), encryptionPublicKey.
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var file: NewKeyOptions

        func perform() async throws {
            let out = output.output
            try await out.tellingErrors {
                let key = AppleVASKey()
                try file.write(key.pem)
                let line = Line(
                    key: file.path,
                    identifier: Hex.encode(key.identifier),
                    encryptionPublicKey: key.passEncryptionPublicKey
                )
                try out.result(
                    line,
                    text: """
                        key         \(line.key)
                        identifier  \(line.identifier)
                        for nfc.encryptionPublicKey in pass.json:
                        \(line.encryptionPublicKey)
                        """
                )
            }
        }

        private struct Line: Encodable {
            var key: String
            var identifier: String
            var encryptionPublicKey: String
        }
    }
}
