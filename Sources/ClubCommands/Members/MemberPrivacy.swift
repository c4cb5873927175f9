import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

struct MembersDisclose: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "disclose",
        abstract: "Writes all that is held on a member into a new folder, for the member.",
        discussion: """
            member.json has everything, visits.csv the visits. Only this user may read them. Of a member who was deleted \
            it is what is still held.

            JSON keys of a file: file.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String
    @Argument(help: "A folder that is not there yet, or is empty.", completion: .directory)
    var folder: String

    func perform(_ club: Club, _ out: Output) async throws {
        _ = try await club.held(member)
        let files = try await Destination(path: folder).write { path in
            try await club.disclose(member, to: URL(fileURLWithPath: path, isDirectory: true), by: action.context)
        }
        for file in files.map({ URL(fileURLWithPath: folder).appendingPathComponent($0.lastPathComponent).path }) {
            try out.result(fields: ["file": file], text: "Wrote \(file)")
        }
    }
}

struct MembersErase: ClubCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erases all that is known of a member, for ever.",
        discussion: """
            Name, fields, notes, cards and visits go; no file and no other kiosk brings them back. A card that is \
            presented later is that of somebody new. What is left of a member who was deleted goes too. Backups, \
            exported files, the kiosk's snapshots and what 'check --repair' kept of the database are not reached: delete \
            those yourself. Snapshots go by themselves, one each day.

            JSON keys: erased (the userId); copies, if there are any (what a repair kept beside the database, and the \
            snapshots there).
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var action: ActionOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The member's userId, or any of their cards.")
    var member: String

    func perform(_ club: Club, _ out: Output) async throws {
        let found = try await club.held(member)
        let visits = Count.text(found.numVisits, "visit")
        try await confirmation.ask("Erase \(found.caption) with \(visits), for ever? Nothing brings them back.", out)
        try await club.erase(member, by: action.context)
        let copies = try club.keptCopies().map(\.path)
        try out.result(
            fields: ["erased": found.userId, "copies": copies.isEmpty ? nil : copies],
            text: "Erased \(found.caption)."
        )
        out.message(
            """
            Backups and exported files that were made before still hold them, and are not reached: delete those \
            that are not needed.
            """
        )
        guard !copies.isEmpty else { return }
        out.message(
            "What a repair kept of the database and snapshots may hold them too; delete what is not needed: "
                + copies.joined(separator: ", ")
        )
    }
}
