extension PCSCLibrary {
    /// The most readers that one `SCardGetStatusChange` takes, the pseudo-reader included
    /// (`PCSCLITE_MAX_READERS_CONTEXTS`). With one more it refuses them all: 16 readers and the pseudo-reader are too many.
    static let mostStates = 16

    /// The share of each portion while several are waited for in turn.
    private static let share: UInt32 = 50

    /// `SCardGetStatusChange` for any number of readers. More than ``mostStates`` are asked for in portions, each of them
    /// in every call, so that readers where much happens do not hide the others.
    ///
    /// - Parameter isCancelled: asked between two calls of a wait in portions, which ends when it holds.
    func getStatusChange(
        _ context: Context,
        _ milliseconds: UInt32,
        ofAll states: inout [ReaderState],
        isCancelled: () -> Bool = { false }
    ) -> PCSCCode {
        guard states.count > Self.mostStates else { return getStatusChange(context, milliseconds, &states) }
        // What is not told stays as it was.
        for index in states.indices { states[index].event = states[index].current }
        let now = portions(context, 0, &states, isCancelled, stopsAtFirst: false)
        guard now == .timeout, milliseconds > 0 else { return now }
        var left = milliseconds
        while true {
            let code = portions(context, min(Self.share, left), &states, isCancelled, stopsAtFirst: true)
            guard code == .timeout else { return code }
            if milliseconds == Self.infinite { continue }
            let taken = Self.share * UInt32((states.count - 1) / Self.mostStates + 1)
            guard left > taken else { return .timeout }
            left -= taken
        }
    }

    /// One call for each portion. Succeeds if one does, and fails with the first fault.
    private func portions(
        _ context: Context,
        _ milliseconds: UInt32,
        _ states: inout [ReaderState],
        _ isCancelled: () -> Bool,
        stopsAtFirst: Bool
    ) -> PCSCCode {
        var hasChanged = false
        for start in stride(from: 0, to: states.count, by: Self.mostStates) {
            if isCancelled() { return .cancelled }
            let range = start..<min(start + Self.mostStates, states.count)
            var portion = Array(states[range])
            let code = getStatusChange(context, milliseconds, &portion)
            guard code != .timeout else { continue }
            guard code.isSuccess else { return code }
            states.replaceSubrange(range, with: portion)
            hasChanged = true
            if stopsAtFirst { break }
        }
        return hasChanged ? .success : .timeout
    }
}
