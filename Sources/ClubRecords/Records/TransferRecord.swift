import CardPasses
import Foundation

/// A line of a club's file: a piece of what merges. Times (`at`) are microseconds since 1970; `born` is the creation
/// with which a record ends, as the raw value of a logical clock.
package enum TransferRecord: Sendable, Hashable {
    case member(Person)
    case card(Card)
    case visit(Visit)
    case undo(Undo)
    case reset(Reset)
    case event(Event)
    case execution(Execution)
    case settlement(Settlement)
    case erasure(Erasure)
    case audit(Audit)

    /// What was recorded of a member.
    package struct Person: Sendable, Hashable {
        package var userId: String
        package var facts: MemberFacts

        package init(userId: String, facts: MemberFacts) {
            self.userId = userId
            self.facts = facts
        }
    }

    /// A card's state, of which the one with the latest stamp counts.
    package struct Card: Sendable, Hashable, Codable {
        package var cardId: String
        /// Whose it is: a ``Member/userId``.
        package var userId: String
        /// Why the card is blocked; `nil` if it is not.
        package var blocked: String?
        package var stamp: Stamp

        package init(cardId: String, userId: String, blocked: String?, stamp: Stamp) {
            self.cardId = cardId
            self.userId = userId
            self.blocked = blocked
            self.stamp = stamp
        }
    }

    /// An entry of the ledger.
    package struct Visit: Sendable, Hashable, Codable {
        package var eventID: UUID
        package var stamp: Stamp
        package var userId: String
        package var at: Int64
        package var reader: String
        package var backend: String
        package var born: Int64
        /// `card` or `manual`.
        package var source: String
        package var reason: String?
        package var actor: String?

        package init(
            eventID: UUID,
            stamp: Stamp,
            userId: String,
            at: Int64,
            reader: String,
            backend: String,
            born: Int64,
            source: String,
            reason: String? = nil,
            actor: String? = nil
        ) {
            self.eventID = eventID
            self.stamp = stamp
            self.userId = userId
            self.at = at
            self.reader = reader
            self.backend = backend
            self.born = born
            self.source = source
            self.reason = reason
            self.actor = actor
        }
    }

    /// An entry of the ledger that takes a visit back.
    package struct Undo: Sendable, Hashable, Codable {
        package var eventID: UUID
        package var stamp: Stamp
        package var at: Int64
        package var reason: String?
        package var actor: String?

        package init(eventID: UUID, stamp: Stamp, at: Int64, reason: String? = nil, actor: String? = nil) {
            self.eventID = eventID
            self.stamp = stamp
            self.at = at
            self.reason = reason
            self.actor = actor
        }
    }

    /// Somebody who must not come back by way of a file.
    package struct Erasure: Sendable, Hashable, Codable {
        package var salt: Data
        package var hash: Data
        package var stamp: Stamp

        package init(salt: Data, hash: Data, stamp: Stamp) {
            self.salt = salt
            self.hash = hash
            self.stamp = stamp
        }
    }

    package struct Audit: Sendable, Hashable, Codable {
        package var stamp: Stamp
        package var at: Int64
        package var actor: String?
        package var action: String
        package var subject: String?
        package var detail: [String: FieldValue]?

        package init(
            stamp: Stamp,
            at: Int64,
            actor: String?,
            action: String,
            subject: String?,
            detail: [String: FieldValue]?
        ) {
            self.stamp = stamp
            self.at = at
            self.actor = actor
            self.action = action
            self.subject = subject
            self.detail = detail
        }
    }
}

