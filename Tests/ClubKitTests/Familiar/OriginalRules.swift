/// The original libraries of scenarios and of the routing of messages, item by item.
extension OriginalAPI {
    static let scenarios = [
        OriginalItem(
            "`ScenarioProtocol`, `config()`",
            "The same, over the value `Scenario`: `scenario()` gives it. The subject is the kiosk, the store that of the club that `keepScenarioTypes()` was called on, else of `Club.shared`, opened on first use. Each run begins with nothing set; what a type declares counts too",
            "OriginalScenarioTests.types",
            "OriginalScenarioTests.notSticky",
            "OriginalScenarioTests.durable",
            "OriginalScenarioTests.keeper",
            "OriginalScenarioTests.declared",
            "OriginalScenarioTests.declaredWrongly"
        ),
        OriginalItem(
            "`minEventsRequired`, `maxEventsPermitted`, `maxExecutionsPermitted`",
            "events >= min, events <= max, executions < max",
            "OriginalScenarioTests.types",
            "OriginalScenarioTests.values"
        ),
        OriginalItem(
            "`minSecondsSinceFirstEvent`, `minSecondsSinceLastEvent`, `minSecondsBetweenExecutions`",
            "More than so many seconds. Without an event the first two fail; `compatibleWithWaitForIt` lets them pass",
            "ScenarioRuleTests.strict",
            "ScenarioRuleTests.withoutEvents"
        ),
        OriginalItem(
            "`customConditions`",
            "Asked once for each attempt, before the transaction; it may use scenarios itself",
            "OriginalScenarioTests.customConditions",
            "ClubScenarioTests.customConditions"
        ),
        OriginalItem(
            "`triggerEvent()`, `triggerEvent(timeNow:)`",
            "Synchronous; on disk when it returns",
            "OriginalScenarioTests.types",
            "OriginalScenarioTests.durable"
        ),
        OriginalItem(
            "`tryToExecute(completion:)`, `tryToExecute(timeNow:completion:)`",
            "One completion, on the caller's thread, after the charge. If it throws, the charge is given back",
            "OriginalScenarioTests.types",
            "OriginalScenarioTests.refunded",
            "OriginalScenarioTests.unusable"
        ),
        OriginalItem(
            "`reset()`",
            "Forgets events and executions, on other devices that merge too",
            "OriginalScenarioTests.types"
        ),
    ]

    static let routing = [
        OriginalItem(
            "`CKPushNotificationProcessor`",
            "The same, with `KioskApplication` and `BackgroundFetchResult` in the place of the platform's types. Clubs and routers share the application's state",
            "FamiliarRoutingTests.registered",
            "FamiliarRoutingTests.state",
            "FamiliarRoutingTests.sharedState"
        ),
        OriginalItem(
            "`CKPushNotificationRouter.sharedRouter`",
            "One for the program, to be used from any thread. As the fallback of a `MessageRouter` it gets messages from sockets, directories and cards",
            "FamiliarRoutingTests.threads",
            "FamiliarRoutingTests.fallback"
        ),
        OriginalItem(
            "`messageTypeKey`, `messageTypeProcessor`",
            "The key may be a path with dots. The closure may answer `nil`",
            "FamiliarRoutingTests.key",
            "FamiliarRoutingTests.closure"
        ),
        OriginalItem(
            "`register(processor:)`, `unregister(processor:)`",
            "The later one of a type counts, and either takes it back",
            "FamiliarRoutingTests.override"
        ),
        OriginalItem(
            "`route(application:notification:fetchCompletionHandler:)`",
            "A new processor for each message. `false` without one; the handler is completed once in any case",
            "FamiliarRoutingTests.unknown",
            "FamiliarRoutingTests.once"
        ),
    ]
}

