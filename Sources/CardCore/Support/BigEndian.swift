extension UInt32 {
    /// Its four bytes, the most significant first.
    package var bigEndianBytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}
