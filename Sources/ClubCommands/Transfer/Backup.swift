import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct Backup: ClubCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the database into a new file, while the kiosk runs.",
        discussion: """
            The copy is there whole and on disk when this ends, or not at all; it replaces nothing, and only this user \
            may read it. To restore it: stop the kiosk, move the database away together with its -wal and -shm files, \
            and copy the backup to its place.

            JSON keys: file, bytes.

            EXAMPLES
              clubctl backup /mnt/usb/club-$(date +%F).sqlite
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The new file.", completion: .file(extensions: ["sqlite"]))
    var file: String

    func perform(_ club: Club, _ out: Output) async throws {
        let bar = ProgressBar("Copying", out)
        defer { bar.end() }
        let bytes = try await Destination(path: file).write { path in
            let url = URL(fileURLWithPath: path)
            try await club.backup(to: url, by: action.context) { progress in
                bar.show(progress.fraction, Count.text(progress.pagesDone, "page"))
            }
            return (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
        }
        bar.end()
        try out.result(
            fields: ["file": file, "bytes": bytes],
            text: "Wrote a backup of \(Count.grouped(bytes)) bytes to \(file)."
        )
    }
}
