import ArgumentParser
import Foundation
import ReaderKit

/// A tool cannot do what it was asked to: what to tell the person, and the exit code.
package struct ToolFailure: Error, CustomStringConvertible {
    package var message: String
    package var exit: ExitCode

    package init(_ message: String, exit: ExitCode) {
        self.message = message
        self.exit = exit
    }

    package var description: String { message }

    /// The exit code for an error of the libraries.
    ///
    /// Errors of libraries that this target does not know say it themselves, as ``ExitCoded``.
    package static func exitCode(for error: any Error) -> ExitCode {
        switch error {
        case let error as ToolFailure: error.exit
        case let error as any ExitCoded: error.exitCode
        case let error as ExitCode: error
        case let error as CaptureFileError:
            switch error.kind {
            case .notFound, .noCaptures: ToolExit.noInput
            case .exists, .notReadable, .notWritable: ToolExit.inputOutput
            }
        case let error as PassConfigurationError:
            switch error {
            case .notReadable, .keyNotReadable: ToolExit.noInput
            default: ToolExit.malformed
            }
        case is CaptureError, is NDEFError, is ATRError, is UIDError, is APDUError, is APDUShorthand.Failure:
            ToolExit.malformed
        case let error as TagError: error.readerError.map(exitCode(for:)) ?? ToolExit.failure
        case let error as DESFireError: error.readerError.map(exitCode(for:)) ?? ToolExit.failure
        case let error as ReaderError:
            switch error.kind {
            case .serviceUnavailable, .serviceStopped, .readerUnavailable, .accessDenied, .sharingViolation, .stuck,
                .exhausted:
                ToolExit.unavailable
            case .communication: ToolExit.inputOutput
            case .cancelled: ToolExit.interrupted
            default: ToolExit.failure
            }
        default: ToolExit.failure
        }
    }
}

/// An error that knows its exit code.
package protocol ExitCoded: Error {
    /// One of ``ToolExit``.
    var exitCode: ExitCode { get }

    /// The name of what happened, which JSON shows.
    var errorCode: String { get }
}
