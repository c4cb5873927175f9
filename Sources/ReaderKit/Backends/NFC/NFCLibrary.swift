import Foundation
import Synchronization

#if NFC
import CNFC
#endif

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
        case activateField
        case infiniteSelect
        case handleCRC
        case easyFraming
    }

    package static let mostDevices = 32

    /// The longest connection string, without its final zero (`NFC_BUFSIZE_CONNSTRING`).
    package static let longestConnectionString = 1023

    /// The most bytes that libnfc copies into the frame to a chip. It does not check them: more would overwrite its stack.
    package static let longestFrame = 262

    package var version: @Sendable () -> String
    /// `nfc_init`; `nil` where it fails. Whether serial ports may be scanned belongs to a context.
    package var makeContext: @Sendable (_ scansSerialPorts: Bool) -> Context?
    package var listDevices: @Sendable (Context) -> [String]
    /// `nfc_open`; `nil` where it fails, for whatever reason.
    package var open: @Sendable (Context, _ connectionString: String) -> Device?
    package var close: @Sendable (Device) -> Void
    /// `nfc_abort_command`, from any thread: makes the call under way return `NFC_EOPABORTED`.
    package var abort: @Sendable (Device) -> NFCCode
    package var initiatorInit: @Sendable (Device) -> NFCCode
    package var setProperty: @Sendable (Device, Property, Bool) -> NFCCode
    /// `nfc_device_get_supported_modulation`: the kinds of cards that are to be looked for.
    package var modulations: @Sendable (Device) -> (code: NFCCode, modulations: [NFCModulation])
    package var information: @Sendable (Device) -> (code: NFCCode, text: String)
    /// `nfc_initiator_select_passive_target`: how many cards were found, 0 or 1, and the card.
    package var select: @Sendable (Device, NFCModulation, _ data: [UInt8]) -> (code: NFCCode, target: NFCTarget?)
    package var deselect: @Sendable (Device) -> NFCCode
    /// `nfc_initiator_target_is_present`, for the card that was selected last.
    package var isPresent: @Sendable (Device) -> NFCCode
    /// `nfc_initiator_transceive_bytes`; the time limit is in milliseconds.
    package var transceive: @Sendable (Device, [UInt8], _ milliseconds: Int32) -> (code: NFCCode, answer: [UInt8])
    /// `nfc_initiator_transceive_bits`, with the parity left to the chip; the answer's number of bits comes with it.
    package var transceiveBits: @Sendable (Device, [UInt8], _ bits: Int) -> (code: NFCCode, answer: [UInt8], bits: Int)
}

/// A kind of card at a bit rate that is looked for (`nfc_modulation`): at 106 kbit/s, FeliCa at 212 or 424.
package enum NFCModulation: String, Sendable, Hashable, CaseIterable {
    case iso14443a
    case felica212
    case felica424
    case iso14443b
    /// Jewel and Topaz, whose frames are type A's.
    case jewel

    var technology: Technology {
        switch self {
        case .iso14443a, .jewel: .iso14443a
        case .felica212, .felica424: .felica
        case .iso14443b: .iso14443b
        }
    }
}

#if NFC
extension NFCLibrary {
    package static let system = NFCLibrary(
        version: { nfc_version().map { String(cString: $0) } ?? "unknown" },
        makeContext: { SystemContexts.shared.context(scansSerialPorts: $0) },
        listDevices: { context in SystemContexts.shared.serialised { list(context) } },
        open: { context, name in
            // Drivers of USB readers look through the busses with variables that are not guarded; those of serial lines
            // have none, and may take long.
            if name.contains("usb") { return SystemContexts.shared.serialised { open(context, name) } }
            return open(context, name)
        },
        close: { nfc_close(OpaquePointer(bitPattern: $0)) },
        abort: { NFCCode(nfc_abort_command(OpaquePointer(bitPattern: $0))) },
        initiatorInit: { NFCCode(nfc_initiator_init(OpaquePointer(bitPattern: $0))) },
        setProperty: { NFCCode(nfc_device_set_property_bool(OpaquePointer(bitPattern: $0), $1.property, $2)) },
        modulations: modulations,
        information: information,
        select: select,
        deselect: { NFCCode(nfc_initiator_deselect_target(OpaquePointer(bitPattern: $0))) },
        isPresent: { NFCCode(nfc_initiator_target_is_present(OpaquePointer(bitPattern: $0), nil)) },
        transceive: { device, frame, milliseconds in
            guard frame.count <= longestFrame else { return (.overflow, []) }
            var answer = [UInt8](repeating: 0, count: bufferLength)
            let device = OpaquePointer(bitPattern: device)
            let code = nfc_initiator_transceive_bytes(device, frame, frame.count, &answer, answer.count, milliseconds)
            return (NFCCode(code), Array(answer.prefix(max(0, Int(code)))))
        },
        transceiveBits: { device, frame, bits in
            guard frame.count <= longestFrame, (1...max(1, frame.count * 8)).contains(bits) else {
                return (.overflow, [], 0)
            }
            var answer = [UInt8](repeating: 0, count: bufferLength)
            let device = OpaquePointer(bitPattern: device)
            let code = nfc_initiator_transceive_bits(device, frame, bits, nil, &answer, answer.count, nil)
            let count = max(0, Int(code))
            return (NFCCode(code), Array(answer.prefix((count + 7) / 8)), count)
        }
    )

