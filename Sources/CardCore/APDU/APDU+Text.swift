extension CommandAPDU: CustomStringConvertible {
    /// One line for people: the instruction's name where it is known, the parameters, the data, and Le.
    ///
    /// ```text
    /// SELECT by name D2760000850101, Le 256
    /// READ BINARY offset 0, Le 15
    /// reader: GET DATA UID, Le 256
    /// 80 CA 01 01, 5 bytes 9F22020100, Le 256
    /// ```
    ///
    /// All data bytes are shown; nothing is redacted.
    public var description: String {
        let header = Hex.encode([cla, ins, p1, p2], separator: " ")
        var text: String
        if let title {
            text = title
            if !data.isEmpty { text += " " + data.hex }
        } else {
            text = header
            if !data.isEmpty { text += ", " + Self.counted(data.count, data) }
        }
        if let expectedLength { text += ", Le \(expectedLength)" }
        return text
    }

    /// The instruction with its parameters in words, or `nil` where its meaning is not known.
    package var title: String? {
        switch cla {
        case 0xFF: readerTitle
        // The first interindustry class, plain and on logical channels 1 to 3.
        case 0x00...0x03: cla == 0 ? cardTitle : cardTitle.map { "\($0) (channel \(cla))" }
        default: nil
        }
    }

    private var parameters: Int { Int(p1) << 8 | Int(p2) }

    private var cardTitle: String? {
        switch (ins, p1, p2) {
        case (Instruction.select, 0x04, 0x00): return "SELECT by name"
        case (Instruction.select, 0x04, 0x0C): return "SELECT by name, no answer,"
        case (Instruction.select, 0x00, 0x00): return "SELECT file"
        case (Instruction.select, 0x00, 0x0C): return "SELECT file, no answer,"
        case (Instruction.readBinary, 0x00...0x7F, _): return "READ BINARY offset \(parameters)"
        case (Instruction.updateBinary, 0x00...0x7F, _): return "UPDATE BINARY offset \(parameters)"
        case (Instruction.getResponse, 0x00, 0x00): return "GET RESPONSE"
        default:
            guard let name = Self.instructionNames[ins] else { return nil }
            return "\(name) \(Hex.encode([p1, p2], separator: " "))"
        }
    }

    private var readerTitle: String? {
        switch (ins, p1, p2) {
        case (Instruction.getData, 0x00, 0x00): return "reader: GET DATA UID"
        case (Instruction.getData, 0x01, 0x00): return "reader: GET DATA ATS"
        case (Instruction.getData, 0xF1, 0x01): return "reader: GET DATA NFC Forum tag type"
        case (Instruction.readBinary, _, _): return "reader: READ BINARY block \(parameters)"
        case (Instruction.updateBinary, _, _): return "reader: UPDATE BINARY block \(parameters)"
        default:
            guard let name = Self.readerInstructionNames[ins] else { return nil }
            return "reader: \(name) \(Hex.encode([p1, p2], separator: " "))"
        }
    }

    /// "3 bytes 010203", or "3 bytes" where the bytes are not to be shown.
    static func counted(_ count: Int, _ bytes: [UInt8]?) -> String {
        let text = "\(count) \(count == 1 ? "byte" : "bytes")"
        guard let bytes, !bytes.isEmpty else { return text }
        return "\(text) \(bytes.hex)"
    }

    private static let instructionNames: [UInt8: String] = [
        0x04: "DEACTIVATE FILE", 0x0C: "ERASE RECORD", 0x0E: "ERASE BINARY", 0x0F: "ERASE BINARY",
        0x10: "PERFORM SCQL OPERATION", 0x12: "PERFORM TRANSACTION OPERATION", 0x14: "PERFORM USER OPERATION",
        0x20: "VERIFY", 0x21: "VERIFY", 0x22: "MANAGE SECURITY ENVIRONMENT", 0x24: "CHANGE REFERENCE DATA",
        0x26: "DISABLE VERIFICATION REQUIREMENT", 0x28: "ENABLE VERIFICATION REQUIREMENT",
        0x2A: "PERFORM SECURITY OPERATION", 0x2C: "RESET RETRY COUNTER", 0x44: "ACTIVATE FILE",
        0x46: "GENERATE ASYMMETRIC KEY PAIR", 0x70: "MANAGE CHANNEL", 0x82: "EXTERNAL AUTHENTICATE",
        0x84: "GET CHALLENGE", 0x86: "GENERAL AUTHENTICATE", 0x87: "GENERAL AUTHENTICATE",
        0x88: "INTERNAL AUTHENTICATE", 0xA0: "SEARCH BINARY", 0xA1: "SEARCH BINARY", 0xA2: "SEARCH RECORD",
        0xA4: "SELECT", 0xB0: "READ BINARY", 0xB1: "READ BINARY", 0xB2: "READ RECORD", 0xB3: "READ RECORD",
        0xC0: "GET RESPONSE", 0xC2: "ENVELOPE", 0xC3: "ENVELOPE", 0xCA: "GET DATA", 0xCB: "GET DATA",
        0xD0: "WRITE BINARY", 0xD1: "WRITE BINARY", 0xD2: "WRITE RECORD", 0xD6: "UPDATE BINARY",
        0xD7: "UPDATE BINARY", 0xDA: "PUT DATA", 0xDB: "PUT DATA", 0xDC: "UPDATE RECORD", 0xDD: "UPDATE RECORD",
        0xE0: "CREATE FILE", 0xE2: "APPEND RECORD", 0xE4: "DELETE FILE", 0xE6: "TERMINATE DF",
        0xE8: "TERMINATE EF", 0xFE: "TERMINATE CARD USAGE",
    ]

    private static let readerInstructionNames: [UInt8: String] = [
        0x82: "LOAD KEY", 0x86: "GENERAL AUTHENTICATE", 0xC2: "TRANSPARENT EXCHANGE", 0xCA: "GET DATA",
        0xF0: "CONTROL", 0xF3: "MIFARE CLASSIC READ", 0xF4: "MIFARE CLASSIC WRITE", 0xF5: "MIFARE CLASSIC VALUE",
        0xF6: "RFID CONTROL", 0xF7: "CARD EMULATION", 0xF9: "SECURE ELEMENT CONTROL", 0xFB: "SLOT CONTROL",
        0xFD: "ECHO", 0xFE: "ENCAPSULATE",
    ]
}

extension ResponseAPDU: CustomStringConvertible {
    /// One line for people: the data, then the status word with its name, as `2 bytes 0102, 9000 success`.
    ///
    /// All data bytes are shown; nothing is redacted.
    public var description: String {
        data.isEmpty ? "\(statusWord)" : "\(CommandAPDU.counted(data.count, data)), \(statusWord)"
    }
}
