/// The form in which an S550 in Smart Reader mode reports what it read.
///
/// Which one it sends is set for each link in its register 02A0: 1 is `$SCRDR`, 2 JSON, 3 MK1, the default of a serial
/// line. Value 0, TLV, has no documented framing on a serial line and is not understood here: choose another one. Plain
/// text is what the reader types as a keyboard.
public enum SmartReaderFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// `$SCRDR;interface;protocol;template;RSSI;TagId;move;TagData;TagDetails*XOR`, with a check byte.
    case scrdr
    /// A JSON object with `Interface`, `Protocol`, `Template`, `TagId`, `TagData` and others.
    case json
    /// `+`, then the identifier. There is nothing by which a damaged line could be told.
    case mk1
    /// The identifier alone, between the prefix and the suffix of registers 02A8 and 02A9.
    case plain
}
