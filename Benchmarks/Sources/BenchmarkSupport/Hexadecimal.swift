/// Hexadecimal text, as the benchmarks exchange messages.
public enum Hexadecimal {
    /// Upper-case digits.
    public static func encode(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    /// The bytes of digits; spaces are skipped. `nil` if it is not hexadecimal.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = text.filter { $0 != " " }.map(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
