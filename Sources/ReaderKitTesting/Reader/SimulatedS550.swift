import ReaderKit
import Synchronization

/// What an S550 is beside its cards: the part of a SpringCore reader that answers commands to the reader itself (class 58),
/// with its registers, sounds and lights.
///
/// A ``SimulatedReader`` that has one answers them within command APDUs, in process and behind the real pcscd;
/// ``SimulatedBackend`` passes escape commands as well.
public final class SimulatedS550: Sendable {
    /// The form in which the reader's APDU interpreter takes commands to the reader.
    public enum Form: Sendable, Hashable, CaseIterable {
        /// `FF F0 00 58 Lc INS data 00`
        case instruction
        /// `FF F0 58 INS Lc data`
        case `class`
    }

    /// Something that the reader did.
    public enum Action: Sendable, Hashable {
        /// It showed which one it is.
        case winked
        /// It played a sequence, of the antenna board or its own.
        case played(UInt16, onAntenna: Bool)
        /// It set its coloured light: a pattern, a colour, or a colour and a time.
        case lit([UInt8])
        /// It set each of its lights to a pattern.
        case litEach([UInt8])
        /// It sounded its buzzer for that many milliseconds.
        case buzzed(Int)
        /// It played a sound.
        case sounded([UInt8])
        /// It set its volume.
        case volume(Int)
        /// It set its theme.
        case theme([UInt8])
        /// It restarted.
        case restarted(hard: Bool)
        /// It went off.
        case shutDown
    }

    private struct State {
        var registers: [UInt16: [UInt8]]
        var inForce: [UInt16: [UInt8]]
        var items: [UInt8: [UInt8]]
        var actions: [Action] = []
        var isOff = false
        var lockedRegister: UInt16?
    }

    /// Whether the driver passes escape commands; the real one does so only if configured.
    public let passesEscape: Bool

    /// The form of its commands within APDUs.
    public let form: Form

    private let sequenceBytes: Int
    private let slots: [String]
    private let state: Mutex<State>

    /// Creates a reader with the settings of the factory, but for the profile PC/SC.
    ///
    /// - Parameters:
    ///   - serial: the serial number.
    ///   - passesEscape: whether the driver passes escape commands.
    ///   - form: the form of its commands within APDUs.
    ///   - buildDate: the date of the firmware. Before 2022 an antenna sequence has one byte, later two.
    ///   - battery: the state of the battery, nine bytes; `nil` for a reader without one.
    ///   - batteryItem: the identifier that GET DATA takes for it.
    ///   - slots: the names of the slots.
    ///   - registers: registers that are defined.
    public init(
        serial: String = "000A1B2C",
        passesEscape: Bool = true,
        form: Form = .instruction,
        buildDate: String = "2024-03-12 10:21:07",
        battery: [UInt8]? = SimulatedS550.battery(percent: 83),
        batteryItem: UInt8 = ControlItem.battery.rawValue,
        slots: [String] = ["Contactless", "SAM"],
        registers: [UInt16: [UInt8]] = [0x02C0: [0x02]]
    ) {
        self.passesEscape = passesEscape
        self.form = form
        sequenceBytes = buildDate < "2022" ? 1 : 2
        self.slots = slots
        let texts: [ControlItem: String] = [
            .deviceName: "Socket Mobile S550", .vendor: "Socket Mobile", .product: "S550", .serial: serial,
            .usbIdentifier: "1C346122", .version: "1.31", .firmwareRevision: "1.31-0-g537fdbb",
            .firmware: "springcore/h518/s550", .builder: "factory", .buildDate: buildDate,
            .bluetoothAddress: "00:07:80:0A:1B:2C", .bluetoothName: "S550 " + serial,
            .uniqueIdentifier: "6a1f0b52-0000-4000-8000-0000\(serial)", .hardware: "S550", .nfcLibrary: "3.20",
            .smartCardLibrary: "2.10", .bluetoothLibrary: "1.9", .kernelVersion: "10.4", .kernel: "FreeRTOS",
            .antennaFirmware: "2.03", .antennaHardware: "B", .nfcChip: "CLRC663", .smartCardChip: "TDA8035",
            .bluetoothChip: "BGM121",
        ]
        var items = Dictionary(uniqueKeysWithValues: texts.map { ($0.rawValue, Array($1.utf8)) })
        items[ControlItem.rawSlotCount.rawValue] = [UInt8(slots.count)]
        items[ControlItem.rawSerial.rawValue] = (try? Hex.decode(serial)) ?? []
        items[ControlItem.rawUSBIdentifier.rawValue] = [0x1C, 0x34, 0x61, 0x22]
        items[ControlItem.rawVersion.rawValue] = [0x01, 0x31]
        items[batteryItem] = battery
        state = Mutex(State(registers: registers, inForce: registers, items: items))
    }

