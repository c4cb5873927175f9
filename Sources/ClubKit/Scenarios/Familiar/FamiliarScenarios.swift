import Foundation
import GRDB
import Synchronization

extension Club {
    /// Selects this club's database for the state of ``ScenarioProtocol`` types, in the whole program. The club need
    /// not be open. The latest call wins; the state kept elsewhere before stays there.
    @discardableResult
    public func keepScenarioTypes() -> Club {
        FamiliarScenarios.use(self)
        return self
    }
}

/// Where the scenarios of ``ScenarioProtocol`` keep their state: in the database of one club, whether or not it is open.
enum FamiliarScenarios {
    private struct Keeper {
        /// Whose database it is, if the program has chosen.
        var chosen: Club?
        /// A club other than ``Club/shared`` that was opened before a choice. It stays known when the club is gone.
        var other: (@Sendable () -> Club?)?
    }

    private static let keeper = Mutex(Keeper())

    private struct Held {
        /// Opened here, since the club was not.
        var store: MemberStore?
        var club: ObjectIdentifier?
        /// Whether charges of programs that were killed have been refunded.
        var hasGivenBack = false
    }

    private static let held = Mutex(Held())

    /// An execution that was charged, and is yet to be settled.
    struct Charged {
        let store: MemberStore
        let execution: ScenarioExecution

        func settle(_ failure: String?) throws(ClubError) {
            let attempt = "settle a scenario"
            let time = Timestamp.microseconds(store.clock()) ?? 0
            do throws(ClubError) {
                _ = try store.writeNow(attempt) { transaction in
                    try transaction.executions.settle(execution.id, failure: failure, at: time, attempt)
                }
            } catch {
                // The scenario was reset meanwhile, perhaps by what was done.
                guard error.kind == .noSuchExecution else { throw error }
            }
        }
    }

    /// Reports what went wrong where errors of the club are reported.
    @discardableResult
    static func reporting<Value>(_ body: () throws(ClubError) -> Value) -> Value? {
        do throws(ClubError) {
            return try body()
        } catch {
            // Without a choice to whoever opened a club, for nobody listens to the shared one.
            keeper.withLock { $0.chosen ?? $0.other?() ?? Club.shared }.report(error)
            return nil
        }
    }

    static func trigger(_ scenario: Scenario, at date: Date) throws(ClubError) {
        let attempt = "count an event of a scenario"
        let (store, club) = try store()
        let time = try club.moment(date, attempt)
        let id = club.configuration.makeUUID()
        _ = try store.writeNow(attempt) { transaction in
            try transaction.events.trigger(scenario.id, for: .kiosk, at: time, id: id, attempt)
        }
    }

    /// - Returns: `nil` if the scenario is not due.
    static func charge(_ scenario: Scenario, at date: Date) throws(ClubError) -> Charged? {
        let attempt = "execute a scenario"
        let (store, club) = try store()
        let time = try club.moment(date, attempt)
        // Once, before the transaction: it is the application's code, which may call this again.
        let holds = scenario.customConditions?() ?? true
        let isFirst = held.withLock { !$0.hasGivenBack }
        let execution = try store.writeNow(attempt) { transaction in
            if isFirst { try transaction.executions.giveBackLeft(at: time) }
            return try transaction.executions.tryToExecute(
                scenario,
                for: .kiosk,
                at: time,
                id: club.configuration.makeUUID(),
                conditionsHold: holds,
                isDelivered: false,
                attempt
            ).execution
        }
        if isFirst { held.withLock { $0.hasGivenBack = true } }
        return execution.map { Charged(store: store, execution: $0) }
    }

    static func decide(_ scenario: Scenario, at date: Date) throws(ClubError) -> ScenarioDecision {
        let attempt = "look at a scenario"
        let (store, club) = try store()
        let time = try club.moment(date, attempt)
        let holds = scenario.customConditions?() ?? true
        return try store.readNow(attempt) { db in
            try store.decision(scenario, for: .kiosk, at: time, conditionsHold: holds, attempt, in: db)
        }
    }

    static func reset(_ scenario: Scenario) throws(ClubError) {
        let attempt = "reset a scenario"
        let (store, _) = try store()
        try store.writeNow(attempt) { transaction in
            try transaction.events.reset(scenario.id, events: scenario.id, for: .kiosk, attempt)
        }
    }

    /// The club's store if it is open, else one that is opened here and kept.
    private static func store() throws(ClubError) -> (MemberStore, Club) {
        let club = try club()
        if let open = club.state.withLock({ $0.store }) { return (open, club) }
        let result = held.withLock { held in
            Result { () throws(ClubError) in
                if let store = held.store, held.club == ObjectIdentifier(club) { return store }
                let store = try club.makeStore()
                try? held.store?.close()
                held.store = store
                held.club = ObjectIdentifier(club)
                return store
            }
        }
        return (try result.get(), club)
    }

    /// Calls the body with the club whose store is held, while no other is opened or let go here.
    static func whileHeld<Value>(_ body: (ObjectIdentifier?) -> Value) -> Value {
        held.withLock { body($0.store == nil ? nil : $0.club) }
    }

    private static func club() throws(ClubError) -> Club {
        let keeper = keeper.withLock(\.self)
        if let chosen = keeper.chosen { return chosen }
        guard keeper.other == nil || Club.shared.isOpen else { throw undecided }
        return Club.shared
    }

    private static let undecided = ClubError(
        .invalidScenario,
        attempting: "use the types of ScenarioProtocol",
        detail:
            "the program has opened a club other than Club.shared and has not chosen the one that keeps their state;"
            + " call 'keepScenarioTypes()' on it"
    )

    /// Notes that a club was opened, and reports it if the state of types is in another database by then.
    static func noteOpened(_ club: Club) {
        guard club !== Club.shared else { return }
        let isUndecided = keeper.withLock { keeper in
            guard keeper.chosen == nil else { return false }
            keeper.other = { [weak club] in club }
            return true
        }
        if isUndecided, held.withLock({ $0.store != nil }) { club.report(undecided) }
    }

    /// Takes another club from now on, and lets go of the store that was opened here. `nil` takes a choice back.
    static func use(_ other: Club?) {
        keeper.withLock { $0 = Keeper(chosen: other) }
        let store = held.withLock { held in
            defer { held = Held() }
            return held.store
        }
        try? store?.close()
    }
}
