import CardCore

/// What answers to `OSE.VAS.01`, the name by which phones are asked for the passes of their wallets.
public enum WalletSelection: Sendable, Hashable {
    /// An iPhone or a watch with Apple VAS: its template 6F, which ``AppleVASApplication`` reads.
    case apple(BERTLV)
    /// An Android phone with Google Smart Tap: its template 6F, which ``SmartTapApplication`` reads.
    case google(BERTLV)
    /// No wallet answers: a card, a phone that is locked, or one that was not notified that passes are wanted.
    case absent(StatusWord)
    /// Something else answers, by that label.
    case unknown(label: String)
    /// The answer is no template with a label.
    case malformed

    /// SELECT by the name `OSE.VAS.01`: `00 A4 04 00 0A 4F53452E5641532E3031 00`.
    public static let command = CommandAPDU(trusted: 0x00, Instruction.select, 0x04, 0x00, name, 256)

    package static let name = Array("OSE.VAS.01".utf8)

    /// Reads the answer to ``command``.
    public init(_ response: ResponseAPDU) {
        guard response.isSuccess else {
            self = .absent(response.statusWord)
            return
        }
        guard let objects = try? BERTLV.decode(response.data), let template = objects.find(0x6F),
            let label = template.find(0x50)?.value
        else {
            self = .malformed
            return
        }
        switch label {
        case Array("ApplePay".utf8): self = .apple(template)
        case Array("AndroidPay".utf8): self = .google(template)
        default:
            let text = label.prefix(16).map { (0x20..<0x7F).contains($0) ? Character(Unicode.Scalar($0)) : "?" }
            self = .unknown(label: String(text))
        }
    }
}

/// What a card or phone answered when it was asked for the passes of its wallet.
package enum WalletReport: Sendable, Hashable {
    case apple(AppleVASReader.Outcome)
    case google(SmartTapReader.Finding)
    /// A wallet of which this place reads no passes, by its label.
    case other(String)
    case absent(StatusWord)
    case malformed
}
