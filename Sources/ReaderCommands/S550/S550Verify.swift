import ArgumentParser
import Diagnosis
import Foundation
import ReaderKit
import ToolSupport

struct S550Verify: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Finds out what only a real reader can show, for a report to send back.",
        discussion: """
            It takes some minutes and asks for a card: one of ISO 15693 answers most, any other will do. Nothing is \
            written to the reader; it plays two sequences, and goes off only if you agree, or with --shutdown. The \
            report has no serial number, no address and no identifier of a card. Questions that cannot be answered are \
            in it with the reason, and what was answered is in it even if the command is interrupted.

            EXAMPLES
              readerctl s550 verify report.txt

            JSON: a line for each finding with event ("finding"), reader, way, question (usb, firmware, escape, form, \
            battery, sequence, session, vicinity, shutdown) and answer.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Argument(help: "The report.") var file: String
    @Flag(help: "Replace a file that is there.") var force = false
    @Flag(help: "Find out whether the reader can be turned off, without asking.") var shutdown = false
    @Option(help: ArgumentHelp("Wait this many seconds for a card.", valueName: "seconds")) var timeout: Double = 60

    func validate() throws {
        guard timeout >= 0, timeout <= 3600 else { throw ValidationError("--timeout takes 0 to 3600 seconds.") }
    }

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        var lines = ["S550 report 1", "tool: readerctl \(ToolVersion.number)"]
        // Written at once, so that a file that cannot be written costs nobody's time, and again with each answer.
        func write(overwrite: Bool) throws {
            try OutputFile.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: file, overwrite: overwrite)
        }
        try write(overwrite: force)
        // What distinguishes this reader from others, and may stand in its answers and in errors.
        var unique = [control.reader.name, control.reader.serial ?? ""]
        func find(_ question: String, _ answer: () async throws -> String) async throws {
            var text: String
            do {
                text = try await answer()
            } catch let error as ControlError {
                text = "no answer: \(error.message)"
            } catch let error as ReaderError where error.kind != .cancelled {
                text = "no answer: \(error.kind.meaning)" + (error.code.map { " (\($0))" } ?? "")
            }
            for name in unique where name.count > 5 {
                text = text.replacingOccurrences(of: name, with: "‹omitted›", options: .caseInsensitive)
            }
            lines.append("\(question): \(text)")
            try write(overwrite: true)
            try out.done("finding", control, ["question": question, "answer": text], text: "\(question): \(text)")
        }
        try await find("usb") { Self.usb() }
        try await find("escape") { try await escape(control) }
        let hasCard = try await waitForCard(control, out)
        try await find("form") { try await hasCard ? forms(control) : Self.withoutCard }
        try await find("firmware") {
            let identity = try await control.identity()
            unique += ControlItem.allCases.filter(\.isUnique).compactMap { identity.text($0) }
            return firmware(identity)
        }
        try await find("battery") { try await batteries(control) }
        try await find("sequence") { try await sequences(control) }
        try await find("session") { try await hasCard ? session(control) : Self.withoutCard }
        try await find("vicinity") { try await hasCard ? vicinity(control) : Self.withoutCard }
        try await find("shutdown") { try await turnOff(control, out) }
        out.message("The report is in \(file). Please look through it, and send it back.")
    }

    private static let withoutCard = "not asked: no card was laid on the reader"

    // MARK: Questions

    /// The products of the SpringCard devices on the bus, and their descriptors, which have interfaces and slots in them
    /// and no serial number.
    private static func usb() -> String {
        let (machine, bus) = (Machine(), "/sys/bus/usb/devices")
        let devices = machine.names(in: bus).filter { machine.line("\(bus)/\($0)/idVendor") == "1c34" }
        guard !devices.isEmpty else { return "no device of SpringCard is on the bus" }
        return devices.map { device in
            let product = machine.line("\(bus)/\(device)/idProduct") ?? "?"
            let descriptors = machine.bytes("\(bus)/\(device)/descriptors", atMost: 4096)?.hex ?? "?"
            return "1c34:\(product) descriptors \(descriptors)"
        }.joined(separator: "; ")
    }

    private func escape(_ control: ReaderControl) async throws -> String {
        try await control.withChannel { channel in
            let reported = try channel.reportsEscape() ? "reported" : "not reported"
            do throws(ReaderError) {
                let answer = try channel.escape(ControlCommand.getData(0).bytes)
                return "\(reported), answered \(Self.shape(answer.prefix(1), answer.count - 1))"
            } catch {
                return "\(reported), refused" + (error.code.map { " (\($0))" } ?? "")
            }
        }
    }

    private func waitForCard(_ control: ReaderControl, _ out: Output) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(timeout)
        var isTold = false
        while true {
            do {
                _ = try await control.withChannel { try $0.transmit([0xFF, 0xCA, 0x00, 0x00, 0x00]) }
                return true
            } catch let error as ReaderError where error.kind != .cancelled {
                guard ContinuousClock.now < end, error.kind != .readerUnavailable else { return false }
                if !isTold {
                    out.message("Lay a card on the reader and leave it there, an ISO 15693 card if there is one.")
                }
                isTold = true
            }
            try await Task.sleep(for: .milliseconds(250))
        }
    }

    /// Each form with a question that has an answer, one that has none, and an unknown instruction.
    private func forms(_ control: ReaderControl) async throws -> String {
        let commands: [(String, [UInt8])] = [("00", [0x20, 0x00]), ("7F", [0x20, 0x7F]), ("INS 7F", [0x7F])]
        return try await control.withChannel { channel in
            func inInstruction(_ command: [UInt8]) -> [UInt8] {
                [0xFF, 0xF0, 0x00, 0x58, UInt8(command.count)] + command + [0x00]
            }
            func inClass(_ command: [UInt8]) -> [UInt8] {
                let data = command.dropFirst()
                let length: [UInt8] = data.isEmpty ? [] : [UInt8(data.count)]
                return [0xFF, 0xF0, 0x58, command[0]] + length + data
            }
            let forms = [("FF F0 00 58", inInstruction), ("FF F0 58", inClass)]
            return forms.map { name, form in
                let answers = commands.map { what, command in
                    guard let answer = try? channel.transmit(form(command)) else { return "\(what) no answer" }
                    return "\(what) \(Self.shape(answer.suffix(2), answer.count - 2))"
                }
                return "\(name): " + answers.joined(separator: ", ")
            }.joined(separator: "; ")
        }
    }

    private func firmware(_ identity: ReaderIdentity) -> String {
        let items: [ControlItem] = [
            .product, .firmware, .firmwareRevision, .version, .buildDate, .usbIdentifier, .antennaFirmware, .nfcChip,
        ]
        let texts = items.compactMap { item in identity.text(item).map { "\(item.name) \($0)" } }
        // Register 02B1 can put a part of the serial number into the name of a slot.
        let slots = identity.slots.map { name in ["Contactless", "Contact", "SAM"].first { name.contains($0) } ?? "?" }
        return (texts + ["slots \(slots.joined(separator: "/"))", "profile \(identity.profile?.name ?? "?")"])
            .joined(separator: ", ")
    }

    /// Identifiers outside the table whose nine bytes can be a battery's state, and the lengths of all others that answer.
    private func batteries(_ control: ReaderControl) async throws -> String {
        var (batteries, others): ([String], [String]) = ([], [])
        for item in UInt8.min...UInt8.max {
            try Task.checkCancellation()
            let known = ControlItem(rawValue: item)
            guard known == nil || known == .battery else { continue }
            do {
                let data = try await control.send(.getData(item))
                if let battery = ReaderBattery(data) {
                    batteries.append("\([item].hex) says \(battery.percent) %, \(battery.volts) V")
                } else {
                    others.append("\([item].hex) has \(data.count) bytes")
                }
            } catch ControlError.refused {
                // There is no such item.
            } catch let error as ReaderError where error.kind != .cancelled {
                others.append("asking ended with \([item].hex), \(error.kind.meaning)")
                break
            }
        }
        let found = batteries.isEmpty ? "none found" : batteries.joined(separator: ", ")
        return others.isEmpty ? found : "\(found); others: \(others.joined(separator: ", "))"
    }

    private func sequences(_ control: ReaderControl) async throws -> String {
        var answers: [String] = []
        for length in [1, 2] {
            do {
                _ = try await control.send(.playOnAntenna(0x24, bytes: length))
                answers.append("\(length) taken")
            } catch ControlError.refused(_, let status) {
                answers.append("\(length) refused: \(status)")
            }
            try await Task.sleep(for: .milliseconds(500))
        }
        return "bytes " + answers.joined(separator: ", ")
    }

    /// Whether the transparent session of PC/SC 3 is refused; one that begins is ended.
    private func session(_ control: ReaderControl) async throws -> String {
        try await control.withChannel { channel in
            let answer = try channel.transmit([0xFF, 0xC2, 0x00, 0x00, 0x02, 0x81, 0x00, 0x00])
            if answer.suffix(2) == [0x90, 0x00] {
                _ = try channel.transmit([0xFF, 0xC2, 0x00, 0x00, 0x02, 0x82, 0x00, 0x00])
            }
            return "FF C2 answered \(Self.shape(answer.suffix(2), answer.count - 2))"
        }
    }

    /// At which end of the identifier of an ISO 15693 card the E0 stands.
    private func vicinity(_ control: ReaderControl) async throws -> String {
        try await control.withChannel { channel in
            let answer = try channel.transmit([0xFF, 0xCA, 0x00, 0x00, 0x00])
            guard answer.count == 10, answer.suffix(2) == [0x90, 0x00], answer[0] == 0xE0 || answer[7] == 0xE0 else {
                return "not asked: the card is none of ISO 15693"
            }
            return answer[0] == 0xE0 ? "E0 comes first" : "E0 comes last"
        }
    }

    private func turnOff(_ control: ReaderControl, _ out: Output) async throws -> String {
        if !shutdown {
            let question = "May the reader be turned off? It has to be turned on again at the reader."
            guard Terminal.canAsk, try await Terminal.agrees(to: question, out) else { return "not asked: not agreed" }
        }
        try await control.shutdown()
        let end = ContinuousClock.now + .seconds(8)
        while ContinuousClock.now < end {
            do {
                _ = try await control.withChannel { try $0.reportsEscape() }
            } catch let error as ReaderError where error.kind == .readerUnavailable {
                return "accepted, and the reader left"
            } catch {}
            try await Task.sleep(for: .milliseconds(250))
        }
        return "accepted, and the reader stayed"
    }

    private static func shape(_ code: some Sequence<UInt8>, _ count: Int) -> String {
        code.hex + (count > 0 ? " and \(count) bytes" : "")
    }
}