    /// The state of a battery in the nine bytes of GET DATA: 3.98 V, 24.5 °C, new, charging.
    public static func battery(percent: UInt8) -> [UInt8] { [percent, 0x01, 0x8E, 0x09, 0x92, 0x12, 0x34, 0x00, 0x40] }

    /// What the reader did, the first first.
    public var actions: [Action] { state.withLock { $0.actions } }

    /// The value of a register in its memory; `nil` if it is undefined.
    public subscript(register: UInt16) -> [UInt8]? {
        get { state.withLock { $0.registers[register] } }
        set { state.withLock { $0.registers[register] = newValue } }
    }

    /// The registers that are in force since the last start.
    public func inForce(_ register: UInt16) -> [UInt8]? { state.withLock { $0.inForce[register] } }

    /// Whether the reader was turned off; it answers nothing then.
    public var isOff: Bool { state.withLock { $0.isOff } }

    /// A register that may not be written.
    public var lockedRegister: UInt16? {
        get { state.withLock { $0.lockedRegister } }
        set { state.withLock { $0.lockedRegister = newValue } }
    }

    /// An item of its description; `nil` if it has none.
    func item(_ item: ControlItem) -> [UInt8]? { state.withLock { $0.items[item.rawValue] } }

    /// Turns the reader off, as its button does.
    public func turnOff() { state.withLock { $0.isOff = true } }

    /// Turns the reader on again.
    public func turnOn() { state.withLock { $0.isOff = false } }

    /// Sets the battery's charge.
    public func setBattery(percent: UInt8, item: UInt8 = ControlItem.battery.rawValue) {
        state.withLock { $0.items[item] = Self.battery(percent: percent) }
    }

    // MARK: Answers

    /// Answers an escape command with a status and data, or `nil` if the reader is off or goes.
    public func receive(escape command: [UInt8]) -> [UInt8]? {
        guard !isOff else { return nil }
        guard command.count >= 2, command[0] == 0x58 else { return [Self.unknown] }
        return state.withLock { answer(command[1], Array(command[2...]), &$0) }
    }

    /// Answers a command APDU `FF F0` in the reader's form, with data and a status word.
    func receive(apdu command: [UInt8]) -> [UInt8]? {
        guard !isOff else { return nil }
        guard command.count >= 4 else { return Status.wrongLength }
        var data: [UInt8] = []
        if command.count > 5 {
            let end = 5 + Int(command[4])
            guard command.count == end || command.count == end + 1 else { return Status.wrongLength }
            data = Array(command[5..<end])
        }
        let answer: [UInt8]?
        switch (form, command[2], command[3]) {
        case (.instruction, 0x00, let family):
            guard !data.isEmpty else { return Status.wrongLength }
            answer = receive(escape: [family] + data)
        case (.class, let family, let code): answer = receive(escape: [family, code] + data)
        case (.instruction, _, _): return Status.wrongParameters
        }
        guard let answer, let status = answer.first else { return nil }
        return Array(answer.dropFirst()) + [0x90, status]
    }

    private static let unknown: UInt8 = 0x17
    private static let denied: UInt8 = 0x16
    private static let wrongCount: UInt8 = 0x0C
    private static let wrongValue: UInt8 = 0x0D

