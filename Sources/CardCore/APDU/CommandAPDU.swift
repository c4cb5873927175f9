/// A command to a card: a header of four bytes, data, and how many bytes of answer are expected.
///
/// The value knows nothing of the form of its length fields; ``encoded()`` uses the shortest that carries it, and
/// ``encoded(as:)`` the one that is asked for. ``APDUCase`` draws the seven encodings.
public struct CommandAPDU: Sendable, Hashable {
    /// The class byte: `FF` for pseudo-APDUs that the reader itself answers.
    public var cla: UInt8
    /// The instruction byte.
    public var ins: UInt8
    /// The first parameter byte.
    public var p1: UInt8
    /// The second parameter byte.
    public var p2: UInt8
    /// The command data, 0...65 535 bytes (Nc).
    public let data: [UInt8]
    /// The greatest number of bytes expected in the answer (Ne), 1...65 536, or `nil` for none beyond the status word.
    ///
    /// 256 in the short form and 65 536 in the extended form mean "all there is".
    public let expectedLength: Int?

    /// The form of the length fields Lc and Le.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// One byte each: up to 255 bytes of data, 256 of answer.
        case short
        /// Two bytes after a leading 00: up to 65 535 bytes of data, 65 536 of answer. Not every card takes it.
        case extended
    }

    /// The most data bytes that a command carries.
    public static let longestData = 65_535

    /// The greatest expected length.
    public static let greatestExpectedLength = 65_536

    /// A command.
    ///
    /// - Parameters:
    ///   - cla: the class byte.
    ///   - ins: the instruction byte.
    ///   - p1: the first parameter byte.
    ///   - p2: the second parameter byte.
    ///   - data: 0...65 535 bytes.
    ///   - expectedLength: 1...65 536, or `nil` for no Le.
    /// - Throws: ``APDUError`` with `dataTooLong` or `expectedLengthOutOfRange`.
    public init(
        cla: UInt8,
        ins: UInt8,
        p1: UInt8,
        p2: UInt8,
        data: [UInt8] = [],
        expectedLength: Int? = nil
    ) throws(APDUError) {
        guard data.count <= Self.longestData else {
            throw APDUError(
                .dataTooLong,
                offset: 4,
                message: "could not make a command of \(data.count) bytes of data: it carries at most 65535"
            )
        }
        if let expectedLength, !(1...Self.greatestExpectedLength).contains(expectedLength) {
            throw APDUError(
                .expectedLengthOutOfRange,
                offset: 4 + (data.isEmpty ? 0 : data.count + (data.count > 255 ? 3 : 1)),
                message: "could not make a command that expects \(expectedLength) bytes: the range is 1 to 65536"
            )
        }
        self.init(trusted: cla, ins, p1, p2, data, expectedLength)
    }

    /// A command whose data and expected length are known to be in range.
    package init(
        trusted cla: UInt8,
        _ ins: UInt8,
        _ p1: UInt8,
        _ p2: UInt8,
        _ data: [UInt8] = [],
        _ expectedLength: Int? = nil
    ) {
        self.cla = cla
        self.ins = ins
        self.p1 = p1
        self.p2 = p2
        self.data = data
        self.expectedLength = expectedLength
    }

    /// Reads an encoded command in any of the seven cases.
    ///
    /// The length must fit exactly. Use ``APDUCase/init(bytes:)`` to learn which case the bytes are.
    ///
    /// - Throws: ``APDUError`` with the offset at which the bytes stop being a command.
    public init(bytes: [UInt8]) throws(APDUError) {
        let layout = try APDULayout(bytes)
        self.init(
            trusted: bytes[0],
            bytes[1],
            bytes[2],
            bytes[3],
            Array(bytes[layout.data]),
            layout.expectedLength
        )
    }

    /// The shortest form that carries the command: short up to 255 bytes of data and an expected length of 256.
    public var form: Form {
        data.count <= 255 && (expectedLength ?? 1) <= 256 ? .short : .extended
    }

    /// The case of the shortest encoding, the one of ``encoded()``.
    public var `case`: APDUCase {
        self.case(in: form)
    }

    /// The case in that form, whether the command fits into it or not. Without lengths it is case 1 in both forms.
    public func `case`(in form: Form) -> APDUCase {
        switch (data.isEmpty, expectedLength == nil, form) {
        case (true, true, _): .case1
        case (true, false, .short): .case2Short
        case (true, false, .extended): .case2Extended
        case (false, true, .short): .case3Short
        case (false, true, .extended): .case3Extended
        case (false, false, .short): .case4Short
        case (false, false, .extended): .case4Extended
        }
    }

    /// The bytes to send, in the shortest form that carries the command.
    public func encoded() -> [UInt8] {
        encoded(trusted: form)
    }

    /// The bytes to send, in the form that is asked for. A command without data and expected length is the same in both.
    ///
    /// - Throws: ``APDUError`` with `needsExtendedForm` if the short form cannot carry it.
    public func encoded(as form: Form) throws(APDUError) -> [UInt8] {
        if form == .short, self.form == .extended {
            let dataFits = data.count <= 255
            throw APDUError(
                .needsExtendedForm,
                offset: dataFits && !data.isEmpty ? 5 + data.count : 4,
                message: dataFits
                    ? "could not write an expected length of \(expectedLength ?? 0) in the short form: it ends at 256"
                    : "could not write \(data.count) bytes of data in the short form: it ends at 255"
            )
        }
        return encoded(trusted: form)
    }

    /// Encodes in a form that is known to carry the command.
    private func encoded(trusted form: Form) -> [UInt8] {
        let extended = form == .extended
        var bytes = [cla, ins, p1, p2]
        bytes.reserveCapacity(9 + data.count)
        if !data.isEmpty {
            if extended { bytes += [0, UInt8(truncatingIfNeeded: data.count >> 8)] }
            bytes.append(UInt8(truncatingIfNeeded: data.count))
            bytes += data
        }
        if let expectedLength {
            // The greatest value overflows its field to zeros, which is how the standard writes it.
            if extended {
                if data.isEmpty { bytes.append(0) }
                bytes.append(UInt8(truncatingIfNeeded: expectedLength >> 8))
            }
            bytes.append(UInt8(truncatingIfNeeded: expectedLength))
        }
        return bytes
    }

    /// The same command with another expected length: the answer to a status word `6Cxx`.
    ///
    /// - Throws: ``APDUError`` with `expectedLengthOutOfRange`.
    public func expecting(_ expectedLength: Int?) throws(APDUError) -> CommandAPDU {
        try CommandAPDU(cla: cla, ins: ins, p1: p1, p2: p2, data: data, expectedLength: expectedLength)
    }
}
