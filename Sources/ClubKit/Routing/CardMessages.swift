import Foundation
import ReaderKit

/// Takes the messages that stand on a card.
///
/// A message is a record of JSON (a media type `application/json` or `…+json`), or a Text record of JSON, whose object has
/// a message type by the router's rule. A record without one is none; it may say who the member is.
///
/// Anybody can write a card. So only processors get these messages that take the source ``MessageSource/Kind/card``
/// explicitly, and the identifier is never the card's own: what a card says would otherwise keep out a message of the hub
/// with the same identifier, and `id` on a card is who the member is. It is made of the tap's identifier and the record's
/// place, so that the same tap given again is a duplicate, and the same card presented again is another message.
public struct CardMessages: Sendable {
    /// How many messages of one card are taken at most.
    public static let most = 16

    /// Who gets them.
    public let router: MessageRouter

    /// Takes messages for a router.
    public init(_ router: MessageRouter) {
        self.router = router
    }

    /// The messages on the card of a tap, in the order of the records. A message whose `expires` is no time is left out.
    public func messages(in event: ScanEvent) -> [Message] {
        var messages: [Message] = []
        for (index, record) in (event.ndef ?? []).enumerated() {
            guard messages.count < Self.most else { break }
            guard let json = Self.json(record),
                var message = try? Message(json: json, source: .card(event.reader), receivedAt: event.at),
                let type = router.messageType(of: message.payload)
            else { continue }
            message.id = "\(event.id.uuidString)/\(index + 1)"
            message.type = type
            messages.append(message)
        }
        return messages
    }

    /// Gives the messages on the card of a tap to the router, one after the other.
    ///
    /// Where the router keeps its messages in ``Club/inbox``, ``Club/receive(_:keeping:)`` keeps them together with the
    /// tap instead, so that no end of the program comes in between.
    ///
    /// - Returns: what became of each.
    /// - Throws: what the inbox says; the tap may be given again.
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
        case .mime(let type, let payload):
            let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
            return essence == "application/json" || essence.hasSuffix("+json") ? payload : nil
        default: return nil
        }
    }
}
