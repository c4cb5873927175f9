import Synchronization

/// Answers taps by the lights and sounds of the readers themselves.
///
/// | Signal | SpringCore readers (S550) play | Others show, and sound |
/// |---|---|---|
/// | accepted | tag read | green, 80 ms |
/// | repeated | tag present | green, no sound |
/// | rejected | failure | red, 400 ms |
/// | hold longer | please wait | orange, 150 ms |
///
/// A reader whose driver passes no command, and on which no card lies by which one could be sent, stays silent, as does a
/// reader of which nothing is known (``ReaderControl``).
public final class ReaderLights: ReaderFeedback {
    /// Whose lights they are between two signals.
    public enum Owner: Sendable, Hashable {
        /// The reader's: it shows what it does by itself, and signals besides.
        case reader
        /// The computer's: a SpringCore reader shows signals only. For that, bit 0 of its register 02D0 is set, once, and
        /// stays set until somebody clears it.
        case computer
    }

    private let backend: any ReaderBackend
    private let owner: Owner
    private let tookOver: @Sendable (ReaderInfo) -> Void
    private let failed: @Sendable (ReaderInfo, any Error) -> Void
    private let controls = Mutex<[ReaderInfo: ReaderControl]>([:])

    /// Creates the feedback of a backend's readers.
    ///
    /// - Parameters:
    ///   - tookOver: called with a reader whose register was written for ``Owner/computer``.
    ///   - failed: called with the error of a signal that could not be given.
    public init(
        _ backend: any ReaderBackend,
        owner: Owner = .reader,
        tookOver: @escaping @Sendable (ReaderInfo) -> Void = { _ in },
        failed: @escaping @Sendable (ReaderInfo, any Error) -> Void = { _, _ in }
    ) {
        self.backend = backend
        self.owner = owner
        self.tookOver = tookOver
        self.failed = failed
    }

    /// Gives a signal at a reader.
    public func give(_ signal: FeedbackSignal, at reader: ReaderInfo) async {
        do {
            let known = controls.withLock { $0[reader] }
            let control = try known ?? ReaderControl(reader, of: backend)
            if known == nil, owner == .computer {
                do {
                    if try await control.takeOverLights() { tookOver(reader) }
                } catch ControlError.refused(let command, let status) {
                    failed(reader, ControlError.refused(command, status))
                }
            }
            // Only now, so that a reader that could not be asked is asked at the next signal.
            controls.withLock { $0[reader] = control }
            try await control.give(signal)
        } catch {
            failed(reader, error)
        }
    }
}

extension ReaderControl {
    /// Gives a signal, and leaves the lights to the reader afterwards.
    fileprivate func give(_ signal: FeedbackSignal) async throws {
        let answer = signal.answer
        if dialect == .springCore { return try await play(answer.sequence) }
        try await setLight(answer.light)
        if answer.sound > .zero { try await buzz(for: answer.sound) }
        try? await Task.sleep(for: .milliseconds(400))
        try await setLight(.automatic)
    }

    /// Assigns the lights of a SpringCore reader to the computer, if they are the reader's: bit 0 of register 02D0.
    ///
    /// - Returns: whether the register was written.
    fileprivate func takeOverLights() async throws -> Bool {
        guard dialect == .springCore else { return false }
        let register = ReaderRegister(0x02D0)
        var value = try await read(register) ?? register.defaultValue ?? []
        guard let options = value.first, options & 0x01 == 0 else { return false }
        value[0] = options | 0x01
        try await write(value, to: register)
        // RELOAD CONFIG: in effect without a restart, in which the reader would leave.
        _ = try await send(ControlCommand(ControlInstruction(rawValue: 0x8F)))
        return true
    }
}

extension FeedbackSignal {
    fileprivate var answer: (sequence: ReaderSequence, light: ReaderLight, sound: Duration) {
        switch self {
        case .accepted: (.tagRead, .green, .milliseconds(80))
        case .repeated: (.tagPresent, .green, .zero)
        case .rejected: (.failure, .red, .milliseconds(400))
        case .holdLonger: (.pleaseWait, .orange, .milliseconds(150))
        }
    }
}
