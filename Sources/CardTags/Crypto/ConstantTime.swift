/// Comparisons that take the same time whether and wherever two secrets differ.
package enum ConstantTime {
    /// Whether two sequences of bytes are the same. Only their lengths show in the time it takes.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (a, b) in zip(left, right) { difference |= a ^ b }
        return difference == 0
    }
}
