/// What a record says, as far as its type is understood.
public enum NDEFContent: Sendable, Hashable {
    /// An empty record.
    case empty

    /// A text in a language (well-known type `T`).
    case text(NDEFText)

    /// A URI with its prefix put back (well-known type `U`). It is what the card says: never open it unasked.
    case uri(String)

    /// A URI with titles and advice (well-known type `Sp`).
    case smartPoster(NDEFSmartPoster)

    /// The carriers that are offered or chosen for going on over them (well-known types `Hr` and `Hs`).
    case handover(NDEFHandover)

    /// A carrier by its type (well-known type `Hc`).
    case handoverCarrier(NDEFHandoverCarrier)

    /// A signature over the records before it (well-known type `Sig`). It is not verified.
    case signature(NDEFSignature)

    /// Data of a media type, which is given as written, with its parameters. ``NDEFRecord/isMIME(_:)`` compares it, and
    /// ``NDEFRecord/media`` reads some of them further.
    case mime(type: String, payload: [UInt8])

    /// Data of a type that is named by a URI. (Some tags hold the URI they mean there, with an empty payload.)
    case absoluteURI(String, payload: [UInt8])

    /// Data of somebody's own type: `domain:type`. ``NDEFRecord/isExternal(_:)`` compares it.
    case external(domain: String, type: String, payload: [UInt8])

    /// An Android application record: the package of the application to be started (external type `android.com:pkg`).
    case androidApplication(package: String)

    /// Data of unknown type.
    case unknown(payload: [UInt8])

    /// Any other record: well-known types that are not read further, types that are no text, the reserved format.
    case other

    /// A record of a known type whose payload breaks the rules of that type.
    case malformed(NDEFError)
}
