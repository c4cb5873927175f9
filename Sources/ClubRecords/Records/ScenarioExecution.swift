import CardCore
import Foundation

/// An execution of a scenario: it was due, was charged, and is to be delivered.
///
/// In JSON the time is ISO 8601 in UTC, to the millisecond; absent values are omitted.
public struct ScenarioExecution: Sendable, Hashable, Identifiable {
    /// The identifier of the execution, the same on all devices.
    public var id: UUID

    /// The scenario's identifier.
    public var scenario: String

    /// The subject of the execution.
    public var subject: ScenarioSubject

    /// The time at which it was charged.
    public var at: Date

    /// The identifier of the tap that made it due, if any.
    public var visit: UUID?

    /// The number of the execution for this subject and scenario, from 1.
    public var number: Int

    /// The state of the execution.
    public var state: State

    /// The time of the current state, if delivered, refunded or redeemed.
    public var settledAt: Date?

    /// The person who settled it, if any.
    public var actor: String?

    /// The reason, such as an error.
    public var reason: String?

    /// The states of an execution.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// It counts, and is yet to be delivered.
        case charged
        /// It was delivered.
        case delivered
        /// It failed and does not count.
        case refunded
        /// It was redeemed, once.
        case redeemed
    }

    /// Creates an execution.
    public init(
        id: UUID,
        scenario: String,
        subject: ScenarioSubject,
        at: Date,
        visit: UUID? = nil,
        number: Int,
        state: State = .charged
    ) {
        self.id = id
        self.scenario = scenario
        self.subject = subject
        self.at = at
        self.visit = visit
        self.number = number
        self.state = state
    }
}

extension ScenarioExecution: Encodable {
    /// Encodes an object whose keys are the names of the values.
    public func encode(to encoder: any Encoder) throws {
        try encoder.encodeObject([
            "id": id, "scenario": scenario, "subject": subject, "at": ISO8601.text(at), "visit": visit,
            "number": number, "state": state, "settledAt": settledAt.map(ISO8601.text), "actor": actor,
            "reason": reason,
        ])
    }
}

extension KeyedDecodingContainer {
    package func time(forKey key: Key) throws -> Date {
        let text = try decode(String.self, forKey: key)
        guard let date = ISO8601.date(text) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "no time of ISO 8601")
        }
        return date
    }
}

/// The subject for which a scenario is evaluated.
///
/// In JSON: `{"member": "04A2…"}`, `{"group": "students"}` or `{"kiosk": true}`.
public enum ScenarioSubject: Sendable, Hashable {
    /// The member with that ``Member/userId``.
    case member(String)
    /// All members with that tag together.
    case group(String)
    /// This device.
    case kiosk
}

extension ScenarioSubject: Encodable {
    /// Encodes an object with one key.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .member(let id): try encoder.encodeObject(["member": id])
        case .group(let tag): try encoder.encodeObject(["group": tag])
        case .kiosk: try encoder.encodeObject(["kiosk": true])
        }
    }
}

extension ScenarioSubject: Redacted {
    /// The kind of subject. The identity is omitted, to keep it out of logs.
    public var description: String {
        switch self {
        case .member: "a member"
        case .group: "a group"
        case .kiosk: "the kiosk"
        }
    }
}
