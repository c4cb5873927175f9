import Foundation

/// What a processor is told of a message besides its payload.
public struct MessageContext: Sendable, Hashable {
    /// ``Message/id``. A processor whose work must not be done twice remembers it: after a crash a message comes again.
    public var messageID: String

    /// The message's type; `nil` only for a fallback, which also gets messages without one.
    public var type: String?

    /// Where the message came from.
    public var source: MessageSource

    /// When the message came.
    public var receivedAt: Date

    /// The how many-th attempt this is, from 1. Above 1, the program ended within the former one, or its result could not
    /// be stored.
    public var attempt: Int

    /// What the kiosk is doing.
    public var state: KioskState

    /// A context, as tests of processors need it.
    public init(
        messageID: String,
        type: String?,
        source: MessageSource = .application(),
        receivedAt: Date = Date(),
        attempt: Int = 1,
        state: KioskState = .serving
    ) {
        self.messageID = messageID
        self.type = type
        self.source = source
        self.receivedAt = receivedAt
        self.attempt = attempt
        self.state = state
    }
}
