import ArgumentParser
import ReaderKit
import ToolSupport

struct PassVAS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vas",
        abstract: "Makes keys for passes of Apple Wallet.",
        subcommands: [Keygen.self]
    )

    struct Keygen: ReportingCommand {
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

        func perform(_ out: Output) async throws {
            let key = AppleVASKey()
            try file.write(key.pem)
            try out.result(
                fields: [
                    "key": file.path, "identifier": Hex.encode(key.identifier),
                    "encryptionPublicKey": key.passEncryptionPublicKey,
                ],
                text: """
                    key         \(file.path)
                    identifier  \(Hex.encode(key.identifier))
                    for nfc.encryptionPublicKey in pass.json:
                    \(key.passEncryptionPublicKey)
                    """
            )
        }
    }
}
