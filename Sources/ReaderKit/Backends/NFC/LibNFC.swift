#if NFC
/// The installed libnfc.
public enum LibNFC {
    /// Its version, as `nfc_version` tells it.
    public static var version: String { NFCLibrary.system.version() }

    /// What no reader can do through this library, whatever the reader: ISO 15693 cards (Type 5 tags) are not seen.
    public static let missingTechnologies: [Technology] = [.iso15693]
}
#endif
