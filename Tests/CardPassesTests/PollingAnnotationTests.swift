import CardCore
import Testing
import TestSupport

@testable import CardPasses

/// The frames by which readers tell phones what they want, and which readers send them.
@Suite struct PollingAnnotationTests {
    private static func bytes(_ hex: String) -> [UInt8] { (try? Hex.decode(hex)) ?? [] }

    /// The frames with their checksums on type A and type B.
    private static let frames: [(annotation: PollingAnnotation, mode: AppleVASRequest.Mode?, a: String, b: String)] = [
        (.init(.passOrPayment), .passOrPayment, "6A 01 00 00 00 F6 F1", "6A 01 00 00 00 D7 3E"),
        (.init(.passAndPayment), .passAndPayment, "6A 01 00 00 01 7F E0", "6A 01 00 00 01 5E 2F"),
        (.init(.passOnly), .passOnly, "6A 01 00 00 02 E4 D2", "6A 01 00 00 02 C5 1D"),
        (.init(.paymentOnly), .paymentOnly, "6A 01 00 00 03 6D C3", "6A 01 00 00 03 4C 0C"),
        (.ignore, nil, "6A 01 CF 00 00 AB B1", "6A 01 CF 00 00 8A 7E"),
    ]

    @Test(arguments: frames)
    func haveTheirFrames(annotation: PollingAnnotation, mode: AppleVASRequest.Mode?, a: String, b: String) {
        for frame in [Self.bytes(a), Self.bytes(b), annotation.bytes] {
            #expect(PollingAnnotation(frame: frame) == annotation)
        }
        #expect(annotation.version == 1 && annotation.mode == mode)
        if let mode { #expect(PollingAnnotation(mode) == annotation) }
    }

    @Test func theSecondVersion() throws {
        let frame = Self.bytes("6A 02 C8 01 00 03 00 02 79 00 00 00 00 C2 D8")
        let annotation = try #require(PollingAnnotation(frame: frame))
        #expect(annotation.version == 2 && annotation.mode == nil)
        #expect(annotation.bytes == frame.dropLast(2))
        #expect(annotation.meaning == "a reader for transit is there")
    }

    @Test(arguments: [
        "", "6A", "6A 01 00 00", "6A 03 00 00 02", "26", "52", "6A 01 00 00 02 00", "6A 01 00 00 02 E4 D3",
        "93 20 00 00 00",
    ])
    func areNothingElse(frame: String) {
        #expect(PollingAnnotation(frame: Self.bytes(frame)) == nil)
    }

    @Test(arguments: [
        ("SpringCard H518 [CCID] (000A1B2C) 00 00", BackendKind.pcsc, PollingAnnotation.Support.supported),
        ("SpringCard Puck [CCID] (000A1B2C) 00 00", .pcsc, .supported),
        ("ACS WalletMate 1S CL Reader 00 00", .replay, .supported), ("dotOrigin VTAP100 00 00", .pcsc, .supported),
        ("/dev/ttyACM0", .smartReader, .supported), ("ACS ACR122U PICC Interface 00 00", .pcsc, .notSupported),
        ("Identiv uTrust 3700 F CL Reader 00 00", .pcsc, .notSupported),
        ("SCM Microsystems Inc. SCL011 00 00", .pcsc, .notSupported),
        ("pn532_uart:/dev/ttyUSB0", .nfc, .notSupported), ("pn532_uart:/dev/ttyUSB0", .replay, .notSupported),
        ("ACS ACR1552 1S CL Reader 00 00", .pcsc, .unknown), ("Virtual PCD 00 00", .pcsc, .unknown),
        ("replay", .replay, .unknown),
    ])
    func readersAreJudgedByTheirNames(name: String, backend: BackendKind, support: PollingAnnotation.Support) {
        #expect(PollingAnnotation.support(by: ReaderInfo(name: name, backend: backend)) == support)
    }
}
