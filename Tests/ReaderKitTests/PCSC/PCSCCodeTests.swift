import CardCore
import Testing

@testable import ReaderKit

#if PCSC

@Suite struct PCSCCodeTests {
    /// Every code of `pcsclite.h` (1.9.9), and the kind of error that it is to a caller.
    static let codes: [(UInt32, String, ReaderError.Kind)] = [
        (0x8010_0001, "SCARD_F_INTERNAL_ERROR", .other),
        (0x8010_0002, "SCARD_E_CANCELLED", .cancelled),
        (0x8010_0003, "SCARD_E_INVALID_HANDLE", .serviceStopped),
        (0x8010_0004, "SCARD_E_INVALID_PARAMETER", .other),
        (0x8010_0005, "SCARD_E_INVALID_TARGET", .other),
        (0x8010_0006, "SCARD_E_NO_MEMORY", .other),
        (0x8010_0007, "SCARD_F_WAITED_TOO_LONG", .timeout),
        (0x8010_0008, "SCARD_E_INSUFFICIENT_BUFFER", .limitExceeded),
        (0x8010_0009, "SCARD_E_UNKNOWN_READER", .readerUnavailable),
        (0x8010_000A, "SCARD_E_TIMEOUT", .timeout),
        (0x8010_000B, "SCARD_E_SHARING_VIOLATION", .sharingViolation),
        (0x8010_000C, "SCARD_E_NO_SMARTCARD", .cardRemoved),
        (0x8010_000D, "SCARD_E_UNKNOWN_CARD", .other),
        (0x8010_000E, "SCARD_E_CANT_DISPOSE", .unsupported),
        (0x8010_000F, "SCARD_E_PROTO_MISMATCH", .cardUnresponsive),
        (0x8010_0010, "SCARD_E_NOT_READY", .communication),
        (0x8010_0011, "SCARD_E_INVALID_VALUE", .other),
        (0x8010_0012, "SCARD_E_SYSTEM_CANCELLED", .cancelled),
        (0x8010_0013, "SCARD_F_COMM_ERROR", .communication),
        (0x8010_0014, "SCARD_F_UNKNOWN_ERROR", .other),
        (0x8010_0015, "SCARD_E_INVALID_ATR", .cardUnresponsive),
        (0x8010_0016, "SCARD_E_NOT_TRANSACTED", .communication),
        (0x8010_0017, "SCARD_E_READER_UNAVAILABLE", .readerUnavailable),
        (0x8010_0018, "SCARD_P_SHUTDOWN", .serviceStopped),
        (0x8010_0019, "SCARD_E_PCI_TOO_SMALL", .other),
        (0x8010_001A, "SCARD_E_READER_UNSUPPORTED", .unsupported),
        (0x8010_001B, "SCARD_E_DUPLICATE_READER", .other),
        (0x8010_001C, "SCARD_E_CARD_UNSUPPORTED", .unsupported),
        (0x8010_001D, "SCARD_E_NO_SERVICE", .serviceUnavailable),
        (0x8010_001E, "SCARD_E_SERVICE_STOPPED", .serviceStopped),
        // The header gives SCARD_E_UNEXPECTED the same number.
        (0x8010_001F, "SCARD_E_UNSUPPORTED_FEATURE", .unsupported),
        (0x8010_0020, "SCARD_E_ICC_INSTALLATION", .other),
        (0x8010_0021, "SCARD_E_ICC_CREATEORDER", .other),
        (0x8010_0023, "SCARD_E_DIR_NOT_FOUND", .other),
        (0x8010_0024, "SCARD_E_FILE_NOT_FOUND", .other),
        (0x8010_0025, "SCARD_E_NO_DIR", .other),
        (0x8010_0026, "SCARD_E_NO_FILE", .other),
        (0x8010_0027, "SCARD_E_NO_ACCESS", .accessDenied),
        (0x8010_0028, "SCARD_E_WRITE_TOO_MANY", .other),
        (0x8010_0029, "SCARD_E_BAD_SEEK", .other),
        (0x8010_002A, "SCARD_E_INVALID_CHV", .accessDenied),
        (0x8010_002B, "SCARD_E_UNKNOWN_RES_MNG", .other),
        (0x8010_002C, "SCARD_E_NO_SUCH_CERTIFICATE", .other),
        (0x8010_002D, "SCARD_E_CERTIFICATE_UNAVAILABLE", .other),
        (0x8010_002E, "SCARD_E_NO_READERS_AVAILABLE", .readerUnavailable),
        (0x8010_002F, "SCARD_E_COMM_DATA_LOST", .communication),
        (0x8010_0030, "SCARD_E_NO_KEY_CONTAINER", .other),
        (0x8010_0031, "SCARD_E_SERVER_TOO_BUSY", .serviceUnavailable),
        (0x8010_0065, "SCARD_W_UNSUPPORTED_CARD", .cardUnresponsive),
        (0x8010_0066, "SCARD_W_UNRESPONSIVE_CARD", .cardUnresponsive),
        (0x8010_0067, "SCARD_W_UNPOWERED_CARD", .cardUnpowered),
        (0x8010_0068, "SCARD_W_RESET_CARD", .cardReset),
        (0x8010_0069, "SCARD_W_REMOVED_CARD", .cardRemoved),
        (0x8010_006A, "SCARD_W_SECURITY_VIOLATION", .accessDenied),
        (0x8010_006B, "SCARD_W_WRONG_CHV", .accessDenied),
        (0x8010_006C, "SCARD_W_CHV_BLOCKED", .accessDenied),
        (0x8010_006D, "SCARD_W_EOF", .other),
        (0x8010_006E, "SCARD_W_CANCELLED_BY_USER", .cancelled),
        (0x8010_006F, "SCARD_W_CARD_NOT_AUTHENTICATED", .accessDenied),
    ]

