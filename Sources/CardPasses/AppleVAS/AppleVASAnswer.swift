import CardCore

/// What a phone answers to one question for a pass.
public enum AppleVASAnswer: Sendable, Hashable {
    /// A pass, encrypted for the reader.
    case pass(AppleVASCryptogram)
    /// An address was accepted, or the phone has nothing to say (`9000` or `6100` without a cryptogram).
    case noData
    /// There is no pass of this kind, or another one is shown (`6A83`). The next kind may be asked for.
    case noSuchPass
    /// There is a pass and the phone is locked (`6287`). It shows the pass now; nothing more may be asked in this tap.
    case locked
    /// The person has to choose or to confirm on the phone (`6984`). Nothing more may be asked in this tap.
    case needsUser
    /// The phone refuses the question as such.
    case refused(StatusWord)

    /// Reads the answer to GET VAS DATA.
    ///
    /// - Throws: ``AppleVASError/malformed(_:)``.
    public init(_ response: ResponseAPDU) throws(AppleVASError) {
        switch response.statusWord {
        // "No data", and not the beginning of more of them.
        case StatusWord(0x6100): self = .noData
        case .recordNotFound: self = .noSuchPass
        case .recordDeactivated: self = .locked
        case .referenceDataNotUsable: self = .needsUser
        case .success: self = try Self.read(response.data)
        default: self = .refused(response.statusWord)
        }
    }

    private static func read(_ data: [UInt8]) throws(AppleVASError) -> AppleVASAnswer {
        if data.isEmpty { return .noData }
        guard let objects = try? BERTLV.decode(data), let template = objects.find(0x70) else {
            throw .malformed(.answer)
        }
        guard template.find(0x9F2A)?.value?.count ?? 0 <= AppleVASLimits.token else { throw .malformed(.token) }
        guard let cryptogram = template.find(0x9F27)?.value, !cryptogram.isEmpty else { return .noData }
        return .pass(try AppleVASCryptogram(cryptogram))
    }
}

/// Limits for what a phone sends.
package enum AppleVASLimits {
    /// The longest mobile token (tag 9F2A), in bytes.
    package static let token = 32
    /// The longest cryptogram (tag 9F27), in bytes.
    static let cryptogram = 256
}
