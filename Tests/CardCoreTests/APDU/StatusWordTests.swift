import Testing
import TestSupport

@testable import CardCore

@Suite struct StatusWordTests {
    @Test(
        arguments: [
            (0x9000, StatusWord.Classification.success),
            (0x6110, .moreData(count: 16)),
            (0x61FF, .moreData(count: 255)),
            (0x6100, .moreData(count: 256)),
            (0x6C04, .wrongLength(correct: 4)),
            (0x6C00, .wrongLength(correct: 256)),
            (0x6282, .warning),
            (0x6287, .warning),
            (0x63C2, .warning),
            (0x6400, .executionError),
            (0x6581, .executionError),
            (0x6600, .executionError),
            (0x6700, .checkingError),
            (0x6BFF, .checkingError),
            (0x6D00, .checkingError),
            (0x6F01, .checkingError),
            (0x9001, .proprietary),
            (0x91AF, .proprietary),
            (0x9F10, .proprietary),
            (0x6000, .invalid),
            (0x5FFF, .invalid),
            (0x7000, .invalid),
            (0x8FFF, .invalid),
            (0xA000, .invalid),
            (0x0000, .invalid),
        ] as [(UInt16, StatusWord.Classification)]
    ) func classifies(
        _ raw: UInt16,
        _ classification: StatusWord.Classification
    ) {
        #expect(StatusWord(raw).classification == classification)
        #expect(StatusWord(raw).isSuccess == (classification == .success))
    }

    @Test(
        arguments: [
            (0x9000, "success"),
            (0x6110, "16 bytes available"),
            (0x6101, "1 byte available"),
            (0x6100, "256 or more bytes available"),
            (0x6200, "warning, memory unchanged"),
            (0x6208, "warning, the card has a query of 8 bytes"),
            (0x62F1, "warning, memory unchanged"),
            (0x6282, "end of file or record reached"),
            (0x6287, "referenced record deactivated"),
            (0x63C0, "0 tries left"),
            (0x63C1, "1 try left"),
            (0x63CF, "15 tries left"),
            (0x6310, "warning, memory changed"),
            (0x6410, "error, the card has a query of 16 bytes"),
            (0x6501, "error, memory changed"),
            (0x6601, "security-related error"),
            (0x6712, "wrong length"),
            (0x6982, "security status not satisfied"),
            (0x6A82, "file or application not found"),
            (0x6A83, "record not found"),
            (0x6AFF, "wrong parameters P1-P2"),
            (0x6B00, "wrong parameters P1-P2"),
            (0x6C10, "wrong Le, 16 is right"),
            (0x6C00, "wrong Le, 256 is right"),
            (0x6D00, "instruction not supported"),
            (0x6E00, "class not supported"),
            (0x6F00, "no precise diagnosis"),
            (0x6F01, "reader or radio error: no card, or it is mute (01)"),
            (0x6F04, "reader or radio error: authentication (04)"),
            (0x6F1B, "reader or radio error: time-out (1B)"),
            (0x6F22, "reader or radio error: card command failed (22)"),
            (0x6FFF, "reader or radio error: unknown status (FF)"),
            (0x9017, "reader status: unknown command (17)"),
            (0x91AF, "DESFire: additional frame"),
            (0x9155, "proprietary"),
            (0x9F00, "proprietary"),
            (0x6000, "not a status word"),
        ] as [(UInt16, String)]
    ) func names(_ raw: UInt16, _ name: String) {
        #expect(StatusWord(raw).name == name)
        #expect(StatusWord(raw).description == Hex.encode([UInt8(raw >> 8), UInt8(raw & 0xFF)]) + " " + name)
    }

    @Test func everyStatusWordHasANameAndAMeaning() {
        var wrong: [UInt16] = []
        for raw in UInt16.min...UInt16.max {
            let statusWord = StatusWord(raw)
            let isRight =
                !statusWord.name.isEmpty && statusWord.meaning.utf8.last == UInt8(ascii: ".")
                && StatusWord(sw1: statusWord.sw1, sw2: statusWord.sw2) == statusWord && statusWord.rawValue == raw
            if !isRight { wrong.append(raw) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func countersAndReaderStatus() {
        #expect(StatusWord(0x63C0).triesLeft == 0)
        #expect(StatusWord(0x63CF).triesLeft == 15)
        #expect(StatusWord(0x6300).triesLeft == nil)
        #expect(StatusWord(0x63D0).triesLeft == nil)
        #expect(StatusWord(0x6F17).readerStatus == 0x17)
        #expect(StatusWord(0x9017).readerStatus == 0x17)
        #expect(StatusWord.success.readerStatus == nil)
        #expect(StatusWord(0x6F00).readerStatus == nil)
        #expect(StatusWord(0x6A17).readerStatus == nil)
        #expect(StatusWord.readerStatusName(0x00) == "OK")
    }

    @Test func aReaderMeansOtherThings() {
        #expect(StatusWord(0x6981).readerMeaning == "This kind of card does not take the command.")
        #expect(StatusWord.fileNotFound.readerMeaning == "There is no such block on the card.")
        #expect(StatusWord.success.readerMeaning == nil)
    }
}
