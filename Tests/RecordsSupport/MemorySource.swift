import ClubRecords
import Synchronization

/// Bytes in memory, in pieces of a given size.
package final class MemorySource: ByteSource {
    package let path: String
    package var size: Int? { bytes.count }
    private let bytes: [UInt8]
    private let piece: Int
    private let position = Mutex(0)

    package init(_ bytes: [UInt8], piece: Int = .max, path: String = "memory") {
        self.bytes = bytes
        self.piece = max(piece, 1)
        self.path = path
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        position.withLock { position in
            let count = min(buffer.count, piece, bytes.count - position)
            buffer.copyBytes(from: bytes[position..<position + count])
            position += count
            return count
        }
    }
}
