import CardCore
import CardTags
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// What the driver tells of a reader, and what it refuses.
@Suite struct PCSCFeaturesTests {
    private static let propertiesCode: UInt32 = 0x4233_0012
    /// Two features, the second of them the properties (PC/SC part 10, 2.2).
    private static let features: [UInt8] = [0x06, 0x04, 0x42, 0x33, 0x00, 0x06, 0x12, 0x04, 0x42, 0x33, 0x00, 0x12]
    private static let unknown = ChannelCapabilities(extendedLength: nil)

    private static func extended(_ command: Int, _ response: Int) -> ChannelCapabilities {
        ChannelCapabilities(longestCommand: command, longestResponse: response, extendedLength: true)
    }

    private static func block(_ command: Int, _ response: Int) -> ChannelCapabilities {
        ChannelCapabilities(longestCommand: command, longestResponse: response, extendedLength: nil)
    }

    /// The answers to the request for features, to the request for properties, and the attribute; `nil` is a refusal.
    private static let readers:
        [(features: [UInt8]?, properties: [UInt8]?, input: [UInt8]?, told: ChannelCapabilities)] = [
            // Nothing is told, as by the virtual reader.
            (nil, nil, nil, unknown),
            // Short APDUs only; 64 KiB; 2048 bytes; a size that the standard forbids, passed over.
            (features, [0x0A, 0x04, 0, 0, 0, 0], nil, .shortAPDUs),
            (features, [0x0A, 0x04, 0, 0, 1, 0], [0x05, 1, 0, 0], extended(65_544, 65_538)),
            (features, [0x01, 0x02, 0, 0, 0x0A, 0x04, 0, 8, 0, 0], nil, extended(2057, 2050)),
            (features, [0x0A, 0x04, 0xFF, 0xFF, 0xFF, 0xFF], nil, extended(65_544, 65_538)),
            (features, [0x0A, 0x04, 0, 1, 0, 0], nil, unknown),
            // No such property, or lists that end early or lie about their lengths.
            (features, [0x01, 0x02, 0, 0], nil, unknown),
            (features, [0x0A, 0x04, 0, 0], nil, unknown),
            (features, [0x0A], nil, unknown),
            (features, [0x0A, 0x00], nil, unknown),
            (features, [0x0A, 0x05, 0, 0, 1, 0, 0], nil, unknown),
            (features, [], nil, unknown),
            (features, nil, nil, unknown),
            ([0x12, 0x04, 0x42], nil, nil, unknown),
            ([0x12, 0x02, 0x42, 0x33], nil, nil, unknown),
            ([0x06, 0x04, 0x42, 0x33, 0x00, 0x06], nil, nil, unknown),
            // The length of a block: as for short APDUs, longer, shorter, absurd.
            (nil, nil, [0x05, 0x01, 0, 0], block(261, 258)),
            (nil, nil, [0x00, 0x08, 0, 0], block(2048, 2048)),
            (nil, nil, [0x40, 0, 0, 0], block(64, 258)),
            (nil, nil, [0, 0, 0, 0], block(5, 258)),
            (nil, nil, [0xFF, 0xFF, 0xFF, 0xFF], block(65_544, 65_538)),
            (nil, nil, [], unknown),
            (nil, nil, [1, 2, 3, 4, 5], unknown),
        ]

    private static func library(
        _ fake: FakePCSC,
        _ features: [UInt8]?,
        _ properties: [UInt8]?,
        _ input: [UInt8]?
    ) -> PCSCLibrary {
        var library = fake.library
        let (control, attribute) = (library.control, library.getAttribute)
        library.control = { handle, code, data in
            _ = control(handle, code, data)
            let answer = code == PCSCFeatures.request ? features : code == propertiesCode ? properties : nil
            return answer.map { (.success, $0) } ?? (.unsupportedFeature, [])
        }
        library.getAttribute = { handle, id in
            _ = attribute(handle, id)
            return input.map { (.success, $0) } ?? (.unsupportedFeature, [])
        }
        return library
    }

    @Test(arguments: readers.indices) func capabilities(_ index: Int) async throws {
        let (features, properties, input, told) = Self.readers[index]
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        let library = Self.library(fake, features, properties, input)
        let backend = PCSCBackend(library: library, configuration: FakePCSC.configuration)
        #expect(try await backend.withCard(fake.presence("A")) { $0.capabilities } == told)
        // Asked once for each reader.
        let asked = fake.count(.control)
        #expect(asked <= 2 && fake.count(.attribute) <= 1)
        #expect(try await backend.withCard(fake.presence("A")) { $0.capabilities } == told)
        #expect(fake.count(.control) == asked)
    }

    /// A fault while the reader is asked is not taken for its answer.
    @Test(arguments: [PCSCCode.removedCard, .resetCard, .communicationError, .readerUnavailable])
    func faultWhileAsking(_ code: PCSCCode) async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        let library = Self.library(fake, Self.features, [0x0A, 0x04, 0, 0, 1, 0], nil)
        let failing = Shared(true)
        var faulty = library
        faulty.control = { handle, control, data in
            failing.withLock(\.self) ? (code, []) : library.control(handle, control, data)
        }
        let backend = PCSCBackend(library: faulty, configuration: FakePCSC.configuration)
        #expect(try await backend.withCard(fake.presence("A")) { $0.capabilities } == Self.unknown)
        failing.withLock { $0 = false }
        #expect(try await backend.withCard(fake.presence("A")) { $0.capabilities }.extendedLength == true)
    }

    /// 80100016 means two things: at an exchange the link failed, at a control code the driver does not let it through.
    @Test func refusedControlCode() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(FakePCSC.Card { _ in .code(.notTransacted) }, into: "A")
        let backend = fake.backend()
        fake.fail(.control, with: .notTransacted, forEver: true)
        let control = await readerError { try await backend.withCard(fake.presence("A")) { try $0.control(1, []) } }
        #expect(control?.kind == .unsupported)
        #expect(control?.code?.rawValue == 0x8010_0016)
        #expect(control?.hint.contains("ifdDriverOptions") == true)
        let exchange = await readerError {
            try await backend.withCard(fake.presence("A")) { try $0.transmit([0, 0xA4, 4, 0]) }
        }
        #expect(exchange?.kind == .communication)
        #expect(exchange?.hint.contains("ifdDriverOptions") == false)
    }
}
#endif
