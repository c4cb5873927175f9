import BenchmarkSupport
import ReaderKit

/// One run over mutated answers of phones, with its counts.
struct PassMutationRun {
    /// What came of the taps of iPhones: their number by outcome.
    private(set) var apple: [String: Int] = [:]
    /// What came of the taps of Android phones.
    private(set) var google: [String: Int] = [:]

    private var random: SplitMix64
    private let samples: PassMutationSamples
    private let phone = MutatedPhone()
    private let appleTemplate: BERTLV
    private let googleTemplate: BERTLV
    private let objects: [SmartTapObject]

    /// A check that failed, with the answers that did it.
    struct Failure: Error, CustomStringConvertible {
        var what: String
        var answers: [[UInt8]] = []
        var description: String { ([what] + answers.map(Hexadecimal.encode)).joined(separator: "\n  ") }
    }

    /// A run with a seed, after the phones were read as they are.
    ///
    /// - Throws: ``Failure`` if a sample is not what it should be.
    init(seed: UInt64) throws {
        guard let samples = PassMutationSamples() else { throw Failure(what: "a sample is not what it should be") }
        self.samples = samples
        random = SplitMix64(seed: seed)
        guard let apple = Self.template(samples.appleSelection, .apple),
            let google = Self.template(samples.googleSelection, .google)
        else { throw Failure(what: "a selection is none") }
        (appleTemplate, googleTemplate) = (apple, google)
        phone.selection = samples.googleSelectionAgain
        phone.negotiation = samples.negotiation
        for pass in samples.applePasses {
            phone.data = pass.answer
            let finding = try samples.appleReader.read(apple, over: phone).findings.first
            guard finding?.message?.text == pass.text, finding?.message?.at == PassMutationSamples.moment else {
                throw Failure(what: "a pass is not read as it is", answers: phone.answers)
            }
        }
        var objects: [[SmartTapObject]] = []
        for pass in samples.googlePasses {
            (phone.data, phone.rest) = (pass.answer, pass.rest)
            let finding = try samples.preSignedReader.read(google, over: phone)
            guard finding.error == nil, !finding.objects.isEmpty else {
                throw Failure(what: "data are not read as they are", answers: phone.answers)
            }
            if finding.assurance != .identifier { objects.append(finding.objects) }
        }
        // Whole, compressed, and in two parts they say the same.
        guard objects.count == 3, let first = objects.first, objects.allSatisfy({ $0 == first }),
            first.compactMap(\.value) == PassMutationSamples.values
        else { throw Failure(what: "the genuine data are not proven") }
        self.objects = first
    }

    private enum Wallet {
        case apple, google
    }

    private static func template(_ answer: [UInt8], _ wallet: Wallet) -> BERTLV? {
        guard let response = try? ResponseAPDU(bytes: answer) else { return nil }
        switch WalletSelection(response) {
        case .apple(let template): return wallet == .apple ? template : nil
        case .google(let template): return wallet == .google ? template : nil
        case .absent, .unknown, .malformed: return nil
        }
    }

    /// Reads that many phones, of each kind in turn.
    ///
    /// - Throws: ``Failure`` for the first check that fails.
    mutating func read(_ count: Int) throws {
        for tap in 0..<count {
            if tap.isMultiple(of: 2) { try readApple() } else { try readGoogle() }
        }
    }

    // MARK: Apple VAS

    private mutating func readApple() throws {
        let pass = samples.applePasses[random.below(samples.applePasses.count)]
        phone.data = pass.answer
        var template = appleTemplate
        switch random.below(8) {
        case 0:
            var selection = samples.appleSelection
            mutate(&selection, from: 0)
            guard let changed = Self.template(selection, .apple) else { return apple["noWallet", default: 0] += 1 }
            template = changed
        case 1...3:
            // Tags and lengths.
            mutate(&phone.data, from: 0, before: pass.start)
        case 4:
            mutate(&phone.data, from: 0)
        default:
            // The cryptogram, which keeps its length.
            mutate(&phone.data, from: pass.start, before: pass.answer.count - 2, keepsLength: true)
        }
        let outcome: AppleVASReader.Outcome
        do throws(ReaderError) {
            outcome = try samples.appleReader.read(template, over: phone)
        } catch {
            return apple[error.kind.rawValue, default: 0] += 1
        }
        guard outcome.findings.count <= 1 else { throw Failure(what: "asked twice", answers: phone.answers) }
        if let error = outcome.error { try check("\(error)") }
        guard let finding = outcome.findings.first else {
            return apple[outcome.error?.code ?? "nothing", default: 0] += 1
        }
        if let error = finding.error { try check("\(error)") }
        guard let message = finding.message else {
            return apple[finding.error?.code ?? finding.answer?.code ?? "nothing", default: 0] += 1
        }
        guard message.text == pass.text, message.at == PassMutationSamples.moment,
            phone.data.firstRange(of: pass.cryptogram) != nil
        else { throw Failure(what: "a cryptogram opens that nobody has made", answers: phone.answers) }
        apple["accepted", default: 0] += 1
    }

