import ArgumentParser
import ReaderKit
import ToolSupport

struct S550Register: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Reads and writes single settings.",
        subcommands: [S550RegisterRead.self, S550RegisterWrite.self]
    )
}

extension ReaderRegister: ExpressibleByArgument {
    /// Four hexadecimal digits.
    public init?(argument: String) { self.init(argument) }
}

struct S550RegisterRead: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Shows registers.",
        discussion: """
            Without an address all that are documented. A register that holds a key, or may, is never read.

            JSON: event ("register"), reader, way, register, name, value (absent if it is undefined, so that the default \
            is in force), default (if known), mayLockOut. A register of several that the reader does not show has an \
            error in place of its value.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "Addresses, such as 02D8.") var register: [ReaderRegister] = []

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        for register in register.isEmpty ? ReaderRegister.readable : register {
            do {
                try out.register("register", control, register, value: try await control.read(register))
            } catch let error as ControlError where self.register.count != 1 && error.isOfRegister {
                try out.done(
                    "register",
                    control,
                    ["register": register.hex, "name": register.name, "error": ErrorLine(error)],
                    text: "\(register.hex)  \(error)"
                )
            }
        }
    }
}

extension ControlError {
    /// Whether other registers may do better.
    fileprivate var isOfRegister: Bool {
        switch self {
        case .refused, .holdsKeys: true
        default: false
        }
    }
}

extension Output {
    /// Prints a register, never one that holds keys.
    func register(
        _ event: String,
        _ control: ReaderControl,
        _ register: ReaderRegister,
        value: [UInt8]?,
        _ more: JSONObject = [:]
    ) throws {
        let shown = register.holdsKeys ? nil : value
        var fields: JSONObject = [
            "register": register.hex, "name": register.name, "value": shown?.hex,
            "default": register.defaultValue?.hex, "mayLockOut": register.mayLockOut,
        ]
        fields.add(more)
        let words = register.holdsKeys ? "(not shown)" : shown?.hex ?? "undefined, the default is in force"
        try done(event, control, fields, text: "\(register.hex)  \(words)  \(register.name)")
    }

    /// Reports the present value of a register that is about to be written.
    func before(_ register: ReaderRegister, _ control: ReaderControl) async throws -> [UInt8]? {
        guard !register.holdsKeys else {
            message("Register \(register) holds a key, or may; its value is not read.")
            return nil
        }
        do {
            let value = try await control.read(register)
            message("Register \(register) is now \(value?.hex ?? "undefined (the default is in force)").")
            return value
        } catch ControlError.refused(_, let status) {
            message("The reader does not show register \(register): \(status).")
            return nil
        }
    }
}

struct S550RegisterWrite: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Writes a register, in effect after a reset.",
        discussion: """
            Its value before is shown first. Registers with which the reader can be locked out need --yes. A key \
            (02F3 to 02FF, and of a template the registers 03t5 to 03tF) is best given with --value-file, so that it is \
            in no history of commands; it is neither read back nor shown.

            EXAMPLES
              readerctl s550 register write 02D8 03
              readerctl s550 register write 02D8 --erase
              readerctl s550 register write 0318 --value-file vas.key

            JSON: event ("registerWritten"), reader, way, register, name, before and value (neither of a key), default, \
            mayLockOut, takesEffect ("afterReset").
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The address, such as 02D8.") var register: ReaderRegister
    // Text, since whoever parses arguments repeats one that is malformed, and it may be a key.
    @Argument(help: "The value in hexadecimal.") var value: String?
    @Option(
        help: ArgumentHelp("Take the value, in hexadecimal, from a file; '-' is standard input.", valueName: "file")
    )
    var valueFile: String?
    @Flag(help: "Remove the register, so that its default is in force.") var erase = false
    @Flag(help: "Write it although the reader may be locked out.") var yes = false

    func validate() throws {
        guard [value != nil, valueFile != nil, erase].count(where: { $0 }) == 1 else {
            throw ValidationError("Give a value, --value-file or --erase.")
        }
        guard let value else { return }
        guard let bytes = try? Hex.decode(value), !bytes.isEmpty else {
            throw ValidationError("The value is not hexadecimal, or empty; --erase restores the default.")
        }
    }

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        var value = try Hex.decode(value ?? "")
        if let valueFile {
            let text = String(decoding: try await InputFile.read(valueFile), as: UTF8.self)
            guard let bytes = try? Hex.decode(text), !bytes.isEmpty else {
                throw ToolFailure("\(valueFile) is not a value in hexadecimal.", exit: ToolExit.malformed)
            }
            value = bytes
        }
        let before = try await out.before(register, control)
        try await control.write(value, to: register, confirmed: yes)
        try out.register(
            "registerWritten",
            control,
            register,
            value: value.isEmpty ? nil : value,
            ["before": before?.hex, "takesEffect": "afterReset"]
        )
        out.message("It is in effect after 'readerctl s550 reset'.")
    }
}

struct S550Profile: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Shows or sets how the reader appears to a computer.",
        discussion: """
            \(ReaderProfile.allCases.map(\.name).joined(separator: ", ")). With any but pcsc this tool loses the reader \
            at the next reset, and only the vendor's tools bring it back: it needs --yes.

            JSON: event ("profile"), reader, way, profile (absent if register 02C0 is undefined), and after a change before \
            and takesEffect ("afterReset").
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The new profile.") var profile: ReaderProfile?
    @Flag(help: "Set it although PC/SC loses the reader.") var yes = false

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        guard let profile else {
            let present = ReaderProfile(register: try await control.read(.profile))?.name
            let text = "Profile: \(present ?? "undefined, the default is in force")"
            return try out.done("profile", control, ["profile": present], text: text)
        }
        let before = try await out.before(.profile, control)
        try await control.setProfile(profile, confirmed: yes)
        try out.done(
            "profile",
            control,
            [
                "profile": profile.name, "takesEffect": "afterReset",
                "before": ReaderProfile(register: before)?.name,
            ],
            text: "Profile: \(profile.name), in effect after 'readerctl s550 reset'."
        )
    }
}

extension ReaderProfile: ExpressibleByArgument {
    /// A profile by its name.
    public init?(argument: String) {
        guard let profile = Self.allCases.first(where: { $0.name.lowercased() == argument.lowercased() }) else {
            return nil
        }
        self = profile
    }

    /// The names.
    public static var allValueStrings: [String] { allCases.map(\.name) }
}
