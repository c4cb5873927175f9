import Testing

@testable import ReaderKit

/// A payload of a media type that both modes accept, with its content and what the encoder writes.
struct MediaVector: Sendable, CustomTestStringConvertible {
    var name: String
    var type: String
    var hex: String
    var content: NDEFMediaContent
    var canonical: String?

    init(_ name: String, _ type: String, _ hex: String, _ content: NDEFMediaContent, canonical: String? = nil) {
        self.name = name
        self.type = type
        self.hex = hex
        self.content = content
        self.canonical = canonical
    }

    var testDescription: String { name }
}

private let classic = "application/vnd.bluetooth.ep.oob"
private let lowEnergy = "application/vnd.bluetooth.le.oob"
private let wsc = "application/vnd.wfa.wsc"
private let address: [UInt8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66]

let mediaVectors: [MediaVector] = [
    MediaVector("N28 address alone", classic, "0800 665544332211", .bluetooth(NDEFBluetooth(address: address))),
    MediaVector(
        "name and class",
        classic,
        "1100 665544332211 03094142 040D1C010A",
        .bluetooth(
            NDEFBluetooth(
                address: address,
                structures: [.init(type: 9, data: ascii("AB")), .init(type: 0x0D, data: [0x1C, 0x01, 0x0A])]
            )
        )
    ),
    MediaVector(
        "name of no bytes",
        classic,
        "0A00 665544332211 0109",
        .bluetooth(NDEFBluetooth(address: address, structures: [.init(type: 9, data: [])]))
    ),
    MediaVector(
        "name of 127 bytes",
        classic,
        "8900 665544332211 8009" + String(repeating: "41", count: 127),
        .bluetooth(
            NDEFBluetooth(address: address, structures: [.init(type: 9, data: .init(repeating: 0x41, count: 127))])
        )
    ),
    MediaVector(
        "name of 254 bytes",
        classic,
        "0801 665544332211 FF08" + String(repeating: "41", count: 254),
        .bluetooth(
            NDEFBluetooth(address: address, structures: [.init(type: 8, data: .init(repeating: 0x41, count: 254))])
        )
    ),
    MediaVector(
        "padding",
        classic,
        "0D00 665544332211 0000000000",
        .bluetooth(NDEFBluetooth(address: address)),
        canonical: "0800 665544332211"
    ),
    MediaVector("Low Energy, nothing", lowEnergy, "", .bluetooth(NDEFBluetooth(transport: .lowEnergy, address: []))),
    MediaVector(
        "Low Energy, random address and role",
        lowEnergy,
        "081B 665544332211 01 021C 02",
        .bluetooth(
            NDEFBluetooth(
                transport: .lowEnergy,
                address: address,
                isRandomAddress: true,
                structures: [.init(type: 0x1C, data: [2])]
            )
        )
    ),
    MediaVector(
        "Low Energy, the address last",
        lowEnergy,
        "021C 00 081B 665544332211 00",
        .bluetooth(
            NDEFBluetooth(transport: .lowEnergy, address: address, structures: [.init(type: 0x1C, data: [0])])
        ),
        canonical: "081B 665544332211 00 021C 00"
    ),
    MediaVector("Wi-Fi, nothing", wsc, "", .wifi(NDEFWiFi(credentials: []))),
    MediaVector(
        "Wi-Fi, a credential with everything",
        wsc,
        "100E 0033 1026000101 1045 0004 436C7562 1003 0002 0020 100F 0002 0008 1027 0008 7365637265743432"
            + "1020 0006 FFFFFFFFFFFF 1049 0000 104A 0001 10",
        .wifi(
            NDEFWiFi(
                credentials: [
                    .init(
                        ssid: ascii("Club"),
                        authentication: .wpa2Personal,
                        encryption: .aes,
                        key: ascii("secret42"),
                        macAddress: .init(repeating: 0xFF, count: 6),
                        others: [.init(type: 0x1049, data: [])]
                    )
                ],
                others: [.init(type: 0x104A, data: [0x10])]
            )
        )
    ),
    MediaVector(
        "Wi-Fi, an open network and another",
        wsc,
        "100E 000C 1045 0002 FF00 1003 0002 0001 100E 000A 1045 0000 1003 0002 0022",
        .wifi(
            NDEFWiFi(
                credentials: [
                    .init(ssid: [0xFF, 0], authentication: .open, networkIndex: nil),
                    .init(ssid: [], authentication: [.wpaPersonal, .wpa2Personal], networkIndex: nil),
                ]
            )
        )
    ),
]

