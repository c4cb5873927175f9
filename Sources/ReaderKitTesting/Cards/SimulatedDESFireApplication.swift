import ReaderKit

/// An application on a ``SimulatedDESFire``.
public struct SimulatedDESFireApplication: Sendable {
    /// Its number, 1...FFFFFF.
    public var id: UInt32
    /// Its name, for SELECT by name; empty if it has none.
    public var name: [UInt8]
    /// Its AES keys; the first is its master key.
    public var keys: [SecretKey]
    /// The settings of its master key: `02` listing is free, `04` making files is free.
    public var options: UInt8
    /// Its files.
    public var files: [SimulatedDESFireFile]

    /// An application.
    public init(
        id: UInt32,
        name: [UInt8] = [],
        keys: [SecretKey] = [.factory],
        options: UInt8 = 0x0F,
        files: [SimulatedDESFireFile] = []
    ) {
        self.id = id
        self.name = name
        self.keys = keys
        self.options = options
        self.files = files
    }

    /// The name of the NDEF application.
    public static let ndefName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]

    /// The NDEF application of a DESFire: capability container in file 1, message in file 2.
    ///
    /// - Parameters:
    ///   - message: what is cut off where it is longer than the file.
    ///   - fileSize: the size of the message's file with its length field, 3...32767.
    ///   - key: the application's key.
    public static func ndef(
        message: [UInt8] = [],
        fileSize: Int = 256,
        key: SecretKey = .factory
    ) -> SimulatedDESFireApplication {
        let size = min(max(fileSize, 3), 0x7FFF)
        let lengths = [UInt8(size >> 8), UInt8(size & 0xFF)]
        let container: [UInt8] = [0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06, 0xE1, 0x04] + lengths + [0, 0]
        let kept = Array(message.prefix(size - 2))
        let content = [UInt8(kept.count >> 8), UInt8(kept.count & 0xFF)] + kept
        return SimulatedDESFireApplication(
            id: 1,
            name: ndefName,
            keys: [key],
            options: 0x0B,
            files: [
                SimulatedDESFireFile(
                    1,
                    .standard(container),
                    isoFile: 0xE103,
                    rights: DESFireAccessRights(read: .free, write: .key(0), readWrite: .key(0), change: .key(0))
                ),
                SimulatedDESFireFile(
                    2,
                    .standard(content + [UInt8](repeating: 0, count: size - content.count)),
                    isoFile: 0xE104,
                    rights: DESFireAccessRights(read: .free, write: .free, readWrite: .free, change: .key(0))
                ),
            ]
        )
    }
}
