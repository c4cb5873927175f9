import ClubKit
import Foundation
import ReaderKit
import ReaderKitTesting

// The code of the articles in Sources/ClubKit/ClubKit.docc, of Sources/ReaderKitTesting/ReaderKitTesting.docc and of
// Documentation/scenarios.md.

func countVisits() async throws {
    let club = Club(configuration: ClubConfiguration(database: .file(path: "club.sqlite")))
    try await club.open()
    for await receipt in club.receipts(of: CardScanner(PCSCBackend()).taps()) {
        print(receipt.member?.userId ?? "nobody", receipt.outcome.name)
    }
    try await club.close()
}

func receiveOwnTap(_ club: Club) async throws {
    let tap = ScanEvent(
        id: UUID(),
        at: Date(),
        reader: "Door",
        backend: .simulated,
        memberKey: "U1",
        memberName: "Ann",
        problems: []
    )
    let receipt = try await club.receive(tap)
    print(receipt.outcome.name, receipt.member?.numVisits ?? 0)
}

func followMembers(_ club: Club) async throws {
    for try await window in club.members(in: MemberQuery(order: .lastVisit, limit: 20)) {
        print("\(window.total) members")
        for member in window.members { print("  \(member.userId), visits: \(member.numVisits)") }
    }
}

func setCoffee(_ club: Club, opening: Date) async throws {
    let coffee = Reward.stampCard(every: 10, since: opening).scenarios(id: "free-coffee") {
        $0.title = "A free coffee"
        $0.message = "This coffee is on us."
        $0.minSecondsSinceFirstEvent = 86_400
        $0.rules.append(.executions(atMost: 1, within: .week))
    }
    club.setScenarios(coffee)
    for await receipt in club.receipts(of: CardScanner(PCSCBackend()).taps()) {
        for execution in receipt.executions { print(execution.scenario) }
    }
}

func loadScenarios(into club: Club) throws {
    club.setScenarios(try ScenarioConfiguration(path: "scenarios.yaml").scenarios)
}

func recordPurchase(_ club: Club) async throws {
    var scenario = Scenario("fifth-purchase")
    scenario.events = .named("purchase")
    scenario.minEventsRequired = 5
    club.setScenarios([scenario])
    try await club.trigger("purchase", for: .member("U1"))
}

func mergeKiosks(monday: Club, friday: Club) async throws {
    try await monday.exportMembers(to: "monday.clubkit", options: ExportOptions(format: .clubkit))
    try await friday.importMembers(from: "monday.clubkit")
}

struct Greeting: Decodable, Sendable {
    var text: String
}

func routeMessages(_ club: Club) async throws {
    let router = MessageRouter(inbox: club.inbox)
    router.register(type: "greeting") { (greeting: Greeting, _) in
        print(greeting.text)
        return .newData
    }
    try await router.resume()
    let message = Message(type: "greeting", payload: ["text": "Hello"])
    let result = try await router.accept(message)
    print(result.outcome)
}

func rememberPasses(_ club: Club) async throws {
    let passes = try PassConfiguration(path: "/etc/club/passes.json")
        .site(folder: "/etc/club", memory: club.passMemory)
    let scanner = CardScanner(PCSCBackend(), configuration: ScannerConfiguration(site: passes))
    for await receipt in club.receipts(of: scanner.taps()) { print(receipt.outcome.name) }
}

// What `import ClubKit` gives: a type of each library behind it, so that no cut between them breaks a program.
private typealias Umbrella = (Club, ClubError, Member, Visit, Scenario, Reward, Message, any MessageProcessor.Type)
