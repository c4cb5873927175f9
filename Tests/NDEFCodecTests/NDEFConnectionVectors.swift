import CardCore
import Testing
import TestSupport

@testable import NDEFCodec

/// A payload that both modes accept, with its content and what the encoder writes.
struct ContentVector: Sendable, CustomTestStringConvertible {
    var name: String
    var type: String
    var hex: String
    var content: NDEFContent
    var canonical: String?

    init(_ name: String, _ type: String, _ hex: String, _ content: NDEFContent, canonical: String? = nil) {
        self.name = name
        self.type = type
        self.hex = hex
        self.content = content
        self.canonical = canonical
    }

    var testDescription: String { name }
}

/// A payload that strictness refuses, and what lenience makes of it.
struct PayloadFault: Sendable, CustomTestStringConvertible {
    var name: String
    var type: String
    var bytes: [UInt8]
    var code: NDEFError.Code
    var offset: Int
    var isLenient: Bool

    init(_ name: String, _ type: String, _ hex: String, _ code: NDEFError.Code, _ offset: Int, lenient: Bool = false) {
        self.init(name, type, octets(hex), code, offset, lenient: lenient)
    }

    init(
        _ name: String,
        _ type: String,
        _ bytes: [UInt8],
        _ code: NDEFError.Code,
        _ offset: Int,
        lenient: Bool = false
    ) {
        self.name = name
        self.type = type
        self.bytes = bytes
        self.code = code
        self.offset = offset
        isLenient = lenient
    }

    var testDescription: String { name }
}

/// A payload that is read to be shown, and what its record's JSON has under a key; both modes accept it.
struct ShownVector: Sendable, CustomTestStringConvertible {
    var name: String
    var type: String
    var hex: String
    var json: String?

    init(_ name: String, _ type: String, _ hex: String, _ json: String?) {
        (self.name, self.type, self.hex, self.json) = (name, type, hex, json)
    }

    /// The record, and the key of its JSON.
    var record: NDEFRecord {
        type.contains("/") ? .mime(type: type, payload: octets(hex)) : wellKnown(type, hex: hex)
    }
    var key: String {
        switch type {
        case "Hr", "Hs": "handover"
        case "Hc": "handoverCarrier"
        case "application/vnd.wfa.wsc": "wifi"
        default: "bluetooth"
        }
    }

    var testDescription: String { name }
}

private let ac = #"{"auxiliary":[],"power":"active","reference":"30"}"#
private let classic = "application/vnd.bluetooth.ep.oob"
private let lowEnergy = "application/vnd.bluetooth.le.oob"
private let wsc = "application/vnd.wfa.wsc"
private let device = #"{"address":"11:22:33:44:55:66","addressKind":"public","#

private func handover(_ kind: String, _ version: String, _ carriers: String = "", _ more: String = "") -> String {
    #"{"carriers":[\#(carriers)],\#(more)"kind":"\#(kind)","version":"\#(version)"}"#
}