    private func answer(_ code: UInt8, _ data: [UInt8], _ state: inout State) -> [UInt8]? {
        let done: [UInt8] = [0x00]
        switch (code, data.count) {
        case (0x20, 1): return state.items[data[0]].map { done + $0 } ?? [Self.unknown]
        case (0x21, 1): return Int(data[0]) < slots.count ? done + Array(slots[Int(data[0])].utf8) : [Self.wrongValue]
        case (0x81, 2): return read(data, state)
        case (0x82, 2...): return write(data, &state)
        case (0x88, 2...): return product(data, &state)
        case (0x8E, 0): restart(hard: false, &state)
        case (0x8E, 2) where data == [0xDE, 0xAD]: restart(hard: true, &state)
        case (0x8F, 0): state.inForce = state.registers
        case (0x90, 1): state.actions.append(.played(UInt16(data[0]), onAntenna: false))
        case (0x91, 1), (0x91, 3), (0x91, 5): state.actions.append(.lit(data))
        case (0x92, 1...4): state.actions.append(.litEach(data))
        case (0x93, 2): state.actions.append(.buzzed(Int(data[0]) << 8 | Int(data[1])))
        case (0x94, 1...): state.actions.append(.sounded(data))
        case (0x9F, 0): state.actions.append(.winked)
        case (0xAF, 2) where data == [0xDE, 0xAD]:
            state.actions.append(.shutDown)
            state.isOff = true
            return nil
        case (0x20, _), (0x21, _), (0x81, _), (0x82, _), (0x88, _), (0x90, _), (0x91, _), (0x92, _), (0x93, _),
            (0x94, _):
            return [Self.wrongCount]
        default: return [Self.unknown]
        }
        return done
    }

    private func restart(hard: Bool, _ state: inout State) {
        state.inForce = state.registers
        state.actions.append(.restarted(hard: hard))
    }

    private func address(_ data: [UInt8]) -> UInt16 { UInt16(data[0]) << 8 | UInt16(data[1]) }

    /// Bits 5 and 4 of the second byte of the access conditions: 0 free, 1 write only, 3 locked.
    private func access(_ state: State) -> UInt8 {
        guard let conditions = state.inForce[0x02F0], conditions.count == 4 else { return 0 }
        return conditions[1] >> 4 & 0x03
    }

    private func read(_ data: [UInt8], _ state: State) -> [UInt8] {
        let address = address(data)
        // It gives keys away, as a careless firmware would, so that tests see whoever asks for them.
        guard access(state) == 0 else { return [Self.denied] }
        return [0x00] + (state.registers[address] ?? [])
    }

    private func write(_ data: [UInt8], _ state: inout State) -> [UInt8] {
        let (address, value) = (address(data), Array(data[2...]))
        guard access(state) < 2, (0x0200...0x03FF).contains(address), address != state.lockedRegister else {
            return [Self.denied]
        }
        guard value.count <= 64 else { return [Self.wrongCount] }
        state.registers[address] = value.isEmpty ? nil : value
        return [0x00]
    }

    private func product(_ data: [UInt8], _ state: inout State) -> [UInt8] {
        switch (data[0], data[1], data.count - 2) {
        case (0x00, 0x00, 0): return [0x00] + Array("2.03".utf8)
        case (0x00, 0x01, sequenceBytes):
            let sequence = data[2...].reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
            state.actions.append(.played(sequence, onAntenna: true))
        case (0x00, 0x01, _): return [Self.wrongCount]
        case (0x01, 0x00, 1):
            guard data[2] <= 5 else { return [Self.wrongValue] }
            state.actions.append(.volume(Int(data[2])))
        case (0x02, 0x00, 4): state.actions.append(.theme(Array(data[3...])))
        default: return [Self.unknown]
        }
        return [0x00]
    }
}

extension SimulatedS550: Hashable {
    /// Whether both are one reader.
    public static func == (one: SimulatedS550, other: SimulatedS550) -> Bool { one === other }

    /// Hashes which reader it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The way to a simulated reader itself. It belongs to one thread at a time.
final class SimulatedReaderChannel: ReaderChannel {
    private let reader: SimulatedReader
    private let control: SimulatedS550
    private let card: (any SimulatedCard)?

    init(_ reader: SimulatedReader, _ control: SimulatedS550, _ card: (any SimulatedCard)?) {
        self.reader = reader
        self.control = control
        self.card = card
    }

    func reportsEscape() -> Bool { control.passesEscape }

    func escape(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "send a command to the reader"
        guard control.passesEscape else { throw ReaderError(.unsupported, attempting: attempt) }
        guard let answer = control.receive(escape: command) else {
            throw ReaderError(.readerUnavailable, attempting: attempt)
        }
        return answer
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "send a command to the reader through its card"
        guard let card else { throw ReaderError(.cardRemoved, attempting: attempt) }
        guard let answer = reader.transmit(command, to: card) else { throw ReaderError(.timeout, attempting: attempt) }
        return answer
    }
}
