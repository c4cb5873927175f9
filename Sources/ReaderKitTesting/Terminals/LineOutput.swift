/// What a simulated device has still to send, and when.
struct LineOutput {
    var delay = Duration.zero { didSet { delay = max(.zero, delay) } }
    var noise: LineNoise?
    /// Wakes the thread that sends.
    var wake: (@Sendable () -> Void)?

    private var outgoing: [UInt8] = []
    private var delayed: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []

    /// More than a program leaves unread is lost, as on a serial line.
    static let mostOutgoing = 65_536

    mutating func put(_ bytes: [UInt8], isDelayed: Bool) {
        if isDelayed, delay > .zero {
            delayed.append((.now + delay, bytes))
        } else if outgoing.count + bytes.count <= Self.mostOutgoing {
            outgoing += bytes
        }
    }

    /// Takes back what has not been sent yet, or what waits for its time.
    mutating func clear(onlyDelayed: Bool = false) {
        delayed = []
        if !onlyDelayed { outgoing = [] }
    }

    /// What is to be sent now, and when there is more without anybody asking.
    mutating func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?) {
        let now = ContinuousClock.now
        while let first = delayed.first, first.due <= now {
            outgoing += first.bytes
            delayed.removeFirst()
        }
        defer { outgoing = [] }
        return (outgoing, delayed.first?.due)
    }
}
