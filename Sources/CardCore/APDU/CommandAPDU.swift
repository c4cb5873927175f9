/// A command to a card: a header of four bytes, data, and how many bytes of answer are expected.
///
/// The value knows nothing of the form of its length fields; ``encoded()`` uses the shortest that carries it, and
/// ``encoded(as:)`` the one that is asked for. ISO/IEC 7816-3 (section 12.1) has seven encodings:
///
/// ```text
/// 1                CLA INS P1 P2
/// 2, short         CLA INS P1 P2                             Le
/// 3, short         CLA INS P1 P2    Lc          data
/// 4, short         CLA INS P1 P2    Lc          data         Le
/// 2, extended      CLA INS P1 P2                             00 Le Le
/// 3, extended      CLA INS P1 P2    00 Lc Lc    data
/// 4, extended      CLA INS P1 P2    00 Lc Lc    data         Le Le
/// ```
///
/// The greatest Le is written as zeros.
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

    /// A command with 0...65 535 bytes of data and an expected length of 1...65 536, or `nil` for no Le.
    ///
    /// - Throws: ``APDUError`` with `dataTooLong` or `expectedLengthOutOfRange`.
    public init(
        cla: UInt8,
        ins: UInt8,
        p1: UInt8,
        p2: UInt8,
        data: [UInt8] = [],
        expectedLength: Int? = nil
    ) throws(APDUError) {
        guard data.count <= 65_535 else {
            throw Self.unfit("a command of \(data.count) bytes of data: it carries at most 65535", .dataTooLong)
        }
        if let expectedLength, !(1...65_536).contains(expectedLength) {
            throw Self.unfit(
                "a command that expects \(expectedLength) bytes: the range is 1 to 65536",
                .expectedLengthOutOfRange,
                offset: 4 + (data.isEmpty ? 0 : data.count + (data.count > 255 ? 3 : 1))
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
    /// The length must fit exactly.
    ///
    /// - Throws: ``APDUError`` with the offset at which the bytes stop being a command.
    public init(bytes: [UInt8]) throws(APDUError) {
        let layout = try APDULayout(bytes)
        self.init(trusted: bytes[0], bytes[1], bytes[2], bytes[3], Array(bytes[layout.data]), layout.expectedLength)
    }

    /// The shortest form that carries the command: short up to 255 bytes of data and an expected length of 256.
    public var form: Form { data.count <= 255 && (expectedLength ?? 1) <= 256 ? .short : .extended }

    /// The bytes to send, in the shortest form that carries the command.
    public func encoded() -> [UInt8] { encoded(trusted: form) }

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

// Commands of ISO/IEC 7816-4 that the card answers.
extension CommandAPDU {
    /// SELECT by DF name, asking for all of the file control information: `00 A4 04 00 Lc name 00`.
    ///
    /// - Parameter name: 1...16 bytes.
    /// - Throws: ``APDUError`` with `parameterOutOfRange`.
    public static func select(name: [UInt8]) throws(APDUError) -> CommandAPDU {
        guard (1...16).contains(name.count) else {
            throw unfit("SELECT by a name of \(name.count) bytes: it has 1 to 16")
        }
        return CommandAPDU(trusted: 0x00, Instruction.select, 0x04, 0x00, name, 256)
    }

    /// SELECT of an elementary file, asking for no answer: `00 A4 00 0C 02 fileID`.
    public static func select(fileID: UInt16) -> CommandAPDU {
        CommandAPDU(trusted: 0x00, Instruction.select, 0x00, 0x0C, bytes(fileID))
    }

    /// SELECT of the NDEF application of a Type 4 tag, mapping version 2 and 3: name `D2760000850101`.
    public static let selectNDEFApplication = selectNDEFApplication(version: 1)

    /// SELECT of the NDEF application of a Type 4 tag, mapping version 1: name `D2760000850100`.
    public static let selectNDEFApplicationVersion1 = selectNDEFApplication(version: 0)

    private static func selectNDEFApplication(version: UInt8) -> CommandAPDU {
        let name: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, version]
        return CommandAPDU(trusted: 0x00, Instruction.select, 0x04, 0x00, name, 256)
    }

    /// READ BINARY of the selected file: `00 B0 offset offset Le`.
    ///
    /// - Parameters:
    ///   - offset: 0...7FFF (the highest bit of P1 would mean a short file identifier).
    ///   - length: 1...65 536; above 256 the command takes the extended form.
    /// - Throws: ``APDUError`` with `parameterOutOfRange` or `expectedLengthOutOfRange`.
    public static func readBinary(offset: Int, length: Int) throws(APDUError) -> CommandAPDU {
        let (p1, p2) = try binaryOffset(offset, "READ BINARY")
        return try CommandAPDU(cla: 0x00, ins: Instruction.readBinary, p1: p1, p2: p2, expectedLength: length)
    }

    /// READ BINARY with an offset data object, for files above 32 KiB: `00 B1 00 00 05 54 03 offset Le`.
    ///
    /// The answer is a data object `53` whose value is the data, so Le counts its tag and length too.
    ///
    /// - Parameters:
    ///   - offset: 0...FFFFFF.
    ///   - length: the expected length of the answer, 1...65 536.
    /// - Throws: ``APDUError`` with `parameterOutOfRange` or `expectedLengthOutOfRange`.
    public static func readBinary(objectOffset offset: Int, length: Int) throws(APDUError) -> CommandAPDU {
        guard (0...0xFF_FFFF).contains(offset) else {
            throw unfit("READ BINARY at offset \(offset): the offset object ends at 16777215", offset: 7)
        }
        let object = [0x54, 0x03] + [16, 8, 0].map { UInt8(truncatingIfNeeded: offset >> $0) }
        let instruction = Instruction.withObjects(Instruction.readBinary)
        return try CommandAPDU(cla: 0x00, ins: instruction, p1: 0, p2: 0, data: object, expectedLength: length)
    }

    /// UPDATE BINARY of the selected file: `00 D6 offset offset Lc data`.
    ///
    /// - Parameters:
    ///   - offset: 0...7FFF.
    ///   - data: 1...65 535 bytes; above 255 the command takes the extended form.
    /// - Throws: ``APDUError`` with `parameterOutOfRange` or `dataTooLong`.
    public static func updateBinary(offset: Int, data: [UInt8]) throws(APDUError) -> CommandAPDU {
        let (p1, p2) = try binaryOffset(offset, "UPDATE BINARY")
        try requireData(data, "UPDATE BINARY")
        return try CommandAPDU(cla: 0x00, ins: Instruction.updateBinary, p1: p1, p2: p2, data: data)
    }

    /// GET RESPONSE for what a status word `61xx` announces, or `nil` for any other status word.
    ///
    /// - Parameters:
    ///   - statusWord: the status word of the answer before.
    ///   - cla: the class of the command that was answered, whose logical channel must be kept.
    public static func getResponse(after statusWord: StatusWord, cla: UInt8 = 0x00) -> CommandAPDU? {
        guard case .moreData(let count) = statusWord.classification else { return nil }
        return CommandAPDU(trusted: cla, Instruction.getResponse, 0x00, 0x00, [], count)
    }
}

// Pseudo-APDUs of PC/SC part 3, which the reader answers.
extension CommandAPDU {
    /// GET DATA, UID: `FF CA 00 00 00`. The answer is the UID (A, 15693), the PUPI (B) or the IDm (FeliCa).
    public static let getUID = CommandAPDU(trusted: 0xFF, Instruction.getData, 0x00, 0x00, [], 256)

    /// GET DATA, historical bytes of the ATS of an ISO 14443-4 A card: `FF CA 01 00 00`. Others answer `6A81`.
    public static let getATS = CommandAPDU(trusted: 0xFF, Instruction.getData, 0x01, 0x00, [], 256)

    /// READ BINARY of four pages (16 bytes) of a Type 2 tag: `FF B0 00 page 10`.
    public static func readPages(_ page: UInt8) -> CommandAPDU {
        CommandAPDU(trusted: 0xFF, Instruction.readBinary, 0x00, page, [], 16)
    }

    /// READ BINARY of a storage card: `FF B0 block block Le`.
    ///
    /// - Parameters:
    ///   - block: the card's own unit: a page of 4 bytes (Ultralight), a block of 16 (Classic, FeliCa) or 4 (ISO 15693).
    ///   - length: 1...256 bytes, a multiple of that unit on most readers.
    /// - Throws: ``APDUError`` with `expectedLengthOutOfRange`.
    public static func readBlock(_ block: UInt16, length: Int) throws(APDUError) -> CommandAPDU {
        guard (1...256).contains(length) else {
            let message = "READ BINARY of \(length) bytes from the reader: it reads 1 to 256"
            throw unfit(message, .expectedLengthOutOfRange)
        }
        let parameters = bytes(block)
        return CommandAPDU(trusted: 0xFF, Instruction.readBinary, parameters[0], parameters[1], [], length)
    }

    /// UPDATE BINARY of a storage card: `FF D6 block block Lc data`, whole units only.
    ///
    /// - Parameters:
    ///   - block: the card's own unit, as in ``readBlock(_:length:)``.
    ///   - data: 1...255 bytes.
    /// - Throws: ``APDUError`` with `parameterOutOfRange` or `dataTooLong`.
    public static func updateBlock(_ block: UInt16, data: [UInt8]) throws(APDUError) -> CommandAPDU {
        try requireData(data, "UPDATE BINARY")
        guard data.count <= 255 else {
            let message = "UPDATE BINARY of \(data.count) bytes to a storage card: it writes at most 255"
            throw unfit(message, .dataTooLong)
        }
        let parameters = bytes(block)
        return CommandAPDU(trusted: 0xFF, Instruction.updateBinary, parameters[0], parameters[1], data)
    }

    private static func bytes(_ number: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    private static func binaryOffset(_ offset: Int, _ command: String) throws(APDUError) -> (UInt8, UInt8) {
        guard (0...0x7FFF).contains(offset) else {
            throw unfit("\(command) at offset \(offset): the range is 0 to 32767", offset: 2)
        }
        return (UInt8(truncatingIfNeeded: offset >> 8), UInt8(truncatingIfNeeded: offset))
    }

    private static func requireData(_ data: [UInt8], _ command: String) throws(APDUError) {
        guard !data.isEmpty else { throw unfit("\(command) without data") }
    }

    private static func unfit(
        _ message: String,
        _ code: APDUErrorCode = .parameterOutOfRange,
        offset: Int = 4
    ) -> APDUError {
        APDUError(code, offset: offset, message: "could not make " + message)
    }
}

/// Instruction bytes by their names in ISO/IEC 7816-4 and, where noted, in PC/SC part 3 and GlobalPlatform.
package enum Instruction {
    package static let verify: UInt8 = 0x20
    package static let changeReferenceData: UInt8 = 0x24
    package static let disableVerification: UInt8 = 0x26
    package static let enableVerification: UInt8 = 0x28
    package static let performSecurityOperation: UInt8 = 0x2A
    package static let resetRetryCounter: UInt8 = 0x2C
    package static let externalAuthenticate: UInt8 = 0x82
    /// To a reader (PC/SC part 3).
    package static let loadKey: UInt8 = 0x82
    package static let getChallenge: UInt8 = 0x84
    package static let generalAuthenticate: UInt8 = 0x86
    package static let internalAuthenticate: UInt8 = 0x88
    package static let select: UInt8 = 0xA4
    package static let readBinary: UInt8 = 0xB0
    package static let readRecord: UInt8 = 0xB2
    package static let getResponse: UInt8 = 0xC0
    package static let getData: UInt8 = 0xCA
    package static let updateBinary: UInt8 = 0xD6
    /// Of GlobalPlatform.
    package static let putKey: UInt8 = 0xD8
    package static let putData: UInt8 = 0xDA
    /// STORE DATA of GlobalPlatform has the same.
    package static let appendRecord: UInt8 = 0xE2

    // To a reader, class FF: PC/SC part 3, SpringCard's for blocks of MIFARE Classic, and the makers' ways to carry a
    // frame: SpringCard's, that of ACS, and Identiv's.
    package static let transparentExchange: UInt8 = 0xC2
    package static let classicRead: UInt8 = 0xF3
    package static let classicWrite: UInt8 = 0xF4
    package static let encapsulate: UInt8 = 0xFE
    package static let directTransmit: UInt8 = 0x00
    package static let passThrough: UInt8 = 0xEF

    // Of Smart Tap, class 90; more data come by GET RESPONSE's byte.
    package static let getSmartTapData: UInt8 = 0x50
    package static let pushSmartTapData: UInt8 = 0x52
    package static let negotiateSecureSession: UInt8 = 0x53

    /// The odd form of an instruction: its data are BER-TLV objects, such as an offset beyond 7FFF.
    package static func withObjects(_ instruction: UInt8) -> UInt8 { instruction | 1 }
}
