import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

extension NDEFCommands {
    struct Write: ReportingCommand, OneCardCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes a message to a tag.",
            discussion: """
                The message is read back and compared. A message that the tag has no room for, and a tag that is read \
                only or not formatted, change nothing. If the tag leaves while it is written, it holds the old message, \
                the new one, or is an empty tag that can be written again.

                Several records may be given; they are written in the order URIs, then texts. A message in hexadecimal \
                or of a file is checked, and written as it is.

                EXAMPLES
                  readerctl ndef write --uri https://club.example/m/42
                  readerctl ndef write --text "4|U1|x|Ann" --language en
                  readerctl ndef write D101 0155 00
                  readerctl ndef write --file - < card.ndef
                  readerctl ndef write --empty

                JSON keys: those of 'ndef read', event being "written".
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var reader: ReaderOptions
        @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
        @OptionGroup var card: CardOptions
        @OptionGroup var access: TagAccessOptions
        @OptionGroup var message: NDEFMessageOptions
        @Option(
            help: ArgumentHelp("Write the bytes of this file, '-' for standard input.", valueName: "file"),
            completion: .file()
        )
        var file: String?
        @Flag(help: "Write the bytes of HEX or of the file even if they are no NDEF message.")
        var unchecked = false
        @Flag(help: "Make the tag an empty one; a message of no bytes is refused without it.")
        var empty = false

        /// The file whose bytes are to be written, where it is one; `-` alone is standard input.
        private var path: String? { file ?? (message.hex == ["-"] ? "-" : nil) }

        /// Not in validate(), which would hide a slip in an option's name.
        private func check() throws {
            let isMessageGiven = !message.hex.isEmpty || !message.uri.isEmpty || !message.text.isEmpty
            if unchecked, message.hex.isEmpty, file == nil { throw ValidationError("--unchecked needs HEX or --file.") }
            if empty, !isMessageGiven, file == nil { return }
            if file == nil ? !message.isGiven : isMessageGiven {
                throw ValidationError("Give one of: a message in hexadecimal, --file, --uri and --text, or --empty.")
            }
        }

        func perform(_ out: Output) async throws {
            try check()
            let bytes = try await bytes()
            let access = try await access.access(out)
            let line = try await cards.withCard(out, within: ReaderLimits.workDuration, finishing: true) { card in
                var tag = try access.open(card)
                try TagAccess.telling(out, .write) { try tag.writeNDEF(bytes) }
                // Opened anew, so that nothing is remembered of what was written.
                tag = try access.open(card)
                let content = try tag.readNDEF()
                let read = content.ndef.bytes ?? []
                guard read == bytes else {
                    let same = zip(read, bytes).prefix { $0 == $1 }.count
                    throw TagError.notWritten(offset: same)
                }
                return TagLine(.written, content, card)
            }
            try out.result(line, text: "Written and compared: \(line.state.summary)")
        }

        private func bytes() async throws -> [UInt8] {
            let bytes: [UInt8]
            let source: String
            if let path {
                bytes = try await InputFile.read(path)
                source = path == "-" ? "standard input" : path
            } else if !message.hex.isEmpty {
                bytes = try message.bytes()
                source = "HEX"
            } else if message.isGiven {
                bytes = try message.message().encoded(limits: .maximum)
                source = "the records"
            } else {
                return []
            }
            guard bytes.isEmpty == empty else {
                throw ToolFailure(
                    empty
                        ? "--empty makes the tag an empty one, and there are \(bytes.count) bytes in \(source)."
                        : "There are no bytes in \(source). --empty makes the tag an empty one.",
                    exit: ToolExit.malformed
                )
            }
            guard !unchecked, !bytes.isEmpty else { return bytes }
            do {
                _ = try NDEFMessage(decoding: bytes, limits: .maximum)
            } catch {
                throw InputMessageError(in: source, error, advice: "Correct it, or write it as it is with --unchecked.")
            }
            return bytes
        }
    }

    struct Format: ReportingCommand, OneCardCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes an unformatted tag one that can hold a message.",
            discussion: """
                A tag that is formatted is left as it is. Nothing is formatted that would have to be undone and cannot, \
                or that belongs to somebody else.

                EXAMPLES
                  readerctl ndef format
                  readerctl ndef format --key FFFFFFFFFFFF --key-b

                JSON keys: those of 'ndef read', event being "formatted" or "unchanged".
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var reader: ReaderOptions
        @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
        @OptionGroup var card: CardOptions
        @OptionGroup var access: TagAccessOptions

        func perform(_ out: Output) async throws {
            let access = try await access.access(out)
            let line = try await cards.withCard(out, within: ReaderLimits.workDuration, finishing: true) { card in
                var tag = try access.open(card, usesCardKey: true)
                let before = try tag.readNDEF()
                if before.area != nil { return TagLine(.unchanged, before, card) }
                out.message(Self.announcement(tag.type))
                if let key = access.cardKey {
                    try DESFireNDEF.format(over: card.channel, masterKey: key)
                } else {
                    try TagAccess.telling(out, .format) { try tag.formatNDEF() }
                }
                tag = try access.open(card, usesCardKey: true)
                return TagLine(.formatted, try tag.readNDEF(), card)
            }
            let what = line.event == .unchanged ? "Formatted already, and left as it is" : "Formatted"
            try out.result(line, text: "\(what): \(line.state.summary)")
        }

        private static func announcement(_ type: TagType) -> String {
            switch type {
            case .type2, .type5: "Writing a capability container and an empty message. The container stays for ever."
            case .mifareClassic: "Writing a directory, the public keys of NDEF sectors, and an empty message."
            case .type4: "Making the NDEF application with its two files, and an empty message."
            case .type1, .type3: "Writing an empty message."
            }
        }
    }

    struct Repair: ReportingCommand, OneCardCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes a tag whose writing was interrupted a clean empty one.",
            discussion: """
                Any other tag is left as it is.

                JSON keys: those of 'ndef read', event being "repaired" or "unchanged".
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var reader: ReaderOptions
        @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
        @OptionGroup var card: CardOptions
        @OptionGroup var access: TagAccessOptions

        func perform(_ out: Output) async throws {
            let access = try await access.access(out)
            let line = try await cards.withCard(out, within: ReaderLimits.workDuration, finishing: true) { card in
                var tag = try access.open(card)
                let event: TagLine.Event =
                    switch try tag.repairNDEF() {
                    case .repaired: .repaired
                    case .notNeeded: .unchanged
                    }
                tag = try access.open(card)
                return TagLine(event, try tag.readNDEF(), card)
            }
            try out.result(
                line,
                text: line.event == .repaired
                    ? "Writing had been interrupted; the tag is empty now: \(line.state.summary)"
                    : "There was nothing to repair: \(line.state.summary)"
            )
        }
    }
}
