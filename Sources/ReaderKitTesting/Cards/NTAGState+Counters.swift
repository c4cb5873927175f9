import ReaderKit

/// Counters: the three of an Ultralight EV1, the one of an NTAG, and the one in a page of an Ultralight C.
extension NTAGState {
    private static let greatest = 0xFF_FFFF

    func readCounter(_ number: Int) -> RawFrame {
        switch model.family {
        case .ultralightEV1 where counters.indices.contains(number): break
        case .ntag
        where number == 2 && configuration.countsReads && (isAuthenticated || !configuration.protectsCounter):
            break
        default: return .refusal(0)
        }
        let value = counters[number]
        return RawFrame([UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value >> 16 & 0xFF)])
    }

    /// INCR_CNT: the value comes least significant byte first, and a byte follows that counts for nothing.
    mutating func increment(_ number: Int, _ data: [UInt8]) -> RawFrame {
        guard counters.indices.contains(number) else { return .refusal(0) }
        let value = counters[number] + data.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard value <= Self.greatest else { return .refusal(4) }
        counters[number] = value
        tornCounters.remove(number)
        return .acknowledgement
    }

    /// CHECK_TEARING_EVENT: `BD` if the last increment came to its end.
    func checkTearing(_ number: Int) -> RawFrame {
        guard counters.indices.contains(number) else { return .refusal(0) }
        return RawFrame([tornCounters.contains(number) ? 0x00 : 0xBD])
    }

    /// What VCSL answers: the virtual card's type, from CFG1.
    var virtualCardType: RawFrame {
        guard let page = model.configurationPage else { return .refusal(0) }
        return RawFrame([memory[page * 4 + 5]])
    }

    /// A write to the counter of an Ultralight C: the first sets it, each later one adds 1 to 15.
    mutating func count(_ data: [UInt8]) -> RawFrame {
        let place = 0x29 * 4
        let (old, value) = (Int(memory[place]) | Int(memory[place + 1]) << 8, Int(data[0]) | Int(data[1]) << 8)
        guard old == 0 || (value <= 0x0F && old + value <= 0xFFFF) else { return .refusal(0) }
        let new = old + value
        memory[place] = UInt8(new & 0xFF)
        memory[place + 1] = UInt8(new >> 8)
        return .acknowledgement
    }
}
