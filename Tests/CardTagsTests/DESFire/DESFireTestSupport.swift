import CardCore
import ReaderKitTesting
import Testing
import TestSupport

@testable import CardTags

enum DESFireSamples {
    static let key = SecretKey(text: "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF") ?? .factory
    static let otherKey = SecretKey(text: "B0B1B2B3B4B5B6B7B8B9BABBBCBDBEBF") ?? .factory
    static let application = DESFireApplicationID(0xF4_8120) ?? .card

    /// A card with an application of every kind of file, keys 0 and 1, readable with key 1 or freely.
    static func card(
        _ model: SimulatedDESFire.Model = .ev2,
        communication: DESFireCommunication = .plain,
        isFree: Bool = false
    ) -> SimulatedDESFire {
        let rights = isFree ? DESFireAccessRights(0xE000) : DESFireAccessRights(0x1000)
        let records = (0..<40).map { number in [UInt8](repeating: UInt8(number), count: 30) }
        func file(_ number: UInt8, _ content: SimulatedDESFireFile.Content) -> SimulatedDESFireFile {
            SimulatedDESFireFile(number, content, communication: communication, rights: rights)
        }
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = model
        configuration.applications = [
            SimulatedDESFireApplication(
                id: application.number,
                name: bytes("D2760000850200"),
                keys: [.factory, key],
                files: [
                    file(0, .standard(pattern(300))),
                    file(1, .backup(pattern(16))),
                    file(2, .value(-1234, lower: -100_000, upper: 100_000)),
                    file(3, .records(records, size: 30, capacity: 50, isCyclic: false)),
                    file(4, .records(Array(records.prefix(3)), size: 30, capacity: 4, isCyclic: true)),
                    file(5, .transactionMAC(keyOptions: 2, keyVersion: 7)),
                    file(6, .standard(pattern(1))),
                    file(7, .standard(pattern(2500))),
                ]
            )
        ]
        return SimulatedDESFire(configuration)
    }

    /// Bytes that no piece of which looks like another.
    static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8 ^ 0x5A) }
    }

    /// A card with challenges that are the same in every run.
    static func open(_ channel: any CardChannel) -> DESFireCard {
        DESFireCard(channel) { bytes("13C5DB8A5930439FC3DEF9A4C675360F") }
    }
}

extension DESFireCard {
    /// Selects the sample's application and authenticates in that way, if any.
    mutating func enter(
        _ generation: DESFireSession.Generation?,
        _ key: SecretKey = DESFireSamples.key
    ) throws(DESFireError) {
        if commandSet == .light {
            try select(name: bytes("D2760000850200"))
        } else {
            try select(DESFireSamples.application)
        }
        switch generation {
        case .ev1: try authenticateAES(key: key, number: 1)
        case .ev2: try authenticateEV2First(key: key, number: 1)
        case nil: break
        }
    }
}
