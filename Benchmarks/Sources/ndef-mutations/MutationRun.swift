import BenchmarkSupport
import ReaderKit

/// One run over mutated messages, with its counts.
struct MutationRun {
    private(set) var strictAccepted = 0
    private(set) var lenientAccepted = 0
    private(set) var lenientTolerated = 0
    private(set) var codes: Set<NDEFError.Code> = []

    private var random: SplitMix64
    private let originals: [[UInt8]]

    /// A check that failed, with the message that did it.
    struct Failure: Error, CustomStringConvertible {
        var what: String
        var bytes: [UInt8]
        var description: String { "\(what): \(Hexadecimal.encode(bytes))" }
    }

    /// A run with a seed.
    ///
    /// - Throws: ``Failure`` if a sample is not hexadecimal.
    init(seed: UInt64) throws {
        guard let samples = MutationSamples.all() else { throw Failure(what: "a sample is not hexadecimal", bytes: []) }
        random = SplitMix64(seed: seed)
        originals = samples
    }

    /// Decodes that many mutated messages.
    ///
    /// - Throws: ``Failure`` for the first check that fails.
    mutating func decode(_ count: Int) throws {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            mutate(into: &bytes)
            try check(bytes)
        }
    }

    private mutating func check(_ bytes: [UInt8]) throws {
        let (message, fault) = NDEFMessage.decodeLeniently(bytes)
        if let fault {
            codes.insert(fault.code)
            guard (0...bytes.count).contains(fault.offset) else { throw Failure(what: "offset", bytes: bytes) }
        }
        if fault?.isTolerable ?? true {
            lenientAccepted += 1
            if fault != nil { lenientTolerated += 1 }
        }
        // Records before a fault are good too.
        let encoded = try message.encoded(mode: .lenient)
        guard encoded.count <= bytes.count, try NDEFMessage(decoding: encoded, mode: .lenient) == message else {
            throw Failure(what: "a lenient message does not come back", bytes: bytes)
        }
        for record in message.records {
            if case .malformed = record.content { throw Failure(what: "malformed content", bytes: bytes) }
        }
        let strict: NDEFMessage
        do {
            strict = try NDEFMessage(decoding: bytes)
        } catch {
            codes.insert(error.code)
            guard (0...bytes.count).contains(error.offset) else { throw Failure(what: "offset", bytes: bytes) }
            return
        }
        strictAccepted += 1
        guard fault == nil, strict == message else { throw Failure(what: "strict and lenient differ", bytes: bytes) }
        guard try strict.encoded() == encoded, try NDEFMessage(decoding: encoded) == strict else {
            throw Failure(what: "a strict message does not come back", bytes: bytes)
        }
    }

    /// One of the samples with 1 to 4 changes.
    private mutating func mutate(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        bytes += originals[random.below(originals.count)]
        for _ in 0...random.below(4) where !bytes.isEmpty {
            // Half of the changes hit the first bytes, where the headers are.
            let index = random.below(random.below(2) == 0 ? min(bytes.count, 12) : bytes.count)
            switch random.below(8) {
            case 0: bytes[index] ^= 1 << UInt8(random.below(8))
            case 1: bytes[index] = random.byte()
            case 2: bytes[index] = [0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF][random.below(6)]
            case 3: bytes[index] = bytes[index] &+ (random.below(2) == 0 ? 1 : 0xFF)
            case 4: bytes.insert(random.byte(), at: index)
            case 5: bytes.remove(at: index)
            case 6: bytes.removeSubrange(index...)
            default: splice(into: &bytes, at: index)
            }
        }
    }

    /// Puts a piece of another sample over the end of the message.
    private mutating func splice(into bytes: inout [UInt8], at index: Int) {
        let other = originals[random.below(originals.count)]
        guard !other.isEmpty else { return }
        let start = random.below(other.count)
        bytes.replaceSubrange(index..., with: other[start...])
    }
}