    private static let bufferLength = 512

    private static func open(_ context: Context, _ name: String) -> Device? {
        guard name.utf8.count <= longestConnectionString, !name.utf8.contains(0),
            let context = OpaquePointer(bitPattern: context), let device = nfc_open(context, name)
        else { return nil }
        return Int(bitPattern: device)
    }

    private static func list(_ context: Context) -> [String] {
        guard let context = OpaquePointer(bitPattern: context) else { return [] }
        let length = MemoryLayout<nfc_connstring>.size
        let names = UnsafeMutablePointer<nfc_connstring>.allocate(capacity: mostDevices)
        defer { names.deallocate() }
        let bytes = UnsafeMutableRawBufferPointer(start: names, count: length * mostDevices)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        let count = min(nfc_list_devices(context, names, mostDevices), mostDevices)
        return (0..<count).map { index in
            String(decoding: bytes[(index * length)..<((index + 1) * length)].prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func modulations(_ device: Device) -> (code: NFCCode, modulations: [NFCModulation]) {
        var kinds: UnsafePointer<nfc_modulation_type>?
        let code = nfc_device_get_supported_modulation(OpaquePointer(bitPattern: device), N_INITIATOR, &kinds)
        guard code >= 0, let kinds else { return (NFCCode(code), []) }
        var found: [NFCModulation] = []
        // The list ends with zero; it cannot be longer than there are kinds.
        for index in 0...Int(NMT_END_ENUM.rawValue) {
            switch kinds[index] {
            case NMT_ISO14443A: found.append(.iso14443a)
            case NMT_FELICA: found += [.felica212, .felica424]
            case NMT_ISO14443B: found.append(.iso14443b)
            case NMT_JEWEL: found.append(.jewel)
            default: break
            }
            if kinds[index].rawValue == 0 { break }
        }
        return (NFCCode(code), found)
    }

    private static func information(_ device: Device) -> (code: NFCCode, text: String) {
        var text: UnsafeMutablePointer<CChar>?
        let code = nfc_device_get_information_about(OpaquePointer(bitPattern: device), &text)
        defer { nfc_free(text) }
        return (NFCCode(code), code >= 0 ? text.map { String(cString: $0) } ?? "" : "")
    }

    private static func select(
        _ device: Device,
        _ modulation: NFCModulation,
        _ data: [UInt8]
    ) -> (code: NFCCode, target: NFCTarget?) {
        var target = nfc_target()
        let device = OpaquePointer(bitPattern: device)
        let code = nfc_initiator_select_passive_target(device, modulation.modulation, data, data.count, &target)
        return (NFCCode(code), code > 0 ? NFCTarget(target, modulation) : nil)
    }
}

/// The contexts of this process, by whether serial ports may be scanned. They are never released: `nfc_exit` takes the
/// drivers of all contexts along.
private final class SystemContexts: Sendable {
    static let shared = SystemContexts()

    private let contexts = Mutex<[Bool: Int]>([:])
    private let calls = Mutex(())

    func context(scansSerialPorts: Bool) -> Int? {
        contexts.withLock { contexts in
            if let known = contexts[scansSerialPorts] { return known }
            Self.prepare(scansSerialPorts: scansSerialPorts)
            var context: OpaquePointer?
            nfc_init(&context)
            guard let context else { return nil }
            contexts[scansSerialPorts] = Int(bitPattern: context)
            return Int(bitPattern: context)
        }
    }

    /// Sets libnfc's environment, unless it is so already: another thread that reads the environment meanwhile may crash
    /// (setenv(3) is not thread-safe), so that a program does this before it has others (`NFCLibrary.prepare()`).
    static func prepare(scansSerialPorts: Bool) {
        let scan = scansSerialPorts ? "yes" : "no"
        // Else it writes to standard error, which only somebody who has set this wants.
        if getenv("LIBNFC_LOG_LEVEL") == nil { setenv("LIBNFC_LOG_LEVEL", "0", 0) }
        if getenv("LIBNFC_INTRUSIVE_SCAN").map({ String(cString: $0) }) != scan {
            setenv("LIBNFC_INTRUSIVE_SCAN", scan, 1)
        }
    }

    func serialised<Result: Sendable>(_ body: () -> Result) -> Result { calls.withLock { _ in body() } }
}

extension NFCLibrary {
    /// Sets what libnfc reads from the environment. A program calls it before it starts threads.
    package static func prepare() { SystemContexts.prepare(scansSerialPorts: false) }
}

extension NFCLibrary.Property {
    fileprivate var property: nfc_property {
        switch self {
        case .activateField: NP_ACTIVATE_FIELD
        case .infiniteSelect: NP_INFINITE_SELECT
        case .handleCRC: NP_HANDLE_CRC
        case .easyFraming: NP_EASY_FRAMING
        }
    }
}

extension NFCModulation {
    fileprivate var modulation: nfc_modulation {
        switch self {
        case .iso14443a: nfc_modulation(nmt: NMT_ISO14443A, nbr: NBR_106)
        case .felica212: nfc_modulation(nmt: NMT_FELICA, nbr: NBR_212)
        case .felica424: nfc_modulation(nmt: NMT_FELICA, nbr: NBR_424)
        case .iso14443b: nfc_modulation(nmt: NMT_ISO14443B, nbr: NBR_106)
        case .jewel: nfc_modulation(nmt: NMT_JEWEL, nbr: NBR_106)
        }
    }
}

extension NFCTarget {
    /// Takes over what libnfc found. Lengths are the card's or the reader's, and bounded by the fields that they are of.
    fileprivate init(_ target: nfc_target, _ modulation: NFCModulation) {
        func bytes<Field>(_ field: Field, _ count: Int? = nil) -> [UInt8] {
            withUnsafeBytes(of: field) { Array($0.prefix(min(max(0, count ?? $0.count), $0.count))) }
        }
        var values: [(String, [UInt8])]
        switch modulation {
        case .iso14443a:
            let info = target.nti.nai
            let ats = bytes(info.abtAts, Int(clamping: info.szAtsLen))
            values = [
                ("atqa", bytes(info.abtAtqa)), ("sak", [info.btSak]),
                // A length that no identifier has is a damaged answer, whose bytes must not name anybody.
                ("uid", [4, 7, 10].contains(info.szUidLen) ? bytes(info.abtUid, Int(info.szUidLen)) : []),
                // libnfc leaves out its first byte, which is its length.
                ("ats", ats.isEmpty ? [] : [UInt8(truncatingIfNeeded: ats.count + 1)] + ats),
            ]
        case .felica212, .felica424:
            let info = target.nti.nfi
            // Of another length or code it is no answer to a look for FeliCa, and its bytes must not name anybody.
            let isAnswer = [18, 20].contains(info.szLen) && info.btResCode == 0x01
            values = isAnswer ? [("idm", bytes(info.abtId)), ("pmm", bytes(info.abtPad))] : []
            if isAnswer, info.szLen > 18 { values.append(("syscode", bytes(info.abtSysCode))) }
        case .iso14443b:
            let info = target.nti.nbi
            values = [
                ("pupi", bytes(info.abtPupi)), ("appdata", bytes(info.abtApplicationData)),
                ("protinfo", bytes(info.abtProtocolInfo)), ("cid", [info.ui8CardIdentifier]),
            ]
        case .jewel:
            let info = target.nti.nji
            values = [("atqa", bytes(info.btSensRes)), ("uid", bytes(info.btId))]
        }
        self.init(modulation, values.filter { !$0.1.isEmpty }.map { CardFacts.Value($0.0, $0.1) })
    }
}
#endif

#if NFC
/// The installed libnfc.
public enum LibNFC {
    /// Its version, from `nfc_version`.
    public static var version: String { NFCLibrary.system.version() }

    /// The technologies that no reader supports through this library: ISO 15693 cards (Type 5 tags) are not detected.
    public static let missingTechnologies: [Technology] = [.iso15693]
}
#endif
