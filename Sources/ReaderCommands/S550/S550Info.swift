import ArgumentParser
import ReaderKit
import ToolSupport

struct S550Info: S550Command {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Shows what the reader reports of itself.",
        discussion: """
            EXAMPLES
              readerctl s550 info
              readerctl s550 info --json

            JSON: event ("info"), reader, way, dialect, isS550, items (name to text; bytes in hexadecimal), slots, \
            profile, antennaFirmware, and battery (percent, volts, celsius, isNew, current) where there is one.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @Option(help: ArgumentHelp("The identifier of the battery's state, BC otherwise.", valueName: "hex"))
    var batteryItem: HexArgument?

    func validate() throws {
        guard batteryItem.map({ $0.bytes.count == 1 }) ?? true else {
            throw ValidationError("--battery-item takes two hexadecimal digits, as 'readerctl s550 verify' finds them.")
        }
    }

    func perform(_ control: ReaderControl, _ out: Output) async throws {
        let identity = try await control.identity()
        let battery = try await control.battery(item: batteryItem?.bytes.first ?? ControlItem.battery.rawValue)
        let items = ControlItem.allCases.compactMap { item -> (String, String)? in
            guard item != .battery, let text = identity.text(item) else { return nil }
            return (item.name, text)
        }
        var lines: InfoLines = [
            "reader": control.reader.name, "way": control.way?.text,
            "profile": identity.profile?.name, "slots": identity.slots.joined(separator: ", "),
            "antenna": identity.antennaFirmware,
            "battery": battery.map { "\($0.percent) %, \($0.volts) V, \($0.celsius) °C" + ($0.isNew ? ", new" : "") },
        ]
        for (name, text) in items { lines.add(name, text) }
        try out.done(
            "info",
            control,
            [
                "dialect": control.dialect.rawValue, "isS550": identity.isS550,
                "items": Dictionary(uniqueKeysWithValues: items), "slots": identity.slots,
                "profile": identity.profile?.name, "antennaFirmware": identity.antennaFirmware,
                "battery": battery.map { BatteryLine($0) },
            ],
            text: lines.rows(width: 26).joined(separator: "\n")
        )
    }
}

private struct BatteryLine: Encodable, Sendable {
    var percent: Int
    var volts: Double
    var celsius: Double
    var isNew: Bool
    var current: Int

    init(_ battery: ReaderBattery) {
        percent = battery.percent
        volts = battery.volts
        celsius = battery.celsius
        isNew = battery.isNew
        current = Int(battery.current)
    }
}

extension ControlWay {
    /// The way for people.
    var text: String {
        switch self {
        case .escape: "escape commands, without a card"
        case .controlInstruction: "through the card, FF F0 00 58"
        case .controlClass: "through the card, FF F0 58"
        case .controlLegacy: "through the card, FF F0 00 00"
        case .apdu: "through the card"
        }
    }
}
