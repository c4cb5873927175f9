import Synchronization

/// Controls a reader itself: its lights, sounds and settings.
///
/// ```swift
/// let control = try ReaderControl(reader, of: backend)
/// try await control.setLight(.green)
/// try await control.buzz(for: .milliseconds(80))
/// ```
///
/// Commands go as escape commands, for which the driver has to allow them and no card is needed, or else within command
/// APDUs while a card is on the reader. Which way is open is found out with the first command and remembered. Each call
/// runs on the thread of the reader's conversations and waits for one under way, so a call never comes between two commands
/// to a card; it has the deadline of other card calls.
///
/// Every method throws ``ControlError`` for what the reader or its driver does not do, and ``ReaderError`` for faults of
/// the way to it. Keys are never read, logged or part of an error.
public final class ReaderControl: Sendable {
    /// The reader.
    public let reader: ReaderInfo

    /// How it is controlled.
    public let dialect: ControlDialect

    private let backend: any ReaderBackend
    private let withoutCard: Bool
    private let found = Mutex<ControlWay?>(nil)
    private let sequenceLength = Mutex<Int?>(nil)

    /// Creates a control of a reader. The reader is not accessed yet.
    ///
    /// - Parameters:
    ///   - dialect: how the reader is controlled, by its name if `nil`.
    ///   - withoutCard: whether only escape commands are sent, so that no card is touched.
    /// - Throws: ``ControlError/unknownReader(_:)`` if the name identifies no dialect.
    public init(
        _ reader: ReaderInfo,
        of backend: any ReaderBackend,
        dialect: ControlDialect? = nil,
        withoutCard: Bool = false
    ) throws(ControlError) {
        guard let dialect = dialect ?? ControlDialect(reader: reader.name) else { throw .unknownReader(reader.name) }
        self.reader = reader
        self.backend = backend
        self.dialect = dialect
        self.withoutCard = withoutCard
    }

    /// The way that was found; `nil` before the first command.
    public var way: ControlWay? { found.withLock(\.self) }

    /// Finds the way to the reader, if it was not found before.
    ///
    /// - Throws: ``ControlError/escapeDisabled(reader:_:)`` if there is none.
    @discardableResult
    public func open() async throws -> ControlWay { try await perform { $0.way } }

    func perform<Result: Sendable>(
        _ work: @escaping @Sendable (ControlSession) throws -> Result
    ) async throws -> Result {
        let (dialect, name, known, withoutCard) = (dialect, reader.name, way, withoutCard)
        let (way, result) = try await backend.withReader(reader) { channel in
            let session = try ControlSession(channel, dialect, reader: name, known: known, withoutCard: withoutCard)
            return (session.way, Swift.Result { try work(session) })
        }
        // A way that failed is looked for again: a card left, or the driver was set otherwise.
        let isOpen =
            switch result {
            case .success: true
            case .failure(ControlError.escapeDisabled): false
            case .failure(let error): error is ControlError
            }
        found.withLock { $0 = isOpen ? way : nil }
        return try result.get()
    }

    /// Does some work with the way to the reader itself, for questions that no method asks.
    package func withChannel<Result: Sendable>(
        _ work: @escaping @Sendable (any ReaderChannel) throws -> Result
    ) async throws -> Result {
        try await backend.withReader(reader, perform: work)
    }

    // MARK: Lights and sounds

    /// Sets the lights. Bytes of a colour beyond what the reader has are ignored.
    public func setLight(_ light: ReaderLight) async throws {
        let message = try dialect.light(light)
        try await perform { _ = try $0.send(message) }
    }

    /// Sounds the buzzer for that time, at most 65 s.
    public func buzz(for duration: Duration) async throws {
        let milliseconds = duration.seconds * 1000
        guard (0...65_535).contains(milliseconds) else {
            throw ControlError.outOfRange("could not sound the buzzer: 0 to 65535 milliseconds, not \(duration)")
        }
        let message = dialect.buzz(milliseconds: UInt16(milliseconds))
        try await perform { _ = try $0.send(message) }
    }

