// The identifier as anticollision transmits it (ISO/IEC 14443-3, section 6.5).
extension CardUID {
    /// The byte that says that more of the identifier follows on the next cascade level.
    public static let cascadeTag: UInt8 = 0x88

    /// The check byte BCC of a cascade level: the exclusive or of its four bytes, the cascade tag included.
    public static func checkByte(of bytes: some Sequence<UInt8>) -> UInt8 {
        bytes.reduce(0, ^)
    }

    /// The cascade levels of a type A identifier of 4, 7 or 10 bytes: five bytes each, the last being the check byte.
    /// `nil` for other lengths.
    ///
    /// ```text
    /// 4 bytes    u0 u1 u2 u3 BCC
    /// 7 bytes    88 u0 u1 u2 BCC   u3 u4 u5 u6 BCC
    /// 10 bytes   88 u0 u1 u2 BCC   88 u3 u4 u5 BCC   u6 u7 u8 u9 BCC
    /// ```
    public var cascadeLevels: [[UInt8]]? {
        guard [4, 7, 10].contains(bytes.count) else { return nil }
        var levels: [[UInt8]] = []
        var rest = bytes[...]
        while rest.count > 4 {
            levels.append([Self.cascadeTag] + rest.prefix(3))
            rest = rest.dropFirst(3)
        }
        levels.append(Array(rest))
        return levels.map { $0 + [Self.checkByte(of: $0)] }
    }

    /// Puts a type A identifier together from its cascade levels, each of four bytes and the check byte.
    ///
    /// - Throws: ``UIDError`` with `wrongCascade` or `wrongCheckByte`; its offset counts the bytes of all levels.
    public init(cascadeLevels levels: [[UInt8]]) throws(UIDError) {
        guard (1...3).contains(levels.count) else {
            throw UIDError(
                .wrongCascade,
                offset: 0,
                message: "could not put an identifier together from \(levels.count) cascade levels: there are 1 to 3"
            )
        }
        var bytes: [UInt8] = []
        for (index, level) in levels.enumerated() {
            guard level.count == 5 else {
                throw UIDError(
                    .wrongCascade,
                    offset: 5 * index,
                    message: "could not read cascade level \(index + 1): it has \(level.count) bytes, not 5"
                )
            }
            guard Self.checkByte(of: level) == 0 else {
                throw UIDError(
                    .wrongCheckByte,
                    offset: 5 * index + 4,
                    message: "could not read cascade level \(index + 1): its check byte is wrong"
                )
            }
            let isLast = index == levels.count - 1
            guard (level[0] == Self.cascadeTag) != isLast else {
                throw UIDError(
                    .wrongCascade,
                    offset: 5 * index,
                    message: isLast
                        ? "could not put the identifier together: its last level announces another"
                        : "could not put the identifier together: level \(index + 1) ends it, and more levels follow"
                )
            }
            bytes += level[(isLast ? 0 : 1)..<4]
        }
        self.init(bytes, technology: .iso14443a)
    }
}
