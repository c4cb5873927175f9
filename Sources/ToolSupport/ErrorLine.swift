import ReaderKit

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
