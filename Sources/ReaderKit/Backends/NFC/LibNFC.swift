#if NFC
import CNFC

/// The installed libnfc.
public enum LibNFC {
    /// Its version, as `nfc_version` tells it.
    public static var version: String { nfc_version().map { String(cString: $0) } ?? "unknown" }
}
#endif
