import Foundation

/// A scenario of the kiosk itself, in the form of the original library: a type that declares its conditions in
/// ``config()``, counts events, and is executed where the program calls it.
///
/// ```swift
/// struct ShowTutorial: ScenarioProtocol {
///     static func config() {
///         maxExecutionsPermitted = 1
///     }
/// }
///
/// ShowTutorial.tryToExecute { didExecute in
///     if didExecute { show(tutorial) }
/// }
/// ```
///
/// Its state is kept in the database of the club on which ``Club/keepScenarioTypes()`` was called, which is opened for
/// that if the club is not open, and belongs to this device. Without that call it is ``Club/shared``, unless the
/// program has opened another club and not that one: then types are refused until it has chosen, so that no second
/// database is created unnoticed. All methods are synchronous, wait for the disk, and may be called on any thread;
/// concurrent attempts, in any process, never exceed a limit. Errors are reported at each use like the club's: to the
/// delegate, in ``Club/events`` and in the log; the scenario is not executed then, and ``decision(timeNow:)`` and
/// ``scenario()`` throw them. ``Scenario`` is the same as a value, also for members and groups, and throws its errors.
///
/// A condition may also be declared instead of set: `static let maxExecutionsPermitted = 1`. Numbers may be `Int`,
/// `Double` or optional; other types are refused as ``ClubError/Kind/invalidScenario``.
public protocol ScenarioProtocol {
    /// The type of ``minEventsRequired`` where a type declares its own.
    associatedtype MinEventsRequired = Int?
    /// The type of ``maxEventsPermitted`` where a type declares its own.
    associatedtype MaxEventsPermitted = Int?
    /// The type of ``maxExecutionsPermitted`` where a type declares its own.
    associatedtype MaxExecutionsPermitted = Int?
    /// The type of ``minSecondsSinceFirstEvent`` where a type declares its own.
    associatedtype MinSecondsSinceFirstEvent = TimeInterval?
    /// The type of ``minSecondsSinceLastEvent`` where a type declares its own.
    associatedtype MinSecondsSinceLastEvent = TimeInterval?
    /// The type of ``minSecondsBetweenExecutions`` where a type declares its own.
    associatedtype MinSecondsBetweenExecutions = TimeInterval?
    /// The type of ``customConditions`` where a type declares its own.
    associatedtype CustomConditions = (@Sendable () -> Bool)?
    /// The type of ``compatibleWithWaitForIt`` where a type declares its own.
    associatedtype CompatibleWithWaitForIt = Bool

    /// Sets the conditions, such as ``minEventsRequired``. Called at the start of every method, with all conditions
    /// reset to `nil`.
    static func config()

    /// The key of the state: another identifier is another scenario. By default the name of the type with its module. A
    /// type that is private, or declared inside a function, must declare its own: its name changes between starts of
    /// the program.
    static var identifier: String { get }

    // Requirements, so that what a type declares counts; of any type, so that none is passed over for its spelling.

    /// The minimum number of events.
    static var minEventsRequired: MinEventsRequired { get }
    /// The maximum number of events.
    static var maxEventsPermitted: MaxEventsPermitted { get }
    /// The maximum number of executions.
    static var maxExecutionsPermitted: MaxExecutionsPermitted { get }
    /// The number of seconds since the first event that must be exceeded.
    static var minSecondsSinceFirstEvent: MinSecondsSinceFirstEvent { get }
    /// The number of seconds since the last event that must be exceeded.
    static var minSecondsSinceLastEvent: MinSecondsSinceLastEvent { get }
    /// The number of seconds since the last execution that must be exceeded.
    static var minSecondsBetweenExecutions: MinSecondsBetweenExecutions { get }
    /// The application's own condition.
    static var customConditions: CustomConditions { get }
    /// Whether the conditions on seconds since events hold while there is no event.
    static var compatibleWithWaitForIt: CompatibleWithWaitForIt { get }
}

extension ScenarioProtocol {
    /// The name of the type with its module, such as `Kiosk.ShowTutorial`.
    public static var identifier: String { String(reflecting: Self.self) }

    // MARK: Conditions, to be set in config()

    /// The minimum number of events; `nil`, as for all conditions, for none.
    public static var minEventsRequired: Int? {
        get { draft[\.minEventsRequired] }
        set { draft[\.minEventsRequired] = newValue }
    }

    /// The maximum number of events.
    public static var maxEventsPermitted: Int? {
        get { draft[\.maxEventsPermitted] }
        set { draft[\.maxEventsPermitted] = newValue }
    }

    /// The maximum number of executions.
    public static var maxExecutionsPermitted: Int? {
        get { draft[\.maxExecutionsPermitted] }
        set { draft[\.maxExecutionsPermitted] = newValue }
    }

    /// The number of seconds since the first event that must be exceeded; fails while there is none.
    public static var minSecondsSinceFirstEvent: TimeInterval? {
        get { draft[\.minSecondsSinceFirstEvent] }
        set { draft[\.minSecondsSinceFirstEvent] = newValue }
    }

    /// The number of seconds since the last event that must be exceeded; fails while there is none.
    public static var minSecondsSinceLastEvent: TimeInterval? {
        get { draft[\.minSecondsSinceLastEvent] }
        set { draft[\.minSecondsSinceLastEvent] = newValue }
    }

    /// The number of seconds since the last execution that must be exceeded; holds while there is none.
    public static var minSecondsBetweenExecutions: TimeInterval? {
        get { draft[\.minSecondsBetweenExecutions] }
        set { draft[\.minSecondsBetweenExecutions] = newValue }
    }

    /// The application's own condition, called once by each ``tryToExecute(completion:)``, before and outside its
    /// transaction.
    public static var customConditions: (@Sendable () -> Bool)? {
        get { draft[\.customConditions] }
        set { draft[\.customConditions] = newValue }
    }

