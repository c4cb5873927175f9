import Foundation
import Testing

@testable import ReaderKit

@Suite("NDEF media types") struct NDEFMediaTests {
    static func record(of content: NDEFMediaContent) throws -> NDEFRecord {
        switch content {
        case .bluetooth(let device): try .bluetooth(device)
        case .wifi(let networks): try .wifi(networks)
        case .vCard(let card): try .vCard(card)
        }
    }

    @Test("valid: decode", arguments: mediaVectors)
    func decodes(_ vector: MediaVector) throws {
        let record = NDEFRecord.mime(type: vector.type, payload: octets(vector.hex))
        #expect(try record.decodedMedia() == vector.content)
        #expect(record.media == vector.content)
        // What it was before it was understood, it still is.
        #expect(record.content == .mime(type: vector.type, payload: octets(vector.hex)))
        #expect(
            NDEFRecord.mime(type: vector.type.uppercased() + "; x=y", payload: record.payload).media == vector.content
        )
        #expect(NDEFRecord.external(type: vector.type, payload: record.payload).media == nil)
    }

    @Test("valid: encode", arguments: mediaVectors)
    func encodes(_ vector: MediaVector) throws {
        let record = try Self.record(of: vector.content)
        #expect(record == .mime(type: vector.type, payload: octets(vector.canonical ?? vector.hex)))
    }

    @Test("malformed: the fault and its place", arguments: mediaFaults)
    func refuses(_ fault: PayloadFault) throws {
        let record = NDEFRecord.mime(type: fault.type, payload: fault.bytes)
        expectFault(fault.code, at: fault.offset) { () throws(NDEFError) in _ = try record.decodedMedia() }
        #expect((record.media != nil) == fault.isLenient)
        #expect(record.content == .mime(type: fault.type, payload: fault.bytes))
        // A message is not refused for it, and its JSON is what it always was.
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()) == [record])
        if !fault.isLenient {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any]
            #expect(object.map { Set($0.keys) } == ["tnf", "type", "payload"])
        }
    }

    @Test("every content cut short is refused or is another", arguments: mediaVectors)
    func refusesCutPayloads(_ vector: MediaVector) {
        let bytes = octets(vector.canonical ?? vector.hex)
        for count in 0..<bytes.count {
            let record = NDEFRecord.mime(type: vector.type, payload: Array(bytes[..<count]))
            #expect(record.media != vector.content)
        }
    }

    @Test("a payload over the limit is refused")
    func heedsLimits() {
        let record = NDEFRecord.mime(type: "text/vcard", payload: ascii("BEGIN:VCARD"))
        let limits = NDEFLimits(payload: 10)
        expectFault(.payloadTooLong, at: 10) { () throws(NDEFError) in _ = try record.decodedMedia(limits: limits) }
    }

    // MARK: - Bluetooth

    @Test("what a device says of itself")
    func readsDevices() throws {
        let short = NDEFBluetooth.Structure(type: 8, data: ascii("Sh"))
        let complete = NDEFBluetooth.Structure(type: 9, data: ascii("Complete"))
        var device = NDEFBluetooth(address: [0xA1, 0xB2, 3, 4, 5, 6], structures: [short, complete])
        #expect(device.name == "Complete")
        #expect(device.addressText == "A1:B2:03:04:05:06")
        #expect(device.deviceClass == nil)
        device.structures = [short, .init(type: 0x0D, data: [0x04, 0x02, 0x24])]
        #expect(device.name == "Sh")
        #expect(device.deviceClass == 0x240204)
        device.structures = [.init(type: 9, data: [0xFF]), .init(type: 0x0D, data: [1, 2, 3, 4])]
        #expect(device.name == nil && device.deviceClass == nil)
        #expect(!NDEFBluetooth(address: [], isRandomAddress: true).isRandomAddress)
        #expect(NDEFBluetooth(transport: .lowEnergy, address: []).addressText == nil)
    }

    @Test("devices that cannot be written")
    func refusesDevices() {
        func expectRefused(_ code: NDEFError.Code, _ device: NDEFBluetooth) {
            let error = #expect(throws: NDEFError.self) { try NDEFRecord.bluetooth(device) }
            #expect(error?.code == code)
            #expect(error?.attempt == .encoding)
        }
        expectRefused(.bluetoothAddressLength, NDEFBluetooth(address: []))
        expectRefused(.bluetoothAddressLength, NDEFBluetooth(transport: .lowEnergy, address: [1]))
        let long = NDEFBluetooth.Structure(type: 9, data: .init(repeating: 0, count: 255))
        expectRefused(.bluetoothTooLong, NDEFBluetooth(address: [1, 2, 3, 4, 5, 6], structures: [long]))
        let full = NDEFBluetooth.Structure(type: 9, data: .init(repeating: 0, count: 254))
        let many = Array(repeating: full, count: 256)
        expectRefused(.bluetoothTooLong, NDEFBluetooth(address: [1, 2, 3, 4, 5, 6], structures: many))
    }

    // MARK: - Wi-Fi

    @Test("a key is in no description and in no JSON")
    func keepsKeysSecret() throws {
        let credential = NDEFWiFi.Credential(ssid: ascii("Club"), key: ascii("hunter2hunter2"))
        let networks = NDEFWiFi(credentials: [credential], others: [.init(type: 0x1012, data: ascii("hunter2hunter2"))])
        var dumped = ""
        dump(networks, to: &dumped)
        let json = String(decoding: try JSONEncoder().encode(networks), as: UTF8.self)
        let texts = [
            "\(networks)", "\(credential)", String(reflecting: networks), String(reflecting: credential), dumped, json,
            "\(NDEFMediaContent.wifi(networks))",
        ]
        let numbers = ascii("hunter2").map { "\($0)" }.joined(separator: ", ")
        for text in texts {
            #expect(!text.contains("hunter2"), "\(text)")
            #expect(!text.contains(numbers), "\(text)")
            #expect(!text.contains(ascii("hunter2").hex), "\(text)")
        }
        #expect(json.contains(#""hasKey":true"#))
        #expect(credential.name == "Club")
        #expect(NDEFWiFi.Credential(ssid: [0xFF]).name == nil)
    }

    @Test("networks that cannot be written")
    func refusesNetworks() {
        func expectRefused(_ code: NDEFError.Code, _ networks: NDEFWiFi) {
            let error = #expect(throws: NDEFError.self) { try NDEFRecord.wifi(networks) }
            #expect(error?.code == code)
            #expect(error?.attempt == .encoding)
        }
        let long = [UInt8](repeating: 0x41, count: 65)
        expectRefused(.wifiAttributeLength, NDEFWiFi(credentials: [.init(ssid: long)]))
        expectRefused(.wifiAttributeLength, NDEFWiFi(credentials: [.init(ssid: [], key: long)]))
        expectRefused(.wifiAttributeLength, NDEFWiFi(credentials: [.init(ssid: [], macAddress: [1])]))
        let huge = NDEFWiFi.Attribute(type: 0x1049, data: .init(repeating: 0, count: 65_536))
        expectRefused(.wifiAttributeTooLong, NDEFWiFi(credentials: [], others: [huge]))
        let half = NDEFWiFi.Attribute(type: 0x1049, data: .init(repeating: 0, count: 40_000))
        expectRefused(.wifiAttributeTooLong, NDEFWiFi(credentials: [.init(ssid: [], others: [half, half])]))
    }

    // MARK: - JSON

    @Test("JSON of a device and of a network")
    func printsJSON() throws {
        func json(_ record: NDEFRecord, _ key: String) throws -> String {
            let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any]
            let data = try JSONSerialization.data(
                withJSONObject: try #require(object?[key]),
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
            return String(decoding: data, as: UTF8.self)
        }
        let device = NDEFBluetooth(
            transport: .lowEnergy,
            address: [1, 2, 3, 4, 5, 6],
            isRandomAddress: true,
            structures: [.init(type: 9, data: ascii("A"))]
        )
        #expect(
            try json(.bluetooth(device), "bluetooth")
                == #"{"address":"01:02:03:04:05:06","addressKind":"random","name":"A","#
                + #""structures":[{"data":"41","type":9}],"transport":"lowEnergy"}"#
        )
        let network = NDEFWiFi.Credential(ssid: ascii("A"), authentication: .open, encryption: NDEFWiFi.Encryption.none)
        #expect(
            try json(.wifi(NDEFWiFi(credentials: [network])), "wifi")
                == #"{"credentials":[{"authentication":1,"encryption":1,"hasKey":false,"name":"A","ssid":"41"}]}"#
        )
    }
}

