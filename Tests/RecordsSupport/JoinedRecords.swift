import ClubRecords
import Foundation

extension MemberFacts {
    /// What both together say.
    package func joined(with other: MemberFacts) -> MemberFacts {
        var result = self
        result.join(other)
        return result
    }
}

extension JoinableRecord {
    /// What both together say.
    package func joined(with other: Self) -> Self {
        var result = self
        _ = result.join(other)
        return result
    }
}

extension TransferRecord {
    /// What a record is about; texts are bytes, since Swift takes some for equal that are not. Of each key a store has one
    /// record.
    package enum Key: Sendable, Hashable {
        case member([UInt8])
        case card([UInt8])
        case visit(UUID)
        case undo(UUID)
        case reset(kind: [UInt8], subject: [UInt8], scenario: [UInt8])
        case event(UUID)
        case execution(UUID)
        case settlement(UUID, state: [UInt8])
        case erasure(salt: Data, hash: Data)
        case audit(Stamp, at: Int64, action: [UInt8])
    }

    /// What it is about.
    package var key: Key {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        return switch self {
        case .member(let one): .member(bytes(one.userId))
        case .card(let one): .card(bytes(one.cardId))
        case .visit(let one): .visit(one.eventID)
        case .undo(let one): .undo(one.eventID)
        case .reset(let one):
            .reset(kind: bytes(one.subject.kind), subject: bytes(one.subject.text), scenario: bytes(one.scenario))
        case .event(let one): .event(one.eventID)
        case .execution(let one): .execution(one.id)
        case .settlement(let one): .settlement(one.id, state: bytes(one.state))
        case .erasure(let one): .erasure(salt: one.salt, hash: one.hash)
        case .audit(let one): .audit(one.stamp, at: one.at, action: bytes(one.action))
        }
    }

    /// What two records of one ``key`` say together.
    ///
    /// It is commutative, associative and idempotent, to the byte, so devices that have heard the same records, in whatever
    /// order and however often, hold the same.
    ///
    /// - Returns: this record where the other one has another key.
    package func joined(with other: TransferRecord) -> TransferRecord {
        switch (self, other) {
        case (_, _) where key != other.key: self
        case (.member(let one), .member(let other)):
            .member(Person(userId: one.userId, facts: one.facts.joined(with: other.facts)))
        case (.card(let one), .card(let other)): .card(one.joined(with: other))
        case (.visit(let one), .visit(let other)): .visit(one.joined(with: other))
        case (.undo(let one), .undo(let other)): .undo(one.joined(with: other))
        case (.reset(let one), .reset(let other)): .reset(one.joined(with: other))
        case (.event(let one), .event(let other)): .event(one.joined(with: other))
        case (.execution(let one), .execution(let other)): .execution(one.joined(with: other))
        case (.settlement(let one), .settlement(let other)): .settlement(one.joined(with: other))
        case (.erasure(let one), .erasure(let other)): .erasure(one.joined(with: other))
        case (.audit(let one), .audit(let other)): .audit(one.joined(with: other))
        default: self
        }
    }
}
