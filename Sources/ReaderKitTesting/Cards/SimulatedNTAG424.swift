import ReaderKit

/// An NTAG 424 DNA: a ``SimulatedDESFire`` with one application, three files and five keys of its own.
///
/// Secure dynamic messaging can be set and is shown; the message that is read has nothing mirrored into it.
public enum SimulatedNTAG424 {
    /// A tag as it leaves the factory, with a message, which is cut off behind 254 bytes.
    ///
    /// The capability container (file 1, E103) names the NDEF file (file 2, E104, 256 bytes) and the proprietary file
    /// (file 3, E105, 128 bytes, which takes keys 2 and 3). Missing keys of the five are all zeros.
    public static func card(
        message: [UInt8] = [],
        keys: [SecretKey] = [],
        uid: [UInt8] = [0x04, 0x95, 0x8C, 0xAA, 0x5C, 0x5E, 0x80],
        showsRandomUID: Bool = false
    ) -> SimulatedDESFire {
        var configuration = SimulatedDESFire.Configuration()
        configuration.model = .ntag424
        configuration.uid = uid
        configuration.showsRandomUID = showsRandomUID
        configuration.memory = 416
        configuration.applications = [application(message: message, keys: keys)]
        return SimulatedDESFire(configuration)
    }

    /// The factory's capability container: 23 bytes, and zeros up to the file's 32.
    public static let container: [UInt8] =
        [0x00, 0x17, 0x20, 0x01, 0x00, 0x00, 0xFF, 0x04, 0x06, 0xE1, 0x04, 0x01, 0x00, 0x00, 0x00]
        + [0x05, 0x06, 0xE1, 0x05, 0x00, 0x80, 0x82, 0x83] + [UInt8](repeating: 0, count: 9)

    /// The number under which the simulated card keeps its one application. The card itself assigns it no number.
    public static let applicationID: UInt32 = 0x00_E110

    private static func application(message: [UInt8], keys: [SecretKey]) -> SimulatedDESFireApplication {
        let proprietary = SimulatedDESFireFile(
            3,
            .standard([UInt8](repeating: 0, count: 128)),
            isoFile: 0xE105,
            communication: .encrypted,
            rights: DESFireAccessRights(read: .key(2), write: .key(3), readWrite: .key(3), change: .key(0))
        )
        return SimulatedDESFireApplication(
            id: applicationID,
            name: SimulatedDESFireApplication.ndefName,
            keys: (0..<5).map { keys.indices.contains($0) ? keys[$0] : .factory },
            options: 0x02,
            files: SimulatedDESFireFile.ndef(container, message, size: 256) + [proprietary]
        )
    }
}
