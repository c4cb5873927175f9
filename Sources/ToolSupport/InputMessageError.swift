import ArgumentParser
import ReaderKit

/// A message that a person gave, in an argument or a file, is malformed.
package struct InputMessageError: ExitCoded, CustomStringConvertible {
    /// Where it stands: "HEX", or the name of a file.
    package var source: String
    /// What is wrong with it.
    package var fault: NDEFError
    /// What a person can do about it.
    package var advice: String

    package init(in source: String, _ fault: NDEFError, advice: String) {
        self.source = source
        self.fault = fault
        self.advice = advice
    }

    package var exitCode: ExitCode { ToolExit.malformed }

    package var errorCode: String { fault.code.rawValue }

    package var description: String { "\(source): \(fault.message) [\(fault.code.rawValue)]. \(advice)" }
}
