/// Hexadecimal text, the one form in which bytes appear in captures, in JSON and on command lines.
package enum Hex {
    /// Why a text is not hexadecimal, and where (offset in UTF-8 bytes).
    package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
        package enum Reason: Hashable, Sendable {
            case notADigit(Character)
            case oddNumberOfDigits
        }
        package var reason: Reason
        package var offset: Int

        package var description: String {
            switch reason {
            case .notADigit(let character): "'\(character)' at position \(offset + 1) is not a hexadecimal digit"
            case .oddNumberOfDigits: "the number of hexadecimal digits is odd"
            }
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Upper-case digits without separators.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0x0F)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Upper-case digits with a separator between bytes.
    package static func encode(_ bytes: some Sequence<UInt8>, separator: String) -> String {
        bytes.map { encode(CollectionOfOne($0)) }.joined(separator: separator)
    }

    /// Reads digits of either case; white space, and the separators `:` and `-`, may stand between bytes.
    package static func decode(_ text: some StringProtocol) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        var offset = 0
        for character in text {
            if let value = character.isASCII ? character.hexDigitValue.map(UInt8.init) : nil {
                if let first = high.take() {
                    bytes.append(first << 4 | value)
                } else {
                    high = value
                }
            } else if !(high == nil && (character.isWhitespace || character == ":" || character == "-")) {
                throw Failure(reason: .notADigit(character), offset: offset)
            }
            offset += character.utf8.count
        }
        guard high == nil else { throw Failure(reason: .oddNumberOfDigits, offset: offset) }
        return bytes
    }
}

extension Sequence<UInt8> {
    /// Upper-case hexadecimal without separators.
    package var hex: String { Hex.encode(self) }
}

extension UInt8 {
    /// Whether it is a digit or a letter of ASCII.
    package var isASCIIAlphanumeric: Bool { (0x30...0x39).contains(self) || (0x41...0x5A).contains(self & 0xDF) }
}

extension UInt32 {
    /// Its four bytes, the most significant first.
    package var bigEndianBytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}

extension StringProtocol {
    /// Without white space at both ends.
    package var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
