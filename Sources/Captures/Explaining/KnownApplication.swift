import CardCore
import CardPasses
import CardTags

/// Applications that are known by their names.
struct KnownApplication: Sendable, Hashable {
    /// What kind of application it is.
    enum Kind: Sendable, Hashable {
        case wallet, smartTap, ndef, payment, identityDocument, other
    }

    let kind: Kind
    /// What to call it in a title.
    let name: String
    /// What selecting it is for.
    let purpose: String

    private init(_ kind: Kind, _ name: String, _ purpose: String) {
        self.kind = kind
        self.name = name
        self.purpose = purpose
    }

    /// The application with that name; `nil` for one that is not known.
    init?(named name: [UInt8]) {
        if let known = Self.known.first(where: { $0.name == name }) {
            self = known.application
        } else if let scheme = Self.paymentSchemes.first(where: { name.starts(with: $0.prefix) }) {
            self.init(.payment, scheme.name, "asks for a payment application")
        } else {
            return nil
        }
    }

    private static let known: [(name: [UInt8], application: KnownApplication)] = [
        (
            Array("OSE.VAS.01".utf8),
            KnownApplication(.wallet, "OSE.VAS.01", "asks for the wallet's passes")
        ),
        (
            SmartTapApplication.identifier,
            KnownApplication(.smartTap, "Smart Tap 2", "asks for Google Wallet's passes")
        ),
        (
            [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x01],
            KnownApplication(.other, "Smart Tap 1", "asks for a version of Smart Tap that phones do not have any more")
        ),
        (
            CommandAPDU.selectNDEFApplication.data,
            KnownApplication(.ndef, "NDEF application", "asks for the message of a Type 4 tag")
        ),
        (
            CommandAPDU.selectNDEFApplicationVersion1.data,
            KnownApplication(.ndef, "NDEF application, mapping 1", "asks for the message of an old Type 4 tag")
        ),
        (
            CardQuestions.Application.payment,
            KnownApplication(.payment, "2PAY.SYS.DDF01", "asks which payment applications there are")
        ),
        (
            Array("1PAY.SYS.DDF01".utf8),
            KnownApplication(.payment, "1PAY.SYS.DDF01", "asks which payment applications there are, by contacts")
        ),
        (
            CardQuestions.Application.travelDocument,
            KnownApplication(.identityDocument, "travel document", "asks whether it is a passport or an identity card")
        ),
        (
            [0xA0, 0x00, 0x00, 0x06, 0x47, 0x2F, 0x00, 0x01],
            KnownApplication(.other, "FIDO", "asks whether it is a security key")
        ),
        (
            [0xA0, 0x00, 0x00, 0x03, 0x08, 0x00, 0x00, 0x10, 0x00, 0x01, 0x00],
            KnownApplication(.other, "PIV", "asks whether it is a card for personal identity verification")
        ),
        (
            [0xD2, 0x76, 0x00, 0x01, 0x24, 0x01],
            KnownApplication(.other, "OpenPGP", "asks whether it is an OpenPGP card")
        ),
    ]

    /// Registered identifiers of payment schemes.
    private static let paymentSchemes: [(prefix: [UInt8], name: String)] = [
        ([0xA0, 0x00, 0x00, 0x00, 0x03], "Visa"), ([0xA0, 0x00, 0x00, 0x00, 0x04], "Mastercard"),
        ([0xA0, 0x00, 0x00, 0x00, 0x25], "American Express"), ([0xA0, 0x00, 0x00, 0x00, 0x65], "JCB"),
        ([0xA0, 0x00, 0x00, 0x01, 0x52], "Discover"), ([0xA0, 0x00, 0x00, 0x03, 0x33], "UnionPay"),
        ([0xA0, 0x00, 0x00, 0x02, 0x77], "Interac"), ([0xA0, 0x00, 0x00, 0x03, 0x59], "girocard"),
    ]
}
