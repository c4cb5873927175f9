import CZlib

/// Inflates data that a card or a phone compressed (zlib, RFC 1950), up to a limit that does not depend on them.
package enum Inflation {
    /// Why data could not be inflated.
    package enum Failure: Error, Sendable, Hashable {
        /// They are no zlib stream, are cut off, or have something behind their end.
        case malformed
        /// They would be longer than the limit.
        case tooLong
    }

    /// The data before they were compressed; no more memory than the limit and a block is taken.
    package static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        // `inflateInit` is a macro, which Swift does not see.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit_(&stream, ZLIB_VERSION, size) == Z_OK else { throw .malformed }
        defer { inflateEnd(&stream) }
        var input = bytes
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        var code = Z_OK
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            repeat {
                let count = block.withUnsafeMutableBufferPointer { block in
                    stream.next_out = block.baseAddress
                    stream.avail_out = UInt32(clamping: block.count)
                    code = CZlib.inflate(&stream, Z_NO_FLUSH)
                    return block.count - Int(stream.avail_out)
                }
                output += block.prefix(count)
                // Without progress it would be so for ever.
                if count == 0, code != Z_STREAM_END { break }
            } while code == Z_OK && output.count <= limit
        }
        guard output.count <= limit else { throw .tooLong }
        guard code == Z_STREAM_END, stream.avail_in == 0 else { throw .malformed }
        return output
    }
}
