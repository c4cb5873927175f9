import ArgumentParser
import ReaderKit

/// The settings of readers in Smart Reader mode, which their lines omit.
package struct SmartReaderOptions: ParsableArguments, Sendable {
    package static let title = "Readers in Smart Reader mode"

    @Option(
        name: .customLong("smart-reader-template"),
        help: ArgumentHelp(
            "What a template of the readers looks for, as 1=D1; may be given several times.",
            discussion: """
                A line has the number of the template, 1 to 4, that read the card. The code behind it is that of the \
                reader's register 03t0: D1 for Apple VAS, D2 for Google Smart Tap, 4E for NDEF. Without it a pass that is \
                a mere word names no member.
                """,
            valueName: "number=code"
        )
    )
    package var templates: [SmartReaderTemplate] = []

    @Option(
        name: .customLong("smart-reader-format"),
        help: ArgumentHelp(
            "The one form of the lines: \(SmartReaderFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            discussion: "Without it each line is taken as what it looks like.",
            valueName: "format"
        )
    )
    package var format: SmartReaderFormat?

    @Option(
        name: .customLong("smart-reader-prefix"),
        help: ArgumentHelp("What stands before each identifier in plain text.", valueName: "text")
    )
    package var prefix: String?

    @Option(
        name: .customLong("smart-reader-suffix"),
        help: ArgumentHelp("What stands behind it; a line end counts in any case.", valueName: "text")
    )
    package var suffix: String?

    @Option(
        name: .customLong("smart-reader-speed"),
        help: ArgumentHelp("The speed of serial lines in bits per second, 115200 otherwise.", valueName: "speed")
    )
    package var speed: Int?

    package init() {}

    package func validate() throws {
        if let speed, !SmartReaderConfiguration.speeds.contains(speed) {
            let speeds = SmartReaderConfiguration.speeds.map(String.init).joined(separator: ", ")
            throw ValidationError("--smart-reader-speed takes one of \(speeds).")
        }
        var numbers: Set<UInt8> = []
        for template in templates where !numbers.insert(template.number).inserted {
            throw ValidationError("--smart-reader-template has twice what template \(template.number) looks for.")
        }
    }

    package var configuration: SmartReaderConfiguration {
        var configuration = SmartReaderConfiguration(format: format)
        for template in templates { configuration.templates[template.number] = template.code }
        if let prefix { configuration.prefix = Array(prefix.utf8) }
        if let suffix { configuration.suffix = Array(suffix.utf8) }
        if let speed { configuration.speed = speed }
        return configuration
    }
}

/// A template of a reader and what it looks for, as a person writes it: `1=D1`.
package struct SmartReaderTemplate: ExpressibleByArgument, Sendable {
    /// 1 to 4.
    package let number: UInt8
    /// The code of register 03t0.
    package let code: UInt8

    package init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let number = UInt8(parts[0]), (1...4).contains(number), parts[1].utf8.count == 2,
            let code = UInt8(parts[1], radix: 16)
        else { return nil }
        (self.number, self.code) = (number, code)
    }
}

extension SmartReaderFormat: ExpressibleByArgument {}
