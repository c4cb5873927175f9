import ArgumentParser
import ReaderKit
import ToolSupport

struct S550Wink: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "wink",
        abstract: "Lets the reader show which one it is.",
        discussion: "JSON: event (\"winked\"), reader, way."
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        try await control.wink()
        try out.done("winked", control, text: "\(control.reader.name) shows which one it is.")
    }
}

struct S550LED: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "led",
        abstract: "Sets the lights.",
        discussion: """
            A colour is off, red, green, blue, orange, white or six hexadecimal digits (FF8000); a pattern is off, on, \
            slow, fast, breathing or two digits of SpringCore (00 off, 01 on, 02 to 0A blink, 0F breathes, 1x to 7x \
            flash), one for all lights or up to four, one for each; automatic gives the lights back. At the next card \
            the reader shows its own lights again, unless bit 0 of register 02D0 is set.

            EXAMPLES
              readerctl s550 led green
              readerctl s550 led --pattern slow
              readerctl s550 led automatic

            JSON: event ("lit"), reader, way, light.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The colour, or 'automatic'.") var colour: String?
    @Option(parsing: .upToNextOption, help: "Patterns in place of a colour.") var pattern: [String] = []

    func validate() throws { _ = try light() }

    private func light() throws -> ReaderLight {
        guard (colour == nil) != pattern.isEmpty else {
            throw ValidationError("Name a colour, 'automatic', or patterns with --pattern.")
        }
        guard let colour else {
            let patterns = try pattern.map { text in
                let coded = (try? Hex.decode(text)).flatMap { $0.count == 1 ? LightPattern(rawValue: $0[0]) : nil }
                guard let pattern = Self.patterns[text] ?? coded, pattern.isKnown else {
                    throw ValidationError(
                        "'\(text)' is no pattern: \(Self.patterns.keys.sorted().joined(separator: ", ")) or two digits."
                    )
                }
                return pattern
            }
            guard patterns.count <= 4 else { throw ValidationError("A reader has four lights at most.") }
            return patterns.count == 1 ? .pattern(patterns[0]) : .ramp(patterns)
        }
        if let named = Self.colours[colour] { return named }
        guard let bytes = try? Hex.decode(colour), bytes.count == 3 else {
            throw ValidationError(
                "'\(colour)' is no colour: \(Self.colours.keys.sorted().joined(separator: ", ")) or six digits."
            )
        }
        return .colour(red: bytes[0], green: bytes[1], blue: bytes[2])
    }

    private static let colours: [String: ReaderLight] = [
        "off": .off, "red": .red, "green": .green, "blue": .blue, "orange": .orange, "white": .white,
        "automatic": .automatic,
    ]

    private static let patterns: [String: LightPattern] = [
        "off": .off, "on": .on, "slow": .slow, "fast": .fast, "breathing": .breathing,
    ]

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        try await control.setLight(try light())
        let light = colour ?? pattern.joined(separator: " ")
        try out.done("lit", control, ["light": light], text: "The lights of \(control.reader.name) are set: \(light).")
    }
}

struct S550Sound: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "sound",
        abstract: "Sounds the buzzer, or plays a sound.",
        discussion: """
            EXAMPLES
              readerctl s550 sound
              readerctl s550 sound --milliseconds 500

            What --data means depends on the product (instruction 94); the S550's sounds are in its sequences \
            ('readerctl s550 sequence').

            JSON: event ("sounded"), reader, way, milliseconds or data.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Option(help: ArgumentHelp("How long, 0 (silence) to 65535.", valueName: "ms")) var milliseconds = 100
    @Option(help: ArgumentHelp("Play a sound by the product's own data instead.", valueName: "hex"))
    var data: HexArgument?

    func validate() throws {
        guard (0...65_535).contains(milliseconds) else {
            throw ValidationError("--milliseconds takes a number from 0 to 65535.")
        }
        guard data.map({ (1...64).contains($0.bytes.count) }) ?? true else {
            throw ValidationError("--data takes 1 to 64 bytes.")
        }
    }

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        if let data {
            try await control.sound(data.bytes)
        } else {
            try await control.buzz(for: .milliseconds(milliseconds))
        }
        try out.done(
            "sounded",
            control,
            ["milliseconds": data == nil ? milliseconds : nil, "data": data?.bytes.hex],
            text: "\(control.reader.name) sounds."
        )
    }
}

struct S550Volume: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "volume",
        abstract: "Sets the volume of an S550 or S370, 0 to 5.",
        discussion: """
            Without --keep until the next reset; with it register 02D8 is written too.

            JSON: event ("volume"), reader, way, volume, kept.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "0 (silent) to 5.") var volume: Int
    @Flag(help: "Keep it after a reset.") var keep = false

    func validate() throws {
        guard (0...5).contains(volume) else { throw ValidationError("The volume is a number from 0 to 5.") }
    }

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        try await control.setVolume(volume, keeping: keep)
        try out.done("volume", control, ["volume": volume, "kept": keep], text: "The volume is \(volume).")
    }
}

struct S550Theme: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "theme",
        abstract: "Sets the theme of an S550 or S370: how its lights and sounds are.",
        discussion: """
            Three numbers: what is common, cards, barcodes. The factory's are 2 2 3 (S550) and 1 2 3 (S370). Without \
            --keep until the next reset; with it register 02DA is written too.

            JSON: event ("theme"), reader, way, common, cards, barcodes, kept.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The theme of what is common.") var common: UInt8
    @Argument(help: "The theme of cards.") var cards: UInt8
    @Argument(help: "The theme of barcodes.") var barcodes: UInt8
    @Flag(help: "Keep it after a reset.") var keep = false

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        let theme = ReaderTheme(common: common, cards: cards, barcodes: barcodes)
        try await control.setTheme(theme, keeping: keep)
        try out.done(
            "theme",
            control,
            ["common": common, "cards": cards, "barcodes": barcodes, "kept": keep],
            text: "The theme is \(common) \(cards) \(barcodes)."
        )
    }
}

struct S550Sequence: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "sequence",
        abstract: "Plays a sequence of lights and sounds.",
        discussion: """
            A sequence is a number in hexadecimal, or without --antenna a name: \
            \(ReaderSequence.all.compactMap(\.name).joined(separator: ", ")).

            EXAMPLES
              readerctl s550 sequence tagRead
              readerctl s550 sequence --antenna 24

            JSON: event ("played"), reader, way, sequence, name, antenna.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The number in hexadecimal digits, or the name.") var sequence: String
    @Flag(help: "Play a sequence of the antenna board (S550, S370), 0000 to FFFF.") var antenna = false

    func validate() throws { _ = try number() }

    private func number() throws -> [UInt8] {
        if !antenna, let named = ReaderSequence(name: sequence) { return [named.rawValue] }
        guard let number = try? Hex.decode(sequence), (1...(antenna ? 2 : 1)).contains(number.count) else {
            let forms = antenna ? "two or four digits" : "a name, or two digits"
            throw ValidationError("'\(sequence)' is no sequence: \(forms).")
        }
        return number
    }

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        let number = try number()
        let sequence = antenna ? nil : ReaderSequence(rawValue: number[0])
        if let sequence {
            try await control.play(sequence)
        } else {
            try await control.playOnAntenna(number.reduce(0) { $0 << 8 | UInt16($1) })
        }
        try out.done(
            "played",
            control,
            ["sequence": number.hex, "name": sequence?.name, "antenna": antenna],
            text: "\(control.reader.name) plays the sequence."
        )
    }
}
