/// The check byte of a `$SCRDR` line: the exclusive or of the characters between `$` and `*`.
package enum SmartReaderChecksum {
    /// The check byte of what stands before the `*`, the `$` included.
    ///
    /// - Parameter skipsMark: whether the `$` is left out, as it should be.
    static func of(_ line: ArraySlice<UInt8>, skipsMark: Bool = true) -> UInt8 {
        (skipsMark ? line.dropFirst() : line).reduce(0, ^)
    }

    /// The same as two upper-case digits.
    package static func text(_ line: ArraySlice<UInt8>, skipsMark: Bool = true) -> [UInt8] {
        Array(Hex.encode([of(line, skipsMark: skipsMark)]).utf8)
    }
}
