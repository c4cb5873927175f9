/// Time limits of the PC/SC backend.
public struct PCSCConfiguration: Sendable, Hashable {
    /// How long one call to a card may take before its thread is abandoned and the reader is published as stuck.
    ///
    /// Wallets and DESFire cards answer within two seconds; the driver's own time-outs end most faulty calls earlier.
    public var callDeadline: Duration

    /// The first pause before pcscd is asked again when it is away; each further pause is twice as long.
    public var firstBackOff: Duration

    /// The longest pause between two attempts to reach pcscd.
    public var lastBackOff: Duration

    /// How long to look for a removal after the link to a card failed, to tell a card that was taken away from one that
    /// is held badly. Drivers that poll notice a removal up to 0.4 s late.
    public var removalGrace: Duration

    /// How often, and with which pauses in between, to try again while another program holds the reader.
    public var sharingRetries: Int

    /// Time limits.
    public init(
        callDeadline: Duration = .seconds(10),
        firstBackOff: Duration = .milliseconds(50),
        lastBackOff: Duration = .seconds(1),
        removalGrace: Duration = .milliseconds(600),
        sharingRetries: Int = 5
    ) {
        self.callDeadline = callDeadline
        self.firstBackOff = firstBackOff
        self.lastBackOff = lastBackOff
        self.removalGrace = removalGrace
        self.sharingRetries = sharingRetries
    }
}
