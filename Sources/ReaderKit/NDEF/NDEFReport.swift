/// What `ndef decode --json` prints for a message: one object with `records`, `error` or both.
package struct NDEFReport: Sendable, Hashable {
    /// The records; `nil` where a strict decoder refused the message.
    package var records: [NDEFRecord]?

    /// The fault, or `nil`.
    package var error: NDEFError?

    /// Whether the message was accepted; if not, a tool exits with 65.
    package var isAccepted: Bool { error?.isTolerable ?? true }
}