extension MessageGenerator {
    mutating func device() -> NDEFBluetooth {
        let isClassic = Bool.random(using: &random)
        let address = isClassic || Bool.random(using: &random) ? random.bytes(6...6) : []
        return NDEFBluetooth(
            transport: isClassic ? .classic : .lowEnergy,
            address: address,
            isRandomAddress: !address.isEmpty && Bool.random(using: &random),
            structures: (0..<Int.random(in: 0...5, using: &random)).map { _ in
                .init(type: UInt8.random(in: 0x1C...0xFF, using: &random), data: random.bytes(0...254))
            }
        )
    }

    mutating func networks() -> NDEFWiFi {
        NDEFWiFi(
            credentials: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                NDEFWiFi.Credential(
                    ssid: random.bytes(0...32),
                    authentication: Bool.random(using: &random)
                        ? .init(rawValue: UInt16.random(in: .min ... .max, using: &random)) : nil,
                    encryption: Bool.random(using: &random)
                        ? .init(rawValue: UInt16.random(in: .min ... .max, using: &random)) : nil,
                    key: Bool.random(using: &random) ? random.bytes(0...64) : nil,
                    macAddress: Bool.random(using: &random) ? random.bytes(6...6) : nil,
                    networkIndex: Bool.random(using: &random) ? 1 : nil,
                    others: [.init(type: 0x1049, data: random.bytes(0...300))]
                )
            },
            others: Bool.random(using: &random) ? [.init(type: 0x104A, data: random.bytes(0...3))] : []
        )
    }
}

