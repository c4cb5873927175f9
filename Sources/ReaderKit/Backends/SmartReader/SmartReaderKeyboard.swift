/// Turns the key strokes of a reader that types as a keyboard into bytes, by the US layout.
///
/// A keyboard reports which keys are pressed, not what they mean, so the reader must be set to the US layout (register
/// 02A6: 00 or 0C). Linux: `struct input_event` and `KEY_…` of `linux/input-event-codes.h`.
struct SmartReaderKeyboard {
    /// The length of a `struct input_event`: a time of two machine words, type, code and value.
    static let eventLength = 2 * MemoryLayout<Int>.size + 8

    private static let keyEvent: UInt16 = 1
    /// `SYN_DROPPED`: strokes were lost.
    private static let dropped: UInt16 = 3
    private static let shifts: Set<UInt16> = [42, 54]

    private var pending: [UInt8] = []
    private var held: Set<UInt16> = []
    private var isLocked = false

    /// Takes bytes of the input device, and returns what was typed. Enter is a line feed.
    ///
    /// Where the kernel states that strokes were lost, ``lost`` stands for them, and the line with it is no identifier.
    mutating func append(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        pending += bytes
        var typed: [UInt8] = []
        while pending.count >= Self.eventLength {
            let event = pending.prefix(Self.eventLength)
            pending.removeFirst(Self.eventLength)
            let fields = Array(event.suffix(8))
            func half(_ index: Int) -> UInt16 { UInt16(fields[index]) | UInt16(fields[index + 1]) << 8 }
            let value = Int32(bitPattern: UInt32(half(4)) | UInt32(half(6)) << 16)
            if let byte = stroke(type: half(0), code: half(2), value: value) { typed.append(byte) }
        }
        return typed
    }

    private mutating func stroke(type: UInt16, code: UInt16, value: Int32) -> UInt8? {
        if type == 0, code == Self.dropped {
            held = []
            return Self.lost
        }
        guard type == Self.keyEvent else { return nil }
        if Self.shifts.contains(code) {
            if value == 0 { held.remove(code) } else { held.insert(code) }
            return nil
        }
        // 1 is pressed, 0 let go, 2 repeated because it is held, which no reader does.
        guard value == 1 else { return nil }
        if code == 58 {
            isLocked.toggle()
            return nil
        }
        guard let key = Self.keys[code] else { return nil }
        let isLetter = (0x61...0x7A).contains(key.plain)
        return (!held.isEmpty) != (isLetter && isLocked) ? key.shifted : key.plain
    }

    /// What stands for strokes that were lost: no line has it within it.
    static let lost: UInt8 = 0x1A

    private static let keys: [UInt16: (plain: UInt8, shifted: UInt8)] = {
        var keys: [UInt16: (plain: UInt8, shifted: UInt8)] = [:]
        func row(_ first: UInt16, _ plain: String, _ shifted: String) {
            for (offset, pair) in zip(plain.utf8, shifted.utf8).enumerated() { keys[first + UInt16(offset)] = pair }
        }
        row(2, "1234567890-=", "!@#$%^&*()_+")
        row(16, "qwertyuiop[]", "QWERTYUIOP{}")
        row(30, "asdfghjkl;'`", "ASDFGHJKL:\"~")
        row(43, "\\zxcvbnm,./", "|ZXCVBNM<>?")
        row(71, "789-456+1230.", "789-456+1230.")
        let others: [(UInt16, UInt8)] = [
            (15, 0x09), (28, 0x0A), (55, UInt8(ascii: "*")), (57, 0x20), (96, 0x0A), (98, UInt8(ascii: "/")),
            (117, UInt8(ascii: "=")), (121, UInt8(ascii: ",")),
        ]
        for (code, byte) in others { keys[code] = (byte, byte) }
        // The key between left shift and Z of a keyboard with 102 keys.
        keys[86] = (UInt8(ascii: "<"), UInt8(ascii: ">"))
        return keys
    }()
}
