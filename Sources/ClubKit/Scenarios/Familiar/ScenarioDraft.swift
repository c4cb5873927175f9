import Synchronization

/// What `config()` of a type sets. Each run has one of its own, so that two threads do not mix theirs, and nothing
/// stays that a later run does not set.
final class ScenarioDraft: Sendable {
    /// That of the run of `config()` around this.
    @TaskLocal static var current: (type: ObjectIdentifier, draft: ScenarioDraft)?

    /// The latest of each type, for whoever reads the conditions elsewhere.
    private static let latest = Mutex<[ObjectIdentifier: ScenarioDraft]>([:])

    private let stored: Mutex<Scenario>

    init(_ identifier: String) {
        stored = Mutex(
            Scenario(identifier) {
                $0.audience = .kiosk
                $0.events = .named(identifier)
            }
        )
    }

    var scenario: Scenario { stored.withLock(\.self) }

    subscript<Value: Sendable>(value: WritableKeyPath<Scenario, Value> & Sendable) -> Value {
        get { stored.withLock { $0[keyPath: value] } }
        set { stored.withLock { $0[keyPath: value] = newValue } }
    }

    static func setLatest(_ draft: ScenarioDraft, of type: ObjectIdentifier) {
        latest.withLock { $0[type] = draft }
    }

    static func latest(of type: ObjectIdentifier, _ identifier: String) -> ScenarioDraft {
        latest.withLock { all in
            if let known = all[type] { return known }
            let draft = ScenarioDraft(identifier)
            all[type] = draft
            return draft
        }
    }
}