    /// Whether the conditions on seconds since the first and the last event hold while there is no event, as in the
    /// original library.
    public static var compatibleWithWaitForIt: Bool {
        get { draft[\.compatibleWithWaitForIt] }
        set { draft[\.compatibleWithWaitForIt] = newValue }
    }

    // MARK: Events and attempts

    /// Records an event now.
    public static func triggerEvent() {
        triggerEvent(timeNow: Date())
    }

    /// Records an event at a time.
    public static func triggerEvent(timeNow: Date) {
        FamiliarScenarios.reporting { () throws(ClubError) in try FamiliarScenarios.trigger(scenario(), at: timeNow) }
    }

    /// Records an execution if all conditions hold now, and passes whether it did to the closure.
    ///
    /// - Parameter completion: called exactly once, on this thread, before this returns. If it throws, the execution
    ///   does not count.
    public static func tryToExecute(completion: (Bool) throws -> Void) rethrows {
        try tryToExecute(timeNow: Date(), completion: completion)
    }

    /// Records an execution if all conditions hold at a time, and passes whether it did to the closure.
    public static func tryToExecute(timeNow: Date, completion: (Bool) throws -> Void) rethrows {
        let charged = FamiliarScenarios.reporting { () throws(ClubError) in
            try FamiliarScenarios.charge(scenario(), at: timeNow)
        }
        guard let charged = charged ?? nil else { return try completion(false) }
        do {
            try completion(true)
        } catch {
            FamiliarScenarios.reporting { () throws(ClubError) in try charged.settle(Club.reason(of: error)) }
            throw error
        }
        FamiliarScenarios.reporting { () throws(ClubError) in try charged.settle(nil) }
    }

    /// Removes all events and executions.
    public static func reset() {
        FamiliarScenarios.reporting { () throws(ClubError) in try FamiliarScenarios.reset(scenario()) }
    }

    /// Returns whether it is due, which conditions fail, the counters, and when it could next be due. It changes
    /// nothing.
    ///
    /// - Throws: ``ClubError``, such as ``ClubError/Kind/invalidScenario`` for a type without a stable name.
    public static func decision(timeNow: Date = Date()) throws(ClubError) -> ScenarioDecision {
        try FamiliarScenarios.decide(scenario(), at: timeNow)
    }

    /// Returns the scenario as a value, as ``config()`` currently sets it.
    ///
    /// - Throws: ``ClubError/Kind/invalidScenario`` for a type without a stable name, or invalid conditions.
    public static func scenario() throws(ClubError) -> Scenario {
        let identifier = identifier
        // How the runtime prints what has no name outside of its file or function.
        guard !identifier.contains("(unknown context at ") else {
            throw ClubError(
                .invalidScenario,
                attempting: "use a scenario",
                detail:
                    "a type that is private or declared in a function has no lasting name; give it a 'static var identifier'"
            )
        }
        let draft = ScenarioDraft(identifier)
        let result = ScenarioDraft.$current.withValue((ObjectIdentifier(Self.self), draft)) {
            Result { () throws(ClubError) in
                config()
                try takeDeclared(into: draft)
            }
        }
        try result.get()
        ScenarioDraft.setLatest(draft, of: ObjectIdentifier(Self.self))
        let scenario = draft.scenario
        try scenario.validate()
        return scenario
    }

    /// Takes what the type declares; what it does not declare is what ``config()`` has set.
    private static func takeDeclared(into draft: ScenarioDraft) throws(ClubError) {
        draft[\.minEventsRequired] = try count("minEventsRequired", minEventsRequired as MinEventsRequired)
        draft[\.maxEventsPermitted] = try count("maxEventsPermitted", maxEventsPermitted as MaxEventsPermitted)
        draft[\.maxExecutionsPermitted] =
            try count("maxExecutionsPermitted", maxExecutionsPermitted as MaxExecutionsPermitted)
        draft[\.minSecondsSinceFirstEvent] =
            try seconds("minSecondsSinceFirstEvent", minSecondsSinceFirstEvent as MinSecondsSinceFirstEvent)
        draft[\.minSecondsSinceLastEvent] =
            try seconds("minSecondsSinceLastEvent", minSecondsSinceLastEvent as MinSecondsSinceLastEvent)
        draft[\.minSecondsBetweenExecutions] =
            try seconds("minSecondsBetweenExecutions", minSecondsBetweenExecutions as MinSecondsBetweenExecutions)
        draft[\.customConditions] =
            try declared("customConditions", "(@Sendable () -> Bool)?", customConditions as CustomConditions)
        draft[\.compatibleWithWaitForIt] =
            try declared("compatibleWithWaitForIt", "Bool", compatibleWithWaitForIt as CompatibleWithWaitForIt)
    }

    private static func count(_ name: String, _ value: Any) throws(ClubError) -> Int? {
        try declared(name, "Int?", value)
    }

    private static func seconds(_ name: String, _ value: Any) throws(ClubError) -> TimeInterval? {
        if let count = value as? Int { return TimeInterval(count) }
        return try declared(name, "TimeInterval?", value)
    }

    private static func declared<Value>(_ name: String, _ type: String, _ value: Any) throws(ClubError) -> Value {
        guard let value = value as? Value else {
            let detail = "'\(name)' of \(Self.self) is declared in a type that cannot be used; declare it as '\(type)'"
            throw ClubError(.invalidScenario, attempting: "use a scenario", detail: detail)
        }
        return value
    }

    private static var draft: ScenarioDraft {
        if let current = ScenarioDraft.current, current.type == ObjectIdentifier(Self.self) { return current.draft }
        return ScenarioDraft.latest(of: ObjectIdentifier(Self.self), identifier)
    }
}
