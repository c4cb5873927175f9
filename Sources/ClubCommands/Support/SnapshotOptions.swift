import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct SnapshotFolderOption: ParsableArguments, Sendable {
    @Option(
        name: .customLong("snapshot-folder"),
        help: ArgumentHelp(
            "Where the kiosk keeps snapshots of this database, and of no other.",
            discussion: "By default beside the database, under its name with '.snapshots' behind it.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var path: String?

    /// - Returns: `nil` for a database in memory.
    ///
    /// - Parameter configured: the folder that the kiosk's file names.
    func folder(of database: DatabaseLocation, configured: String? = nil) -> SnapshotFolder? {
        guard case .file(let file) = database else { return nil }
        return SnapshotFolder(
            ofDatabase: file,
            in: (path ?? configured).map { URL(fileURLWithPath: $0, isDirectory: true) }
        )
    }
}

struct SnapshotOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("snapshots"),
        help: ArgumentHelp("How many daily snapshots of the database are kept; 0 makes none.", valueName: "count")
    )
    var count = 7

    @Option(help: .hidden)
    var firstSnapshotAfter = 60.0

    func validate() throws {
        guard (0...1000).contains(count) else { throw ValidationError("--snapshots takes a number from 0 to 1000.") }
        guard firstSnapshotAfter >= 0, firstSnapshotAfter < 86_400 else {
            throw ValidationError("--first-snapshot-after takes a number of seconds below 86400.")
        }
    }

    /// Makes a snapshot whenever the latest is a day old, until it is cancelled. What goes wrong is a warning, and is
    /// tried again an hour later.
    func keep(of club: Club, in place: SnapshotFolderOption, _ output: Output) -> Task<Void, Never>? {
        guard count > 0, let folder = place.folder(of: club.configuration.database) else { return nil }
        return Task {
            // Who opens the kiosk wants to see taps, not the disk at work.
            var pause = firstSnapshotAfter
            while (try? await Task.sleep(for: .seconds(pause))) != nil {
                let now = Date()
                // Those of the future were made while the clock was wrong.
                let latest = folder.snapshots(now: now).first.flatMap { $0.madeAt <= now ? $0.madeAt : nil }
                let age = latest.map { now.timeIntervalSince($0) } ?? .infinity
                // After an hour at most, since the clock may be set meanwhile.
                pause = min(3600, max(1, 86_400 - age))
                guard age >= 86_400, (try? await club.memberCount()) != 0 else { continue }
                pause = 3600
                do throws(ClubError) {
                    let snapshot = try await club.makeSnapshot(in: folder, keeping: count)
                    output.message("Made a snapshot of the database: \(snapshot.url.path)")
                } catch {
                    guard error.kind != .cancelled, !Task.isCancelled else { return }
                    output.message("Warning: \(error)")
                    try? output.json(ClubEvent.error(error, at: now))
                }
            }
        }
    }
}
