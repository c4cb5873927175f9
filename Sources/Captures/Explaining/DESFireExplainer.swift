import CardCore
import CardPasses
import CardTags

/// Native commands of the DESFire family in their wrapping (`90 INS 00 00 …`), and their status words `91xx`.
struct DESFireExplainer: ExchangeExplainer {
    /// The command that `AF` goes on with, and how many answers it has had.
    private var chain: (instruction: UInt8, answers: Int)?

    mutating func explain(_ exchange: RecordedExchange, _ state: inout ConversationState) -> ExplainedExchange? {
        guard let apdu = exchange.apdu, apdu.cla == 0x90, !state.isSmartTap else { return nil }
        let isMore = apdu.ins == DESFireInstruction.additionalFrame.rawValue
        let instruction = isMore ? chain?.instruction ?? apdu.ins : apdu.ins
        let part = isMore ? (chain?.answers ?? 0) + 1 : 1
        let status = apdu.status.flatMap(DESFireStatus.init)
        chain = status == .additionalFrame ? (instruction, part) : nil
        let name = DESFireInstruction(rawValue: instruction).flatMap { Self.names[$0] }
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
        switch DESFireInstruction(rawValue: instruction) {
        case .selectApplication, .createApplication, .deleteApplication:
            reader.take("application", 3) { DESFireApplicationID(wire: $0)?.description }
        case .readData, .readDataLight, .writeData, .writeDataLight:
            reader.take("file", 1) { "\($0[0] & 0x1F)" }
            reader.take("offset", 3) { "\($0.littleEndianNumber)" }
            reader.take("length", 3) { $0.littleEndianNumber == 0 ? "to the end" : "\($0.littleEndianNumber)" }
        case .readRecords, .readRecordsLight, .writeRecord, .writeRecordLight:
            reader.take("file", 1) { "\($0[0] & 0x1F)" }
            reader.take("first record", 3) { "\($0.littleEndianNumber)" }
            reader.take("records", 3) { $0.littleEndianNumber == 0 ? "all" : "\($0.littleEndianNumber)" }
        case .getFileSettings, .getValue, .credit, .debit, .limitedCredit, .changeFileSettings, .deleteFile,
            .clearRecords:
            reader.take("file", 1) { "\($0[0] & 0x1F)" }
        case .authenticateDES, .authenticateISO, .authenticateAES, .getKeyVersion, .authenticateEV2First,
            .authenticateEV2NonFirst, .changeKey:
            reader.take("key", 1) { "number \($0[0] & 0x3F)" }
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
        switch (DESFireInstruction(rawValue: instruction), part) {
        case (.getVersion, 1), (.getVersion, 2):
            reader.take("maker", 1) { $0[0] == 0x04 ? "NXP" : nil }
            reader.take("kind", 1) { kinds[$0[0] & 0x0F] }
            reader.take("subkind", 1)
            reader.take("version", 2) { "\($0[0]).\($0[1])" }
            reader.take("memory", 1) { size($0[0]) }
            reader.take("protocol", 1) { $0[0] == 0x05 ? "ISO/IEC 14443-3 and 14443-4" : nil }
        case (.getVersion, _):
            reader.take("identifier", 7) { bytes in
                bytes.allSatisfy { $0 == 0 } ? "none: the card shows random ones" : nil
            }
            reader.take("batch", 5)
            reader.take("week", 1) { "\($0.hex)" }
            reader.take("year", 1) { "20\($0.hex)" }
        case (.getApplicationIDs, _):
            while reader.left > 0 { reader.take("application", 3) { DESFireApplicationID(wire: $0)?.description } }
        case (.getFileIDs, _): while reader.left > 0 { reader.take("file", 1) { "\($0[0])" } }
        case (.getISOFileIDs, _): while reader.left > 0 { reader.take("file", 2) { $0.reversed().hex } }
        case (.getKeySettings, _):
            reader.take("settings of the keys", 1)
            reader.take("keys", 1) { "\($0[0] & 0x0F), \(keyTypes[$0[0] & 0xC0] ?? "unknown kind")" }
        case (.freeMemory, _): reader.take("free memory", 3) { "\($0.littleEndianNumber) bytes" }
        case (.getKeyVersion, _): reader.take("key version", 1) { "\($0[0])" }
        case (.getFileSettings, _): settings(apdu.body, &reader)
        case (.authenticateDES, _), (.authenticateISO, _), (.authenticateAES, _), (.authenticateEV2First, _),
            (.authenticateEV2NonFirst, _):
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

    private static let names: [DESFireInstruction: String] = [
        .getVersion: "GET VERSION", .getApplicationIDs: "GET APPLICATION IDS",
        .selectApplication: "SELECT APPLICATION", .getFileIDs: "GET FILE IDS", .getISOFileIDs: "GET ISO FILE IDS",
        .getFileSettings: "GET FILE SETTINGS", .changeFileSettings: "CHANGE FILE SETTINGS", .readData: "READ DATA",
        .readDataLight: "READ DATA", .writeData: "WRITE DATA", .writeDataLight: "WRITE DATA",
        .readRecords: "READ RECORDS", .readRecordsLight: "READ RECORDS", .writeRecord: "WRITE RECORD",
        .writeRecordLight: "WRITE RECORD", .getValue: "GET VALUE", .credit: "CREDIT", .debit: "DEBIT",
        .limitedCredit: "LIMITED CREDIT", .clearRecords: "CLEAR RECORDS", .getKeySettings: "GET KEY SETTINGS",
        .getKeyVersion: "GET KEY VERSION", .freeMemory: "FREE MEMORY", .getCardUID: "GET CARD IDENTIFIER",
        .authenticateDES: "AUTHENTICATE (DES)", .authenticateISO: "AUTHENTICATE (ISO)",
        .authenticateAES: "AUTHENTICATE (AES)", .authenticateEV2First: "AUTHENTICATE EV2 FIRST",
        .authenticateEV2NonFirst: "AUTHENTICATE EV2 NON-FIRST", .changeKey: "CHANGE KEY",
        .changeKeyEV2: "CHANGE KEY EV2", .changeKeySettings: "CHANGE KEY SETTINGS",
        .setConfiguration: "SET CONFIGURATION", .createApplication: "CREATE APPLICATION",
        .deleteApplication: "DELETE APPLICATION", .createStandardFile: "CREATE STANDARD FILE",
        .createBackupFile: "CREATE BACKUP FILE", .createValueFile: "CREATE VALUE FILE",
        .createLinearRecordFile: "CREATE LINEAR RECORD FILE", .createCyclicRecordFile: "CREATE CYCLIC RECORD FILE",
        .createTransactionMACFile: "CREATE TRANSACTION MAC FILE", .deleteFile: "DELETE FILE", .format: "FORMAT CARD",
        .commitTransaction: "COMMIT TRANSACTION", .abortTransaction: "ABORT TRANSACTION",
        .commitReaderID: "COMMIT READER ID", .readSignature: "READ SIGNATURE", .getFileCounters: "GET FILE COUNTERS",
        .getDFNames: "GET DF NAMES",
    ]

    private static let kinds: [UInt8: String] = [1: "DESFire", 2: "MIFARE Plus", 4: "NTAG", 8: "DESFire Light"]

    private static let keyTypes: [UInt8: String] = [0x00: "DES", 0x40: "3DES of three keys", 0x80: "AES"]

    private static let fileKinds: [UInt8: String] = [
        0: "standard", 1: "backup", 2: "value", 3: "linear records", 4: "cyclic records", 5: "transaction MAC",
    ]

    private static let communications: [UInt8: String] = [0: "plain", 1: "with a code", 2: "plain", 3: "encrypted"]
}
