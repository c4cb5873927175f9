import Testing

@testable import ReaderKit

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

private let ac = NDEFHandover.AlternativeCarrier(power: .active, reference: ascii("0"))

/// What only making a record meets.
let encodingFaults: Set<NDEFError.Code> = [
    .handoverVersion, .handoverReferenceTooLong, .handoverReferenceMissing, .handoverReferenceAmbiguous,
    .signatureTooLong, .bluetoothTooLong, .wifiAttributeTooLong, .vCardUnwritable,
]

let connectionVectors: [ContentVector] = [
    ContentVector("Hs without carriers", "Hs", "12", .handover(NDEFHandover(.select))),
    ContentVector(
        "Hs 1.0",
        "Hs",
        "10D10204616301013000",
        .handover(NDEFHandover(.select, version: .init(1, 0), carriers: [ac]))
    ),
    ContentVector(
        "Hs 1.3",
        "Hs",
        "13D10204616301013000",
        .handover(NDEFHandover(.select, version: .init(1, 3), carriers: [ac]))
    ),
    ContentVector(
        "Hs 1.5",
        "Hs",
        "15D10204616301013000",
        .handover(NDEFHandover(.select, version: .init(1, 5), carriers: [ac]))
    ),
    ContentVector(
        "power states and auxiliary references",
        "Hs",
        "13 9102096163 00 03 414243 02 01 58 00 1102046163 02 01 41 00 5102036163 03 00 00",
        .handover(
            NDEFHandover(
                .select,
                version: .init(1, 3),
                carriers: [
                    .init(power: .inactive, reference: ascii("ABC"), auxiliary: [ascii("X"), []]),
                    .init(power: .activating, reference: ascii("A")), .init(power: .unknown, reference: []),
                ]
            )
        )
    ),
    ContentVector(
        "Hr 1.1 needs no random number",
        "Hr",
        "11D10204616301013000",
        .handover(NDEFHandover(.request, version: .init(1, 1), carriers: [ac]))
    ),
    ContentVector(
        "Hr 1.3",
        "Hr",
        "13 9102026372FFFE 5102046163 01013000",
        .handover(NDEFHandover(.request, version: .init(1, 3), collisionResolution: 0xFFFE, carriers: [ac]))
    ),
    ContentVector(
        "Hr with the random number last",
        "Hr",
        "12 9102046163 01013000 5102026372 0001",
        .handover(NDEFHandover(.request, collisionResolution: 1, carriers: [ac])),
        canonical: "12 9102026372 0001 5102046163 01013000"
    ),
    ContentVector(
        "temporary lack of memory",
        "Hs",
        "12 D10302657272 01 64",
        .handover(NDEFHandover(.select, failure: .temporaryMemory(milliseconds: 100)))
    ),
    ContentVector(
        "permanent lack of memory",
        "Hs",
        "12 D10305657272 02 00010203",
        .handover(NDEFHandover(.select, failure: .permanentMemory(bytes: 0x10203)))
    ),
    ContentVector(
        "a carrier's error",
        "Hs",
        "12 D10302657272 03 FF",
        .handover(NDEFHandover(.select, failure: .carrier(milliseconds: 255)))
    ),
    ContentVector(
        "a reserved reason",
        "Hs",
        "12 D10303657272 7F AABB",
        .handover(NDEFHandover(.select, failure: .reserved(reason: 0x7F, data: [0xAA, 0xBB])))
    ),
    ContentVector(
        "a random number in a selection is another record",
        "Hs",
        "12 9102046163 01013000 5102026372 1234",
        .handover(NDEFHandover(.select, carriers: [ac], others: [wellKnown("cr", [0x12, 0x34])]))
    ),
    ContentVector("another major version stays as it is", "Hs", "22D10204616301013000", .other),
    ContentVector(
        "reserved bits of the power state",
        "Hs",
        "12D1020461 63FD013000",
        .handover(NDEFHandover(.select, carriers: [ac])),
        canonical: "12D10204616301013000"
    ),
    ContentVector(
        "Hc of a media type",
        "Hc",
        "02 03 612F62 0102",
        .handoverCarrier(NDEFHandoverCarrier(format: .mime, type: ascii("a/b"), data: [1, 2]))
    ),
    ContentVector(
        "Hc of nothing more",
        "Hc",
        "01 00",
        .handoverCarrier(NDEFHandoverCarrier(format: .wellKnown, type: []))
    ),
    ContentVector(
        "Hc with reserved bits",
        "Hc",
        "FC 01 78",
        .handoverCarrier(NDEFHandoverCarrier(format: .external, type: ascii("x"))),
        canonical: "04 01 78"
    ),
    ContentVector("Sig 1.0 stays as it is", "Sig", "01 02 0003 AABBCC 00", .other),
    ContentVector("Sig 3.0 stays as it is", "Sig", "30", .other),
    ContentVector(
        "Sig with everything",
        "Sig",
        "21 8B 02 0009 68747470733A2F2F61 92 0002 AABB 0000 0003 783A79",
        .signature(
            NDEFSignature(
                algorithm: .ecdsaP256,
                signature: .uri("https://a"),
                certificateFormat: 1,
                certificates: [[0xAA, 0xBB], []],
                certificateURI: "x:y",
                minorVersion: 1
            )
        )
    ),
    ContentVector(
        "Sig of unknown numbers",
        "Sig",
        "2F 7F FF 0001 00 70",
        .signature(
            NDEFSignature(
                algorithm: .init(rawValue: 0x7F),
                hash: 0xFF,
                signature: .bytes([0]),
                certificateFormat: 7,
                minorVersion: 15
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
