import Foundation

/// The state of scenarios in a club's file.
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

        /// The member, if it is one.
        var userId: String? { kind == Kind.member.rawValue ? text : nil }

        package init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            kind = try container.decode(String.self)
            text = try container.decode(String.self)
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(kind)
            try container.encode(text)
        }
    }

    /// Something that counts for scenarios.
    package struct Event: Sendable, Hashable, Codable {
        package var eventID: UUID
        package var stamp: Stamp
        package var subject: Subject
        package var name: String
        /// Microseconds since 1970.
        package var at: Int64
        /// The creation with which it ends, as the raw value of a logical clock.
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
        /// Microseconds since 1970.
        package var at: Int64
        /// The creation with which it ends, as the raw value of a logical clock.
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
        /// Microseconds since 1970.
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
