import CardCore

/// What a phone's status word means in Smart Tap. The first byte decides; the second is a detail that may be unknown.
public enum SmartTapStatus: Sendable, Hashable {
    /// `9000`, `9002`: done. `9002` answers a signature that was made in advance.
    case done
    /// `9001`: done, and there is no pass to be had.
    case noPasses
    /// `9100`: there are more data to be fetched.
    case moreData
    /// `9101`, `9102`: done with or without passes, and nothing is to be paid.
    case doneWithoutPayment(hasPasses: Bool)
    /// `92xx`: a failure that may pass.
    case passing
    /// `9300`: the phone is locked.
    case locked
    /// `93xx` otherwise: the person has to choose on the phone, as for `9302`.
    case needsUser
    /// `9405`: there are no more data, although some were asked for.
    case noMoreData
    /// `9406`: asked too often, or for several collectors, in a short time.
    case tooManyRequests
    /// `94xx` otherwise: the phone did not understand the terminal.
    case notUnderstood
    /// `9500`: the terminal's signature, key version or collector is not the one that is registered.
    case notAuthentic
    /// `9502`: the version of the protocol is not supported.
    case unsupportedVersion
    /// `6A82`: there is no Smart Tap.
    case absent
    /// Anything else.
    case other

    /// What a status word means.
    public init(_ status: StatusWord) {
        switch (status.sw1, status.sw2) {
        case (0x90, 0x01): self = .noPasses
        case (0x90, _): self = .done
        case (0x91, 0x00): self = .moreData
        case (0x91, 0x01): self = .doneWithoutPayment(hasPasses: true)
        case (0x91, 0x02): self = .doneWithoutPayment(hasPasses: false)
        case (0x92, _): self = .passing
        case (0x93, 0x00): self = .locked
        case (0x93, _): self = .needsUser
        case (0x94, 0x05): self = .noMoreData
        case (0x94, 0x06): self = .tooManyRequests
        case (0x94, _): self = .notUnderstood
        case (0x95, 0x02): self = .unsupportedVersion
        case (0x95, _): self = .notAuthentic
        case (0x6A, 0x82): self = .absent
        default: self = .other
        }
    }

    /// What it means, in words.
    public var meaning: String {
        switch self {
        case .done, .doneWithoutPayment(hasPasses: true): "it is done"
        case .noPasses, .doneWithoutPayment(hasPasses: false): "there is no pass for this place on the phone"
        case .moreData: "there is more to be fetched"
        case .passing: "a failure that may pass"
        case .locked: "the phone is locked"
        case .needsUser: "a pass has to be chosen on the phone"
        case .noMoreData: "there is nothing more to be fetched"
        case .tooManyRequests: "the phone was asked too often"
        case .notUnderstood: "the phone did not understand the question"
        case .notAuthentic: "the phone does not accept this terminal's key"
        case .unsupportedVersion: "the phone speaks another version"
        case .absent: "there is no Smart Tap on it"
        case .other: "the phone refuses"
        }
    }

    /// What a person can do about it.
    public var advice: String {
        switch self {
        case .locked: "Unlock the phone and hold it to the reader again."
        case .needsUser: "Choose the pass on the phone and hold it to the reader again."
        case .noPasses, .doneWithoutPayment(hasPasses: false), .absent: "Add the pass of this place to the wallet."
        case .notAuthentic:
            "Check collector and key version in the configuration against the Google Pay & Wallet console; a key that was "
                + "registered just now may take a day."
        case .tooManyRequests: "Wait a minute before the next tap."
        case .unsupportedVersion: "Update this software and the phone."
        case .notUnderstood: "Record it with 'readerctl record' and report it."
        case .done, .doneWithoutPayment, .moreData, .passing, .noMoreData, .other:
            "Hold the phone to the reader again."
        }
    }
}
