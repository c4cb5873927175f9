import CardCore
import CardPasses
import CardTags

/// Native commands of the DESFire family in their wrapping (`90 INS 00 00 …`), and their status words `91xx`.
struct DESFireExplainer: ExchangeExplainer {
    /// The command that `AF` goes on with, and how many answers it has had.
    private var chain: (instruction: UInt8, answers: Int)?

    mutating func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.cla == 0x90, !state.isSmartTap else { return nil }
        let isMore = apdu.ins == 0xAF
        let instruction = isMore ? chain?.instruction ?? apdu.ins : apdu.ins
        let part = isMore ? (chain?.answers ?? 0) + 1 : 1
        let status = apdu.status.flatMap(DESFireStatus.init)
        chain = status == .additionalFrame ? (instruction, part) : nil
        let name = Self.names[instruction]
        var title = "DESFire: " + (name ?? "instruction \([instruction].hex), which is not known here")
        if isMore { title = name == nil ? "DESFire: go on" : title + ", part \(part)" }
        return ExplainedExchange(
            .init(title, isMore ? apdu.dataFields() : Self.command(instruction, apdu) + apdu.faults),
            .init(
                apdu.status.map { StatusText.title($0, status?.name ?? $0.name) } ?? StatusText.title(apdu, ""),
                Self.answer(instruction, part, apdu, status) + StatusText.field(apdu, status?.name)
            )
        )
    }

    // MARK: Commands

    private static func command(_ instruction: UInt8, _ apdu: RecordedExchange.Parts) -> [ExplainedField] {
        var reader = FieldReader(apdu.data, at: apdu.dataOffset)
        switch instruction {
        case 0x5A, 0xCA, 0xDA: reader.take("application", 3) { DESFireApplicationID(wire: $0)?.description }
        case 0xBD, 0xAD, 0x3D, 0x8D:
            reader.take("file", 1) { "\($0[0] & 0x1F)" }
            reader.take("offset", 3) { "\($0.littleEndianNumber)" }
            reader.take("length", 3) { $0.littleEndianNumber == 0 ? "to the end" : "\($0.littleEndianNumber)" }
        case 0xBB, 0xAB, 0x3B, 0x8B:
            reader.take("file", 1) { "\($0[0] & 0x1F)" }
            reader.take("first record", 3) { "\($0.littleEndianNumber)" }
            reader.take("records", 3) { $0.littleEndianNumber == 0 ? "all" : "\($0.littleEndianNumber)" }
        case 0xF5, 0x6C, 0x0C, 0xDC, 0x1C, 0x5F, 0xDF, 0xEB: reader.take("file", 1) { "\($0[0] & 0x1F)" }
        case 0x0A, 0x1A, 0xAA, 0x64, 0x71, 0x77, 0xC4: reader.take("key", 1) { "number \($0[0] & 0x3F)" }
        default: break
        }
        reader.rest("data")
        return reader.fields
    }

    // MARK: Answers

    private static func answer(
        _ instruction: UInt8,
        _ part: Int,
        _ apdu: RecordedExchange.Parts,
        _ status: DESFireStatus?
    ) -> [ExplainedField] {
        var reader = FieldReader(apdu.body, at: 0)
        guard status == .done || status == .additionalFrame else {
            reader.rest("data")
            return reader.fields
        }
        switch (instruction, part) {
        case (0x60, 1), (0x60, 2):
            reader.take("maker", 1) { $0[0] == 0x04 ? "NXP" : nil }
            reader.take("kind", 1) { kinds[$0[0] & 0x0F] }
            reader.take("subkind", 1)
            reader.take("version", 2) { "\($0[0]).\($0[1])" }
            reader.take("memory", 1) { size($0[0]) }
            reader.take("protocol", 1) { $0[0] == 0x05 ? "ISO/IEC 14443-3 and 14443-4" : nil }
        case (0x60, _):
            reader.take("identifier", 7) { bytes in
                bytes.allSatisfy { $0 == 0 } ? "none: the card shows random ones" : nil
            }
            reader.take("batch", 5)
            reader.take("week", 1) { "\($0.hex)" }
            reader.take("year", 1) { "20\($0.hex)" }
        case (0x6A, _):
            while reader.left > 0 { reader.take("application", 3) { DESFireApplicationID(wire: $0)?.description } }
        case (0x6F, _): while reader.left > 0 { reader.take("file", 1) { "\($0[0])" } }
        case (0x61, _): while reader.left > 0 { reader.take("file", 2) { $0.reversed().hex } }
        case (0x45, _):
            reader.take("settings of the keys", 1)
            reader.take("keys", 1) { "\($0[0] & 0x0F), \(keyTypes[$0[0] & 0xC0] ?? "unknown kind")" }
        case (0x6E, _): reader.take("free memory", 3) { "\($0.littleEndianNumber) bytes" }
        case (0x64, _): reader.take("key version", 1) { "\($0[0])" }
        case (0xF5, _): settings(apdu.body, &reader)
        case (0x0A, _), (0x1A, _), (0xAA, _), (0x71, _), (0x77, _):
            reader.rest("proof") { _ in "a part of an authentication, encrypted" }
        default: break
        }
        reader.rest("data")
        return reader.fields
    }

    private static func settings(_ body: [UInt8], _ reader: inout FieldReader) {
        reader.take("kind of file", 1) { fileKinds[$0[0]] ?? "unknown" }
        reader.take("communication", 1) { communications[$0[0] & 0x03] }
        reader.take("rights", 2) { _ in "read, write, read and write, change: E is free, F is never" }
        if let kind = body.first, kind <= 0x01 { reader.take("size", 3) { "\($0.littleEndianNumber) bytes" } }
    }

    private static func size(_ byte: UInt8) -> String {
        let exponent = Int(byte >> 1)
        guard exponent < 30 else { return "unknown" }
        return byte & 1 == 0 ? "\(1 << exponent) bytes" : "\(1 << exponent) to \(1 << (exponent + 1)) bytes"
    }

    // MARK: Tables

    private static let names: [UInt8: String] = [
        0x60: "GET VERSION", 0x6A: "GET APPLICATION IDS", 0x5A: "SELECT APPLICATION", 0x6F: "GET FILE IDS",
        0x61: "GET ISO FILE IDS", 0xF5: "GET FILE SETTINGS", 0x5F: "CHANGE FILE SETTINGS", 0xBD: "READ DATA",
        0xAD: "READ DATA", 0x3D: "WRITE DATA", 0x8D: "WRITE DATA", 0xBB: "READ RECORDS", 0xAB: "READ RECORDS",
        0x3B: "WRITE RECORD", 0x8B: "WRITE RECORD", 0x6C: "GET VALUE", 0x0C: "CREDIT", 0xDC: "DEBIT",
        0x1C: "LIMITED CREDIT", 0xEB: "CLEAR RECORDS", 0x45: "GET KEY SETTINGS", 0x64: "GET KEY VERSION",
        0x6E: "FREE MEMORY", 0x51: "GET CARD IDENTIFIER", 0x0A: "AUTHENTICATE (DES)",
        0x1A: "AUTHENTICATE (ISO)", 0xAA: "AUTHENTICATE (AES)", 0x71: "AUTHENTICATE EV2 FIRST",
        0x77: "AUTHENTICATE EV2 NON-FIRST", 0xC4: "CHANGE KEY", 0xC6: "CHANGE KEY EV2", 0x54: "CHANGE KEY SETTINGS",
        0x5C: "SET CONFIGURATION", 0xCA: "CREATE APPLICATION", 0xDA: "DELETE APPLICATION",
        0xCD: "CREATE STANDARD FILE", 0xCB: "CREATE BACKUP FILE", 0xCC: "CREATE VALUE FILE",
        0xC1: "CREATE LINEAR RECORD FILE", 0xC0: "CREATE CYCLIC RECORD FILE", 0xCE: "CREATE TRANSACTION MAC FILE",
        0xDF: "DELETE FILE", 0xFC: "FORMAT CARD", 0xC7: "COMMIT TRANSACTION", 0xA7: "ABORT TRANSACTION",
        0xC8: "COMMIT READER ID", 0x3C: "READ SIGNATURE", 0xF6: "GET FILE COUNTERS", 0x6D: "GET DF NAMES",
    ]

    private static let kinds: [UInt8: String] = [1: "DESFire", 2: "MIFARE Plus", 4: "NTAG", 8: "DESFire Light"]

    private static let keyTypes: [UInt8: String] = [0x00: "DES", 0x40: "3DES of three keys", 0x80: "AES"]

    private static let fileKinds: [UInt8: String] = [
        0: "standard", 1: "backup", 2: "value", 3: "linear records", 4: "cyclic records", 5: "transaction MAC",
    ]

    private static let communications: [UInt8: String] = [0: "plain", 1: "with a code", 2: "plain", 3: "encrypted"]
}
