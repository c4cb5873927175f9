import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// Where the club's members are.
struct DatabaseOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The club's database.",
            discussion: "By default $XDG_DATA_HOME/clubkit/club.sqlite, or ~/.local/share/clubkit/club.sqlite.",
            valueName: "path"
        ),
        completion: .file(extensions: ["sqlite"])
    )
    var database: String?

    var location: DatabaseLocation {
        database.map { .file(path: $0) } ?? .standard()
    }

    /// The path, for people.
    var path: String {
        if case .file(let path) = location { path } else { "memory" }
    }

    /// A club that is open on a database which must exist already.
    func openExisting() async throws -> Club {
        if case .file(let path) = location, !FileManager.default.fileExists(atPath: path) {
            throw ToolFailure(
                "could not open \(path): there is no such database. Check --database; 'clubctl kiosk' creates one.",
                exit: ToolExit.noInput
            )
        }
        return try await open()
    }

    /// A club that is open on the database, which is created if it is missing.
    func open(configure: (inout ClubConfiguration) -> Void = { _ in }) async throws -> Club {
        var configuration = ClubConfiguration(database: location)
        // What happens is told line by line already; the log is for what goes wrong.
        configuration.logger.logLevel = .warning
        configure(&configuration)
        let club = Club(configuration: configuration)
        try await club.open()
        return club
    }
}

extension ClubError: ExitCoded {
    package var exitCode: ExitCode {
        switch kind {
        case .cannotCreate, .cannotOpen, .readOnly, .diskFull, .inputOutput, .busy: ToolExit.inputOutput
        case .corrupt, .notADatabase, .newerSchema, .unreadableRecord: ToolExit.malformed
        case .invalidSetting: ToolExit.usage
        case .cancelled: ToolExit.interrupted
        case .notOpen, .other: ToolExit.failure
        }
    }
}
