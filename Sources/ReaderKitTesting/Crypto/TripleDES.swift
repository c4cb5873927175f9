/// DES with two keys, thrice (FIPS 46-3, SP 800-67): what a MIFARE Ultralight C authenticates with.
///
/// Nothing that is to be kept secret may be entrusted to it; only simulated cards use it.
struct TripleDES: Sendable, Hashable {
    private let first: [UInt64]
    private let second: [UInt64]

    /// A key of 16 bytes, of which the parity bits count for nothing; `nil` if it has another length.
    init?(key: [UInt8]) {
        guard key.count == 16 else { return nil }
        first = TripleDES.schedule(TripleDES.word(key[..<8]))
        second = TripleDES.schedule(TripleDES.word(key[8...]))
    }

    /// Enciphers whole blocks of 8 bytes, chained (CBC); what is left over is dropped.
    func encrypt(_ bytes: [UInt8], vector: [UInt8]) -> [UInt8] {
        var last = TripleDES.word(vector[...])
        return TripleDES.blocks(bytes).flatMap { block -> [UInt8] in
            last = encrypt(block ^ last)
            return TripleDES.bytes(last)
        }
    }

    /// Deciphers whole blocks of 8 bytes, chained (CBC); what is left over is dropped.
    func decrypt(_ bytes: [UInt8], vector: [UInt8]) -> [UInt8] {
        let blocks = TripleDES.blocks(bytes)
        return zip(blocks, [TripleDES.word(vector[...])] + blocks).flatMap { TripleDES.bytes(decrypt($0) ^ $1) }
    }

    private static func blocks(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: 0, to: bytes.count - 7, by: 8).map { word(bytes[$0..<$0 + 8]) }
    }

    private func encrypt(_ block: UInt64) -> UInt64 {
        [first, second.reversed(), first].reduce(block, TripleDES.crypt)
    }

    private func decrypt(_ block: UInt64) -> UInt64 {
        [first.reversed(), second, first.reversed()].reduce(block, TripleDES.crypt)
    }

    // MARK: DES

    private static func crypt(_ block: UInt64, _ keys: [UInt64]) -> UInt64 {
        let start = permute(block, of: 64, initialPermutation)
        var left = start >> 32
        var right = start & 0xFFFF_FFFF
        for key in keys { (left, right) = (right, left ^ round(right, key)) }
        return permute(right << 32 | left, of: 64, finalPermutation)
    }

    private static func round(_ half: UInt64, _ key: UInt64) -> UInt64 {
        let mixed = permute(half, of: 32, expansion) ^ key
        var result: UInt64 = 0
        for box in 0..<8 {
            let six = Int(mixed >> UInt64(42 - 6 * box) & 0x3F)
            let row = six >> 4 & 2 | six & 1
            result = result << 4 | substitutions[box][row * 16 + (six >> 1 & 15)]
        }
        return permute(result, of: 32, roundPermutation)
    }

    private static func schedule(_ key: UInt64) -> [UInt64] {
        let start = permute(key, of: 64, keyChoice)
        var left = start >> 28
        var right = start & 0xFFF_FFFF
        return (1...16).map { round in
            let shift: UInt64 = [1, 2, 9, 16].contains(round) ? 1 : 2
            left = (left << shift | left >> (28 - shift)) & 0xFFF_FFFF
            right = (right << shift | right >> (28 - shift)) & 0xFFF_FFFF
            return permute(left << 28 | right, of: 56, roundKeyChoice)
        }
    }

    /// Takes bits by their numbers, the most significant of `width` being 1.
    private static func permute(_ value: UInt64, of width: Int, _ places: [UInt8]) -> UInt64 {
        places.reduce(0) { $0 << 1 | value >> UInt64(width - Int($1)) & 1 }
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func bytes(_ word: UInt64) -> [UInt8] { [UInt8].bigEndian(Int(truncatingIfNeeded: word), 8) }
}

/// The tables of FIPS 46-3.
extension TripleDES {
    fileprivate static let initialPermutation: [UInt8] = [
        58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32,
        24, 16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21, 13, 5, 63, 55,
        47, 39, 31, 23, 15, 7,
    ]
    /// Undoes the initial one.
    fileprivate static let finalPermutation = (1...64).map { place in
        UInt8((initialPermutation.firstIndex(of: place) ?? 0) + 1)
    }
    fileprivate static let expansion: [UInt8] = [
        32, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17, 16, 17, 18, 19, 20, 21, 20,
        21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
    ]
    fileprivate static let roundPermutation: [UInt8] = [
        16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11,
        4, 25,
    ]
    fileprivate static let keyChoice: [UInt8] = [
        57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36, 63,
        55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
    ]
    fileprivate static let roundKeyChoice: [UInt8] = [
        14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37, 47, 55,
        30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
    ]
    /// One box a line, in hexadecimal.
    fileprivate static let substitutions = [
        "e4d12fb83a6c59070f74e2d1a6cb953841e8d62bfc973a50fc8249175b3ea06d",
        "f18e6b34972dc05a3d47f28ec01a69b50e7ba4d158c6932fd8a13f42b67c05e9",
        "a09e63f51dc7b428d709346a285ecbf1d6498f30b12c5ae71ad069874fe3b52c",
        "7de3069a1285bc4fd8b56f03472c1ae9a690cb7df13e52843f06a1d8945bc72e",
        "2c417ab6853fd0e9eb2c47d150fa3986421bad78f9c5630eb8c71e2d6f09a453",
        "c1af92680d34e75baf427c9561de0b389ef528c3704a1db6432c95fabe17608d",
        "4b2ef08d3c975a61d0b7491ae35c2f8614bdc37eaf6805926bd814a7950fe23c",
        "d2846fb1a93e50c71fd8a374c56b0e927b419ce206adf35821e74a8dfc90356b",
    ].map { box in box.compactMap { $0.hexDigitValue.map { UInt64($0) } } }
}