    // MARK: Smart Tap

    private mutating func readGoogle() throws {
        let pass = samples.googlePasses[random.below(samples.googlePasses.count)]
        (phone.data, phone.rest) = (pass.answer, pass.rest)
        phone.selection = samples.googleSelectionAgain
        phone.negotiation = samples.negotiation
        var template = googleTemplate
        switch random.below(8) {
        case 0:
            var selection = samples.googleSelection
            mutate(&selection, from: 0)
            guard let changed = Self.template(selection, .google) else { return google["noWallet", default: 0] += 1 }
            template = changed
            if random.below(2) == 0 { mutate(&phone.selection, from: 0) }
        case 1: mutate(&phone.negotiation, from: 0)
        case 2: mutate(&phone.rest, from: 0)
        case 3...4: mutate(&phone.data, from: 0, before: 48)
        default: mutate(&phone.data, from: 0)
        }
        // A signature for each tap takes time, and makes no difference to what is read.
        let isLive = random.below(8) == 0
        let finding: SmartTapReader.Finding
        do throws(ReaderError) {
            finding = try (isLive ? samples.liveReader : samples.preSignedReader).read(template, over: phone)
        } catch {
            return google[error.kind.rawValue, default: 0] += 1
        }
        if let error = finding.error {
            try check("\(error)")
            return google[error.code, default: 0] += 1
        }
        guard !finding.objects.isEmpty else { return google["nothing", default: 0] += 1 }
        guard finding.assurance != .identifier else { return google["inTheOpen", default: 0] += 1 }
        guard !isLive, finding.assurance == .cryptographic, finding.objects == objects else {
            throw Failure(what: "data are proven that nobody has made", answers: phone.answers)
        }
        google["accepted", default: 0] += 1
    }

    // MARK: Rules

    /// What is told to people has nothing of a pass in it, and no more digits in a row than the name of a key has.
    private func check(_ message: String) throws {
        var digits = 0
        var longest = 0
        for byte in message.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: digits += 1
            default: digits = 0
            }
            longest = max(longest, digits)
        }
        guard !message.isEmpty, longest <= 8, !message.contains("MEMBER-") else {
            throw Failure(what: "a message is empty or tells too much: \(message)", answers: phone.answers)
        }
    }

    // MARK: Changes

    /// Changes, cuts, lengthens, or takes the place of some bytes.
    private mutating func mutate(
        _ bytes: inout [UInt8],
        from start: Int,
        before end: Int = .max,
        keepsLength: Bool = false
    ) {
        for _ in 0...random.below(4) where bytes.count > start {
            let index = start + random.below(min(bytes.count, end) - start)
            switch random.below(keepsLength ? 3 : 6) {
            case 0: bytes[index] ^= 1 << UInt8(random.below(8))
            case 1: bytes[index] = random.byte()
            case 2: bytes[index] = [0x00, 0x7F, 0x80, 0x81, 0x82, 0xFF][random.below(6)]
            case 3: bytes.removeSubrange(index..<min(bytes.count, index + 1 + random.below(8)))
            case 4:
                let inserted = random.next()
                bytes.insert(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: inserted >> ($0 * 8)) }, at: index)
            default: bytes += bytes[index..<min(bytes.count, index + 16)]
            }
        }
    }
}

/// A phone that answers each command with what is laid down for it.
private final class MutatedPhone: CardChannel {
    let facts = CardFacts(technology: .iso14443a)
    let elapsed = Duration.zero
    /// The answers to SELECT, to the negotiation, to the question for passes, and to the one for the rest.
    var selection: [UInt8] = []
    var negotiation: [UInt8] = []
    var data: [UInt8] = []
    var rest: [UInt8] = []

    /// All of them.
    var answers: [[UInt8]] { [selection, negotiation, data, rest] }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let answer =
            switch command.count > 1 ? command[1] : 0 {
            case 0xA4: selection
            case 0x53: negotiation
            case 0xC0: rest
            default: data
            }
        // Readers refuse these themselves.
        guard answer.count >= 2 else { throw ReaderError(.invalidAnswer, attempting: "send a command") }
        return answer
    }
}

extension AppleVASError {
    fileprivate var code: String {
        switch self {
        case .malformed(let part): part.rawValue
        case .unsupportedVersion: "unsupportedVersion"
        case .noKey: "noKey"
        case .notDecrypted: "notDecrypted"
        }
    }
}

extension AppleVASAnswer {
    fileprivate var code: String {
        switch self {
        case .pass: "pass"
        case .noData: "noData"
        case .noSuchPass: "noSuchPass"
        case .locked: "locked"
        case .needsUser: "needsUser"
        case .refused: "refused"
        }
    }
}

extension SmartTapError {
    fileprivate var code: String {
        switch self {
        case .malformed(let part): part.rawValue
        case .unsupported: "unsupported"
        case .refused: "refused"
        case .session: "otherSession"
        case .forged: "forged"
        case .tooLong: "tooLong"
        }
    }
}
