import ClubRecords
import Foundation

/// Where messages are kept from their arrival on: what a router relies on for nothing to be lost and nothing to be
/// processed twice.
///
/// One router at a time works on an inbox. Calls may come from any task, several at a time; each takes effect as a whole.
/// What a durable inbox has answered holds after a crash.
public protocol MessageInbox: Sendable {
    /// Keeps a message, behind all others, as pending.
    ///
    /// - Returns: `false` if a message with this identifier is or was there, in any state; it is left as it is.
    func add(_ message: Message) async throws(ClubError) -> Bool

    /// Notes that processing a message begins.
    ///
    /// - Returns: the how many-th attempt it is, from 1.
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if there is no such message, or it is not pending.
    func beginAttempt(_ id: String) async throws(ClubError) -> Int

    /// Notes what became of a message: it is done, or a dead letter if ``RoutingResult/Outcome/isDead`` says so.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMessage`` if there is no such message.
    func settle(_ id: String, outcome: RoutingResult.Outcome, at date: Date) async throws(ClubError)

    /// The messages that are to be processed, in the order in which they came or were opened again.
    func pending() async throws(ClubError) -> [InboxEntry]

    /// What is there, in the same order: of more than `limit` entries the latest ones.
    ///
    /// - Parameter state: only those in this state; all if `nil`.
    func entries(_ state: InboxEntry.State?, limit: Int) async throws(ClubError) -> [InboxEntry]

    /// Makes a dead letter pending again, behind all others that are, without attempts, an outcome or a reason.
    ///
    /// - Returns: the message, or `nil` if there is no such dead letter.
    func reopen(_ id: String) async throws(ClubError) -> Message?

    /// Forgets the messages that were settled before a moment. Their identifiers are new from then on.
    ///
    /// - Returns: how many.
    @discardableResult
    func prune(before date: Date) async throws(ClubError) -> Int
}
