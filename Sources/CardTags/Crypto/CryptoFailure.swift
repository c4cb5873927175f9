/// Why bytes could not be encrypted, decrypted or trusted. Never what they were.
package enum CryptoFailure: Error, Sendable, Hashable {
    /// The bytes are not whole blocks, or not as many as they should be.
    case wrongLength
    /// The message authentication code or checksum is not the one that the bytes should have.
    case forged
    /// What stands behind the data is not padding.
    case wrongPadding
    /// The command counter of the session is at its end.
    case exhausted
}
