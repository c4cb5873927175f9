import ArgumentParser
import Foundation
import ReaderKit

/// What passes a command reads and accepts.
package struct PassOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("passes"),
        help: ArgumentHelp(
            "Read the passes that this configuration names: wallets of phones, tags that sign.",
            discussion: """
                JSON; Documentation/passes.md shows it. A file with a key must be readable by its owner alone. What was presented \
                before is remembered by a kiosk in its database, elsewhere and in replays until the command ends.
                """,
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    package var file: String?

    package init() {}

    /// What the place reads and accepts; `nil` without a configuration.
    ///
    /// - Throws: ``PassConfigurationError``.
    package func site() async throws -> PassSite? {
        guard let file else { return nil }
        return try await PassConfiguration(path: file).site(folder: Self.folder(of: file))
    }

    /// Where the paths in a configuration begin.
    package static func folder(of file: String) -> String {
        URL(fileURLWithPath: file).deletingLastPathComponent().path
    }
}
