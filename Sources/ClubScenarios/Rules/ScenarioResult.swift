import ClubRecords

/// Something that happened to somebody by a scenario, with what is known of it.
public struct ScenarioResult: Sendable, Hashable {
    /// What was charged, and what became of it.
    public var execution: ScenarioExecution

    /// The member, right after the visit; `nil` for a group or the kiosk at no visit.
    public var member: Member?

    /// ``Scenario/title`` of the scenario, if it is one of the club's now.
    public var title: String?

    /// ``Scenario/message``, what the person is to be told, if it is one of the club's now.
    public var message: String?

    /// A result.
    public init(execution: ScenarioExecution, member: Member? = nil, title: String? = nil, message: String? = nil) {
        self.execution = execution
        self.member = member
        self.title = title
        self.message = message
    }
}

extension ScenarioResult: CustomStringConvertible {
    /// The scenario and its number. Who the member is is left out, so that it does not end up in a log by accident.
    public var description: String { "\(execution.scenario), number \(execution.number), \(execution.state)" }
}