@Suite("NDEF media type properties") struct NDEFMediaPropertyTests {
    static let seed: UInt64 = 0x4E44_4546_0003

    @Test("what is encoded decodes to the same (seed 4E4445460003, 5 000 of each)")
    func isInverse() throws {
        var generator = MessageGenerator(random: CodecRandom(seed: Self.seed))
        for number in 0..<5_000 {
            for content in [NDEFMediaContent.bluetooth(generator.device()), .wifi(generator.networks())] {
                let record = try NDEFMediaTests.record(of: content)
                guard try record.decodedMedia() == content else {
                    Issue.record("content \(number) differs: \(record.payload.hex)")
                    return
                }
            }
        }
    }

    @Test("mutated payloads do no harm, and what is read stays itself (seed 4E4445460003, 100 000 payloads)")
    func survivesMutations() throws {
        var generator = MessageGenerator(random: CodecRandom(seed: Self.seed))
        var read = 0
        for number in 0..<100_000 {
            let content: NDEFMediaContent =
                number.isMultiple(of: 2) ? .bluetooth(generator.device()) : .wifi(generator.networks())
            var record = try NDEFMediaTests.record(of: content)
            record.payload = generator.mutated(record.payload)
            do {
                guard let found = try record.decodedMedia(mode: .lenient) else {
                    Issue.record("no content")
                    return
                }
                read += 1
                guard try NDEFMediaTests.record(of: found).decodedMedia() == found else {
                    Issue.record("differs: \(record.payload.hex)")
                    return
                }
            } catch {
                guard let error = error as? NDEFError, (0...record.payload.count).contains(error.offset),
                    error.attempt == .decoding
                else {
                    Issue.record("\(error): \(record.payload.hex)")
                    return
                }
            }
        }
        #expect(read > 10_000 && read < 90_000)
    }
}
