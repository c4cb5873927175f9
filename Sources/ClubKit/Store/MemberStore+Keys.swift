import Foundation
import GRDB

/// Keys that people type.
extension MemberStore {
    /// What may stand for an identifier that a person gives: first as it is, then as a reader would tell it, without the
    /// blanks around it, which is also the last one, then as files spell it that were imported.
    func identifiers(_ given: String) -> [String] {
        let trimmed = given.trimmingCharacters(in: .whitespaces)
        let told = CardKey.normalised(trimmed) ?? (trimmed.isEmpty ? given : trimmed)
        let others = CardKey.spellings(told).filter { $0 != given }
        return (others.isEmpty && told == given ? [given] : [given, told] + others + [told]).map { identifier($0) }
    }

    /// The one of ``identifiers(_:)`` that leads to a member, else the way a reader tells it.
    static func cardKey(_ keys: [String], in db: Database) throws -> String {
        for key in keys where try found(key, in: db) != nil { return key }
        return keys.last ?? ""
    }

    /// The member with the first of these identifiers that leads to one.
    static func found(_ keys: [String], in db: Database) throws -> MemberRow? {
        for key in keys {
            if let row = try found(key, in: db) { return row }
        }
        return nil
    }

    /// The member with the first of these identifiers that leads to one.
    ///
    /// - Throws: ``ClubError/Kind/noSuchMember``.
    static func member(_ keys: [String], _ attempt: String, in db: Database) throws -> MemberRow {
        guard let row = try found(keys, in: db) else { throw ClubError(.noSuchMember, attempting: attempt) }
        return row
    }
}