private func failure(_ data: String, _ reason: Int) -> String {
    handover("select", "1.2", "", #""failure":{"data":\#(data),"reason":\#(reason)},"#)
}

let shownVectors: [ShownVector] = [
    ShownVector("Hs without carriers", "Hs", "12", handover("select", "1.2")),
    ShownVector("Hs 1.0", "Hs", "10D10204616301013000", handover("select", "1.0", ac)),
    ShownVector("Hs 1.3", "Hs", "13D10204616301013000", handover("select", "1.3", ac)),
    ShownVector("Hs 1.5", "Hs", "15D10204616301013000", handover("select", "1.5", ac)),
    ShownVector(
        "power states and auxiliary references",
        "Hs",
        "13 9102096163 00 03 414243 02 01 58 00 1102046163 02 01 41 00 5102036163 03 00 00",
        handover(
            "select",
            "1.3",
            #"{"auxiliary":["58",""],"power":"inactive","reference":"414243"},"#
                + #"{"auxiliary":[],"power":"activating","reference":"41"},"#
                + #"{"auxiliary":[],"power":"unknown","reference":""}"#
        )
    ),
    ShownVector("Hr 1.1 needs no random number", "Hr", "11D10204616301013000", handover("request", "1.1", ac)),
    ShownVector(
        "Hr 1.3",
        "Hr",
        "13 9102026372FFFE 5102046163 01013000",
        handover("request", "1.3", ac, #""collisionResolution":65534,"#)
    ),
    ShownVector(
        "Hr with the random number last",
        "Hr",
        "12 9102046163 01013000 5102026372 0001",
        handover("request", "1.2", ac, #""collisionResolution":1,"#)
    ),
    ShownVector("temporary lack of memory", "Hs", "12 D10302657272 01 64", failure("100", 1)),
    ShownVector("permanent lack of memory", "Hs", "12 D10305657272 02 00010203", failure("66051", 2)),
    ShownVector("a carrier's error", "Hs", "12 D10302657272 03 FF", failure("255", 3)),
    ShownVector("a reserved reason", "Hs", "12 D10303657272 7F AABB", failure(#""AABB""#, 0x7F)),
    ShownVector(
        "a random number in a selection is another record",
        "Hs",
        "12 9102046163 01013000 5102026372 1234",
        handover("select", "1.2", ac)
    ),
    ShownVector("another major version stays as it is", "Hs", "22D10204616301013000", nil),
    ShownVector("reserved bits of the power state", "Hs", "12D1020461 63FD013000", handover("select", "1.2", ac)),
    ShownVector("Hc of a media type", "Hc", "02 03 612F62 0102", #"{"data":"0102","tnf":"mime","type":"a/b"}"#),
    ShownVector("Hc of nothing more", "Hc", "01 00", #"{"data":"","tnf":"well-known","type":""}"#),
    ShownVector("Hc with reserved bits", "Hc", "FC 01 78", #"{"data":"","tnf":"external","type":"x"}"#),
    ShownVector("N28 address alone", classic, "0800 665544332211", device + #""structures":[],"transport":"classic"}"#),
    ShownVector(
        "name and class",
        classic,
        "1100 665544332211 03094142 040D1C010A",
        device + #""deviceClass":655644,"name":"AB","structures":[{"data":"4142","type":9},"#
            + #"{"data":"1C010A","type":13}],"transport":"classic"}"#
    ),
    ShownVector(
        "the complete name before the shortened one",
        classic,
        "0E00 665544332211 0208 53 0209 43",
        device + #""name":"C","structures":[{"data":"53","type":8},{"data":"43","type":9}],"transport":"classic"}"#
    ),
    ShownVector(
        "a name that is no text, and a class of another length",
        classic,
        "1000 665544332211 0209FF 040D010203",
        device + #""deviceClass":197121,"structures":[{"data":"FF","type":9},{"data":"010203","type":13}],"#
            + #""transport":"classic"}"#
    ),
    ShownVector(
        "name of no bytes",
        classic,
        "0A00 665544332211 0109",
        device + #""name":"","structures":[{"data":"","type":9}],"transport":"classic"}"#
    ),
    ShownVector(
        "name of 254 bytes",
        classic,
        "0801 665544332211 FF08" + String(repeating: "41", count: 254),
        device + #""name":"\#(String(repeating: "A", count: 254))","structures":[{"data":""#
            + String(repeating: "41", count: 254) + #"","type":8}],"transport":"classic"}"#
    ),
    ShownVector(
        "padding",
        classic,
        "0D00 665544332211 0000000000",
        device + #""structures":[],"transport":"classic"}"#
    ),
    ShownVector("Low Energy, nothing", lowEnergy, "", #"{"structures":[],"transport":"lowEnergy"}"#),
    ShownVector(
        "Low Energy, random address and role",
        lowEnergy,
        "081B 665544332211 01 021C 02",
        #"{"address":"11:22:33:44:55:66","addressKind":"random","structures":[{"data":"02","type":28}],"#
            + #""transport":"lowEnergy"}"#
    ),
    ShownVector(
        "Low Energy, the address last",
        lowEnergy,
        "021C 00 081B 665544332211 00",
        device + #""structures":[{"data":"00","type":28}],"transport":"lowEnergy"}"#
    ),
    ShownVector("Wi-Fi, nothing", wsc, "", #"{"credentials":[]}"#),
    ShownVector(
        "Wi-Fi, a credential with everything",
        wsc,
        "104A 0001 10 100E 0033 1026000101 1045 0004 436C7562 1003 0002 0020 100F 0002 0008 1027 0008 7365637265743432"
            + "1020 0006 FFFFFFFFFFFF 1049 0000",
        #"{"credentials":[{"authentication":32,"encryption":8,"hasKey":true,"macAddress":"FF:FF:FF:FF:FF:FF","#
            + #""name":"Club","ssid":"436C7562"}]}"#
    ),
    ShownVector(
        "Wi-Fi, an open network and another",
        wsc,
        "100E 000C 1045 0002 FF00 1003 0002 0001 100E 000A 1045 0000 1003 0002 0022",
        #"{"credentials":[{"authentication":1,"hasKey":false,"ssid":"FF00"},"#
            + #"{"authentication":34,"hasKey":false,"name":"","ssid":""}]}"#
    ),
]

let signatureVectors: [ContentVector] = [
    ContentVector("Sig 1.0 stays as it is", "Sig", "01 02 0003 AABBCC 00", .other),
    ContentVector("Sig 3.0 stays as it is", "Sig", "30", .other),
    ContentVector(
        "Sig with everything",
        "Sig",
        "21 8B 02 0009 68747470733A2F2F61 92 0002 AABB 0000 0003 783A79",
        .signature(
            NDEFSignature(
                minorVersion: 1,
                algorithm: .ecdsaP256,
                signature: .uri("https://a"),
                certificateFormat: 1,
                certificates: [[0xAA, 0xBB], []],
                certificateURI: "x:y"
            )
        )
    ),
    ContentVector(
        "Sig of unknown numbers",
        "Sig",
        "2F 7F FF 0001 00 70",
        .signature(
            NDEFSignature(
                minorVersion: 15,
                algorithm: .init(rawValue: 0x7F),
                hash: 0xFF,
                signature: .bytes([0]),
                certificateFormat: 7
            )
        )
    ),
]

let connectionFaults: [PayloadFault] = [
    PayloadFault("Hs without version", "Hs", "", .handoverWithoutVersion, 0),
    PayloadFault(
        "Hr without random number",
        "Hr",
        "12D10204616301013000",
        .handoverWithoutCollision,
        10,
        lenient: true
    ),
    PayloadFault("Hr without carrier", "Hr", "12D10202637212 34", .handoverWithoutCarrier, 8, lenient: true),
    PayloadFault(
        "random number of one byte",
        "Hr",
        "12 9102016372 12 5102046163 01013000",
        .handoverCollisionLength,
        1
    ),
    PayloadFault("random number of three bytes", "Hr", "12 D102036372 121212", .handoverCollisionLength, 1),
    PayloadFault(
        "two random numbers",
        "Hr",
        "12 9102026372 1234 5102026372 1234",
        .handoverRepeatedRecord,
        8,
        lenient: true
    ),
    PayloadFault(
        "two errors",
        "Hs",
        "12 910302657272 0101 510302657272 0101",
        .handoverRepeatedRecord,
        9,
        lenient: true
    ),
    PayloadFault("error without reason", "Hs", "12 D10300657272", .handoverErrorLength, 7),
    PayloadFault("short time", "Hs", "12 D10301657272 01", .handoverErrorLength, 8),
    PayloadFault("long time", "Hs", "12 D10303657272 03 0000", .handoverErrorLength, 8),
    PayloadFault("size of three bytes", "Hs", "12 D10304657272 02 000000", .handoverErrorLength, 8),
    PayloadFault("carrier of nothing", "Hs", "12 D102006163", .handoverCarrierBeyondEnd, 6),
    PayloadFault("carrier of its power alone", "Hs", "12 D102016163 01", .handoverCarrierBeyondEnd, 7),
    PayloadFault("reference beyond the end", "Hs", "12 D102036163 01 FF 30", .handoverCarrierBeyondEnd, 8),
    PayloadFault("carrier without count", "Hs", "12 D102036163 01 01 30", .handoverCarrierBeyondEnd, 9),
    PayloadFault("255 references that are not there", "Hs", "12 D102046163 01 01 30 FF", .handoverCarrierBeyondEnd, 10),
    PayloadFault("auxiliary beyond the end", "Hs", "12 D102066163 01 01 30 01 02 41", .handoverCarrierBeyondEnd, 11),
    PayloadFault(
        "bytes after a carrier",
        "Hs",
        "12 D102056163 01 01 30 00 00",
        .handoverCarrierTrailingBytes,
        10,
        lenient: true
    ),
    PayloadFault("handover in a handover", "Hs", "12 D102014873 12", .handoverNestedMessage, 1),
    PayloadFault("poster in a handover", "Hs", "12 9102006163 510206 5370 D1010255 0461", .handoverNestedMessage, 6),
    PayloadFault("message cut off", "Hs", "12 D102", .truncatedHeader, 3),
    PayloadFault("bytes after the message", "Hs", "12 D102046163 01013000 00", .trailingBytesInPayload, 10),
    PayloadFault("text in a handover malformed", "Hs", "12 D1010154 05", .textLanguageBeyondEnd, 5),
    PayloadFault("Hc of nothing", "Hc", "", .handoverCarrierBeyondEnd, 0),
    PayloadFault("Hc of one byte", "Hc", "02", .handoverCarrierBeyondEnd, 1),
    PayloadFault("Hc type beyond the end", "Hc", "02 03 6162", .handoverCarrierBeyondEnd, 1),
    PayloadFault("Hc of format 0", "Hc", "00 00", .handoverCarrierFormat, 0),
    PayloadFault("Hc of format 5", "Hc", "05 00", .handoverCarrierFormat, 0),
    PayloadFault("Hc of format 6", "Hc", "06 00", .handoverCarrierFormat, 0),
    PayloadFault("Hc of format 7", "Hc", "07 00", .handoverCarrierFormat, 0),
    PayloadFault("Sig without version", "Sig", "", .signatureWithoutVersion, 0),
    PayloadFault("Sig of its version", "Sig", "20", .signatureBeyondEnd, 1),
    PayloadFault("Sig without length", "Sig", "200B02 00", .signatureBeyondEnd, 3),
    PayloadFault("signature beyond the end", "Sig", "200B02 FFFF AA", .signatureBeyondEnd, 3),
    PayloadFault("Sig without certificates", "Sig", "200B02 0001 AA", .signatureBeyondEnd, 6),
    PayloadFault("certificates that are not there", "Sig", "200B02 0001 AA 0F", .signatureBeyondEnd, 7),
    PayloadFault("certificate beyond the end", "Sig", "200B02 0001 AA 01 0002 BB", .signatureBeyondEnd, 7),
    PayloadFault("certificate URI that is not there", "Sig", "200B02 0001 AA 80", .signatureBeyondEnd, 7),
    PayloadFault("bytes after a signature", "Sig", "200002000000 00", .signatureTrailingBytes, 6),
    PayloadFault("signature URI with a line feed", "Sig", "208B02 0002 610A 00", .uriControlCharacter, 6),
    PayloadFault("certificate URI not UTF-8", "Sig", "200B02 0000 80 0001 FF", .uriNotUTF8, 8),
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
        24,
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
