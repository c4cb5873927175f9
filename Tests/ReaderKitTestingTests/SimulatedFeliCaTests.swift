import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedFeliCaTests {
    private static let idm = SimulatedFeliCa.sampleIDm.hex
    private static let pmm = "00F1000000014300"

    /// A frame with its length before it.
    private static func frame(_ body: String) -> String { [UInt8(body.count / 2 + 1)].hex + body }

    private static let table: [(String, String)] = [
        // Polling: without a request, for the system, for the speeds; for one system, any, and another.
        ("00FFFF0000", "01" + idm + pmm), ("00FFFF0100", "01" + idm + pmm + "88B4"),
        ("0012FC0100", "01" + idm + pmm + "12FC"),
        ("00FFFF0200", "01" + idm + pmm + "0083"), ("0012FF0000", "01" + idm + pmm), ("0000030000", "-"),
        ("00FFFF0001", "01" + idm + pmm), ("00FFFF00", "-"),
        // Request Response: is it there, and in which mode.
        ("04" + idm, "05" + idm + "00"), ("04FFFFFFFFFFFFFFFF", "-"), ("04" + idm + "00", "-"), ("04", "-"),
        // Request Service: what has no key, and what is not there.
        ("02" + idm + "030900" + "0B00" + "0F00", "03" + idm + "0300000000FFFF"), ("02" + idm + "00", "-"),
        ("02" + idm + "020900", "-"), ("02" + idm, "-"),
        ("0C" + idm, "0D" + idm + "0288B412FC"), ("0C" + idm + "00", "-"),
        // Reading what is not there, too much at once, by another service; writing by the service that only reads.
        ("06" + idm + "010B00018000", "07" + idm + "000001" + String(repeating: "00", count: 16)),
        ("06" + idm + "010B0001800E", "07" + idm + "01A8"), ("06" + idm + "010F00018000", "07" + idm + "01A6"),
        ("06" + idm + "010B00058000800180028003" + "8004", "07" + idm + "FFA2"), ("06" + idm + "010B0001", "-"),
        ("08" + idm + "010B00018001" + String(repeating: "11", count: 16), "09" + idm + "01A6"),
        ("08" + idm + "010900018001" + String(repeating: "11", count: 16), "09" + idm + "0000"),
        ("08" + idm + "01090001800111", "-"), ("0A" + idm, "-"),
    ]

    @Test(arguments: table) func frames(_ body: String, _ expected: String) {
        let answer = answer(SimulatedFeliCa(), Self.frame(body))
        #expect(answer == (expected == "-" ? "-" : Self.frame(expected)))
    }

    @Test func withoutRequests() {
        var configuration = SimulatedFeliCa.Configuration()
        configuration.answersRequests = false
        let card = SimulatedFeliCa(configuration: configuration)
        for body in ["04" + Self.idm, "02" + Self.idm + "010900", "0C" + Self.idm] {
            #expect(answer(card, Self.frame(body)) == "-")
        }
        #expect(answer(card, "0500FFFF0000") == "-")
        #expect(answer(card, "0600FFFF0000") != "-")
    }
}
