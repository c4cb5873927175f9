import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

/// `readerctl pass check-config`
struct PassCheckConfiguration: ToolCommand {
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

    func perform() async throws {
        let out = output.output
        try await out.tellingErrors {
            let configuration = try PassConfiguration(path: file)
            let site = try configuration.site(folder: PassOptions.folder(of: file))
            let report = Report(configuration, site)
            try out.result(report, text: report.text)
        }
    }

    private struct Report: Encodable, Sendable {
        var event = "configuration"
        var reads: [PassConfiguration.Advice]
        var order: [Pass.Kind]
        var lowestAssurance: Pass.Assurance
        var advice: [PassConfiguration.Advice]

        init(_ configuration: PassConfiguration, _ site: PassSite) {
            reads = site.explanation
            order = site.order
            lowestAssurance = site.lowestAssurance
            advice = configuration.advice
        }

        var text: String {
            var lines = ["What is read:"]
            lines += reads.map { "  \($0.place): \($0.what)" }
            lines.append("Who it is: the first of \(order.map(\.rawValue).joined(separator: ", "))")
            lines.append(
                "How far it has to be trusted: \(lowestAssurance.rawValue), that is, \(lowestAssurance.meaning)"
            )
            if !advice.isEmpty {
                lines.append("To be looked at:")
                lines += advice.map { "  \($0.place): \($0.what)" }
            }
            return lines.joined(separator: "\n")
        }
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
