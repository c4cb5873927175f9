import ReaderKit
import Synchronization

/// What a simulated reader in Smart Reader mode is to its line. It takes no commands. Any thread may use it.
final class SmartReaderBoard: TerminalDevice {
    let threadName = "S550"
    let output = Mutex(LineOutput())

    /// Sends bytes, after those that wait already.
    func send(_ bytes: [UInt8], isDelayed: Bool = true) {
        let wake = output.withLock { output in
            // Here, and not when it is collected: the same noise on the same lines, whatever the threads do.
            output.put(output.noise?.spoil(bytes) ?? bytes, isDelayed: isDelayed)
            return output.wake
        }
        wake?()
    }

    // MARK: The line's side

    func collect() -> (bytes: [UInt8], next: ContinuousClock.Instant?) { output.withLock { $0.collect() } }

    func receive(_ bytes: [UInt8]) {}

    var isWithinFrame: Bool { false }

    func hearSilence() {}

    func setWake(_ wake: (@Sendable () -> Void)?) { output.withLock { $0.wake = wake } }

    func powerOff() {
        output.withLock { output in
            output.wake = nil
            output.clear()
        }
    }
}
