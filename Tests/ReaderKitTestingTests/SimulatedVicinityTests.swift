import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedVicinityTests {
    private static let uid = Array(SimulatedVicinityTag.sampleUID.reversed()).hex
    private static let other = "00000000000004E0"
    private static let inventory = FrameStep("260100", "0000" + uid)

    @Test("Sizes that no card has become the nearest that there are")
    func sizes() {
        var configuration = SimulatedVicinityTag.Configuration()
        configuration.blockSize = -4
        configuration.blocks = 1_000_000
        #expect(configuration.blockSize == 1 && configuration.blocks == 65_536)
        _ = SimulatedVicinityTag(configuration: configuration)
    }

    private static let table: [(String, [FrameStep])] = [
        (
            "blocks",
            [
                inventory, FrameStep("02200500", "0102"), FrameStep("022005", "0000000000"),
                FrameStep("02210511223344", "00"), FrameStep("022005", "0011223344"),
                FrameStep("2220" + uid + "05", "0011223344"), FrameStep("2220" + other + "05", "-"),
                FrameStep("02201C", "0110"), FrameStep("0221051122", "0102"),
                FrameStep("02230501", "001122334400000000"),
                FrameStep("02231B01", "0110"), FrameStep("023000", "0102"), FrameStep("02300500", "0011223344"),
            ]
        ),
        (
            "locks",
            [
                FrameStep("022C0302", "00000000"), FrameStep("022204", "00"), FrameStep("022204", "0111"),
                FrameStep("02210411223344", "0112"), FrameStep("022C0302", "00000100"), FrameStep("022C1B01", "0110"),
                FrameStep("022C03", "0102"), FrameStep("422004", "000100000000"), FrameStep("02221C", "0110"),
            ]
        ),
        (
            "application family and storage format",
            [
                FrameStep("022742", "00"), FrameStep("022917", "00"), FrameStep("260100", "0017" + uid),
                FrameStep("3601" + "4200", "0017" + uid), FrameStep("3601" + "4300", "-"),
                FrameStep("3601" + "0000", "0017" + uid),
                FrameStep("022B", "000F" + uid + "1742" + "1B0301"), FrameStep("0228", "00"), FrameStep("0228", "0111"),
                FrameStep("022743", "0112"), FrameStep("022A", "00"), FrameStep("022918", "0112"),
                FrameStep("0227", "0102"),
                FrameStep("022800", "0102"), FrameStep("260100", "0017" + uid),
            ]
        ),
        (
            "quiet and selected",
            [
                FrameStep("2202" + uid, "-"), FrameStep("260100", "-"), FrameStep("022005", "-"),
                FrameStep("2220" + uid + "05", "0000000000"), FrameStep("1220" + "05", "-"),
                FrameStep("2225" + uid, "00"), FrameStep("122005", "0000000000"), inventory,
                // Another card is selected, and this one is so no more.
                FrameStep("2225" + other, "-"), FrameStep("122005", "-"), FrameStep("022005", "0000000000"),
                FrameStep("2202" + uid, "-"), FrameStep("2226" + uid, "00"), inventory,
                FrameStep("2202" + uid, "-"), FrameStep("260100", "-"), .power, inventory,
            ]
        ),
        (
            "unknown",
            [FrameStep("02A0", "0101"), FrameStep("02B204", "0101"), FrameStep("0202", "0101"), FrameStep("02", "-")]
        ),
    ]

    @Test(arguments: table) func frames(_ name: String, _ steps: [FrameStep]) {
        #expect(differences(SimulatedVicinityTag(), steps) == [])
    }
}
