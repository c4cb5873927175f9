/// The functions of libnfc that this package uses, as a replaceable table.
///
/// Each entry is one C call in Swift's types, named after it. Tests put faults here that no simulated chip can show;
/// ``system`` is the library itself. Every function may block, and but for ``abort`` all that take a device are called
/// from one thread at a time.
package struct NFCLibrary: Sendable {
    /// `nfc_context *`
    package typealias Context = Int
    /// `nfc_device *`
    package typealias Device = Int

    /// The properties (`nfc_property`) that are set, each on or off.
    package enum Property: Sendable, Hashable, CaseIterable {
        /// `NP_ACTIVATE_FIELD`
        case activateField
        /// `NP_INFINITE_SELECT`
        case infiniteSelect
        /// `NP_HANDLE_CRC`
        case handleCRC
        /// `NP_EASY_FRAMING`
        case easyFraming
    }

    /// Not more than this many devices are listed.
    package static let mostDevices = 32

    /// The longest connection string, without its final zero (`NFC_BUFSIZE_CONNSTRING`).
    package static let longestConnectionString = 1023

    /// The most bytes that libnfc copies into the frame to a chip. It does not check them: more would overwrite its stack.
    package static let longestFrame = 262

    /// `nfc_version`
    package var version: @Sendable () -> String
    /// `nfc_init`; `nil` where it fails. Whether serial ports may be scanned belongs to a context.
    package var makeContext: @Sendable (_ scansSerialPorts: Bool) -> Context?
    /// `nfc_list_devices`
    package var listDevices: @Sendable (Context) -> [String]
    /// `nfc_open`; `nil` where it fails, for whatever reason.
    package var open: @Sendable (Context, _ connectionString: String) -> Device?
    /// `nfc_close`
    package var close: @Sendable (Device) -> Void
    /// `nfc_abort_command`, from any thread: makes the call under way return `NFC_EOPABORTED`.
    package var abort: @Sendable (Device) -> NFCCode
    /// `nfc_initiator_init`
    package var initiatorInit: @Sendable (Device) -> NFCCode
    /// `nfc_device_set_property_bool`
    package var setProperty: @Sendable (Device, Property, Bool) -> NFCCode
    /// `nfc_device_get_supported_modulation`: the kinds of cards that are to be looked for.
    package var modulations: @Sendable (Device) -> (code: NFCCode, modulations: [NFCModulation])
    /// `nfc_device_get_information_about`
    package var information: @Sendable (Device) -> (code: NFCCode, text: String)
    /// `nfc_initiator_select_passive_target`: how many cards were found, 0 or 1, and the card.
    package var select: @Sendable (Device, NFCModulation, _ data: [UInt8]) -> (code: NFCCode, target: NFCTarget?)
    /// `nfc_initiator_deselect_target`
    package var deselect: @Sendable (Device) -> NFCCode
    /// `nfc_initiator_target_is_present`, for the card that was selected last.
    package var isPresent: @Sendable (Device) -> NFCCode
    /// `nfc_initiator_transceive_bytes`; the time limit is in milliseconds.
    package var transceive: @Sendable (Device, [UInt8], _ milliseconds: Int32) -> (code: NFCCode, answer: [UInt8])
    /// `nfc_initiator_transceive_bits`, with the parity left to the chip; the answer's number of bits comes with it.
    package var transceiveBits: @Sendable (Device, [UInt8], _ bits: Int) -> (code: NFCCode, answer: [UInt8], bits: Int)
}

/// A kind of card at a bit rate that is looked for (`nfc_modulation`).
package enum NFCModulation: String, Sendable, Hashable, CaseIterable {
    /// ISO/IEC 14443 type A at 106 kbit/s.
    case iso14443a
    /// FeliCa at 212 kbit/s.
    case felica212
    /// FeliCa at 424 kbit/s.
    case felica424
    /// ISO/IEC 14443 type B at 106 kbit/s.
    case iso14443b
    /// Jewel and Topaz, whose frames are type A's.
    case jewel

    /// The radio technology.
    var technology: Technology {
        switch self {
        case .iso14443a, .jewel: .iso14443a
        case .felica212, .felica424: .felica
        case .iso14443b: .iso14443b
        }
    }
}
