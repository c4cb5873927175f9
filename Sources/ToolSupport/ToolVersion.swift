import ReaderKit

/// What `--version` prints: the package's version and the libraries that this build uses.
package enum ToolVersion {
    /// The version of the package.
    package static let number = "0.1.0"

    package static var text: String {
        var text = number
        #if PCSC
        text += ", PC/SC through libpcsclite"
        #endif
        #if NFC
        text += ", libnfc \(LibNFC.version)"
        #endif
        return text
    }
}
