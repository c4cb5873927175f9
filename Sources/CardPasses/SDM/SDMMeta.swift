/// Identifier and counter of a tap, as the keys of the tap are made of them.
struct SDMMeta: Hashable {
    /// 7 bytes, or 4; empty if the tag does not tell it.
    var uid: [UInt8] = []
    /// Three bytes, the least significant first; empty if the tag does not tell it.
    var counterBytes: [UInt8] = []

    init(uid: [UInt8] = [], counterBytes: [UInt8] = []) {
        self.uid = uid
        self.counterBytes = counterBytes
    }

    /// Reads decrypted PICC data, 16 bytes.
    ///
    /// - Returns: `nil` for what no tag writes; another key makes such bytes.
    init?(piccData plain: [UInt8]) {
        // Bit 7: an identifier follows; bit 6: a counter; the low four bits: how long the identifier is.
        guard let tag = plain.first, tag & 0xC0 != 0 else { return nil }
        var rest = plain.dropFirst()
        if tag & 0x80 != 0 {
            let length = Int(tag & 0x0F)
            guard length == 7 || length == 4 else { return nil }
            uid = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        if tag & 0x40 != 0 { counterBytes = Array(rest.prefix(3)) }
    }

    var counter: UInt32? {
        counterBytes.isEmpty ? nil : counterBytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Identifier and counter, one behind the other.
    var encoded: [UInt8] { uid + counterBytes }

    /// The counter, filled up with zeros: where the encryption of file data begins.
    func counter(filledTo length: Int) -> [UInt8] {
        Array((counterBytes + [UInt8](repeating: 0, count: length)).prefix(length))
    }
}
