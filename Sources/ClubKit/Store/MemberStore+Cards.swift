import Foundation
import GRDB
import ReaderKit

/// Whose a card is.
extension MemberStore {
    /// Says to whom a card belongs and whether it is blocked.
    package func setCard(
        _ card: String,
        of key: String,
        blocked: String?,
        _ action: AuditEntry.Action,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "change a card"
        guard MemberID.isUsable(card), !card.allSatisfy(\.isWhitespace) else {
            let detail = "the card's identifier is empty, too long or not plain"
            throw ClubError(.invalidValue, attempting: attempt, detail: detail)
        }
        let (cards, key) = (identifiers(card), identifiers(key))
        return try await writeNews(attempt, committed: committed) { db in
            let card = try Self.cardKey(cards, in: db)
            let row = try Self.member(key, attempt, in: db)
            if case .member(let holder, _) = try Self.holder(of: card, in: db) {
                guard holder.id == row.id else {
                    throw ClubError(.memberExists, attempting: attempt, detail: "the card belongs to another member")
                }
                let stored = try Self.blocked(card, in: db)
                // Who blocks without saying why does not know better than who said it.
                let isSame = stored == blocked.map(PlainText.line) || blocked == "" && stored != nil
                guard !isSame else { return (row, isNews: false) }
            }
            try self.setCard(card, of: row.member.userId, blocked: blocked, in: db)
            try self.audit(action, of: row.member.userId, context, detail: ["card": .string(card)], in: db)
            return (row, isNews: true)
        }
    }

    /// Gives a member another card in place of one that is blocked from now on.
    package func replaceCard(
        _ old: String,
        by new: String,
        _ context: ActionContext,
        committed: @escaping @Sendable (Changed) -> Void
    ) async throws(ClubError) -> Member {
        let attempt = "replace a card"
        let unusable = ClubError(.invalidValue, attempting: attempt, detail: "the new card's identifier cannot be used")
        guard MemberID.isUsable(new), !new.allSatisfy(\.isWhitespace) else { throw unusable }
        let (olds, news) = (identifiers(old), identifiers(new))
        return try await writeNews(attempt, committed: committed) { db in
            let (old, new) = (try Self.cardKey(olds, in: db), try Self.cardKey(news, in: db))
            guard old != new else { throw unusable }
            let row = try Self.member(old, attempt, in: db)
            if case .member(let holder, let isBlocked) = try Self.holder(of: new, in: db) {
                guard holder.id == row.id else {
                    let detail = "the new card belongs to another member"
                    throw ClubError(.memberExists, attempting: attempt, detail: detail)
                }
                let stored = try Self.blocked(old, in: db)
                let isSame = stored != nil && (context.reason.map { PlainText.line($0) == stored } ?? true)
                guard isBlocked || !isSame else { return (row, isNews: false) }
            }
            try self.setCard(old, of: row.member.userId, blocked: context.reason ?? "replaced", in: db)
            try self.setCard(new, of: row.member.userId, blocked: nil, in: db)
            let detail: [String: FieldValue] = ["old": .string(old), "new": .string(new)]
            try self.audit(.replacedCard, of: row.member.userId, context, detail: detail, in: db)
            return (row, isNews: true)
        }
    }

    /// Why a card of a member who is there is blocked, if it is.
    private static func blocked(_ card: String, in db: Database) throws -> String? {
        guard case .member(_, true) = try holder(of: card, in: db) else { return nil }
        return try String.fetchOne(db, sql: "SELECT blocked FROM card WHERE card_id = ?", arguments: [card])
    }

    private func setCard(_ card: String, of userID: String, blocked: String?, in db: Database) throws {
        let stamp = try nextStamp(in: db)
        try db.execute(
            sql: "REPLACE INTO card (card_id, member_key, blocked, hlc, device_id) VALUES (?, ?, ?, ?, ?)",
            arguments: [card, userID, blocked.map(PlainText.line), stamp.time, stamp.device]
        )
        // Somebody who had that identifier is one with the holder of the card now.
        if card != userID, let row = try Self.row(userID: card, in: db) { try save(row.facts(), of: row.id, in: db) }
    }
}
