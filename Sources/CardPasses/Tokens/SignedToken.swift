import CardCore
import Foundation

/// What a signed token says, once its signature and its times are right.
public struct SignedToken: Sendable, Hashable {
    /// What names the member.
    public var id: String

    /// The member's name, where the token has it.
    public var name: String?

    /// When it ends, if it does.
    public var expires: Date?

    /// A token.
    public init(id: String, name: String? = nil, expires: Date? = nil) {
        self.id = id
        self.name = name
        self.expires = expires
    }
}

extension SignedToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// When it ends; whom it names is left out.
    public var description: String { "signed token" + (expires.map { ", until \(ISO8601.text($0))" } ?? "") }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
