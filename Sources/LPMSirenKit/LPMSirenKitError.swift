import Foundation
import SirenKit

/// The codes of the original's errors.
public enum SirenKitErrorCode: Int, Sendable {
    /// Nothing is kept of a link.
    case linkNotFound = 1
    /// Nothing is kept of an action.
    case actionNotFound
    /// A value is not of its field's type.
    case fieldTypeMismatch
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Nothing is kept of a link.
public let SirenKitError_ErrorCode_LinkNotFound = SirenKitErrorCode.linkNotFound
// swift-format-ignore: AlwaysUseLowerCamelCase
/// Nothing is kept of an action.
public let SirenKitError_ErrorCode_ActionNotFound = SirenKitErrorCode.actionNotFound
// swift-format-ignore: AlwaysUseLowerCamelCase
/// A value is not of its field's type.
public let SirenKitError_ErrorCode_FieldTypeMismatch = SirenKitErrorCode.fieldTypeMismatch

/// A request that was not made, for one of the original's three reasons.
public struct LPMSirenKitError: CustomNSError, LocalizedError, Sendable, Hashable {
    /// Which reason.
    public let code: SirenKitErrorCode
    /// The client's error, with all of it.
    public let underlying: SirenRequestError

    init?(_ error: SirenRequestError) {
        switch error {
        case .linkNotFound: code = .linkNotFound
        case .actionNotFound: code = .actionNotFound
        case .fieldTypeMismatch: code = .fieldTypeMismatch
        default: return nil
        }
        underlying = error
    }

    /// The domain of the original's errors.
    public static var errorDomain: String { "SirenKitError" }

    /// The number of ``code``.
    public var errorCode: Int { code.rawValue }

    /// What was attempted, what happened, and what a person can do.
    public var errorDescription: String? { underlying.description }
}

/// The server refused a request, or failed.
public struct LPMSirenRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// What it answered.
    public let answer: SirenAnswer

    /// The refusal in one line.
    public var description: String {
        if case .problem(let problem) = answer.content, let title = problem.title {
            return "the server refused: \(title) (\(answer.status))"
        }
        return "the server refused: \(answer.entity?.title ?? "status") \(answer.status)"
    }
}