extension OriginalDefects {
    static let scenarios = [
        OriginalItem(
            "1. Types of one name share their counters",
            "The identifier is the name with its module, or one's own; a type without a lasting name is refused",
            "OriginalScenarioTests.qualified",
            "OriginalScenarioTests.nameless"
        ),
        OriginalItem(
            "2. One subject, no members",
            "A value is asked for a member, a group or the kiosk; visits are the events",
            "OriginalScenarioTests.values",
            "ClubScenarioTests.groups"
        ),
        OriginalItem(
            "3. 'A week after the first start' passes before there was one",
            "It fails while there is no event",
            "ScenarioRuleTests.withoutEvents"
        ),
        OriginalItem(
            "4. What one run of `config()` set stays set",
            "Each run begins with nothing",
            "OriginalScenarioTests.notSticky"
        ),
        OriginalItem(
            "5. Two attempts at once exceed the limit",
            "Looking and charging are one transaction, among processes too",
            "OriginalScenarioTests.concurrent",
            "ScenarioPropertyTests.property"
        ),
        OriginalItem(
            "6. Charged before the work, and not given back",
            "Charged, then delivered or refunded, also when the program is killed",
            "ClubScenarioTests.refunded",
            "ClubScenarioTests.leftOver"
        ),
        OriginalItem(
            "7. A clock that is set back blocks or allows anew",
            "Windows count on both sides of now; no limit is exceeded by a clock",
            "ScenarioRuleTests.rollingExecutions",
            "ScenarioPropertyTests.property"
        ),
        OriginalItem(
            "8. Totals only: no windows, calendar, order, reason, or way to look",
            "Windows, calendar rules, any and all, priority, groups of which one happens; a decision lists what fails and when it could be",
            "ScenarioRuleTests.rollingEvents",
            "ClubScenarioTests.exclusive",
            "ScenarioDecisionTests.decision"
        ),
        OriginalItem(
            "9. Tests that never ran contradict the code",
            "All vectors run, in both forms; the limit of events is inclusive",
            "OriginalScenarioTests.types",
            "OriginalScenarioTests.values"
        ),
    ]

    static let routing = [
        OriginalItem(
            "1. One processor a type, no fallback, nobody may decline",
            "`MessageRouter` has several in order, declining, and a fallback",
            "MessageRouterTests.declined",
            "MessageRouterTests.fallback"
        ),
        OriginalItem(
            "2. The closure for the type cannot say 'none', and a malformed payload crashes it",
            "It answers `nil`; a payload that cannot be read fails with the place",
            "MessageRouterTests.typeClosure",
            "FamiliarRoutingTests.closure"
        ),
        OriginalItem(
            "3. A message that nobody takes never completes",
            "It completes with no data; in a `MessageRouter` it is a dead letter",
            "FamiliarRoutingTests.unknown",
            "MessageRouterTests.fallback"
        ),
        OriginalItem(
            "4. No result, no time limit, no order",
            "New data, no data or failed with a reason; a limit; one at a time in the order of the inbox",
            "MessageOrderTests.timeout",
            "MessageOrderTests.order"
        ),
        OriginalItem(
            "5. The same message again is processed again, and an old one whenever it comes",
            "Each identifier once; what is too old is a dead letter",
            "MessageOrderTests.duplicates",
            "MessageOrderTests.expired"
        ),
        OriginalItem(
            "6. Messages are lost when the program ends",
            "An inbox in the club's database, stored before processing",
            "ClubInboxTests.life",
            "ClubInboxTests.keptWithTap"
        ),
        OriginalItem(
            "7. One unprotected global, whose settings leak from test to test",
            "Any number of routers, from any thread",
            "FamiliarRoutingTests.threads"
        ),
        OriginalItem(
            "8. Whole payloads in the log",
            "A message describes itself without its payload",
            "MessageTests.description"
        ),
        OriginalItem(
            "9. Anybody may send anything",
            "The socket takes this user alone; what stands on cards goes only to processors that ask for it",
            "MessageRouterTests.sources",
            "CardMessagesTests.records"
        ),
    ]
}