    /// Lets the reader show which one it is. Readers without such a command blink and buzz.
    public func wink() async throws {
        guard dialect != .springCore else { return try await perform { _ = try $0.send(.wink) } }
        // In a task of its own: one that is cancelled midway would leave the light as it is.
        try await Task {
            try await setLight(dialect == .csb6 ? .pattern(.fast) : .orange)
            let sound = await Task { try await buzz(for: .milliseconds(300)) }.result
            try await Task.sleep(for: .milliseconds(700))
            try await setLight(.automatic)
            try sound.get()
        }.value
    }

    /// Plays one of the sequences that SpringCore readers have.
    public func play(_ sequence: ReaderSequence) async throws {
        try await perform { _ = try $0.send(.play(sequence.rawValue)) }
    }

    /// Plays a sequence of the antenna board (S550, S370).
    ///
    /// Firmware from 2022 on takes the identifier in two bytes, older one in one: which it is follows from the date of the
    /// firmware, and if the reader refuses that length the other is tried.
    public func playOnAntenna(_ sequence: UInt16) async throws {
        let known = sequenceLength.withLock(\.self)
        let length = try await perform { session in
            var length = known ?? 2
            if known == nil {
                let date = try session.ask(.getData(ControlItem.buildDate.rawValue)) ?? []
                let identity = ReaderIdentity(items: [.buildDate: date], slots: [])
                if let year = identity.buildYear, year < 2022 { length = 1 }
            }
            if length == 1 && sequence > 0xFF { length = 2 }
            do {
                try session.send(.playOnAntenna(sequence, bytes: length))
            } catch ControlError.refused(let command, let status) {
                guard [.byteCount, .value, .coding].contains(status), known == nil, sequence <= 0xFF else {
                    throw ControlError.refused(command, status)
                }
                length = 3 - length
                try session.send(.playOnAntenna(sequence, bytes: length))
            }
            return length
        }
        sequenceLength.withLock { $0 = length }
    }

    /// Sends SET SOUND (INS 94) with those data, which depend on the product.
    public func sound(_ data: [UInt8]) async throws {
        guard data.count <= 64 else { throw ControlError.outOfRange("could not play the sound: more than 64 bytes") }
        try await perform { _ = try $0.send(.init(.sound, data)) }
    }

    /// Sets the volume, 0 to 5 (S550, S370).
    ///
    /// - Parameter keeping: whether it stays after a reset (register 02D8).
    public func setVolume(_ volume: Int, keeping: Bool = false) async throws {
        guard (0...5).contains(volume) else {
            throw ControlError.outOfRange("could not set the volume: 0 to 5, not \(volume)")
        }
        let value = UInt8(volume)
        try await perform { _ = try $0.send(.volume(value)) }
        if keeping { try await write([value], to: .sound) }
    }

    /// Sets the theme (S550, S370).
    ///
    /// - Parameter keeping: whether it stays after a reset (register 02DA).
    public func setTheme(_ theme: ReaderTheme, keeping: Bool = false) async throws {
        try await perform { _ = try $0.send(.theme(theme)) }
        if keeping { try await write([theme.common, theme.cards, theme.barcodes], to: .theme) }
    }

    // MARK: What it is

    /// Asks the reader for everything that it reports of itself.
    public func identity() async throws -> ReaderIdentity {
        try await perform { session in
            var identity = ReaderIdentity(items: [:], slots: [])
            for item in ControlItem.allCases {
                guard let value = try session.ask(.getData(item.rawValue)), !value.isEmpty else { continue }
                identity.items[item] = value
            }
            let count = identity.items[.rawSlotCount]?.first ?? 8
            for slot in 0..<min(count, 8) {
                guard let name = try session.ask(.slotName(slot)), !name.isEmpty else { break }
                identity.slots.append(ReaderIdentity.text(name))
            }
            identity.profile = ReaderProfile(
                register: try session.ask(.readRegister(ReaderRegister.profile.address))
            )
            if let version = try session.ask(.antennaFirmware), !version.isEmpty {
                identity.antennaFirmware = ReaderIdentity.text(version)
            }
            return identity
        }
    }

