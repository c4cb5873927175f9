import ArgumentParser
import ReaderKit
import ToolSupport

struct PassSmartTap: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "smarttap",
        abstract: "Makes keys for passes of Google Wallet.",
        subcommands: [Keygen.self, PreSign.self]
    )

    struct Keygen: ReportingCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a terminal's key, and the public key that is registered.",
            discussion: """
                The private key stays on the readers' computers. The public key is registered in the Google Pay & \
                Wallet console, under a version of your choice; the console gives out the collector's number.

                EXAMPLES
                  readerctl pass smarttap keygen -o smarttap.pem

                JSON keys: key (the file), publicKey (PEM).
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var file: NewKeyOptions

        func perform(_ out: Output) async throws {
            // Whose it is and under which version is known only after it was registered.
            let key = SmartTapKey(collectorID: 0, version: 0)
            try file.write(key.pem)
            try out.result(
                fields: ["key": file.path, "publicKey": key.publicKeyPEM],
                text: "key  \(file.path)\nto be registered:\n\(key.publicKeyPEM)"
            )
        }
    }

    struct PreSign: ReportingCommand {
        static let configuration = CommandConfiguration(
            commandName: "presign",
            abstract: "Makes a signature in advance, for a terminal that is not to hold the key.",
            discussion: """
                The file names its terminal to phones in place of the key ("preSigned" in the configuration). It is \
                kept like a key. A recorded tap looks like a fresh one with it.

                EXAMPLES
                  readerctl pass smarttap presign --key smarttap.pem --collector 20180608 --key-version 1 -o door.json

                JSON keys: preSigned (the file), collector, keyVersion.
                """
        )

        @OptionGroup var output: OutputOptions
        @Option(help: ArgumentHelp("The file with the key.", valueName: "file"), completion: .file())
        var key: String
        @Option(help: ArgumentHelp("The collector's number.", valueName: "number"))
        var collector: UInt32
        @Option(help: ArgumentHelp("The version under which the key is registered.", valueName: "number"))
        var keyVersion: UInt32
        @OptionGroup var file: NewKeyOptions

        func perform(_ out: Output) async throws {
            let long = try PassKeyFiles(folder: ".").key(key, .curve) {
                SmartTapKey(pem: $0, collectorID: collector, version: keyVersion)
            }
            try file.write(try SmartTapPreSignature(long).text)
            try out.result(
                fields: ["preSigned": file.path, "collector": collector, "keyVersion": keyVersion],
                text: "signed in advance: \(file.path)"
            )
        }
    }
}
