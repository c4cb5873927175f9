/// How fast a replay tells what happened.
public enum ReplaySpeed: String, Sendable, Hashable, CaseIterable {
    /// One event after the other, as soon as it is asked for. The times of the events are the recorded ones.
    case asFastAsPossible
    /// Each event at its recorded time after the begin of its capture.
    case recorded
}
