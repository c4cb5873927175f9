import CardCore
import CardPasses
import Foundation
import NDEFCodec
import ReaderKitTesting
import Testing
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

extension FakeNFC {
    /// Limits that are short enough for tests and long enough for a loaded machine.
    static let configuration = NFCConfiguration(
        connectionStrings: ["fake:A"],
        pollInterval: .milliseconds(2),
        discoveryInterval: .milliseconds(2),
        answerTimeout: .seconds(5),
        callDeadline: .seconds(300),
        firstBackOff: .milliseconds(2),
        lastBackOff: .milliseconds(10)
    )

    func backend(
        _ configuration: NFCConfiguration = FakeNFC.configuration,
        abandoned: AbandonedThreads = AbandonedThreads()
    ) -> NFCBackend {
        NFCBackend(library: library, configuration: configuration, abandoned: abandoned) {
            Date(timeIntervalSince1970: 0)
        }
    }

    /// Checks that nothing is left behind and nothing forbidden was done.
    func expectClean(_ what: String = "", sourceLocation: SourceLocation = #_sourceLocation) async {
        try? await until("clean", within: .seconds(60)) { self.openDevices == 0 }
        let left = openDevices
        #expect(left == 0, "devices left \(what)", sourceLocation: sourceLocation)
        #expect(complaints == [], "\(what)", sourceLocation: sourceLocation)
    }
}

/// Cards of every kind that libnfc sees, each with a message or something else to be read.
enum NFCCards {
    struct Sample: Sendable, CustomTestStringConvertible {
        var name: String
        var card: @Sendable () throws -> any SimulatedCard

        var testDescription: String { name }
    }

    static var message: [UInt8] {
        get throws { try NDEFMessage([NDEFRecord.uri("https://club.example/m/42")]).encoded() }
    }

    static let all: [Sample] = [
        Sample(name: "NTAG213") { try #require(SimulatedNTAG.formatted(.ntag213, message: message)) },
        Sample(name: "NTAG216") { try #require(SimulatedNTAG.formatted(.ntag216, message: message)) },
        Sample(name: "Ultralight, blank") { SimulatedNTAG(.ntag213) },
        Sample(name: "Classic 1K") { try #require(SimulatedMIFAREClassic.formatted(message: message)) },
        Sample(name: "Classic 4K") { try #require(SimulatedMIFAREClassic.formatted(.fourK, message: message)) },
        Sample(name: "Classic, blank") { SimulatedMIFAREClassic() },
        Sample(name: "FeliCa") { try #require(SimulatedFeliCa.formatted(message: message)) },
        Sample(name: "FeliCa without NDEF") {
            var configuration = SimulatedFeliCa.Configuration()
            configuration.systems = [0x88B4]
            return SimulatedFeliCa(configuration: configuration)
        },
        Sample(name: "Topaz") { try #require(SimulatedTopaz.formatted(message: message)) },
        Sample(name: "Topaz 512") { try #require(SimulatedTopaz.formatted(message: message, isLarge: true)) },
        Sample(name: "Type 4") { try SimulatedType4Tag(message: message) },
        Sample(name: "Type 4, 4-byte identifier") {
            try SimulatedType4Tag(message: message, uid: [0x31, 0x22, 0x33, 0x44], historicalBytes: [0x80, 0x02])
        },
    ]
}

extension ScanEvent {
    /// The event without what may differ between two ways in.
    var withoutWay: ScanEvent {
        var event = self
        event.id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        event.at = Date(timeIntervalSince1970: 0)
        event.reader = ""
        event.backend = .simulated
        event.duration = .zero
        return event
    }
}
#endif
