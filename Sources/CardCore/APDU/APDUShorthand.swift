/// A command as a person types it: `[CLA]INS[P1P2][:DATA][/LE][=SW]`, or a whole APDU in hexadecimal.
///
/// ```text
/// A4                              INS alone; CLA is 00, P1 and P2 are 00 00
/// 00CA                            CLA INS
/// A40400:D2760000850101/00=       INS P1 P2, data, Le 256, and 9000 expected
/// 00B00000/0F=9000                CLA INS P1 P2, Le 15, and 9000 expected
/// 00B00000/0000                   an extended Le: 65 536
/// 00A4040007D276000085010100      a whole APDU, sent as it is
/// ```
///
/// What would be ambiguous is decided by the number of digits before the first `:`, `/` or `=`: up to 8 digits (4 bytes)
/// are a header, more are a whole APDU, after which only `=` may follow. Eight digits alone mean the same either way.
/// White space may stand between bytes.
public struct APDUShorthand: Sendable, Hashable {
    /// The command.
    public let command: CommandAPDU

    /// The form in which it is written: that of a whole APDU, the extended one for an Le of four digits, else the
    /// shortest.
    public let form: CommandAPDU.Form

    /// The status word that is expected, `9000` for a `=` alone, or `nil` if any will do.
    public let expectedStatus: StatusWord?

    /// The bytes to send.
    public var bytes: [UInt8] {
        // The form is one that carries the command.
        (try? command.encoded(as: form)) ?? command.encoded()
    }

    /// Why a text is not a command, and where.
    public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The place of the character that is wrong, from 1; one past the end where something is missing.
        public var column: Int

        /// What is wrong, for people.
        public var message: String

        /// One line: what is wrong, and where.
        public var description: String { "could not read the command: \(message) (column \(column))" }
    }

    /// Reads a command.
    ///
    /// - Throws: ``Failure`` with the column at which the text stops being a command.
    public init(parsing text: some StringProtocol) throws(Failure) {
        var fields = Fields()
        var column = 0
        for character in text {
            column += 1
            try fields.take(character, at: column)
        }
        try fields.end(at: column + 1)
        expectedStatus = try fields.status()
        if fields.isWhole {
            (command, form) = try fields.wholeCommand()
        } else {
            (command, form) = try fields.shortCommand()
        }
    }
}

/// The parts of the text.
private struct Fields {
    typealias Failure = APDUShorthand.Failure

    private enum Field: Int {
        case header, data, length, status
    }

    private struct Byte {
        var value: UInt8
        var column: Int
    }

    private var field = Field.header
    /// The bytes of each field that there is.
    private var bytes: [Field: [Byte]] = [.header: []]
    /// The first digit of a byte, until the second comes.
    private var high: Byte?
    /// Where the field ended.
    private var ends: [Field: Int] = [:]

    mutating func take(_ character: Character, at column: Int) throws(Failure) {
        if character.isASCII, let digit = character.hexDigitValue.map(UInt8.init) {
            if let first = high.take() {
                bytes[field, default: []].append(Byte(value: first.value << 4 | digit, column: first.column))
            } else {
                high = Byte(value: digit, column: column)
            }
            return
        }
        if character.isWhitespace, high == nil { return }
        let next: Field
        switch character {
        case ":": next = .data
        case "/": next = .length
        case "=": next = .status
        default:
            let other = "'\(character)' is neither a hexadecimal digit nor one of ':', '/', '='"
            throw Failure(column: column, message: character.isWhitespace ? "a byte is torn apart" : other)
        }
        try end(at: column)
        guard next.rawValue > field.rawValue else {
            throw Failure(column: column, message: "the order is header, ':' data, '/' length, '=' status word")
        }
        guard next == .status || !isWhole else {
            let message = "a header has at most 4 bytes, and after a whole APDU only '=' and a status word may follow"
            throw Failure(column: column, message: message)
        }
        field = next
        bytes[next] = []
    }

    /// The present field ends before that column.
    mutating func end(at column: Int) throws(Failure) {
        guard high == nil else { throw Failure(column: column, message: "the second digit of a byte is missing") }
        let count = bytes[field]?.count ?? 0
        ends[field] = column
        switch field {
        case .header where count == 0: throw Failure(column: column, message: "the instruction is missing")
        case .data where count == 0: throw Failure(column: column, message: "there is no data after ':'")
        case .length where count != 1 && count != 2:
            throw Failure(column: column, message: "an expected length has two digits, or four for an extended one")
        case .status where count != 0 && count != 2:
            throw Failure(column: column, message: "a status word has four digits, or none to expect 9000")
        default: break
        }
    }

    /// Whether the first field is an APDU and not a header.
    var isWhole: Bool { (bytes[.header]?.count ?? 0) > 4 }

    func status() throws(Failure) -> StatusWord? {
        guard let digits = bytes[.status] else { return nil }
        return digits.count == 2 ? StatusWord(sw1: digits[0].value, sw2: digits[1].value) : StatusWord(0x9000)
    }

    func wholeCommand() throws(Failure) -> (CommandAPDU, CommandAPDU.Form) {
        let header = bytes[.header] ?? []
        let values = header.map(\.value)
        do throws(APDUError) {
            let command = try CommandAPDU(bytes: values)
            return (command, command.encoded() == values ? command.form : .extended)
        } catch {
            let column = header.indices.contains(error.offset) ? header[error.offset].column : ends[.header] ?? 1
            throw Failure(column: column, message: "\(error.message). \(error.hint)")
        }
    }

    func shortCommand() throws(Failure) -> (CommandAPDU, CommandAPDU.Form) {
        var header = (bytes[.header] ?? []).map(\.value)
        // 2 digits are INS, 4 CLA INS, 6 INS P1 P2, 8 all.
        if header.count % 2 == 1 { header.insert(0x00, at: 0) }
        while header.count < 4 { header.append(0x00) }
        let length = (bytes[.length] ?? []).map(\.value)
        var expected: Int?
        if !length.isEmpty {
            let number = length.reduce(0) { $0 << 8 | Int($1) }
            expected = number > 0 ? number : length.count == 1 ? 256 : 65_536
        }
        do throws(APDUError) {
            let command = try CommandAPDU(
                cla: header[0],
                ins: header[1],
                p1: header[2],
                p2: header[3],
                data: (bytes[.data] ?? []).map(\.value),
                expectedLength: expected
            )
            return (command, length.count == 2 ? .extended : command.form)
        } catch {
            throw Failure(column: ends[.data] ?? 1, message: "\(error.message). \(error.hint)")
        }
    }
}
