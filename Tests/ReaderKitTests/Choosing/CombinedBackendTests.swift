import CardCore
import Foundation
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

@Suite("Several backends as one", .timeLimit(.minutes(10)))
struct CombinedBackendTests {
    private let first = SimulatedBackend(readers: ["A", "B"])
    private let second = SimulatedBackend(readers: ["C"])

    @Test("Taps of all parts come, each reader's in its order")
    func taps() async throws {
        let taps = Taps(Scanning.scanner(CombinedBackend([first, second])))
        try await until("both are watched") { first.watchers == 1 && second.watchers == 1 }
        for round in 1...20 {
            for (backend, name) in [(first, "A"), (second, "C"), (first, "B")] {
                let count = taps.all.count
                backend.insert(SimulatedNTAG(.ntag213, uid: [0x04, UInt8(round), 1, 2, 3, 4, 5]), into: name)
                try await until("tap \(round) on \(name)") { taps.all.count == count + 1 }
                backend.remove(from: name)
            }
        }
        for name in ["A", "B", "C"] {
            let rounds = taps.all.filter { $0.reader == name }.map(\.uid?.bytes[1])
            #expect(rounds == Array(1...20))
        }
        taps.stop()
        try await until("nobody watches") { first.watchers == 0 && second.watchers == 0 }
    }

    @Test("A part that loses its service leaves the others alone")
    func service() async throws {
        let taps = Taps(Scanning.scanner(CombinedBackend([first, second])))
        try await until("both are watched") { first.watchers == 1 && second.watchers == 1 }
        first.loseService()
        second.insert(SimulatedNTAG(.ntag213))
        try await until("the tap") { taps.all.count == 1 }
        let listing = await CombinedBackend([first, second]).listing()
        #expect(listing.readers.map(\.reader.name) == ["C"])
        #expect(listing.faults.compactMap { ($0 as? ReaderError)?.kind } == [.serviceUnavailable])
        #expect(try await CombinedBackend([first, second]).readers().map(\.reader.name) == ["C"])
        taps.stop()
    }

    @Test("Whoever cannot be asked is told only where no other part has a reader")
    func readers() async throws {
        let combined = CombinedBackend([first, second])
        #expect(try await combined.readers().map(\.reader.name) == ["A", "B", "C"])
        first.loseService()
        second.removeReader(named: "C")
        let error = await #expect(throws: ReaderError.self) { try await combined.readers() }
        #expect(error?.kind == .serviceUnavailable)
        first.restoreService()
        #expect(try await combined.readers().map(\.reader.name) == ["A", "B"])
        #expect(try await CombinedBackend([]).readers() == [])
    }

    @Test("A conversation is held by the part that told of the reader")
    func conversations() async throws {
        let combined = CombinedBackend([first, second])
        let presence = try #require(second.insert(SimulatedNTAG(.ntag213)))
        _ = try await combined.readers()
        let version = try await combined.withCard(presence) { try $0.transceive(RawFrame([0x60])).bytes }
        #expect(version.count == 8)
        let nobody = CardPresence(
            reader: ReaderInfo(name: "X", backend: .nfc),
            number: 1,
            facts: CardFacts(atr: nil),
            at: Date(timeIntervalSince1970: 0)
        )
        let error = await #expect(throws: ReaderError.self) { try await combined.withCard(nobody) { _ in } }
        #expect(error?.kind == .readerUnavailable)
    }
}

#if PCSC && NFC
/// A reader on USB that another program has, and that libnfc finds and cannot open.
@Suite("A reader that libnfc finds and cannot open", .timeLimit(.minutes(10)))
struct SharedReaderTests {
    private let nfc = FakeNFC("acr122_usb:001:005", "pn53x_usb:001:006")
    private var configuration: NFCConfiguration {
        var configuration = FakeNFC.configuration
        (configuration.connectionStrings, configuration.discoversReaders) = ([], true)
        configuration.driversLeftAlone = NFCConfiguration.driversOfPCSC
        return configuration
    }

    @Test("One of pcscd is not touched; another is told, once; taps come by the other way")
    func taps() async throws {
        let name = "ACS ACR122U PICC Interface 00 00"
        let pcsc = SimulatedBackend(readers: [name])
        nfc.fail(.open, with: .inputOutput, forEver: true)
        let combined = CombinedBackend([pcsc, nfc.backend(configuration)])
        let taps = Taps(Scanning.scanner(combined))
        func stuck() -> [String] {
            taps.readers.compactMap { if case .readerStuck(let reader, _) = $0 { reader.name } else { nil } }
        }
        try await until("libnfc has failed") { !stuck().isEmpty }
        for round in 1...3 {
            pcsc.insert(SimulatedNTAG(.ntag213))
            try await taps.until("tap \(round)") { $0.count == round }
            pcsc.remove(from: name)
        }
        let tried = nfc.count(.open)
        try await until("it is tried again") { nfc.count(.open) > tried + 3 }
        #expect(stuck() == ["pn53x_usb:001:006"])
        let listing = await combined.listing()
        #expect(listing.readers.map(\.reader.name) == [name, "pn53x_usb:001:006"])
        #expect(listing.readers.map(\.unavailability?.kind) == [nil, .sharingViolation])
        #expect(listing.faults.isEmpty)
        nfc.heal()
        try await until("it is served") {
            taps.readers.contains(.readerAdded(ReaderInfo(name: "pn53x_usb:001:006", backend: .nfc)))
        }
        #expect(nfc.locked { !nfc.devices.values.contains("acr122_usb:001:005") })
        taps.stop()
    }

    @Test("One of pcscd that is named is served")
    func named() async throws {
        var configuration = configuration
        configuration.connectionStrings = ["acr122_usb:001:005"]
        let backend = nfc.backend(configuration)
        #expect(Set(try await backend.readers().map(\.reader.name)) == ["acr122_usb:001:005", "pn53x_usb:001:006"])
    }
}
#endif
