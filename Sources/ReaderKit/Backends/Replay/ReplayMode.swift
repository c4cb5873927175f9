/// How a replay finds the answer to what is sent.
public enum ReplayMode: String, Sendable, Hashable, CaseIterable {
    /// The recorded exchanges are answered in their order; anything else is a ``ReaderError/Kind/replayMismatch`` that
    /// names the line of the file.
    case strict

    /// The answer is looked up by the command, within the presentation and the last successful SELECT, so that the
    /// order of commands may change.
    ///
    /// The same command again gets its next answer, then its last. A SELECT is successful when it is answered `9000` or
    /// `61xx`. What the reader answers itself (class `FF`), raw frames and escape commands do not depend on a SELECT; a
    /// SELECT that was recorded only after another one is found too. An APDU that was never recorded gets `6D00`, a raw
    /// frame a time-out, an escape command `SCARD_E_UNSUPPORTED_FEATURE`.
    case byCommand
}
