import CardCore
import CardTags
import Crypto
import Foundation

/// A kind of pass of Apple Wallet that is asked for, and the keys that open it.
public struct AppleVASMerchant: Sendable {
    /// The pass type identifier, such as `pass.com.example.club`, which `pass.json` has as `passTypeIdentifier`.
    public let passTypeIdentifier: String

    /// The keys that passes of this kind may be encrypted for; several while one replaces another.
    public let keys: [AppleVASKey]

    /// What it is asked by (tag 9F25): the SHA-256 of the identifier, 32 bytes.
    public let merchantID: [UInt8]

    /// A kind of pass.
    ///
    /// - Parameter passTypeIdentifier: printable ASCII; white space round it does not count.
    public init(passTypeIdentifier: String, keys: [AppleVASKey]) {
        let name = passTypeIdentifier.trimmed
        self.passTypeIdentifier = name
        self.keys = keys
        merchantID = Array(SHA256.hash(data: Array(name.utf8)))
    }
}

extension AppleVASMerchant: CustomStringConvertible {
    /// The identifier and the keys' own identifiers.
    public var description: String { "\(passTypeIdentifier), keys: \(keys.map { Hex.encode($0.identifier) })" }
}
