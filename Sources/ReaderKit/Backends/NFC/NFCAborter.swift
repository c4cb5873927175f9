import Dispatch
import Synchronization

/// Ends a call into libnfc from another thread (`nfc_abort_command`).
///
/// The library's way of doing so is lost when the call does not wait for the chip at that moment, and then costs a file
/// descriptor. So it is used only for a call that has lasted a while, a few times at most, and never on a device that is
/// being closed.
final class NFCAborter: Sendable {
    private struct State {
        var device: NFCLibrary.Device?
        var call: Int?
        var lastCall = 0
        var owner = 0
    }

    /// How long a call lasts before it is taken to wait for the chip, and how long to wait for the abort to work.
    private static let pauses = [0.02, 0.25, 1.0]

    private let state = Mutex(State())
    private let library: NFCLibrary

    init(library: NFCLibrary) {
        self.library = library
    }

    func setDevice(_ device: NFCLibrary.Device?) {
        state.withLock { $0.device = device }
    }

    func setOwner(_ owner: Int) {
        state.withLock { $0.owner = owner }
    }

    func begin() {
        state.withLock { state in
            state.lastCall += 1
            state.call = state.lastCall
        }
    }

    func end() {
        state.withLock { $0.call = nil }
    }

    /// Ends the call that is under way for that owner, soon. Returns at once.
    func abortCall(of owner: Int) {
        let call = state.withLock { $0.owner == owner ? $0.call : nil }
        guard let call else { return }
        abort(call, Self.pauses[...])
    }

    private func abort(_ call: Int, _ pauses: ArraySlice<Double>) {
        guard let pause = pauses.first else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [self] in
            let isUnderWay = state.withLock { state in
                guard state.call == call, let device = state.device else { return false }
                // Under the lock, so that the device is not closed meanwhile. It does not wait for anything.
                _ = library.abort(device)
                return true
            }
            if isUnderWay { abort(call, pauses.dropFirst()) }
        }
    }
}
