import ArgumentParser

/// `clubctl scenarios`
struct Scenarios: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows, checks and explains scenarios: what happens at which visit.",
        discussion: """
            Scenarios stand in a file, in YAML or JSON, that 'clubctl kiosk --scenarios' serves by. What they were \
            charged with is kept in the club's database.

            EXAMPLES
              clubctl scenarios check scenarios.yaml
              clubctl scenarios explain M-1042 --scenarios scenarios.yaml
              clubctl scenarios history M-1042
              clubctl scenarios redeem 0B7A5C1E-7D0C-8F00-9D5E-2F1B6C3A4D5E --by desk
            """,
        subcommands: [],
        groupedSubcommands: [
            CommandGroup(
                name: "The file",
                subcommands: [ScenariosCheck.self, ScenariosList.self, ScenariosTest.self, ScenariosExplain.self]
            ),
            CommandGroup(
                name: "What happened",
                subcommands: [ScenariosHistory.self, ScenariosRedeem.self, ScenariosRefund.self]
            ),
        ]
    )
}
