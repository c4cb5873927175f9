import TestSupport

@testable import CardCore

/// A card that takes commands as ISO/IEC 7816-4 says, or in one of the ways in which cards and drivers do not: for the
/// tests of the pipeline. It gathers the data of a command and answers with bytes that count up.
final class CommandCard: CardChannel {
    /// What a card or its reader does with a command that it does not take.
    enum Refusal {
        case status(UInt16)
        case fault(ReaderError)
    }

    var capabilities: ChannelCapabilities
    var facts = CardFacts()
    private(set) var elapsed = Duration.zero
    /// What extended commands get; `nil` if they are taken.
    var extendedRefusal: Refusal?
    /// What a part of a chain gets; `nil` if it is taken.
    var chainRefusal: Refusal?
    /// The part of a chain from which on ``chainRefusal`` is given.
    var refusedPart = 0
    /// How many bytes the whole answer has.
    var answerCount = 0
    /// The status word that ends a command.
    var status: UInt16 = 0x9000
    /// How long each exchange takes.
    var slowness = Duration.milliseconds(5)

    /// The commands as they came.
    private(set) var commands: [[UInt8]] = []
    /// The data of the commands that were carried out.
    private(set) var received: [[UInt8]] = []
    private var gathered: [UInt8] = []
    private var parts = 0
    private var rest: [UInt8] = []

    init(_ capabilities: ChannelCapabilities = .anything) { self.capabilities = capabilities }

    var cases: [APDUCase] { commands.compactMap { try? APDUCase(bytes: $0) } }

    func transmit(_ bytes: [UInt8]) throws(ReaderError) -> [UInt8] {
        commands.append(bytes)
        elapsed += slowness
        guard let command = try? CommandAPDU(bytes: bytes), let form = try? APDUCase(bytes: bytes).form else {
            return [0x67, 0x00]
        }
        if form == .extended, let extendedRefusal { return try refuse(extendedRefusal) }
        if command.ins == 0xC0 {
            let part = Array(rest.prefix(command.expectedLength ?? 0))
            rest.removeFirst(part.count)
            return answer(part)
        }
        if command.cla & 0x90 == 0x10 {
            if parts >= refusedPart, let chainRefusal { return try refuse(chainRefusal) }
            parts += 1
            gathered += command.data
            return [0x90, 0x00]
        }
        received.append(gathered + command.data)
        gathered = []
        parts = 0
        let all = (0..<answerCount).map { UInt8(truncatingIfNeeded: $0) }
        let first = min(all.count, command.expectedLength ?? 0)
        rest = Array(all[first...])
        return answer(Array(all[..<first]))
    }

    private func answer(_ data: [UInt8]) -> [UInt8] {
        rest.isEmpty
            ? data + [UInt8(status >> 8), UInt8(status & 0xFF)]
            : data + [0x61, rest.count > 255 ? 0 : UInt8(rest.count)]
    }

    private func refuse(_ refusal: Refusal) throws(ReaderError) -> [UInt8] {
        switch refusal {
        case .status(let word): return [UInt8(word >> 8), UInt8(word & 0xFF)]
        case .fault(let error): throw error
        }
    }
}

extension ChannelCapabilities {
    /// Every APDU there is.
    static let anything = ChannelCapabilities(
        longestCommand: 65_544,
        longestResponse: ReaderLimits.responseLength,
        extendedLength: true
    )
}

/// The seven ways to encode a command (ISO/IEC 7816-3, section 12.1).
enum APDUCase: CaseIterable {
    case case1, case2Short, case3Short, case4Short, case2Extended, case3Extended, case4Extended

    var form: CommandAPDU.Form {
        [.case2Extended, .case3Extended, .case4Extended].contains(self) ? .extended : .short
    }

    init(bytes: [UInt8]) throws(APDUError) {
        let command = try CommandAPDU(bytes: bytes)
        let isExtended = bytes.count > 5 && bytes[4] == 0
        self =
            switch (command.data.isEmpty, command.expectedLength == nil) {
            case (true, true): .case1
            case (true, false): isExtended ? .case2Extended : .case2Short
            case (false, true): isExtended ? .case3Extended : .case3Short
            case (false, false): isExtended ? .case4Extended : .case4Short
            }
    }
}
