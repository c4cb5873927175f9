import Foundation
import ReaderKit

/// A device on the USB bus, as the kernel describes it in `/sys/bus/usb/devices`.
struct USBDevice: Sendable, Hashable {
    /// One interface: its class and the kernel's driver that has claimed it.
    struct Interface: Sendable, Hashable {
        var classCode: Int
        var driver: String?
    }

    /// The folder in `/sys`.
    var folder: String
    var vendor: Int
    var product: Int
    /// What the device calls itself.
    var name: String?
    var serial: String?
    var interfaces: [Interface]
    /// Its node under `/dev/bus/usb`.
    var node: String
    /// `power/control`: `on`, or `auto` where the kernel may suspend it.
    var powerControl: String?

    /// SpringCard, formerly Pro Active, who make Socket Mobile's readers.
    static let springCard = 0x1C34
    /// The class of smart card readers (CCID).
    static let smartCard = 0x0B

    /// The vendor and product, as `lsusb` prints them.
    var number: String { String(format: "%04x:%04x", vendor, product) }

    var text: String { name.map { "\($0) (\(number))" } ?? number }

    /// Whether pcscd's driver for smart card readers serves it, given its number is in the driver's list.
    var isSmartCardReader: Bool { interfaces.contains { $0.classCode == Self.smartCard } }

    /// Whether it is a reader with a chip that libnfc drives through the device node.
    var isNFCDevice: Bool { Self.nfcDevices.contains(vendor << 16 | product) }

    var isReader: Bool { vendor == Self.springCard || isSmartCardReader || isNFCDevice }

    /// Those of libnfc's own rules for udev.
    private static let nfcDevices: Set<Int> = [
        0x04CC_0531, 0x054C_0193, 0x04CC_2533, 0x04E6_5591, 0x04E6_5594, 0x1FD3_0608, 0x054C_02E1, 0x072F_2200,
        0x072F_90CC,
    ]

    /// How a reader of SpringCard or Socket Mobile presents itself to the machine (its register 02C0).
    enum Profile: String, Sendable {
        case smartCard = "PC/SC"
        case serial = "serial line"
        case keyboard = "keyboard"
        case storage = "mass storage"
        case direct = "Direct"
    }

    var profile: Profile {
        let classes = Set(interfaces.map(\.classCode))
        if classes.contains(Self.smartCard) { return .smartCard }
        // Communications, human interface device, mass storage.
        if classes.contains(0x02) || classes.contains(0x0A) { return .serial }
        if classes.contains(0x03) { return .keyboard }
        if classes.contains(0x08) { return .storage }
        return .direct
    }
}

extension Machine {
    /// The devices on the USB bus; `nil` where the kernel shows none at all, as in some containers.
    var usbDevices: [USBDevice]? {
        let folder = "/sys/bus/usb/devices"
        let names = names(in: folder)
        if names.isEmpty { return nil }
        return names.filter { !$0.contains(":") }.compactMap { name in
            let path = "\(folder)/\(name)"
            guard let vendor = hex(path + "/idVendor"), let product = hex(path + "/idProduct") else { return nil }
            return USBDevice(
                folder: path,
                vendor: vendor,
                product: product,
                name: line(path + "/product"),
                serial: line(path + "/serial"),
                interfaces: names.filter { $0.hasPrefix(name + ":") }.compactMap { interface in
                    hex("\(folder)/\(interface)/bInterfaceClass").map {
                        USBDevice.Interface(classCode: $0, driver: linkName("\(folder)/\(interface)/driver"))
                    }
                },
                node: String(
                    format: "/dev/bus/usb/%03d/%03d",
                    number(path + "/busnum") ?? 0,
                    number(path + "/devnum") ?? 0
                ),
                powerControl: line(path + "/power/control")
            )
        }
    }

    var usbReaders: [USBDevice] { (usbDevices ?? []).filter(\.isReader) }

    private func hex(_ path: String) -> Int? { line(path).flatMap { Int($0, radix: 16) } }

    /// Whether a rule for udev leaves a reader to another program than pcscd.
    func isIgnored(_ reader: USBDevice) -> Bool { udevProperties(reader.node)["PCSCLITE_IGNORE"] == "1" }

    /// The readers that pcscd alone can serve. An ACR122U that is left to libnfc is none of them.
    var pcscReaders: [USBDevice] { usbReaders.filter { $0.isSmartCardReader && !($0.isNFCDevice && isIgnored($0)) } }

    /// Whether a reader needs pcscd, as far as can be seen: lines in Smart Reader mode and libnfc's readers do without.
    var needsDaemon: Bool {
        let others = usbReaders.contains { $0.isNFCDevice || $0.profile == .keyboard }
        return !pcscReaders.filter { !$0.isNFCDevice }.isEmpty
            || readerLines.isEmpty && nfcConnections.isEmpty && !others
    }

    /// The serial lines that readers in Smart Reader mode have: of SpringCard's devices, and those that have got a name.
    var readerLines: [String] {
        let named = SmartReaderFolder(root + "/dev/clubkit").lines().map { String($0.dropFirst(root.count)) }
        if !named.isEmpty { return named }
        return names(in: "/sys/class/tty").filter { $0.hasPrefix("ttyACM") }.filter { name in
            // The line's device is the interface; the USB device is above it.
            line("/sys/class/tty/\(name)/device/../idVendor") == "1c34"
        }.map { "/dev/" + $0 }
    }
}
