import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct PassCheckConfiguration: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Checks a configuration of passes with its keys, and explains what it leads to.",
        discussion: """
            Exit code 0 if it can be used (advice does not count), 65 if something in it or in a key is wrong, with the \
            place, 66 if a file is missing.

            EXAMPLES
              readerctl pass check-config passes.json

            JSON: one object with event ("configuration"), reads (what is read, each with place and what), order, \
            lowestAssurance, and advice (place, what).
            """
    )

    @OptionGroup var output: OutputOptions
    @Argument(help: "The configuration.", completion: .file(extensions: ["json"]))
    var file: String

    func perform(_ out: Output) async throws {
        let configuration = try PassConfiguration(path: file)
        let site = try configuration.site(besides: file)
        try out.result(
            fields: [
                "event": "configuration", "reads": site.explanation, "order": site.order,
                "lowestAssurance": site.lowestAssurance, "advice": configuration.advice,
            ],
            text: Self.text(configuration, site)
        )
    }

    private static func text(_ configuration: PassConfiguration, _ site: PassSite) -> String {
        var lines = ["What is read:"]
        lines += site.explanation.map { "  \($0.place): \($0.what)" }
        lines.append("Who it is: the first of \(site.order.map(\.rawValue).joined(separator: ", "))")
        let lowest = site.lowestAssurance
        lines.append("How far it has to be trusted: \(lowest.rawValue), that is, \(lowest.meaning)")
        if !configuration.advice.isEmpty { lines.append("To be looked at:") }
        lines += configuration.advice.map { "  \($0.place): \($0.what)" }
        return lines.joined(separator: "\n")
    }
}

extension Pass.Assurance {
    fileprivate var meaning: String {
        switch self {
        case .none: "anything that names a member"
        case .identifier: "anything that names a member, also what can be copied"
        case .cryptographic: "only what was made with a key"
        case .cryptographicWithReplayProtection: "only what was made with a key and cannot be a recording"
        }
    }
}
