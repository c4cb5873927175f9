import Foundation
import ReaderKit

/// One thing that can be wrong with a kiosk, and how to see it.
///
/// A check is a value in a table. It reads the machine and changes nothing; what would mend the trouble is part of its
/// ``Finding``. ``MachineDiagnosis`` runs each by itself, on a thread of its own and with a time limit.
public struct Check: Sendable, Identifiable {
    /// A stable name, such as `pcsc.service`: scripts and the documentation refer to it.
    public let id: String
    /// What is so when all is well, as a short sentence without a full stop.
    public let title: String
    /// The files, calls and programs that it looks at.
    public let looksAt: String
    /// What goes wrong and why, for the documentation.
    public let explanation: String
    /// Looks, on a thread that may block.
    let look: @Sendable (Machine) throws -> Finding

    /// Creates a check.
    ///
    /// - Parameter look: looks at the machine and changes nothing. It may block. What it throws becomes the finding that
    ///   nothing is known.
    public init(
        id: String,
        title: String,
        looksAt: String,
        explanation: String,
        look: @escaping @Sendable (Machine) throws -> Finding
    ) {
        self.id = id
        self.title = title
        self.looksAt = looksAt
        self.explanation = explanation
        self.look = look
    }
}

/// How bad it is.
public enum Verdict: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// All is well.
    case fine
    /// Worth knowing.
    case note
    /// The check could not look.
    case cannotTell
    /// It works, and may not for long.
    case warning
    /// Taps do not become visits until it is mended.
    case broken

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Orders verdicts from ``fine`` to ``broken``.
    public static func < (a: Verdict, b: Verdict) -> Bool { a.rank < b.rank }
}

/// What a check found.
public struct Finding: Sendable, Hashable {
    /// How bad it is.
    public var verdict: Verdict
    /// What is so, in one sentence that a technician can act on.
    public var sentence: String
    /// What was seen, one fact a line. A report that leaves the site has serial numbers and names replaced.
    public var evidence: [String]
    /// What to do about it, in order.
    public var remedy: [Remedy]
    /// What `--fix` does about it; empty if a person has to.
    public var repair: [RepairStep]

    /// Creates a finding; the static methods below leave out what their verdict never has.
    public init(
        _ verdict: Verdict,
        _ sentence: String,
        evidence: [String] = [],
        remedy: [Remedy] = [],
        repair: [RepairStep] = []
    ) {
        self.verdict = verdict
        self.sentence = sentence
        self.evidence = evidence
        self.remedy = remedy
        self.repair = repair
    }

    /// Returns a finding that needs nothing.
    public static func fine(_ sentence: String, evidence: [String] = []) -> Finding {
        Finding(.fine, sentence, evidence: evidence)
    }

    /// Returns a finding that is worth knowing and stops nothing.
    public static func note(_ sentence: String, evidence: [String] = [], remedy: [Remedy] = []) -> Finding {
        Finding(.note, sentence, evidence: evidence, remedy: remedy)
    }

    /// Returns a finding that will become a trouble, or makes one likely.
    public static func warning(
        _ sentence: String,
        evidence: [String] = [],
        remedy: [Remedy],
        repair: [RepairStep] = []
    ) -> Finding {
        Finding(.warning, sentence, evidence: evidence, remedy: remedy, repair: repair)
    }

    /// Returns a finding that keeps taps from being counted.
    public static func broken(
        _ sentence: String,
        evidence: [String] = [],
        remedy: [Remedy],
        repair: [RepairStep] = []
    ) -> Finding {
        Finding(.broken, sentence, evidence: evidence, remedy: remedy, repair: repair)
    }

    /// Returns the finding of a check that could not see what it looks at.
    public static func cannotTell(_ sentence: String, remedy: [Remedy] = []) -> Finding {
        Finding(.cannotTell, sentence, remedy: remedy)
    }
}

/// One thing to do about a trouble.
public enum Remedy: Sendable, Hashable {
    /// A command for a shell, exactly as it is to be typed.
    case command(String)
    /// What no command does, such as plugging in a cable.
    case instruction(String)

    /// The command or the words.
    public var text: String {
        switch self {
        case .command(let text), .instruction(let text): text
        }
    }
}

extension String {
    /// The text as one word of a shell's command.
    package var shellQuoted: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "/._-+:,@%=".unicodeScalars.contains(scalar)
        }
        return isPlain && !isEmpty ? self : "'" + replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
