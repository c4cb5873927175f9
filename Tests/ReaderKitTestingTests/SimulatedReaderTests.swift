import ReaderKit
import ReaderKitTesting
import Testing

@Suite struct SimulatedReaderTests {
    private func answer(_ command: String, _ card: any SimulatedCard, _ reader: SimulatedReader = .init()) -> String? {
        card.powerOn()
        return reader.transmit((try? Hex.decode(command)) ?? [], to: card)?.hex
    }

    @Test(arguments: [
        ("FFCA000000", "04A1B2C3D4E5809000"), ("FFCA0000", "04A1B2C3D4E5809000"), ("FFCA000007", "04A1B2C3D4E5809000"),
        ("FFCA000004", "6C07"), ("FFCA000008", "04A1B2C3D4E5806282"), ("FFCA010000", "6A81"), ("FFCAF10100", "6A81"),
        ("FFB0000410", "0103A00C340300FE00000000000000009000"), ("FFB0000404", "0103A00C9000"),
        ("FFB000FF10", "6300"), ("FFB0010410", "6B00"), ("FFD600040411223344", "9000"),
        ("FFD6000403112233", "6700"), ("FFD600000411223344", "6300"),
        ("FFFE01000160", "0004040201000F039000"), ("FFFE0100025000", "6F01"), ("FFFE05000160", "6A81"),
        ("FFFE010000", "6700"), ("FFB400", "6700"), ("FFC2000000", "6D00"), ("00A4040000", "6E00"), ("FF", "6700"),
    ])
    func storageCard(_ command: String, _ expected: String) {
        #expect(answer(command, SimulatedNTAG(.ntag213)) == expected)
    }

    @Test(arguments: [
        ("FFCA000000", "046F169AFC2E809000"), ("FFCA010000", "809000"), ("FFB0000410", "6981"),
        ("FFD600040411223344", "6981"), ("00A4040007D276000085010100", "6A82"), ("00B0000010", "6D00"),
    ])
    func processorCard(_ command: String, _ expected: String) {
        #expect(answer(command, SimulatedIdentityCard.desFire()) == expected)
    }

    @Test func habits() {
        let tag = SimulatedNTAG(.ntag213)
        let single = SimulatedReader(bytesPerRead: 4)
        #expect(answer("FFB0000410", tag, single) == "0103A00C9000")
        let strict = SimulatedReader(bytesPerRead: 4, insistsOnLength: true)
        #expect(answer("FFB0000410", tag, strict) == "6C04")
        #expect(answer("FFCA000008", tag, strict) == "6C07")
        let telling = SimulatedReader(tellsTagType: true)
        #expect(answer("FFCAF10000", tag, telling) == "0300039000")
        #expect(answer("FFCAF10100", tag, telling) == "029000")
        #expect(answer("FFCAF10100", SimulatedIdentityCard.feliCa(), telling) == "039000")
        #expect(answer("FFCAF10100", SimulatedType4Tag(), telling) == "049000")
        #expect(answer("FFCAF10100", SimulatedIdentityCard.vicinity(), telling) == "059000")
        #expect(answer("FFCAF10100", SimulatedIdentityCard.classic1K(), telling) == "6A81")
        #expect(answer("FFB0000410", SimulatedIdentityCard.classic1K()) == "6982")
        #expect(answer("FFB0000410", SimulatedIdentityCard.classic1K(), .init(securityStatus: 0x6300)) == "6300")
        #expect(answer("FFB0000410", SimulatedIdentityCard.feliCa()) == "6A81")
    }

    @Test(arguments: [
        (SimulatedCardKind.ultralight, "3B8F8001804F0CA0000003060300030000000068"),
        (.classic1K, "3B8F8001804F0CA000000306030001000000006A"),
        (.classic4K, "3B8F8001804F0CA0000003060300020000000069"),
        (.feliCa, "3B8F8001804F0CA00000030611003B0000000042"),
        (.icodeSLI, "3B8F8001804F0CA0000003060B00140000000077"),
        (.isoDEP(historicalBytes: []), "3B80800101"),
        (.isoDEP(historicalBytes: [0x80]), "3B8180018080"),
    ])
    func answerToReset(_ kind: SimulatedCardKind, _ atr: String) {
        #expect(kind.atr.hex == atr)
    }

    @Test func longHistoricalBytes() {
        let kind = SimulatedCardKind.isoDEP(historicalBytes: [UInt8](repeating: 1, count: 40))
        #expect(kind.atr.count == 20)
    }

    @Test func phoneChangesItsIdentifier() {
        let phone = SimulatedIdentityCard.phone(seed: 7)
        let identifiers = (0..<20).map { _ in
            phone.powerOn()
            return phone.uid
        }
        #expect(Set(identifiers).count == 20)
        #expect(identifiers.allSatisfy { $0.count == 4 && $0[0] == 0x08 })
        let again = SimulatedIdentityCard.phone(seed: 7)
        again.powerOn()
        #expect(again.uid == identifiers[0])
    }
}
