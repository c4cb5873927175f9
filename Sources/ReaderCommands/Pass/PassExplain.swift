import ArgumentParser
import ReaderKit
import ToolSupport

struct PassExplain: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains a recorded conversation with a phone or a card, line by line.",
        discussion: """
            Under each line of the capture stands what it is, and under that its parts, each with its place and length in \
            the message, its name, what it holds and what that means: data objects, NDEF records, fields, status words. It \
            knows the passes of Apple and Google wallets, NDEF tags, DESFire cards, commands to readers, and the frames by \
            which cards and phones are looked for. What it does not know it marks as unknown.

            What is in the capture is shown, members' identifiers included; long values are cut, unless --full is given, \
            and whole in JSON. Keys and passwords are left out, but those that everybody knows. What is encrypted stays so. \
            To give a capture to somebody, see 'readerctl capture redact'.

            Exit code 0 if the capture is well formed, 65 if it is malformed (with its line and column), 66 if it is \
            missing.

            EXAMPLES
              readerctl pass explain tap.capture
              readerctl pass explain --json tap.capture

            JSON keys, one object a line of the capture: kind (card, fact, command, answer, frame, frameAnswer, control, \
            controlAnswer, fault, removal, report), statement (the line as a capture writes it), title (what it is), and \
            where they apply line (its number in the file), presentation (from 1), reader, at (seconds since the start), \
            bytes, fields. A field has name and length, and where they apply offset (in the message; within a field that \
            is joined, in that one), value (hexadecimal), text, meaning, joined (true for what was put together from \
            several answers, or inflated) and fields.
            """
    )

    @OptionGroup var output: OutputOptions
    @Flag(help: "Do not cut long values.")
    var full = false
    @Argument(help: "The capture file.", completion: .file(extensions: ["capture"]))
    var capture: String

    func perform(_ out: Output) async throws {
        let explanation = try ConversationExplanation(contentsOf: capture)
        for line in explanation.lines {
            try Task.checkCancellation()
            try out.result(line, text: line.text(longestValue: full ? nil : 64))
        }
    }
}
