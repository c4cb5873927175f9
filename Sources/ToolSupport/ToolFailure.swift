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

/// The exit codes of the tools, after `sysexits.h`.
package enum ToolExit {
    /// The work was done.
    package static let success = ExitCode(0)
    /// It was not done, or a comparison differs.
    package static let failure = ExitCode(1)
    /// The command line is wrong (`EX_USAGE`).
    package static let usage = ExitCode(64)
    /// Input is malformed (`EX_DATAERR`).
    package static let malformed = ExitCode(65)
    /// There is no such input file (`EX_NOINPUT`).
    package static let noInput = ExitCode(66)
    /// A service or a reader is not available (`EX_UNAVAILABLE`).
    package static let unavailable = ExitCode(69)
    /// Reading or writing failed (`EX_IOERR`).
    package static let inputOutput = ExitCode(74)
    /// Interrupted by a person (128 + `SIGINT`).
    package static let interrupted = ExitCode(130)
}

/// The JSON object for an error: `code`, `message`, and where there is one `rawCode`, the code of the library below, or
/// `statusWord`, that of the card.
package struct ErrorLine: Encodable, Sendable {
    package var code: String
    package var message: String
    package var rawCode: String?
    package var statusWord: String?

    package init(_ error: ReaderError) {
        code = error.kind.rawValue
        message = "\(error)"
        rawCode = error.code?.description
    }

    /// Any error: those of the libraries and tools by their codes, others as "other".
    package init(_ error: any Error) {
        switch error {
        case let error as ReaderError: self.init(error)
        case let error as TagError:
            if let fault = error.readerError {
                self.init(fault)
            } else {
                self.init(code: error.code, "\(error)", error.status)
            }
        case let error as DESFireError:
            self.init(error.tagError as any Error)
            message = "\(error)"
        case let error as NDEFError: self.init(code: error.code.rawValue, "\(error)")
        case let error as InputMessageError: self.init(code: error.fault.code.rawValue, "\(error)")
        case let error as APDUError: self.init(code: error.code.rawValue, "\(error)")
        case is APDUShorthand.Failure: self.init(code: "malformedCommand", "\(error)")
        case let error as CaptureFileError: self.init(code: error.kind.rawValue, "\(error)")
        case let error as CaptureError: self.init(code: error.code.rawValue, "\(error)")
        case let error as PassConfigurationError: self.init(code: error.code, "\(error)")
        case let error as ToolFailure: self.init(code: error.code, "\(error)")
        case let error as any ExitCoded: self.init(code: error.errorCode, "\(error)")
        default: self.init(code: "other", "\(error)")
        }
    }

    package init(code: String, _ message: String, _ status: StatusWord? = nil) {
        self.code = code
        self.message = message
        statusWord = status.map { [$0.sw1, $0.sw2].hex }
    }
}

extension ToolFailure {
    /// The name that JSON shows: that of its exit code.
    fileprivate var code: String {
        switch exit {
        case ToolExit.usage: "usage"
        case ToolExit.malformed: "malformed"
        case ToolExit.noInput: "noInput"
        case ToolExit.unavailable: "unavailable"
        case ToolExit.inputOutput: "inputOutput"
        case ToolExit.interrupted: "interrupted"
        default: "failed"
        }
    }
}

extension PassConfigurationError {
    /// The name that JSON shows.
    fileprivate var code: String {
        switch self {
        case .notReadable: "notReadable"
        case .malformed: "malformedConfiguration"
        case .keyNotReadable: "keyNotReadable"
        case .keyOpenToOthers: "keyOpenToOthers"
        case .noKey: "noKey"
        case .writableByOthers: "writableByOthers"
        case .ownedByAnother: "ownedByAnother"
        case .keyInPlaceOfFile: "keyInPlaceOfFile"
        case .badPublicKeys: "badPublicKeys"
        }
    }
}

extension TagError {
    /// The name that JSON shows.
    fileprivate var code: String {
        switch self {
        case .link(let error): error.kind.rawValue
        case .refused: "refused"
        case .protected: "protected"
        case .corrupt: "corrupt"
        case .unsupportedVersion: "unsupportedVersion"
        case .tooLong: "tooLong"
        case .tooLarge: "tooLarge"
        case .readOnly: "readOnly"
        case .notFormatted: "notFormatted"
        case .cannotFormat: "cannotFormat"
        case .unsupported: "unsupported"
        case .wrongKey: "wrongKey"
        case .wrongCard: "wrongCard"
        case .guarded: "guarded"
        case .notWritten: "notWritten"
        }
    }
}
