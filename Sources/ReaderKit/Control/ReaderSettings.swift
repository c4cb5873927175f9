/// The settings of a reader: values of its registers, without keys, as a file that people read and compare.
///
/// ```
/// settings 1
/// firmware: springcore/h518/s550
/// 02C0 02    # Profile
/// 02D8 -     # Sound
/// ```
///
/// A register with `-` is undefined, so that its default is in force. Blank lines and `#` comments may stand anywhere;
/// hexadecimal is case-insensitive, with or without spaces.
public struct ReaderSettings: Sendable, Hashable {
    /// The firmware of the reader from which they were saved; `nil` if unknown.
    public var firmware: String?

    /// The values, empty for a register that is undefined. No register of them holds a key.
    public private(set) var values: [ReaderRegister: [UInt8]]

    /// The most bytes of a file.
    public static let longest = 64 * 1024

    /// Creates settings. Registers that hold keys are left out.
    public init(firmware: String? = nil, values: [ReaderRegister: [UInt8]] = [:]) {
        self.firmware = firmware
        self.values = values.filter { !$0.key.holdsKeys && $0.key.isWritable }
    }

    /// Parses a file.
    ///
    /// - Throws: ``SettingsError``, with the line.
    public init(parsing bytes: [UInt8]) throws(SettingsError) {
        guard bytes.count <= Self.longest else { throw SettingsError(1, "more than \(Self.longest) bytes") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw SettingsError(1, "no UTF-8") }
        self.init()
        var isBegun = false
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = line.prefix { $0 != "#" }.trimmed
            if content.isEmpty { continue }
            if !isBegun {
                guard content == "settings 1" else { throw SettingsError(index + 1, "a file begins with 'settings 1'") }
                isBegun = true
            } else if content.hasPrefix("firmware:"), firmware == nil {
                firmware = content.dropFirst("firmware:".count).trimmed
            } else {
                let (register, value) = try Self.register(content, line: index + 1)
                guard values.updateValue(value, forKey: register) == nil else {
                    throw SettingsError(index + 1, "register \(register.hex) stands here again")
                }
            }
        }
        guard isBegun else { throw SettingsError(1, "a file begins with 'settings 1'") }
    }

    private static func register(
        _ content: String,
        line: Int
    ) throws(SettingsError) -> (ReaderRegister, [UInt8]) {
        let (address, rest) = (content.prefix(4), content.dropFirst(4))
        guard let register = ReaderRegister(address), rest.first?.isWhitespace == true else {
            throw SettingsError(line, "a register has four hexadecimal digits, then its value")
        }
        // A value is not repeated in a message: it may be a key.
        guard !register.holdsKeys else {
            throw SettingsError(line, "register \(register.hex) holds a key, or may: keys do not belong into a file")
        }
        guard register.isWritable else { throw SettingsError(line, "register \(register.hex) cannot be changed") }
        guard rest.trimmed != "-" else { return (register, []) }
        guard let value = try? Hex.decode(rest.trimmed) else {
            throw SettingsError(line, "the value of register \(register.hex) is not hexadecimal")
        }
        guard register.lengths.contains(value.count), !value.isEmpty else {
            throw SettingsError(line, "register \(register.hex) has no value of \(value.count) bytes")
        }
        return (register, value)
    }

    /// The file.
    public var text: String {
        let lines = values.sorted { $0.key < $1.key }.map { register, value in
            "\(register.hex) \(value.isEmpty ? "-" : value.hex)  # \(register.name)"
        }
        return (["settings 1"] + (firmware.map { ["firmware: \($0)"] } ?? []) + lines).joined(separator: "\n") + "\n"
    }

    /// What differs from other settings: the registers that stand in both with other values, and those that only these
    /// have, in ascending order.
    ///
    /// A value that is undefined is the same as the documented default.
    public func differences(from other: ReaderSettings) -> [Difference] {
        values.sorted { $0.key < $1.key }.compactMap { register, value in
            let present = other.values[register]
            func effective(_ value: [UInt8]) -> [UInt8]? { value.isEmpty ? register.defaultValue : value }
            if let present, present == value || effective(present).map({ $0 == effective(value) }) == true {
                return nil
            }
            return Difference(register: register, wanted: value, present: present)
        }
    }

    /// A register whose value is another one than wanted.
    public struct Difference: Sendable, Hashable {
        /// The register.
        public var register: ReaderRegister
        /// The value wanted; empty for the default.
        public var wanted: [UInt8]
        /// The reader's value, empty for the default; `nil` if it could not be read.
        public var present: [UInt8]?
    }
}

/// A file of settings is malformed.
public struct SettingsError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, counted from 1.
    public var line: Int
    /// What is wrong.
    public var message: String

    init(_ line: Int, _ message: String) {
        self.line = line
        self.message = message
    }

    /// One line: where, what is wrong, what to do.
    public var description: String {
        "line \(line) of the settings: \(message). 'readerctl s550 config save' writes such a file."
    }
}

extension ReaderControl {
    /// Reads all settings but keys. Registers that the reader does not show, or with a length that is not documented, are
    /// left out.
    public func settings() async throws -> ReaderSettings { try await settings(of: ReaderRegister.readable) }

    private func settings(of registers: [ReaderRegister]) async throws -> ReaderSettings {
        try await perform { session in
            let firmware = try session.ask(.getData(ControlItem.firmware.rawValue)).flatMap {
                (1...ReaderRegister.longest).contains($0.count) ? ReaderIdentity.text($0) : nil
            }
            var values: [ReaderRegister: [UInt8]] = [:]
            for register in registers {
                guard let value = try session.ask(.readRegister(register.address)) else { continue }
                if value.isEmpty || register.lengths.contains(value.count) { values[register] = value }
            }
            return ReaderSettings(firmware: firmware, values: values)
        }
    }

    /// Returns the registers of a file whose value in the reader is another.
    public func differences(from wanted: ReaderSettings) async throws -> [ReaderSettings.Difference] {
        wanted.differences(from: try await settings(of: wanted.values.keys.sorted()))
    }

    /// Writes the registers of a file whose value in the reader is another, those that may make the reader unreachable last.
    /// They are in effect after a reset.
    ///
    /// If it fails, or is cancelled, what was written stays written, and the same call writes the rest.
    ///
    /// - Parameters:
    ///   - confirmed: whether those are written at all, and settings of a reader with another firmware. Without it nothing
    ///     is written if there is one.
    ///   - proposed: called with what differs, before anything is written or refused.
    ///   - written: called after each write.
    /// - Returns: what was written.
    @discardableResult
    public func restore(
        _ wanted: ReaderSettings,
        confirmed: Bool = false,
        proposed: ([ReaderSettings.Difference]) throws -> Void = { _ in },
        written: (ReaderSettings.Difference) throws -> Void = { _ in }
    ) async throws -> [ReaderSettings.Difference] {
        let present = try await settings(of: wanted.values.keys.sorted())
        let differences = wanted.differences(from: present)
        try proposed(differences)
        if let one = wanted.firmware, let other = present.firmware, one != other, !differences.isEmpty, !confirmed {
            throw ControlError.otherFirmware
        }
        for difference in differences { try difference.register.check(difference.wanted, confirmed: confirmed) }
        let ordered = differences.filter { !$0.register.mayLockOut } + differences.filter { $0.register.mayLockOut }
        for difference in ordered {
            try Task.checkCancellation()
            try await write(difference.wanted, to: difference.register, confirmed: confirmed)
            try written(difference)
        }
        return ordered
    }
}
