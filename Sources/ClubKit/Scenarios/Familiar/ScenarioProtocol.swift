import Foundation

/// A scenario of the kiosk itself, in the form of the original library: a type that says in ``config()`` when something is
/// due, counts events, and is asked at the right places of the program.
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
/// Its state is kept in the database of the club that ``Club/keepScenarioTypes()`` was called on, which is opened for that
/// if the club is not open, and belongs to this device. Without that call it is the one of ``Club/shared``, unless the
/// program has opened another club and not that one: then types are refused until it has chosen, so that no second
/// database comes about unnoticed. All methods are synchronous, wait for the disk, and may be called on any thread; two
/// that try at the same time, in whatever process, never exceed a limit. What goes wrong is reported at each use as the
/// club's errors are: to the delegate, in ``Club/events`` and in the log; the scenario does not happen then, and
/// ``decision(timeNow:)`` and ``scenario()`` throw it. ``Scenario`` is the same as a value, for members and groups too, and
/// with errors that are thrown.
///
/// A condition may also be declared, in place of being set: `static let maxExecutionsPermitted = 1`. Numbers may be `Int`,
/// `Double` or optional; what is declared in another type is refused as ``ClubError/Kind/invalidScenario``.
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

    /// Sets the conditions, such as ``minEventsRequired``. It runs at the start of every method, and each time all of them
    /// are `nil` before it.
    static func config()

    /// What the state is kept under: another identifier is another scenario. By default the name of the type with its
    /// module. A type that is private, or declared inside of a function, must declare its own: its name changes from one
    /// start of the program to the next.
    static var identifier: String { get }

    // Requirements, so that what a type declares counts; of any type, so that none is passed over for its spelling.

    /// How many events there must be at least.
    static var minEventsRequired: MinEventsRequired { get }
    /// How many events there may be at most.
    static var maxEventsPermitted: MaxEventsPermitted { get }
    /// How often it may happen.
    static var maxExecutionsPermitted: MaxExecutionsPermitted { get }
    /// More than so many seconds must have passed since the first event.
    static var minSecondsSinceFirstEvent: MinSecondsSinceFirstEvent { get }
    /// More than so many seconds must have passed since the last event.
    static var minSecondsSinceLastEvent: MinSecondsSinceLastEvent { get }
    /// More than so many seconds must have passed since it happened the last time.
    static var minSecondsBetweenExecutions: MinSecondsBetweenExecutions { get }
    /// The application's own condition.
    static var customConditions: CustomConditions { get }
    /// Whether the tests of seconds pass while there is no event.
    static var compatibleWithWaitForIt: CompatibleWithWaitForIt { get }
}

extension ScenarioProtocol {
    /// The name of the type with its module, such as `Kiosk.ShowTutorial`.
    public static var identifier: String { String(reflecting: Self.self) }

    // MARK: Conditions, to be set in config()

    /// How many events there must be at least; `nil` for no test, as with all that follow.
    public static var minEventsRequired: Int? {
        get { draft[\.minEventsRequired] }
        set { draft[\.minEventsRequired] = newValue }
    }

    /// How many events there may be at most.
    public static var maxEventsPermitted: Int? {
        get { draft[\.maxEventsPermitted] }
        set { draft[\.maxEventsPermitted] = newValue }
    }

    /// How often it may happen.
    public static var maxExecutionsPermitted: Int? {
        get { draft[\.maxExecutionsPermitted] }
        set { draft[\.maxExecutionsPermitted] = newValue }
    }

    /// More than so many seconds must have passed since the first event; fails while there is none.
    public static var minSecondsSinceFirstEvent: TimeInterval? {
        get { draft[\.minSecondsSinceFirstEvent] }
        set { draft[\.minSecondsSinceFirstEvent] = newValue }
    }

    /// More than so many seconds must have passed since the last event; fails while there is none.
    public static var minSecondsSinceLastEvent: TimeInterval? {
        get { draft[\.minSecondsSinceLastEvent] }
        set { draft[\.minSecondsSinceLastEvent] = newValue }
    }

    /// More than so many seconds must have passed since it happened the last time; holds while it never did.
    public static var minSecondsBetweenExecutions: TimeInterval? {
        get { draft[\.minSecondsBetweenExecutions] }
        set { draft[\.minSecondsBetweenExecutions] = newValue }
    }

    /// The application's own condition, asked once by each ``tryToExecute(completion:)``, before and outside of its
    /// transaction.
    public static var customConditions: (@Sendable () -> Bool)? {
        get { draft[\.customConditions] }
        set { draft[\.customConditions] = newValue }
    }

    /// Whether the tests of seconds since the first and the last event pass while there is no event, as they did in the
    /// original library.
    public static var compatibleWithWaitForIt: Bool {
        get { draft[\.compatibleWithWaitForIt] }
        set { draft[\.compatibleWithWaitForIt] = newValue }
    }

    // MARK: Events and attempts

    /// Counts an event, now.
    public static func triggerEvent() {
        triggerEvent(timeNow: Date())
    }

    /// Counts an event at a time.
    public static func triggerEvent(timeNow: Date) {
        FamiliarScenarios.reporting { () throws(ClubError) in try FamiliarScenarios.trigger(scenario(), at: timeNow) }
    }

    /// Counts an execution if all conditions hold now, and reports whether it did.
    ///
    /// - Parameter completion: called exactly once, on this thread, before this returns. If it throws, the execution does
    ///   not count.
    public static func tryToExecute(completion: (Bool) throws -> Void) rethrows {
        try tryToExecute(timeNow: Date(), completion: completion)
    }

    /// The same at a time.
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

    /// Forgets all events and executions.
    public static func reset() {
        FamiliarScenarios.reporting { () throws(ClubError) in try FamiliarScenarios.reset(scenario()) }
    }

    /// Whether it is due, which conditions fail, the numbers, and when it could next be due. It changes nothing.
    ///
    /// - Throws: what went wrong, such as ``ClubError/Kind/invalidScenario`` for a type without a lasting name.
    public static func decision(timeNow: Date = Date()) throws(ClubError) -> ScenarioDecision {
        try FamiliarScenarios.decide(scenario(), at: timeNow)
    }

    /// The scenario as a value, as ``config()`` says it is now.
    ///
    /// - Throws: ``ClubError/Kind/invalidScenario`` for a type without a lasting name, or unusable conditions.
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
