/// The checksums of the radio protocols, as they follow a frame on air.
enum RadioChecksum {
    /// CRC_A of ISO/IEC 14443-3, least significant byte first.
    case typeA
    /// CRC_B of ISO/IEC 14443-3, also of Type 1 tags, least significant byte first.
    case typeB
    /// FeliCa's, most significant byte first.
    case feliCa

    /// The two bytes that follow the frame.
    func bytes(of frame: some Sequence<UInt8>) -> [UInt8] {
        switch self {
        case .typeA:
            let sum = RadioChecksum.reflected(frame, from: 0x6363)
            return [UInt8(sum & 0xFF), UInt8(sum >> 8)]
        case .typeB:
            let sum = ~RadioChecksum.reflected(frame, from: 0xFFFF)
            return [UInt8(sum & 0xFF), UInt8(sum >> 8)]
        case .feliCa:
            let sum = frame.reduce(UInt16(0)) { sum, byte in
                (0..<8).reduce(sum ^ UInt16(byte) << 8) { value, _ in
                    value & 0x8000 != 0 ? value << 1 ^ 0x1021 : value << 1
                }
            }
            return [UInt8(sum >> 8), UInt8(sum & 0xFF)]
        }
    }

    /// The frame without its checksum, or `nil` if that is wrong.
    func strip(_ frame: [UInt8]) -> [UInt8]? {
        guard frame.count > 2 else { return nil }
        let content = frame.dropLast(2)
        return bytes(of: content).elementsEqual(frame.suffix(2)) ? Array(content) : nil
    }

    private static func reflected(_ frame: some Sequence<UInt8>, from start: UInt16) -> UInt16 {
        frame.reduce(start) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte)) { value, _ in
                value & 1 != 0 ? value >> 1 ^ 0x8408 : value >> 1
            }
        }
    }
}
