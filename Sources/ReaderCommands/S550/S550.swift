import ArgumentParser
import ReaderKit
import ToolSupport

struct S550Commands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "s550",
        abstract: "Controls an S550, and readers of its kind: lights, sounds, settings.",
        discussion: """
            Commands go to the reader itself. The driver has to allow them: set bit 0 of ifdDriverOptions (0x0001) in \
            /etc/libccid_Info.plist and restart pcscd. Without that they go through a card, as long as one lies on the \
            reader. Without --reader it is the one reader of SpringCard's (or for lights and sounds ACS' ACR122U) that is \
            there; of several name one. One that is named is taken for SpringCard's whatever its name.

            Registers that hold keys, or may, are never read and never shown.

            Every JSON line has event, reader and way (escape: without a card; controlInstruction, controlClass, \
            controlLegacy, apdu: through the card). What could not be done is {"error":{"code":...,"message":...}}.

            Exit codes: 1 it was refused, or the driver lets nothing through; 64 usage, also where --yes is missing, or \
            --reader to choose one of several; 65 a malformed file; 66 no such file; 69 no such reader, or no pcscd; 74 \
            the reader was lost midway, or a file cannot be written.
            """,
        subcommands: [
            S550Info.self, S550Wink.self, S550LED.self, S550Sound.self, S550Volume.self, S550Theme.self,
            S550Sequence.self, S550Register.self, S550Profile.self, S550Reset.self, S550Shutdown.self,
            S550Config.self, S550Verify.self,
        ]
    )
}

extension ReaderSelection {
    /// Does some work with the reader that is meant.
    ///
    /// - Throws: ``ReaderError/Kind/readerUnavailable`` if there is none, ``ToolFailure`` if there are several.
    func withControl<Result>(_ work: (ReaderControl) async throws -> Result) async throws -> Result {
        try await withBackend { backend in
            try await work(try control(among: try await present(of: backend), of: backend))
        }
    }

    func control(among present: [ReaderStatus], of backend: any ReaderBackend) throws -> ReaderControl {
        let usable = present.filter { $0.reader.backend == .pcsc && $0.unavailability == nil }
        let known = usable.filter { ControlDialect(reader: $0.reader.name) != nil }
        let meant = known.isEmpty && isChoice ? usable : known
        // The slot with a card first, through which commands can go where the driver lets none through.
        guard let status = meant.first(where: { $0.card != nil }) ?? meant.first else {
            throw ReaderError(
                .readerUnavailable,
                attempting: "find a reader that can be controlled",
                detail: present.isEmpty ? nil : "there are only others",
                advice: "Plug it in, or name it with --reader; 'readerctl list' shows the readers that are there."
            )
        }
        // Names end in the number of the device and that of its slot.
        guard Set(meant.map { $0.reader.name.dropLast(3) }).count == 1 else {
            let names = meant.map(\.reader.name).joined(separator: ", ")
            throw ToolFailure("Several readers can be meant; name one with --reader: \(names).", exit: ToolExit.usage)
        }
        let dialect = ControlDialect(reader: status.reader.name) ?? .springCore
        return try ReaderControl(status.reader, of: backend, dialect: dialect)
    }
}

/// A command to a reader itself.
protocol S550Command: ReportingCommand, ReaderCommand {
    /// Does the work with the reader.
    func perform(_ control: ReaderControl, _ out: Output) async throws
}

extension S550Command {
    func perform(_ out: Output) async throws {
        try await readers.withControl { try await perform($0, out) }
    }
}

extension Output {
    /// Prints what was done with a reader.
    func done(_ event: String, _ control: ReaderControl, _ fields: JSONObject = [:], text: String) throws {
        var line: JSONObject = ["event": event, "reader": control.reader.name, "way": control.way?.rawValue]
        line.add(fields)
        try result(line, text: text)
    }
}

/// Bytes as an argument.
struct HexArgument: ExpressibleByArgument, Sendable {
    var bytes: [UInt8]

    init?(argument: String) {
        guard let bytes = try? Hex.decode(argument) else { return nil }
        self.bytes = bytes
    }
}
