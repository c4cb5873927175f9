import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct PassSDM: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sdm",
        abstract: "Checks addresses that tags sign (NTAG 424 DNA).",
        subcommands: [Verify.self]
    )

    struct Verify: ReportingCommand {
        static let configuration = CommandConfiguration(
            abstract: "Checks whether a tag signed an address, and shows what the address holds.",
            discussion: """
                Layout and keys come from a configuration, whose first part for the address counts, or from options. \
                Whether the counter has grown since the last tap is not checked here.

                Exit code 0 if the signature is right, 1 if it is wrong, 65 if the address is not as the layout requires or \
                a key is none, 66 if a file is missing.

                EXAMPLES
                  readerctl pass sdm verify --passes passes.json 'https://club.example/t?e=EF96…&c=94EE…'
                  readerctl pass sdm verify --file-key file.key --uid uid --counter ctr --mac cmac 'https://…'
                  readerctl pass sdm verify --file-key file.key --meta-key meta.key --picc picc_data --mac cmac 'https://…'

                JSON keys: event ("sdm"), valid (true), uid, counter, fileData (hexadecimal); what the tag omits \
                is absent.
                """
        )

        @OptionGroup var output: OutputOptions
        @Option(help: ArgumentHelp("The configuration with layout and keys.", valueName: "file"), completion: .file())
        var passes: String?
        @Option(
            help: ArgumentHelp("The file with the key that codes are made with.", valueName: "file"),
            completion: .file()
        )
        var fileKey: String?
        @Option(
            help: ArgumentHelp("The file with the key for identifier and counter.", valueName: "file"),
            completion: .file()
        )
        var metaKey: String?
        @Option(help: ArgumentHelp("The parameter with both, encrypted.", valueName: "name"))
        var picc: String?
        @Option(help: ArgumentHelp("The parameter with the identifier in the open.", valueName: "name"))
        var uid: String?
        @Option(help: ArgumentHelp("The parameter with the counter in the open.", valueName: "name"))
        var counter: String?
        @Option(help: ArgumentHelp("The parameter with encrypted file data.", valueName: "name"))
        var fileData: String?
        @Option(help: ArgumentHelp("The parameter with the code.", valueName: "name"))
        var mac = "cmac"
        @Option(help: ArgumentHelp("The parameter at whose value the signed part begins.", valueName: "name"))
        var signedFrom: String?
        @Argument(help: "The address, as the tag wrote it.")
        var url: String

        func validate() throws {
            guard (passes == nil) != (fileKey == nil) else {
                throw ValidationError("Give either --passes, or --file-key with the names of the parameters.")
            }
            guard passes != nil || picc != nil || uid != nil || counter != nil else {
                throw ValidationError("Name the parameters: --picc, or --uid and --counter.")
            }
        }

        func perform(_ out: Output) async throws {
            let verifier = try await verifier()
            let tap: SDMTap
            do throws(SDMError) {
                tap = try verifier.verify(url)
            } catch {
                throw ToolFailure("\(error)", exit: error.isMalformed ? ToolExit.malformed : ToolExit.failure)
            }
            let uid = tap.uid.isEmpty ? nil : tap.uid.hex
            try out.result(
                fields: [
                    "event": "sdm", "valid": true, "uid": uid, "counter": tap.counter, "fileData": tap.fileData?.hex,
                ],
                text: """
                    signature  right
                    uid        \(uid ?? "not stated")
                    counter    \(tap.counter.map(String.init) ?? "not stated")
                    """ + (tap.fileData.map { "\nfile data  \($0.hex)" } ?? "")
            )
        }

        private func verifier() async throws -> SDMVerifier {
            if let passes {
                let site = try PassConfiguration(path: passes).site(besides: passes)
                guard let tags = site.signingTags.first(where: { $0.matches(url) }) else {
                    throw ToolFailure(
                        "could not check the address: the configuration has no signing tags with that host and path. Add "
                            + "them to 'signingTags'.",
                        exit: ToolExit.malformed
                    )
                }
                return tags.verifier
            }
            let files = PassKeyFiles(folder: ".")
            func key(_ file: String) throws -> SecretKey {
                try files.key(file, .tag) { SecretKey(text: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            }
            let (file, meta) = (try key(fileKey ?? ""), try metaKey.map(key))
            let layout = SDMLayout(
                piccData: picc,
                uid: uid,
                counter: counter,
                fileData: fileData,
                mac: mac,
                signedFrom: signedFrom
            )
            return SDMVerifier(layout: layout, keys: SDMKeys(metaRead: meta, fileRead: file))
        }
    }
}
