import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct S550Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Saves, compares and restores all settings, without keys.",
        subcommands: [S550ConfigSave.self, S550ConfigDiff.self, S550ConfigRestore.self]
    )
}

struct S550ConfigSave: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Writes the settings of the reader into a file.",
        discussion: """
            The file is text, a register on a line, and made to be read and changed. Keys are not in it.

            EXAMPLES
              readerctl s550 config save reader.settings

            JSON: event ("saved"), reader, way, file, registers (how many), omitted (those that the reader does not show, \
            or with a length that is not documented).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The file.") var file: String
    @Flag(help: "Replace a file that is there.") var force = false

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        let settings = try await control.settings()
        try OutputFile.write(Array(settings.text.utf8), to: file, overwrite: force)
        let omitted = ReaderRegister.readable.filter { settings.values[$0] == nil }.map(\.hex)
        if !omitted.isEmpty {
            out.message("Not in the file, since the reader does not show them: \(omitted.joined(separator: ", ")).")
        }
        try out.done(
            "saved",
            control,
            ["file": file, "registers": settings.values.count, "omitted": omitted],
            text: "\(settings.values.count) registers are in \(file)."
        )
    }
}

struct S550ConfigDiff: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Shows which settings of the reader differ from a file.",
        discussion: """
            Exit code 0 if none does, 1 if some do.

            JSON: event ("difference"), reader, way, register, name, default, mayLockOut, value (the reader's, absent if \
            it is undefined or not shown), wanted (the file's, absent for the default).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The file.") var file: String

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        let differences = try await control.differences(from: try await S550Config.settings(in: file))
        for difference in differences {
            try out.difference("difference", control, difference)
        }
        if differences.isEmpty { return out.message("The settings are those of the file.") }
        throw ToolExit.failure
    }
}

struct S550ConfigRestore: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Writes the settings of a file that the reader does not have.",
        discussion: """
            Each is read back, and printed when it is written; they are in effect after a reset. If a register is among \
            them with which the reader can be locked out, or the file is from a reader with another firmware, nothing is \
            written without --yes. If the reader is unplugged midway, run the command again: it writes the rest.

            JSON: event ("restored"), and the keys of 'config diff'.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The file.") var file: String
    @Flag(help: "Write registers too with which the reader can be locked out, and of another firmware.") var yes = false

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        let wanted = try await S550Config.settings(in: file)
        let written = try await control.restore(wanted, confirmed: yes) { differences in
            for difference in differences where difference.register.mayLockOut {
                let value = difference.present.map { $0.isEmpty ? "undefined (the default is in force)" : $0.hex }
                out.message("Register \(difference.register) is now \(value ?? "not shown").")
            }
        } written: {
            try out.difference("restored", control, $0)
        }
        out.message(
            written.isEmpty
                ? "The settings are those of the file already." : "They are in effect after 'readerctl s550 reset'."
        )
    }
}

extension S550Config {
    static func settings(in file: String) async throws -> ReaderSettings {
        try ReaderSettings(parsing: try await InputFile.read(file))
    }
}

extension Output {
    fileprivate func difference(
        _ event: String,
        _ control: ReaderControl,
        _ difference: ReaderSettings.Difference
    ) throws {
        func hex(_ value: [UInt8]?) -> String? { value.flatMap { $0.isEmpty ? nil : $0.hex } }
        let register = difference.register
        try done(
            event,
            control,
            [
                "register": register.hex, "name": register.name, "value": hex(difference.present),
                "wanted": hex(difference.wanted), "default": register.defaultValue?.hex,
                "mayLockOut": register.mayLockOut,
            ],
            text:
                "\(register.hex)  \(hex(difference.present) ?? "-") → \(hex(difference.wanted) ?? "-")  \(register.name)"
        )
    }
}
