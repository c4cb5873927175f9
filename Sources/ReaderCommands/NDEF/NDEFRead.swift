import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

extension NDEFCommands {
    struct Read: ReportingCommand, OneCardCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads the message of a tag.",
            discussion: """
                A tag without a message is a state and no failure; only --raw and --output, which ask for its bytes, \
                exit with 1 where the tag has no place for one. A malformed message exits with 65 after the records \
                before the fault; --raw and --output take it as it is.

                EXAMPLES
                  readerctl ndef read
                  readerctl ndef read --json --timeout 60
                  readerctl ndef read --output card.ndef

                JSON keys: event ("read"), reader, uid, type, state (absent, empty, message), capacity, used, version, \
                readAccess, writeAccess (free, never, or key and a number), interrupted, ndef (the message in \
                hexadecimal), records, and error (code, offset, message) for a malformed message. \
                Where no tag was read it is {"error":{"code":...,"message":...}}, or {"event":"timeout"}.
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var reader: ReaderOptions
        @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
        @OptionGroup var card: CardOptions
        @OptionGroup var source: CardReplayOptions
        @OptionGroup var access: TagAccessOptions
        @Flag(help: "Print the message in hexadecimal and nothing else.")
        var raw = false
        @Option(
            name: [.customShort("o"), .customLong("output")],
            help: ArgumentHelp("Write the bytes of the message to a new file of mode 0600.", valueName: "file"),
            completion: .file()
        )
        var file: String?
        @Flag(help: "Replace the file if it exists.")
        var force = false
        @Flag(help: "Take a malformed message for no failure.")
        var lenient = false

        func validate() throws {
            if raw, output.json { throw ValidationError("Give either --raw or --json.") }
            if force, file == nil { throw ValidationError("--force needs --output.") }
        }

        func perform(_ out: Output) async throws {
            let access = try await access.access(out)
            let (content, line) = try await cards.withCard(out, replaying: source.replay) { card in
                var tag = try access.open(card)
                let content = try tag.readNDEF()
                return (content, TagLine(.read, content, card))
            }
            if raw || file != nil {
                guard let bytes = content.ndef.bytes else {
                    throw ToolFailure(
                        "The tag has no place for a message. 'readerctl ndef format' makes one where it can."
                    )
                }
                if let file { try OutputFile.write(bytes, to: file, overwrite: force) }
                if raw { return try out.text(bytes.hex) }
            }
            try out.result(line, text: line.state.text)
            if let fault = line.state.error {
                out.message("\(lenient ? "warning: " : "")\(fault)")
                if !lenient, file == nil { throw ToolExit.malformed }
            }
        }
    }

    struct Dump: ReportingCommand, OneCardCommand {
        static let configuration = CommandConfiguration(
            abstract: "Reads all of a tag's memory that can be read.",
            discussion: """
                Each line has the address, the bytes, their text, and what they are for. What is protected is named and \
                left out, and so are keys.

                EXAMPLES
                  readerctl ndef dump
                  readerctl ndef dump --key A0A1A2A3A4A5

                JSON keys: event ("dump"), reader, uid, type and parts, an array of name, bytes (absent where they may \
                not be read) and note.
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var reader: ReaderOptions
        @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
        @OptionGroup var card: CardOptions
        @OptionGroup var source: CardReplayOptions
        @OptionGroup var access: TagAccessOptions

        func perform(_ out: Output) async throws {
            let access = try await access.access(out)
            let (found, reader, uid) = try await cards.withCard(
                out,
                replaying: source.replay,
                within: ReaderLimits.workDuration
            ) { card in
                var tag = try access.open(card)
                return (try tag.dump(), card.presence.reader.name, card.uid)
            }
            // A capture does not describe what the tag refused from what nobody asked it.
            let missing = source.replay == nil ? "not readable" : "not recorded"
            var dump = found
            if source.replay != nil {
                for index in dump.parts.indices where dump.parts[index].note == "protected" {
                    dump.parts[index].note = "not recorded, or protected"
                }
            }
            if dump.parts.isEmpty {
                let reason =
                    dump.type == .type4
                    ? "the card has no NDEF application, and its other files are its own."
                    : "the tag gives nothing of its memory."
                out.message("There is nothing to show: \(reason)")
                if !out.isJSON { return }
            }
            try out.result(
                fields: [
                    "event": "dump", "reader": reader, "uid": uid?.hex, "type": dump.type,
                    "parts": dump.parts.map {
                        ["name": $0.name, "bytes": $0.bytes?.hex, "note": $0.note] as JSONObject
                    },
                ],
                text: Self.text(dump, missing)
            )
        }

        private static func text(_ dump: TagDump, _ missing: String) -> String {
            let width = dump.parts.map(\.name.count).max() ?? 0
            let bytes = min(dump.parts.map { $0.bytes?.count ?? 0 }.max() ?? 0, 16)
            return dump.parts.flatMap { part -> [String] in
                let missing = part.note?.hasSuffix("never shown") == true ? "not readable" : missing
                let rows = stride(from: 0, to: max(1, part.bytes?.count ?? 1), by: 16).map { start in
                    part.bytes.map { $0[min(start, $0.count)..<min(start + 16, $0.count)] }
                }
                return rows.enumerated().map { index, row in
                    let hex = row.map { Hex.encode($0, separator: " ") } ?? missing
                    let ascii = row.map { "|\(HexDump.ascii($0))|" } ?? ""
                    let cells = [
                        (index == 0 ? part.name : "").padded(to: width), hex.padded(to: max(3 * bytes - 1, 0)),
                        ascii.padded(to: bytes + 2), index == 0 ? part.note ?? "" : "",
                    ]
                    return cells.joined(separator: "  ").trimmedEnd
                }
            }
            .joined(separator: "\n")
        }
    }
}
