#if NETWORK
import CQREncode

/// A QR code (ISO/IEC 18004), which libqrencode makes.
enum QRCode {
    /// Returns the rows of a text's code, dark modules as 1; empty if the text is too long for one.
    static func rows(of text: String) -> [String] {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return [] }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        return (0..<width).map { row in
            String((0..<width).map { code.pointee.data[row * width + $0] & 1 == 1 ? "1" : "0" })
        }
    }
}
#endif