/// The form of a member in a club's file. Somebody of whom nothing was ever changed is reported in short.
extension TransferRecord.Person: Codable {
    private enum CodingKeys: String, CodingKey {
        case userId, facts, origin, addedAt, username, fields, visits, visitsAt
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        userId = try container.decode(String.self, forKey: .userId)
        if let facts = try container.decodeIfPresent(MemberFacts.self, forKey: .facts) {
            self.facts = facts
            return
        }
        var claim: (visits: Int, at: Int64)?
        if let visits = try container.decodeIfPresent(Int.self, forKey: .visits) {
            claim = (visits, try container.decode(Int64.self, forKey: .visitsAt))
        }
        facts = .plain(
            origin: try container.decode(Stamp.self, forKey: .origin),
            addedAt: try container.decode(Int64.self, forKey: .addedAt),
            username: try container.decodeIfPresent(String.self, forKey: .username),
            fields: try container.decodeIfPresent([String: FieldValue].self, forKey: .fields) ?? [:],
            claim: claim
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(userId, forKey: .userId)
        try container.encode(facts, forKey: .facts)
    }
}

extension TransferRecord: Codable {
    package enum CodingKeys: String, CodingKey, CaseIterable {
        case member, card, visit, undo, erasure, audit, reset, event, execution, settlement
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let key = container.allKeys.first, container.allKeys.count == 1 else {
            throw RowFault(nil, "expected one record of a kind that is known")
        }
        switch key {
        case .member: self = .member(try container.decode(Person.self, forKey: key))
        case .card: self = .card(try container.decode(Card.self, forKey: key))
        case .visit: self = .visit(try container.decode(Visit.self, forKey: key))
        case .undo: self = .undo(try container.decode(Undo.self, forKey: key))
        case .erasure: self = .erasure(try container.decode(Erasure.self, forKey: key))
        case .audit: self = .audit(try container.decode(Audit.self, forKey: key))
        case .reset: self = .reset(try container.decode(Reset.self, forKey: key))
        case .event:
            var event = try container.decode(Event.self, forKey: key)
            if event.undone == false { event.undone = nil }
            self = .event(event)
        case .execution: self = .execution(try container.decode(Execution.self, forKey: key))
        case .settlement: self = .settlement(try container.decode(Settlement.self, forKey: key))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let (key, value) = content
        try container.encode(value, forKey: key)
    }

    /// What it is, if it is no member.
    var kind: String? { if case .member = self { nil } else { content.key.rawValue } }

    private var content: (key: CodingKeys, value: any Encodable) {
        switch self {
        case .member(let value): (.member, value)
        case .card(let value): (.card, value)
        case .visit(let value): (.visit, value)
        case .undo(let value): (.undo, value)
        case .erasure(let value): (.erasure, value)
        case .audit(let value): (.audit, value)
        case .reset(let value): (.reset, value)
        case .event(let value): (.event, value)
        case .execution(let value): (.execution, value)
        case .settlement(let value): (.settlement, value)
        }
    }

    /// The member it is of, if it names one.
    package var userId: String? {
        switch self {
        case .member(let value): value.userId
        case .card(let value): value.userId
        case .visit(let value): value.userId
        case .audit(let value): value.subject
        case .reset(let value): value.subject.userId
        case .event(let value): value.subject.userId
        case .execution(let value): value.subject.userId
        case .undo, .settlement, .erasure: nil
        }
    }
}

extension TransferRecord {
    /// Whose it is: `["member", userId]`, `["group", tag]` or `["kiosk", device]`.
    package struct Subject: Sendable, Hashable, Codable {
        /// One of ``Kind``, or of a kind that only a newer version knows.
        package var kind: String
        package var text: String

        package enum Kind: String, Sendable, CaseIterable {
            case member
            case group
            case kiosk
        }

        package init(_ kind: String, _ text: String) {
            self.kind = kind
            self.text = text
        }

        var userId: String? { kind == Kind.member.rawValue ? text : nil }

        package init(from decoder: any Decoder) throws {
            (kind, text) = try decoder.list(of: String.self, String.self)
        }

        package func encode(to encoder: any Encoder) throws { try encoder.encodeList(kind, text) }
    }

    /// Something that counts for scenarios.
    package struct Event: Sendable, Hashable, Codable {
        package var eventID: UUID
        package var stamp: Stamp
        package var subject: Subject
        package var name: String
        package var at: Int64
        package var born: Int64
        /// The visit that it stands for.
        package var visit: UUID?
        /// Whether that visit was undone; missing if it was not.
        package var undone: Bool?

        package init(
            eventID: UUID,
            stamp: Stamp,
            subject: Subject,
            name: String,
            at: Int64,
            born: Int64,
            visit: UUID? = nil,
            undone: Bool? = nil
        ) {
            self.eventID = eventID
            self.stamp = stamp
            self.subject = subject
            self.name = name
            self.at = at
            self.born = born
            self.visit = visit
            self.undone = undone == true ? true : nil
        }
    }

    /// What a scenario was charged with.
    package struct Execution: Sendable, Hashable, Codable {
        package var id: UUID
        package var stamp: Stamp
        package var subject: Subject
        package var scenario: String
        package var at: Int64
        package var born: Int64
        package var visit: UUID?
        package var number: Int

        package init(
            id: UUID,
            stamp: Stamp,
            subject: Subject,
            scenario: String,
            at: Int64,
            born: Int64,
            visit: UUID? = nil,
            number: Int
        ) {
            self.id = id
            self.stamp = stamp
            self.subject = subject
            self.scenario = scenario
            self.at = at
            self.born = born
            self.visit = visit
            self.number = number
        }
    }

    /// What became of an execution.
    package struct Settlement: Sendable, Hashable, Codable {
        package var id: UUID
        package var state: String
        package var stamp: Stamp
        package var at: Int64
        package var reason: String?
        package var actor: String?

        package init(id: UUID, state: String, stamp: Stamp, at: Int64, reason: String? = nil, actor: String? = nil) {
            self.id = id
            self.state = state
            self.stamp = stamp
            self.at = at
            self.reason = reason
            self.actor = actor
        }
    }

    /// Up to when a scenario's executions, or the events of a name, do not count.
    package struct Reset: Sendable, Hashable, Codable {
        package var subject: Subject
        package var scenario: String
        package var stamp: Stamp

        package init(subject: Subject, scenario: String, stamp: Stamp) {
            self.subject = subject
            self.scenario = scenario
            self.stamp = stamp
        }
    }
}
