import Foundation
import ReaderKit

/// Extracts the messages on a card.
///
/// A message is a record of JSON (a media type `application/json` or `…+json`), or a Text record of JSON, whose object
/// has a message type by the router's rule. A record without one is no message; it may identify the member.
///
/// Anybody can write a card. Therefore only processors that explicitly accept the source ``MessageSource/Kind/card``
/// receive these messages, and the identifier is never the card's own: it could otherwise block a message of the hub
/// with the same identifier, and `id` on a card is the member's. It consists of the tap's identifier and the index of
/// the record, so that the same tap received again is a duplicate, and the same card presented again is another
/// message.
public struct CardMessages: Sendable {
    /// The maximum number of messages of one card.
    public static let most = 16

    /// The router that receives the messages.
    public let router: MessageRouter

    /// Creates an extractor of messages for a router.
    public init(_ router: MessageRouter) {
        self.router = router
    }

    /// Returns the messages on the card of a tap, in the order of the records. A message whose `expires` is no time is
    /// omitted.
    public func messages(in event: ScanEvent) -> [Message] {
        var messages: [Message] = []
        for (index, record) in (event.ndef ?? []).enumerated() {
            guard messages.count < Self.most else { break }
            guard let json = Self.json(record),
                var message = try? Message(
                    json: json,
                    source: MessageSource(.card, name: event.reader),
                    receivedAt: event.at
                ),
                let type = router.messageType(of: message.payload)
            else { continue }
            message.id = "\(event.id.uuidString)/\(index + 1)"
            message.type = type
            messages.append(message)
        }
        return messages
    }

    /// Passes the messages on the card of a tap to the router, one after the other.
    ///
    /// If the router keeps its messages in ``Club/inbox``, ``Club/receive(_:keeping:)`` keeps them together with the
    /// tap instead, so that none is lost if the program ends in between.
    ///
    /// - Returns: the result of each message.
    /// - Throws: the error of the inbox; the tap may be retried.
    @discardableResult
    public func accept(_ event: ScanEvent) async throws(ClubError) -> [RoutingResult] {
        var results: [RoutingResult] = []
        for message in messages(in: event) { results.append(try await router.accept(message)) }
        return results
    }

    /// The bytes of a record that may be JSON.
    private static func json(_ record: NDEFRecord) -> [UInt8]? {
        guard record.payload.count <= 2 * Message.longest else { return nil }
        switch record.content {
        case .text(let text): return Array(text.text.utf8)
        default: return record.mediaType?.kind == .json ? record.mediaText.map { Array($0.utf8) } : nil
        }
    }
}