let mediaFaults: [PayloadFault] = [
    PayloadFault("no length", classic, "", .bluetoothTruncated, 0),
    PayloadFault("address cut off", classic, "0800 1122334455", .bluetoothTruncated, 7),
    PayloadFault("length 0", classic, "0000 665544332211", .bluetoothLengthTooShort, 0),
    PayloadFault("length 7", classic, "0700 665544332211", .bluetoothLengthTooShort, 0),
    PayloadFault("length beyond the end", classic, "0900 665544332211", .bluetoothLengthBeyondEnd, 0),
    PayloadFault("length FFFF", classic, "FFFF 665544332211", .bluetoothLengthBeyondEnd, 0),
    PayloadFault("bytes after the length", classic, "0800 665544332211 00", .bluetoothTrailingBytes, 8, lenient: true),
    PayloadFault("name beyond the end", classic, "0A00 665544332211 0309", .bluetoothStructureBeyondEnd, 8),
    PayloadFault(
        "name of 128 bytes that are not there",
        classic,
        "0A00 665544332211 8109",
        .bluetoothStructureBeyondEnd,
        8
    ),
    PayloadFault(
        "name of 254 bytes that are not there",
        classic,
        "0A00 665544332211 FF09",
        .bluetoothStructureBeyondEnd,
        8
    ),
    PayloadFault("structure of its length", classic, "0900 665544332211 01", .bluetoothStructureBeyondEnd, 8),
    PayloadFault("data after the end", classic, "0B00 665544332211 000109", .bluetoothDataAfterEnd, 9, lenient: true),
    PayloadFault("Low Energy address of 6 bytes", lowEnergy, "071B 665544332211", .bluetoothAddressLength, 0),
    PayloadFault("Low Energy address of no bytes", lowEnergy, "021C00 011B", .bluetoothAddressLength, 3),
    PayloadFault("Low Energy structure beyond the end", lowEnergy, "03 1C00", .bluetoothStructureBeyondEnd, 0),
    PayloadFault("attribute cut off", wsc, "10 0E 00", .wifiAttributeBeyondEnd, 0),
    PayloadFault("attribute beyond the end", wsc, "104A FFFF 10", .wifiAttributeBeyondEnd, 2),
    PayloadFault(
        "attribute of a credential beyond its end",
        wsc,
        "100E 0005 1045 0002 FF 0000",
        .wifiAttributeBeyondEnd,
        6
    ),
    PayloadFault("credential without name", wsc, "100E 0006 1003 0002 0001", .wifiWithoutSSID, 10),
    PayloadFault("credential of nothing", wsc, "100E 0000", .wifiWithoutSSID, 4),
    PayloadFault("authentication of one byte", wsc, "100E 0005 1003 0001 01", .wifiAttributeLength, 6),
    PayloadFault(
        "name of 33 bytes",
        wsc,
        "100E 0025 1045 0021" + String(repeating: "41", count: 33),
        .wifiAttributeLength,
        6
    ),
    PayloadFault(
        "key of 65 bytes",
        wsc,
        "100E 0045 1027 0041" + String(repeating: "41", count: 65),
        .wifiAttributeLength,
        6
    ),
    PayloadFault("address of 5 bytes", wsc, "100E 0009 1020 0005 FFFFFFFFFF", .wifiAttributeLength, 6),
    PayloadFault("two names", wsc, "100E 000A 1045 0001 41 1045 0001 42", .wifiRepeatedAttribute, 9, lenient: true),
    PayloadFault("no vCard", "text/vcard", ascii("{}"), .vCardWithoutBegin, 0),
    PayloadFault("empty vCard", "text/vcard", ascii(""), .vCardWithoutBegin, 0),
    PayloadFault(
        "N18 vCard without version",
        "text/vcard",
        ascii("BEGIN:VCARD\r\nEND:VCARD\r\n"),
        .vCardWithoutVersion,
        13,
        lenient: true
    ),
    PayloadFault(
        "vCard of another version",
        "text/vcard",
        ascii("BEGIN:VCARD\nVERSION:5.0\nEND:VCARD"),
        .vCardWithoutVersion,
        12,
        lenient: true
    ),
    PayloadFault(
        "vCard without end",
        "text/x-vcard",
        ascii("BEGIN:VCARD\nVERSION:3.0\nFN:A"),
        .vCardWithoutEnd,
        28,
        lenient: true
    ),
    PayloadFault(
        "vCard with a line without colon",
        "text/vcard",
        ascii("BEGIN:VCARD\nVERSION:3.0\nFN\nEND:VCARD"),
        .vCardLine,
        24,
        lenient: true
    ),
    PayloadFault(
        "vCard with a bad parameter",
        "text/vcard",
        ascii("BEGIN:VCARD\nVERSION:3.0\nFN;ä=1:A\nEND:VCARD"),
        .vCardLine,
        24,
        lenient: true
    ),
    PayloadFault(
        "vCard not UTF-8",
        "text/vcard",
        ascii("BEGIN:VCARD\nVERSION:3.0\nFN:") + [0xFF] + ascii("\nEND:VCARD"),
        .vCardNotText,
        27,
        lenient: true
    ),
    PayloadFault(
        "vCard with broken quoted-printable",
        "text/x-vcard",
        ascii("BEGIN:VCARD\nVERSION:2.1\nFN;QUOTED-PRINTABLE:=4\nEND:VCARD"),
        .vCardQuotedPrintable,
        24,
        lenient: true
    ),
    PayloadFault(
        "vCard with quoted-printable that is not UTF-8",
        "text/x-vcard",
        ascii("BEGIN:VCARD\nVERSION:2.1\nFN;QUOTED-PRINTABLE:=FF\nEND:VCARD"),
        .vCardNotText,
        24,
        lenient: true
    ),
    PayloadFault(
        "vCard of too many properties",
        "text/vcard",
        ascii("BEGIN:VCARD\nVERSION:4.0\n" + String(repeating: "N:\n", count: 257) + "END:VCARD"),
        .vCardTooManyProperties,
        24 + 256 * 3
    ),
]
