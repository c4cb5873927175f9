/// The registers of a PN532 that programs read and write. Those without a meaning here keep what was written.
struct PN532Registers: Sendable {
    /// The last so many bits of a frame to be sent, in BitFraming; 0 is all.
    var sentBits: Int { Int(values[0x633D, default: 0] & 0x07) }
    /// Whether the chip adds the checksum to frames that it sends.
    var addsChecksum: Bool { values[0x6302, default: 0] & 0x80 != 0 }
    /// Whether the chip takes the checksum off frames that it receives.
    var takesChecksum: Bool { values[0x6303, default: 0] & 0x80 != 0 }
    /// The modulation of frames that are sent: 0 type A, 2 FeliCa, 3 type B.
    var framing: UInt8 { values[0x6302, default: 0] & 0x03 }

    private var values: [UInt16: UInt8] = [:]

    subscript(address: UInt16) -> UInt8 {
        get { values[address, default: 0] }
        set { values[address] = newValue }
    }

    /// As the chip's firmware sets them when it has found a card.
    mutating func set(_ technology: RadioFace.Technology, speed: UInt8) {
        values[0x6302] = 0x80 | speed << 4 | technology.framing
        values[0x6303] = 0x80 | speed << 4 | technology.framing
        values[0x633D] = 0
    }

    /// What the receiver left: how many bits of the last byte count.
    mutating func setReceivedBits(_ bits: Int) {
        values[0x633C] = values[0x633C, default: 0] & 0xF8 | UInt8(bits & 0x07)
    }

    /// What lies in the FIFO after the request for a card: the request (`26`) if nothing answered it.
    mutating func setRequestAnswered(_ isAnswered: Bool) { values[0x6339] = isAnswered ? 0x00 : 0x26 }
}
