import Foundation
import GRDB

/// What became of a change.
extension MemberStore {
    /// A member's changed state, with what is needed to tell of it.
    package struct Changed: Sendable {
        package var member: Member
        package var at: Date
    }

    func changed(_ id: Int64, _ attempt: String, in db: Database) throws -> Changed {
        guard let row = try Self.row(id: id, in: db) else { throw ClubError(.noSuchMember, attempting: attempt) }
        return Changed(member: row.member, at: clock())
    }

    /// Changes a member in one transaction. Nobody is told where the body says that it wrote nothing.
    func writeNews(
        _ attempt: String,
        committed: @escaping @Sendable (Changed) -> Void,
        _ body: @escaping @Sendable (Database) throws -> (member: MemberRow, isNews: Bool)
    ) async throws(ClubError) -> Member {
        let told: @Sendable ((changed: Changed, isNews: Bool)) -> Void = { if $0.isNews { committed($0.changed) } }
        return try await write(attempt, committed: told) { db -> (changed: Changed, isNews: Bool) in
            let (member, isNews) = try body(db)
            return (try self.changed(member.id, attempt, in: db), isNews)
        }.changed.member
    }
}
