import ReaderKit

/// What is fuzzed: each takes any bytes, must not trap on them, and holds what it makes of them to rules.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// An answer to reset, an identifier.
    case atr
    /// BER-TLV objects.
    case berTLV = "ber-tlv"
    /// An NDEF message with all that its records may hold.
    case ndef
    /// The memory of a Type 2 tag, read and written, and torn away while it is written.
    case type2
    /// The files of a Type 4 tag, read and written, and torn away while they are written.
    case type4
    /// A capture file.
    case capture
    /// A whole conversation: the first part of the input is the ATR, each further one an answer.
    case scan
    /// What phones and signing tags send of passes, and the configuration that names their keys.
    case passes
    /// A path to what an entity is known by, a line break, and a Siren document.
    case siren

    /// Runs the target.
    ///
    /// - Throws: ``FuzzFinding`` if a rule is broken. A trap ends the process.
    package func run(_ bytes: [UInt8]) throws(FuzzFinding) {
        switch self {
        case .atr: try Self.runATR(bytes)
        case .berTLV: try Self.runBERTLV(bytes)
        case .ndef: try Self.runNDEF(bytes)
        case .type2: try Self.runType2(bytes)
        case .type4: try Self.runType4(bytes)
        case .capture: try Self.runCapture(bytes)
        case .scan: try Self.runScan(bytes)
        case .passes: try Self.runPasses(bytes)
        case .siren: try Self.runSiren(bytes)
        }
    }
}

/// A rule that an input made the package break.
package struct FuzzFinding: Error, Sendable, CustomStringConvertible {
    /// What was expected.
    package var description: String

    init(_ description: String) { self.description = description }
}

/// Throws a finding where a rule does not hold.
func require(_ condition: Bool, _ rule: @autoclosure () -> String) throws(FuzzFinding) {
    guard condition else { throw FuzzFinding(rule()) }
}

/// Throws a finding where something throws that must not.
func unfailing<Value>(_ rule: String, _ body: () throws -> Value) throws(FuzzFinding) -> Value {
    do {
        return try body()
    } catch {
        throw FuzzFinding("\(rule): \(error)")
    }
}
