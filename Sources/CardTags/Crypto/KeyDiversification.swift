import CardCore

/// How the key of each card is worked out from a master key and the card's identifier, so that whoever gets at one card's
/// key has that card's alone (NXP AN10922, for AES with 128-bit keys).
///
/// In JSON it is an object of texts:
///
/// ```json
/// { "method": "AN10922", "applicationID": "3042F5", "systemIdentifier": "NXP Abu" }
/// ```
///
/// `applicationID` and `systemIdentifier` may be left out. The first is hexadecimal; the second is characters, or hexadecimal
/// behind `0x`.
public struct KeyDiversification: Sendable, Hashable {
    /// The way in which keys are worked out.
    public let method: Method

    /// What stands behind the card's identifier: the application's, its bytes in the order in which the cards were set up;
    /// often 3 bytes, or none.
    public let applicationID: [UInt8]

    /// What stands behind that: what names the installation; any bytes, often characters, or none.
    public let systemIdentifier: [UInt8]

    /// The longest application identifier and system identifier together, in bytes: a card's identifier of 7 bytes has to
    /// have room beside them.
    public static let longest = 24

    /// The ways in which keys are worked out.
    public enum Method: String, Sendable, Hashable, Codable, CaseIterable {
        /// NXP AN10922: CMAC with the master key over `01`, the card's identifier, the application's and the system's.
        case an10922 = "AN10922"
    }

    /// A way to work out keys.
    ///
    /// - Returns: `nil` if the two identifiers have more than ``longest`` bytes together.
    public init?(_ method: Method = .an10922, applicationID: [UInt8] = [], systemIdentifier: [UInt8] = []) {
        guard applicationID.count + systemIdentifier.count <= Self.longest else { return nil }
        self.method = method
        self.applicationID = applicationID
        self.systemIdentifier = systemIdentifier
    }

    /// The key of one card.
    ///
    /// - Parameters:
    ///   - master: the master key.
    ///   - uid: the card's identifier: 4, 7 or 10 bytes.
    /// - Returns: `nil` if there is no identifier, or more bytes together than the 31 that AN10922 allows.
    public func key(master: SecretKey, uid: [UInt8]) -> SecretKey? {
        guard !uid.isEmpty else { return nil }
        switch method {
        case .an10922:
            let message = [0x01] + uid + applicationID + systemIdentifier
            return (try? Self.code(message, master)).flatMap { SecretKey($0) }
        }
    }

    /// CMAC, but always over two blocks: a shorter message is filled up to both.
    private static func code(_ message: [UInt8], _ key: SecretKey) throws(CryptoFailure) -> [UInt8] {
        let length = 2 * AES128.blockLength
        guard message.count <= length else { throw .wrongLength }
        let masked = AES128.masked(message, try AES128.encrypt(block: AES128.zeroBlock, key), length: length)
        return Array(try AES128.encrypt(masked, key).suffix(AES128.blockLength))
    }
}

extension KeyDiversification: Codable {
    private enum CodingKeys: String, CodingKey {
        case method, applicationID, systemIdentifier
    }

    private static let hexMark = "0x"

    /// Reads it from an object of texts.
    ///
    /// - Throws: `DecodingError` for another method, for what is not hexadecimal, and for more than ``longest`` bytes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let method = try container.decode(Method.self, forKey: .method)
        func bytes(_ key: CodingKeys, _ read: (String) -> [UInt8]?) throws -> [UInt8] {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return [] }
            guard let bytes = read(text) else {
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not hexadecimal")
            }
            return bytes
        }
        let application = try bytes(.applicationID) { try? Hex.decode($0) }
        let system = try bytes(.systemIdentifier) { text in
            guard text.hasPrefix(Self.hexMark) else { return Array(text.utf8) }
            return try? Hex.decode(text.dropFirst(Self.hexMark.count))
        }
        guard let made = Self(method, applicationID: application, systemIdentifier: system) else {
            let reason = "more than \(Self.longest) bytes"
            throw DecodingError.dataCorruptedError(forKey: .systemIdentifier, in: container, debugDescription: reason)
        }
        self = made
    }

    /// Writes it as an object of texts.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(method, forKey: .method)
        if !applicationID.isEmpty { try container.encode(applicationID.hex, forKey: .applicationID) }
        if !systemIdentifier.isEmpty { try container.encode(systemText, forKey: .systemIdentifier) }
    }

    private var systemText: String {
        if systemIdentifier.allSatisfy({ (0x20..<0x7F).contains($0) }) {
            let text = String(decoding: systemIdentifier, as: UTF8.self)
            if !text.hasPrefix(Self.hexMark) { return text }
        }
        return Self.hexMark + systemIdentifier.hex
    }
}
