/// What is simulated behind a ``TerminalLine``. Any thread may use it.
protocol TerminalDevice: AnyObject, Sendable {
    /// What the line's thread is called: a few letters.
    var threadName: String { get }

    /// What is to be sent now, and when there is something to be done next without anybody asking.
    func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?)

    /// Takes what came over the line.
    func receive(_ bytes: [UInt8])

    /// Whether something has begun to come that is not there whole.
    var isWithinFrame: Bool { get }

    /// Nothing came for a while: what has begun will not be ended.
    func hearSilence()

    /// Sets what wakes the thread that sends.
    func setWake(_ wake: (@Sendable () -> Void)?)

    /// The plug was pulled.
    func powerOff()
}
