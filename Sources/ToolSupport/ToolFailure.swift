import ArgumentParser
import Foundation
import ReaderKit

/// A tool cannot do what it was asked to: the message to the person, and the exit code.
package struct ToolFailure: Error, CustomStringConvertible {
    package var message: String
    package var exit: ExitCode

    package init(_ message: String, exit: ExitCode = ToolExit.failure) {
        self.message = message
        self.exit = exit
    }

    package var description: String { message }

    package static func exitCode(for error: any Error) -> ExitCode {
        if let code = error as? ExitCode { return code }
        return verdict(on: error).exit
    }

    /// The exit code for an error and the name that JSON shows. Errors of libraries that this target does not know
    /// provide them themselves, as ``ExitCoded``.
    fileprivate static func verdict(on error: any Error) -> (exit: ExitCode, name: String) {
        switch error {
        case let error as ToolFailure: (error.exit, names[error.exit.rawValue] ?? "failed")
        case let error as any ExitCoded: (error.exitCode, error.errorCode)
        case let error as CaptureFileError:
            switch error.kind {
            case .notFound, .noCaptures: (ToolExit.noInput, error.kind.rawValue)
            case .exists, .notReadable, .notWritable: (ToolExit.inputOutput, error.kind.rawValue)
            }
        case let error as PassConfigurationError: error.verdict
        case let error as CaptureError: (ToolExit.malformed, error.code.rawValue)
        case let error as NDEFError: (ToolExit.malformed, error.code.rawValue)
        case let error as APDUError: (ToolExit.malformed, error.code.rawValue)
        case is APDUShorthand.Failure: (ToolExit.malformed, "malformedCommand")
        case let error as ControlError: error.verdict
        case is SettingsError: (ToolExit.malformed, "malformedSettings")
        case is ATRError, is UIDError: (ToolExit.malformed, "other")
        case let error as DESFireError: verdict(on: error.tagError)
        case let error as TagError: error.readerError.map(verdict(on:)) ?? (ToolExit.failure, error.name)
        case let error as ReaderError:
            switch error.kind {
            case .serviceUnavailable, .serviceStopped, .readerUnavailable, .accessDenied, .sharingViolation, .stuck,
                .exhausted:
                (ToolExit.unavailable, error.kind.rawValue)
            case .communication: (ToolExit.inputOutput, error.kind.rawValue)
            case .cancelled: (ToolExit.interrupted, error.kind.rawValue)
            default: (ToolExit.failure, error.kind.rawValue)
            }
        default: (ToolExit.failure, "other")
        }
    }

    private static let names: [Int32: String] = [
        64: "usage", 65: "malformed", 66: "noInput", 69: "unavailable", 74: "inputOutput", 130: "interrupted",
    ]
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
    package static let success = ExitCode(0)
    /// The work was not done, or a comparison differs.
    package static let failure = ExitCode(1)
    package static let usage = ExitCode(64)
    package static let malformed = ExitCode(65)
    package static let noInput = ExitCode(66)
    package static let unavailable = ExitCode(69)
    package static let inputOutput = ExitCode(74)
    /// 128 + `SIGINT`.
    package static let interrupted = ExitCode(130)
}

/// The JSON object for an error: `code`, `message`, and where there is one `rawCode`, the code of the library below, or
/// `statusWord`, that of the card.
package struct ErrorLine: Encodable, Sendable {
    package var code: String
    package var message: String
    package var rawCode: String?
    package var statusWord: String?

    package init(_ error: any Error) {
        let fault = (error as? DESFireError)?.tagError ?? error
        let cause = (fault as? TagError)?.readerError ?? fault as? ReaderError
        code = ToolFailure.verdict(on: error).name
        message = if let cause, !(error is DESFireError) { "\(cause)" } else { "\(error)" }
        rawCode = cause?.code?.description
        if cause == nil { statusWord = (fault as? TagError)?.status.map { [$0.sw1, $0.sw2].hex } }
    }

    package init(code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ControlError {
    fileprivate var verdict: (exit: ExitCode, name: String) {
        switch self {
        case .unconfirmed, .otherFirmware, .outOfRange: (ToolExit.usage, code)
        case .unknownReader: (ToolExit.unavailable, code)
        default: (ToolExit.failure, code)
        }
    }
}

extension PassConfigurationError {
    fileprivate var verdict: (exit: ExitCode, name: String) {
        switch self {
        case .notReadable: (ToolExit.noInput, "notReadable")
        case .keyNotReadable: (ToolExit.noInput, "keyNotReadable")
        case .malformed: (ToolExit.malformed, "malformedConfiguration")
        case .keyOpenToOthers: (ToolExit.malformed, "keyOpenToOthers")
        case .noKey: (ToolExit.malformed, "noKey")
        case .writableByOthers: (ToolExit.malformed, "writableByOthers")
        case .ownedByAnother: (ToolExit.malformed, "ownedByAnother")
        case .keyInPlaceOfFile: (ToolExit.malformed, "keyInPlaceOfFile")
        case .badPublicKeys: (ToolExit.malformed, "badPublicKeys")
        }
    }
}

extension TagError {
    fileprivate var name: String {
        switch self {
        case .link(let error): error.kind.rawValue
        case .refused: "refused"
        case .notAsked: "notAsked"
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
