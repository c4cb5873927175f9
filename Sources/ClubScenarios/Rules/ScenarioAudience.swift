/// Whose events and executions a scenario counts.
public enum ScenarioAudience: Sendable, Hashable {
    /// Each member for themselves.
    case members
    /// All members with this tag together: one count for the group.
    case group(String)
    /// This device.
    case kiosk
}
