import ClubRecords
import Foundation
import Testing

@testable import ClubScenarios

@Suite("The description of the file of scenarios")
struct ScenarioDocumentationTests {
    private static let text: String? = {
        // Tests/ClubScenariosTests/Rewards/…
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return try? String(contentsOf: root.appending(path: "Documentation/scenarios.md"), encoding: .utf8)
    }()

    @Test("Its examples can be used, and nothing is hardly meant")
    func examples() throws {
        let parts = try #require(Self.text).components(separatedBy: "\n```")
        let examples = parts.filter { $0.hasPrefix("yaml\n") }.map { String($0.dropFirst(5)) }
        #expect(examples.count >= 3)
        for example in examples {
            let file = try ScenarioConfiguration(yaml: example)
            #expect(file.warnings.isEmpty && !file.scenarios.isEmpty, "\(file.warnings)")
        }
    }

    @Test("It has every key")
    func keys() throws {
        let text = try #require(Self.text)
        for key in ScenarioFileReader.scenarioKeys {
            #expect(text.contains("`\(key)`") || text.contains("`\(key):"), "\(key)")
        }
        for key in ScenarioFileReader.ruleKeys { #expect(text.contains("`\(key): "), "\(key)") }
    }

    @Test("The error that it shows is the one that is thrown")
    func error() throws {
        let lines = try #require(Self.text).split(separator: "\n")
        let shown = try #require(lines.first { $0.hasPrefix("    scenarios.yaml:") })
        let wrong = """
            timeZone: Europe/Berlin
            scenarios:
              - id: free-coffee
                title: A free coffee
                message: This coffee is on us.
                reward: stampCard
                every: ten
            """
        let error = #expect(throws: ScenarioConfigurationError.self) { try ScenarioConfiguration(yaml: wrong) }
        #expect(error.map { "    \($0)" } == String(shown))
    }
}