    @Test(arguments: codes) func code(_ number: UInt32, _ name: String, _ kind: ReaderError.Kind) {
        let code = PCSCCode(rawValue: number)
        #expect(code.name == name)
        #expect(!code.isSuccess)
        #expect(code.description == "\(name) 0x\(String(number, radix: 16, uppercase: true))")
        let error = code.error(attempting: "do it")
        #expect(error.kind == kind)
        #expect(error.code == ReaderError.Code(rawValue: Int64(number), name: name))
        #expect(!error.hint.isEmpty)
        // Attempt, what happened with the code, advice.
        #expect(error.description.hasPrefix("could not do it: "))
        #expect(error.description.contains("(\(name) 0x\(String(number, radix: 16, uppercase: true)))"))
        #expect(error.description.hasSuffix(error.hint))
    }

    @Test func tableIsComplete() {
        #expect(PCSCCode.all.map(\.rawValue) == [0] + Self.codes.map(\.0))
        #expect(PCSCCode(rawValue: 0).isSuccess)
        #expect(PCSCCode(rawValue: 0).name == "SCARD_S_SUCCESS")
    }

    /// What happened is told in a way that fits: a kind that says too little comes with a detail.
    @Test(arguments: codes) func otherHasDetail(_ number: UInt32, _ name: String, _ kind: ReaderError.Kind) {
        guard kind == .other else { return }
        #expect(PCSCCode(rawValue: number).error(attempting: "do it").detail?.isEmpty == false)
    }

    @Test(arguments: [0x8010_0022, 0x8010_0070, 0x0000_0001, 0xFFFF_FFFF] as [UInt32])
    func unknownCodeKeepsItsNumber(_ number: UInt32) {
        let error = PCSCCode(rawValue: number).error(attempting: "do it")
        #expect(error.kind == .other)
        #expect(error.code?.rawValue == Int64(number))
        #expect(error.description.contains("0x" + String(number, radix: 16, uppercase: true)))
        #expect(!error.hint.isEmpty)
    }

    @Test(arguments: ReaderError.Kind.allCases) func kindsHaveWords(_ kind: ReaderError.Kind) {
        #expect(!kind.meaning.isEmpty)
        #expect(kind.advice.hasSuffix("."))
    }

    @Test(
        arguments: [
            ("ACS ACR122U PICC Interface 00 00", nil),
            ("SpringCard H518 [Contactless] (000A1B2C) 00 00", "000A1B2C"),
            ("Vendor (Europe) Reader [CCID Interface] (42) 01 02", "42"),
            ("Reader () 00 00", nil),
            ("Reader )( 00 00", nil),
            ("", nil),
        ] as [(String, String?)]
    )
    func serialFromName(_ name: String, _ serial: String?) {
        #expect(ReaderInfo(pcscName: name) == ReaderInfo(name: name, backend: .pcsc, serial: serial))
    }
}
#endif
