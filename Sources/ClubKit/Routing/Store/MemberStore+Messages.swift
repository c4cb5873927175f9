import Foundation
import GRDB

/// A message as it is kept in the database.
struct KeptMessage: Sendable {
    let id: String
    /// The message as JSON.
    let content: String
    let receivedAt: Int64

    /// - Throws: ``ClubError/Kind/invalidValue`` if its identifier is none.
    init(_ message: Message, _ attempt: String) throws(ClubError) {
        guard Message.isName(message.id) else {
            throw ClubError(.invalidValue, attempting: attempt, detail: Message.nameRule)
        }
        do {
            content = try MemberRow.json(message)
        } catch {
            throw ClubError(error, attempting: attempt)
        }
        id = message.id
        receivedAt = Timestamp.microseconds(message.receivedAt) ?? 0
    }
}

extension MemberStore {
    /// How many messages that are no longer remembered go with each one that comes.
    private static let forgottenAtOnce = 4

    /// Keeps a message as pending.
    ///
    /// - Returns: `false` if one with its identifier is there, in any state.
    @discardableResult
    func keep(_ message: KeptMessage, in db: Database) throws -> Bool {
        try db.execute(
            sql: "INSERT OR IGNORE INTO message (id, content, received_at) VALUES (?, ?, ?)",
            arguments: [message.id, message.content, message.receivedAt]
        )
        guard db.changesCount == 1 else { return false }
        // The oldest, some at a time: so no message has to wait until many are removed.
        let end = clock().addingTimeInterval(-ClubInbox.keptFor)
        try db.execute(
            sql: """
                DELETE FROM message WHERE settled_at < ?1 AND seq IN (
                    SELECT seq FROM message WHERE state = 'done' ORDER BY seq LIMIT ?2)
                """,
            arguments: [Timestamp.microseconds(end) ?? 0, Self.forgottenAtOnce]
        )
        return true
    }

    /// The JSON of a message; what is damaged must not keep anybody from being erased.
    static let soundContent = "iif(json_valid(content), content, '{}')"

    /// Whether the payload of a message has one of some texts, wherever it stands.
    ///
    /// - Parameter list: an array of JSON, as an expression.
    static func names(inJSON list: String) -> String {
        """
        EXISTS (
            SELECT 1 FROM json_tree(\(soundContent), '$.payload') AS part CROSS JOIN json_each(\(list)) AS name
                ON part.atom = name.value
            WHERE part.type = 'text')
        """
    }

    /// Whether a message came on a card, with one of some taps: its identifier begins with the tap's.
    ///
    /// - Parameter taps: a query for the identifiers of the taps.
    static func cameWithTaps(_ taps: String) -> String {
        """
        \(soundContent) ->> '$.source.kind' = 'card'
            AND replace(substr(message.id, 1, 36), '-', '') IN (SELECT hex(event_id) FROM (\(taps)))
        """
    }
}
