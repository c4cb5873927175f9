import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

extension NDEFCommands {
    struct Lock: ReportingCommand, OneCardCommand {
        static let configuration = CommandConfiguration(
            abstract: "Makes the message of a tag unchangeable for ever.",
            discussion: """
                Nothing undoes it. It wants the card's identifier, given with --confirm or typed when asked; another \
                card on the reader is not locked. Without --confirm and without a terminal to ask on, it is a usage \
                error (64).

                Type 4 cards state in their capability container that nobody may write. Some go on taking writes to the \
                container, and a program that ignores the standard can unlock these: it is tried, without changing \
                anything, and said. Take a card that keeps the lock itself where that matters.

                EXAMPLES
                  readerctl ndef lock
                  readerctl ndef lock --confirm 04A1B2C3D4E580
                  readerctl ndef lock --key -      (a DESFire or NTAG 424: asks for its key)

                JSON keys: those of 'ndef read', event being "locked", and for Type 4 enforced: whether the \
                card itself keeps the lock.
                """
        )

        @OptionGroup var output: OutputOptions
        @OptionGroup var reader: ReaderOptions
        @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
        @OptionGroup var card: CardOptions
        @OptionGroup var access: TagAccessOptions
        @Option(help: ArgumentHelp("Lock the card with this identifier, for ever.", valueName: "uid"))
        var confirm: String?

        func perform(_ out: Output) async throws {
            // Not in validate(), which would hide a slip in an option's name.
            if confirm == nil, isatty(STDIN_FILENO) == 0 {
                throw ValidationError(
                    "Locking is for ever. Without a terminal to ask on, name the card: --confirm with its UID."
                )
            }
            let confirmed = try confirm.map { try CardUID(text: $0) }
            let access = try await access.access(out)
            let line = try await cards.withCard(out, within: ReaderLimits.workDuration, finishing: true) { card in
                var tag = try access.open(card, usesCardKey: true)
                let uid = try confirmed ?? Self.ask(card, tag.readNDEF(), out)
                let confirmation = PermanentLock(ofCardWith: uid)
                if let key = access.cardKey {
                    try TagAccess.telling(out, .lock) {
                        try DESFireNDEF.lock(confirmation, over: card.channel, key: key)
                    }
                } else {
                    try TagAccess.telling(out, .lock) { try tag.lock(confirmation) }
                }
                tag = try access.open(card, usesCardKey: true)
                var line = TagLine(.locked, try tag.readNDEF(), card)
                if var smartCard = tag as? Type4Tag { line.enforced = try smartCard.keepsLock() }
                return line
            }
            try out.result(line, text: line.enforced == false ? Self.unenforced(line) : Self.enforced(line))
        }

        private static func enforced(_ line: TagLine) -> String { "Locked for ever: \(line.state.summary)" }

        private static func unenforced(_ line: TagLine) -> String {
            """
            Locked, but by the card's word alone: \(line.state.summary)
              It goes on taking writes to its capability container: a program that ignores the standard can unlock it.
            """
        }

        private static func ask(_ card: CardOnReader, _ content: TagContent, _ out: Output) throws -> CardUID {
            guard let uid = card.uid else {
                throw ToolFailure("The reader does not report which card it has; it cannot be locked.")
            }
            let name = card.channel.facts.atr.flatMap { try? ATR($0) }?.cardName ?? content.type?.name ?? "card"
            out.message(
                """
                Card  \(name) on \(card.presence.reader.name)
                UID   \(uid.hex)
                \(TagState(content).text)

                Locked, this message can be changed by nobody, for ever. Nothing undoes it.
                Type the UID to lock the card for ever, anything else to leave it as it is:
                """
            )
            let answer = try InputLines(card.cancellation).next() ?? ""
            guard let typed = try? CardUID(text: answer.trimmingCharacters(in: .whitespaces)), typed.bytes == uid.bytes
            else { throw ToolFailure("That is not the UID of this card. Nothing was changed.") }
            return uid
        }
    }
}