    /// Asks for the battery's state.
    ///
    /// - Parameter item: the identifier that GET DATA takes for it.
    /// - Returns: `nil` if the reader has no battery, or reports none.
    public func battery(item: UInt8 = ControlItem.battery.rawValue) async throws -> ReaderBattery? {
        guard dialect == .springCore else { return nil }
        return try await perform { try $0.ask(.getData(item)).flatMap { ReaderBattery($0) } }
    }

    // MARK: Registers

    /// Reads a register.
    ///
    /// - Returns: its value, or `nil` if it is undefined, so that the default is in force.
    /// - Throws: ``ControlError/holdsKeys(_:)`` for a register that holds a key, or may.
    public func read(_ register: ReaderRegister) async throws -> [UInt8]? {
        try await perform { try $0.read(register) }
    }

    /// Writes a register, and reads it again unless it holds a key. The value is in effect after a reset.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` or empty restores the default.
    ///   - confirmed: whether a register is written as well that may make the reader unreachable
    ///     (``ReaderRegister/danger``).
    /// - Throws: ``ControlError/unconfirmed(_:consequence:)``, before anything is sent, among others.
    public func write(_ value: [UInt8]?, to register: ReaderRegister, confirmed: Bool = false) async throws {
        let value = value ?? []
        try register.check(value, confirmed: confirmed)
        try await perform { try $0.write(value, to: register) }
    }

    /// Sets the profile in which the reader starts, keeping the other bits of register 02C0.
    ///
    /// - Parameter confirmed: needed for any profile but PC/SC, since pcscd loses the reader.
    public func setProfile(_ profile: ReaderProfile, confirmed: Bool = false) async throws {
        try await perform { session in
            let register = ReaderRegister.profile
            let value = [(try session.read(register)?.first ?? 0) & 0xF8 | profile.rawValue]
            try register.check(value, confirmed: confirmed || profile == .pcsc)
            try session.write(value, to: register)
        }
    }

    // MARK: Power

    /// Restarts the reader: it leaves, and is back some seconds later with its written registers in effect.
    public func reset(_ kind: ControlCommand.ResetKind = .soft) async throws {
        try await perform { try $0.sendLast(.reset(kind)) }
    }

    /// Turns the reader off. One without such a state restarts.
    public func shutdown() async throws {
        try await perform { try $0.sendLast(.shutdown) }
    }

    /// Sends any command of class 58 for which nothing here has a method. Registers, factory settings, resets (the
    /// bootloader is one) and shutdown are not sent this way.
    ///
    /// - Returns: the data of the answer.
    public func send(_ command: ControlCommand) async throws -> [UInt8] {
        let others: [UInt8] = [0x0D, 0x0E, 0x80, 0x81, 0x82, 0x83, 0x84, 0x8E, 0xAF]
        guard !others.contains(command.instruction.rawValue), command.data.count <= 250 else {
            throw ControlError.outOfRange("could not carry out \(command): it is not sent this way")
        }
        return try await perform { try $0.send(command) }
    }
}

extension ReaderRegister {
    /// Checks a value before it is sent.
    func check(_ value: [UInt8], confirmed: Bool) throws(ControlError) {
        guard isWritable else { throw .notWritable(address) }
        guard value.isEmpty || lengths.contains(value.count) else {
            let limits = lengths.count == 1 ? "\(lengths.lowerBound)" : "\(lengths.lowerBound) to \(lengths.upperBound)"
            throw .outOfRange("could not write register \(self): it has \(limits) bytes, not \(value.count)")
        }
        if let danger, !confirmed { throw .unconfirmed(address, consequence: danger) }
    }
}

extension ControlSession {
    func read(_ register: ReaderRegister) throws -> [UInt8]? {
        guard !register.holdsKeys else { throw ControlError.holdsKeys(register.address) }
        let value = try send(.readRegister(register.address))
        return value.isEmpty ? nil : value
    }

    func write(_ value: [UInt8], to register: ReaderRegister) throws {
        try send(.writeRegister(register.address, value))
        guard !register.holdsKeys else { return }
        // Where reading is not allowed there is nothing to compare.
        guard let kept = try ask(.readRegister(register.address)) else { return }
        guard kept == value else { throw ControlError.notKept(register.address) }
    }
}
