import ClubRecords

/// One look at a scenario: the moment, and what is known then of the subject.
package struct ScenarioAttempt {
    /// In microseconds since 1970.
    package var now: Int64

    /// What happened to the subject so far, for this scenario.
    package var history: any ScenarioHistory

    /// The member, if the subject is one or the attempt comes from a tap of theirs.
    package var member: Member?

    /// The member's tags.
    package var tags: [String]

    /// What the scenario's own conditions said, which were asked before.
    package var customConditionsHold: Bool

    /// Shared by all scenarios that are looked at together.
    package var calendars: ScenarioCalendars

    package init(
        now: Int64,
        history: any ScenarioHistory,
        member: Member? = nil,
        tags: [String] = [],
        customConditionsHold: Bool = true,
        calendars: ScenarioCalendars = ScenarioCalendars()
    ) {
        self.now = now
        self.history = history
        self.member = member
        self.tags = tags
        self.customConditionsHold = customConditionsHold
        self.calendars = calendars
    }
}
