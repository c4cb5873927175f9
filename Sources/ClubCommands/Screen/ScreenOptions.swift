import ArgumentParser
import KioskKit
import KioskTerminal
import ToolSupport

/// How the screen looks and speaks.
struct ThemeOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("theme"),
        help: ArgumentHelp(
            "The club's name, language, colours and words on the screen: YAML or JSON, read again when it changes.",
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var path: String?

    @Option(help: ArgumentHelp("The club's name on the screen, in place of the theme's.", valueName: "name"))
    var clubName: String?

    @Option(help: "The language of the screen, in place of the theme's: en, de, zh-Hans or ar.")
    var language: Language?

    /// The theme, with findings that are no errors as messages.
    ///
    /// - Throws: ``ThemeFileError``.
    func load(_ output: Output) throws -> Theme {
        var theme = Theme()
        if let path { theme = try ThemeFile(path).load() }
        for finding in theme.findings { output.message("Warning: \(finding)") }
        return with(theme)
    }

    /// A theme of the file, with what the command line overrides.
    func with(_ theme: Theme) -> Theme {
        var theme = theme
        if let clubName { theme.clubName = clubName }
        if let language { theme.language = language }
        return theme
    }
}

extension Language: ExpressibleByArgument {}

/// The screen of the kiosk.
struct ScreenOptions: ParsableArguments, Sendable {
    @Flag(help: "Print a line for each event also on a terminal, in place of the visitor's screen.")
    var plain = false

    @Flag(help: "Keep the names in the list of the latest taps: for a screen that only the staff see.")
    var desk = false
}

extension ThemeFileError: ExitCoded {
    package var exitCode: ExitCode { isUnreadable ? ToolExit.noInput : ToolExit.malformed }
    package var errorCode: String { isUnreadable ? "notReadable" : "malformedTheme" }
}
