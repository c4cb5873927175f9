/// What counts as an event of a scenario.
public enum ScenarioEvents: Sendable, Hashable {
    /// Visits that were counted.
    case visits
    /// What is recorded by triggering, under that name.
    case named(String)
}
