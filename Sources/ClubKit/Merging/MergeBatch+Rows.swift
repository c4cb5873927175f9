import Foundation
import GRDB
import GRDBSQLite
import ReaderKit

/// Rows of files without logical times.
extension MergeBatch {
    /// Merges rows, most of which create members in a file that is imported for the first time.
    mutating func apply(_ batch: ImportBatch) throws -> [ImportVerdict] {
        var verdicts = [ImportVerdict](repeating: .kept, count: batch.count)
        // Of hidden identifiers nobody sees the spelling.
        if transaction.device.key == nil { try progress.spellings.load(db) }
        // Looking members up by what stands for their identifiers needs strings.
        let isDirect = transaction.device.key == nil && !hasErasures && !hasCards && !hasJoined
        let rest = isDirect ? try insertUnknown(batch, &verdicts) : Array(batch.rows.indices)
        var members: [Int: Int64] = [:]
        var noted: [Int: [String]] = [:]
        for index in rest {
            let member = batch.member(batch.rows[index])
            notes = []
            verdicts[index] = try apply(member, isUntyped: batch.isUntyped)
            if !notes.isEmpty { noted[index] = notes }
            // Only by way of a card are two identifiers of one member.
            if hasCards || subject != member.userId { members[index] = try target(of: subject)?.id }
        }
        for (index, row) in batch.rows.enumerated() {
            let id = batch.bytes[row.userId.range]
            if let twin = progress.seen.add(id, members[index], row.row, verdicts[index]) {
                noted[index, default: []].append(twin.note(on: verdicts[index], mode))
            }
            if let note = try spellingNote(on: verdicts[index], id) { noted[index, default: []].append(note) }
        }
        for (index, notes) in noted { verdicts[index] = .noted(verdicts[index], notes) }
        return verdicts
    }

    /// Writes the members who are not there yet, and passes over those who are there just so.
    ///
    /// They are written in the order of their identifiers, so that each page of the index is looked for once, and are
    /// numbered in the order of the file.
    ///
    /// - Returns: the rows of the others, in the order of the file.
    private mutating func insertUnknown(_ batch: ImportBatch, _ verdicts: inout [ImportVerdict]) throws -> [Int] {
        let writer = try PlainMemberWriter(db, limit: limit)
        defer { writer.finish() }
        let first = try Int64.fetchOne(db, sql: "SELECT coalesce(max(id), 0) + 1 FROM member") ?? 1
        var rest: [Int] = []
        var latest: Int64 = 0
        var created = 0
        // A file is mostly new, or mostly known, so what was found last is looked for first.
        var isKnown = false
        for index in batch.orderOfIdentifiers() {
            let row = batch.rows[index]
            // What a member's row adds depends on those before it, so what comes behind one that waits has to wait too.
            let isBehind = rest.last.map { batch.isSameIdentifier(batch.rows[$0], row) } == true
            guard !isBehind, batch.mayBePlain(row, upTo: present) else {
                rest.append(index)
                continue
            }
            if isKnown, let id = try writer.idIfThere(row, of: batch) {
                noteOverwritten(id)
                continue
            }
            // A card in another spelling is a known one.
            if progress.spellings.member(like: batch.bytes[row.userId.range]) != nil {
                rest.append(index)
                continue
            }
            if try writer.insert(row, of: batch, id: first + Int64(index), creationSequence()) {
                verdicts[index] = .created
                latest = max(latest, row.stamp(believedUpTo: limit).time)
                created += 1
                isKnown = false
            } else if !isKnown, let id = try writer.idIfThere(row, of: batch) {
                noteOverwritten(id)
                isKnown = true
            } else {
                rest.append(index)
            }
        }
        if created > 0 {
            progress.noteCreated(first...first + Int64(batch.count) - 1, count: created)
            note(latest)
        }
        return rest.sorted()
    }

    mutating func apply(_ row: ImportedMember, isUntyped: Bool) throws -> ImportVerdict {
        guard MemberID.isUsable(row.userId) else { return .skipped(Self.unusableReason) }
        if row.username?.hasNUL == true || row.fields.nameWithNUL != nil { return .skipped(RowFault.nul(nil).reason) }
        guard let given = transaction.device.identifier(imported: row.userId) else {
            return .skipped(Self.otherKeyReason)
        }
        let userID = try known(given, row.userId)
        subject = userID
        let target = try target(of: userID)
        var row = believed(row, target)
        let erasure = try erasure(of: userID)
        // Whoever is there again is somebody else, and has what files tell of them.
        if target?.exists != true, erasure != nil { return .skipped(Self.erasedReason) }
        guard let target else {
            var facts = row.facts(readAt: transaction.device.now, believedUpTo: limit)
            if let standing = row.standing {
                try join(standing, of: row, into: &facts)
                try sell(standing, of: row, &facts, isNew: true)
            }
            let id = try transaction.members.insert(userID, facts, joined: &joined)
            progress.noteCreated(id)
            note(facts.latestTime)
            if let cards = row.standing?.cards, !cards.isEmpty, let target = try db.members.row(id: id) {
                _ = try give(cards, to: target)
            }
            return .created
        }
        let said = (row.username, row.fields)
        let standing = row.standing?.without(target.member.fields)
        func conflicts(with shown: MemberRow, _ facts: MemberFacts?) throws -> [FieldDifference] {
            let values = Self.conflicts(of: said, with: shown.member, isUntyped: isUntyped)
            guard let standing else { return values }
            return try values + self.conflicts(of: standing, with: shown, facts ?? shown.facts())
        }
        if mode == .addOnly, target.exists {
            if let standing { _ = try give(standing.cards, to: target, isTried: true) }
            return .of(conflicts: try conflicts(with: target, nil))
        }
        let before = try target.facts()
        guard target.exists || before.erasure == nil else { return .skipped(Self.erasedReason) }
        if let end = [erasure, before.erasure].compactMap(\.self).max(), row.isKnown(toBeBefore: end) {
            return .skipped(Self.formerReason)
        }
        row = try withoutVisitsOfOthers(row, target)
        var facts = before
        var read = row.facts(
            knowing: isUntyped ? target.member.fields : nil,
            addedAt: before.addedAt,
            readAt: max(transaction.device.now, target.latest),
            believedUpTo: limit
        )
        // Of somebody who is there a file that has no name states none.
        if target.exists, row.username?.isNothing ?? true { read = read.without("username") }
        var told = read.told(again: before)
        if told.claims.isEmpty, !read.claims.isEmpty { notes.append(Self.formerTotalNote) }
        if !told.claims.isEmpty {
            let total = try db.members.visitTotal(of: target, before)
            told.keepClaims { total.isNews($0.visits, $0.moment) }
        }
        if mode == .overwrite, target.exists {
            facts.join(told.withoutValues)
            try overwrite(row, standing, target, &facts, isUntyped)
        } else {
            facts.join(told)
            if let standing { try join(standing, of: row, into: &facts) }
        }
        if let standing { try sell(standing, of: row, &facts, isNew: false) }
        guard facts.exists else { return .skipped(Self.deletedReason) }
        // More would be taken by no other device either.
        if facts.overfull != nil { return .skipped(Self.overfullReason) }
        note(facts.latestTime)
        if facts != before {
            touch(target)
            try transaction.members.save(facts, of: target.id, joined: &joined)
        }
        guard let after = facts == before ? target : try db.members.row(id: target.id) else { return .kept }
        let cards = standing?.cards ?? []
        let hasNewCards = try give(cards, to: after)
        guard target.exists else {
            progress.noteCreated(target.id)
            return .created
        }
        guard facts != before || hasNewCards else { return .of(conflicts: try conflicts(with: target, before)) }
        var changes = Self.changes(from: target.member, to: after.member)
        if standing != nil { changes += Self.standing(from: before, to: facts) }
        if hasNewCards {
            changes.append(FieldDifference("$cards", stored: nil, imported: .array(cards.map { .string($0) })))
        }
        if before.erasure == nil {
            noteNews(of: target, changes.map(\.field))
        } else if !changes.isEmpty {
            // An entry on a merge would lose their name, as one of who was erased.
            let names = changes.map { FieldValue.string($0.field) }
            try transaction.audit(.edited, of: target.member.userId, context, detail: ["fields": .array(names)])
        }
        return .of(changes, conflicts: try conflicts(with: after, facts))
    }

    /// Who is known by another spelling of a new member's identifier, or had it as a card.
    private func spellingNote(on verdict: ImportVerdict, _ id: ArraySlice<UInt8>) throws -> String? {
        guard verdict == .created else { return nil }
        if let member = progress.spellings.member(like: id), let other = try db.members.row(id: member), other.exists {
            return Self.spellingNote(other.member.userId)
        }
        guard let key = try cardHolder(of: String(decoding: id, as: UTF8.self)),
            let holder = try db.members.row(userID: key),
            !holder.exists
        else { return nil }
        return "it was a card of \(PlainText.line(key)), who was deleted here"
    }

    func noted(_ verdict: ImportVerdict, on id: ArraySlice<UInt8>) throws -> ImportVerdict {
        try spellingNote(on: verdict, id).map { .noted(verdict, [$0]) } ?? verdict
    }

    /// The identifier under which a card is known, or was erased, that a file spells as other programs do.
    private mutating func known(_ userID: String, _ given: String) throws -> String {
        let mayBe =
            transaction.device.key != nil || hasErasures
            || progress.spellings.member(like: Array(given.utf8)[...]) != nil
        guard mayBe, try target(of: userID) == nil, try erasure(of: userID) == nil else { return userID }
        for other in transaction.device.identifiers(given) {
            if let row = try target(of: other) {
                // Two rows of one file may be two people.
                if progress.hasCreated(row.id) { continue }
                notes.append("it counts for \(PlainText.line(other)), which is the same card")
            } else if try erasure(of: other) == nil {
                continue
            }
            return other
        }
        return userID
    }

    /// The row without a last visit that lies ahead: its total counts as of now, or visits to come would be taken for a
    /// part of it.
    private mutating func believed(_ row: ImportedMember, _ target: MemberRow?) -> ImportedMember {
        guard let moment = row.lastVisitAt, moment.earliest > max(present, target?.latest ?? 0) else { return row }
        var row = row
        row.lastVisitAt = nil
        notes.append(Self.aheadNote)
        return row
    }

    /// Takes note of a member's row, of which later rows of the same member overwrite nothing.
    private mutating func noteOverwritten(_ id: Int64) {
        if mode == .overwrite { progress.overwritten.insert(id) }
    }

    /// Records the values of the row as of now, not of when the file was written, where they differ from what is shown.
    /// If there was an earlier row of the same member, its values stay: otherwise each import of the file would change
    /// the member again.
    private mutating func overwrite(
        _ row: ImportedMember,
        _ standing: Standing?,
        _ target: MemberRow,
        _ facts: inout MemberFacts,
        _ isUntyped: Bool
    ) throws {
        guard !progress.hasCreated(target.id), progress.overwritten.insert(target.id).inserted else { return }
        note(facts.latestTime)
        if let name = row.username, !name.isNothing, facts.value("username") != name.normalized {
            facts.set("username", name, try overwriteStamp())
        }
        for (name, value) in row.fields where !Self.isSame(facts.value(name), value, isUntyped) {
            if let known = facts.value(name), value.isShortened(of: known) {
                notes.append("\(PlainText.line(name)): \(Self.shortenedNote)")
                continue
            }
            facts.set(name, value, try overwriteStamp())
        }
        if let standing { try overwrite(standing, &facts) }
    }

    /// The row without the visits of others: for a member to whom others were joined, a file contains the total of all,
    /// which as a claim of that one's alone would count the others twice.
    ///
    /// What is no more than is counted up to the row's last visit states nothing new. A file of a kiosk that has not
    /// heard of the joining contains the member's own visits, and is read the same way, since nothing in it shows which
    /// it is: what it knows beyond this device's total of all is taken in, what is below it is not. Kiosks that
    /// exchange club files (``TransferFormat/clubkit``) lose and double nothing.
    func withoutVisitsOfOthers(_ row: ImportedMember, _ target: MemberRow) throws -> ImportedMember {
        guard hasJoined, target.exists, let total = row.numVisits,
            try db.members.isTarget(target.member.userId)
        else { return row }
        let group = try db.members.joined(to: target).filter(\.exists)
        guard group.count > 1, try db.members.representative(of: target).id == target.id else { return row }
        let now = max(transaction.device.now, target.latest)
        let time = row.lastVisitAt.flatMap { $0.isKnown ? $0.latest : nil } ?? now
        var others = 0
        var own = 0
        for one in group {
            let visits = try db.members.visitTotal(of: one, one.facts()).count(through: time)
            if one.id == target.id { own = visits } else { others = Int.sum(others, visits) }
        }
        var row = row
        row.numVisits = total > Int.sum(others, own) ? total - others : nil
        return row
    }
}

extension ImportedMember {
    /// The later of the latest visit and the creation, at which the row counts as recorded.
    fileprivate var time: Int64 { max(lastVisitAt?.at ?? 0, addedAt?.at ?? 0) }

    /// Whether it states a time, which is before that of an erasure: it is of who was erased.
    func isKnown(toBeBefore erasure: Stamp) -> Bool { time > 0 && Stamp.legacy(at: time).time <= erasure.time }

    /// The facts that the row contains: the same wherever it is imported, but for a total that names no latest visit,
    /// which is one of the moment at which it is read.
    ///
    /// - Parameters:
    ///   - stored: the fields that are known, for rows that know no types: what reads the same is the same.
    ///   - known: when the member was created, as far as it is known: what may be the same moment is that one.
    ///   - now: when the row is read, in microseconds since 1970.
    ///   - limit: the latest moment that is believed.
    func facts(
        knowing stored: [String: FieldValue]? = nil,
        addedAt known: Int64? = nil,
        readAt now: Int64,
        believedUpTo limit: Int64
    ) -> MemberFacts {
        var fields = fields
        if let stored {
            for (name, value) in fields {
                if let known = stored[name], known.cellText == value.cellText { fields[name] = known }
            }
        }
        let name: String? = if case .string(let name)? = username { name } else { nil }
        var added = addedAt?.isKnown == true ? addedAt?.at ?? 0 : lastVisitAt?.at ?? 0
        if let known {
            // Who visited was there by then, which states nothing of somebody of whom it is known when they came.
            let moment = addedAt?.isKnown == true ? addedAt : lastVisitAt
            if addedAt?.isKnown != true, known == 0 { added = 0 }
            if added < known, moment?.contains(known) == true { added = known }
        }
        var facts = MemberFacts.plain(
            origin: .legacy(at: time, believedUpTo: limit),
            addedAt: added,
            username: name,
            fields: fields,
            claim: nil
        )
        if let numVisits, let birth = facts.births.first {
            let moment = lastVisitAt.flatMap { $0.isKnown ? $0.written(by: now) : nil } ?? .unknown(upTo: now)
            facts.add(MemberFacts.Claim(visits: numVisits, moment: moment, stamp: birth.stamp))
        }
        return facts
    }

    init(_ member: Member, row: Int) {
        self.init(
            row: row,
            userId: member.userId,
            username: member.username.map { .string($0) } ?? .null,
            addedAt: Timestamp.microseconds(Date(timeIntervalSince1970: member.timeStampAdded)),
            numVisits: max(0, member.numVisits),
            lastVisitAt: Timestamp.microseconds(Date(timeIntervalSince1970: member.timeStampOfLastVisit)),
            fields: member.fields.filter { FieldKey.isCustom($0.key) }
        )
    }
}

extension ImportedMember {
    func stamp(believedUpTo limit: Int64) -> Stamp { .legacy(at: time, believedUpTo: limit) }
}

extension ImportBatch.Row {
    func stamp(believedUpTo limit: Int64) -> Stamp {
        .legacy(at: max(lastVisitAt?.at ?? 0, addedAt?.at ?? 0), believedUpTo: limit)
    }
}

extension ImportBatch {
    /// The rows in the order of their identifiers' bytes, and of the file where two have the same.
    func orderOfIdentifiers() -> [Int] {
        bytes.withUnsafeBytes { bytes in
            rows.indices.sorted { left, right in
                let (one, other) = (rows[left].userId, rows[right].userId)
                guard let start = bytes.baseAddress else { return left < right }
                let order = memcmp(start + one.start, start + other.start, min(one.count, other.count))
                return order == 0 ? (one.count, left) < (other.count, right) : order < 0
            }
        }
    }

    func isSameIdentifier(_ one: Row, _ other: Row) -> Bool {
        bytes[one.userId.range].elementsEqual(bytes[other.userId.range])
    }

    /// Whether the row's identifier is a plain one, it states values alone, and its total is one that the columns of a
    /// member hold: of a latest visit that is over, and whose digits show how exact it is. Whether the identifier is
    /// usable was looked at when the row was read.
    func mayBePlain(_ row: Row, upTo present: Int64) -> Bool {
        guard standings[row.row] == nil, row.lastVisitAt?.at ?? 0 <= present else { return false }
        if row.numVisits ?? 0 > 0, row.lastVisitAt.map({ $0.isKnown && $0.isPlain }) != true { return false }
        let mark: [UInt8] = [0x69, 0x64, 0x3A]
        return !bytes[row.userId.range].starts(with: mark)
    }
}

/// Writes members whom one row of a file distinguishes whole, straight from the file's bytes: the row is what
/// ``MemberSaving/save(_:of:)`` would make of the same facts, at a fraction of the time.
struct PlainMemberWriter {
    private let statement: Statement
    private let query: Statement
    private let database: Database
    private let limit: Int64

    init(_ db: Database, limit: Int64) throws {
        self.limit = limit
        statement = try db.cachedStatement(
            sql: """
                INSERT INTO member (id, user_id, username, added_at, num_visits, own_visits, last_visit_at, fields, origin_hlc,
                    claim_visits, claim_at, change_seq)
                VALUES (?11, ?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                ON CONFLICT (user_id) DO NOTHING
                """
        )
        query = try db.cachedStatement(
            sql: """
                SELECT id FROM member WHERE user_id = ?1 AND username IS ?2 AND added_at = ?3 AND fields = ?6
                    AND origin_hlc = ?7 AND origin_device IS NULL AND claim_visits IS ?8 AND claim_at IS ?9
                    AND status = 0 AND ended_hlc = -1 AND facts IS NULL
                """
        )
        database = db
    }

    /// Forgets the bytes that were written last.
    func finish() {
        for statement in [statement, query] {
            sqlite3_reset(statement.sqliteStatement)
            sqlite3_clear_bindings(statement.sqliteStatement)
        }
    }

    /// The id of a member whose row is the very one that this would write, so that nothing of it is new.
    func idIfThere(_ row: ImportBatch.Row, of batch: ImportBatch) throws -> Int64? {
        let (code, id) = step(query.sqliteStatement, row, batch)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw error(code) }
        return id
    }

    /// Writes a row. Returns false if there is one of that identifier already.
    func insert(_ row: ImportBatch.Row, of batch: ImportBatch, id: Int64, _ sequence: Int64) throws -> Bool {
        let handle = statement.sqliteStatement
        sqlite3_bind_int64(handle, 4, Int64(max(row.numVisits ?? 0, 0)))
        if (row.numVisits ?? 0) > 0 {
            sqlite3_bind_int64(handle, 5, row.lastVisitAt?.at ?? 0)
        } else {
            sqlite3_bind_null(handle, 5)
        }
        sqlite3_bind_int64(handle, 10, sequence)
        sqlite3_bind_int64(handle, 11, id)
        let (code, _) = step(handle, row, batch)
        guard code == SQLITE_DONE else { throw error(code) }
        return database.changesCount == 1
    }

    /// Binds what both statements have, and runs one of them. Returns SQLite's code, and the number that the row has
    /// which was found.
    private func step(_ handle: OpaquePointer?, _ row: ImportBatch.Row, _ batch: ImportBatch) -> (Int32, Int64?) {
        let latest = row.lastVisitAt?.at ?? 0
        let added = row.addedAt?.at ?? 0
        return batch.bytes.withUnsafeBufferPointer { bytes in
            // The bytes stay where they are until the statement has run, and every value is bound anew each time.
            func bind(_ index: Int32, _ text: ImportBatch.Text) {
                let part = UnsafeBufferPointer(rebasing: bytes[text.range])
                guard let start = part.baseAddress, text.count > 0 else {
                    sqlite3_bind_text(handle, index, "", 0, Self.copied)
                    return
                }
                start.withMemoryRebound(to: CChar.self, capacity: text.count) {
                    _ = sqlite3_bind_text(handle, index, $0, Int32(text.count), nil)
                }
            }
            bind(1, row.userId)
            if case .text(let text) = row.username { bind(2, text) } else { sqlite3_bind_null(handle, 2) }
            sqlite3_bind_int64(handle, 3, added != 0 ? added : latest)
            if let visits = row.numVisits, visits > 0 {
                sqlite3_bind_int64(handle, 8, Int64(visits))
                sqlite3_bind_int64(handle, 9, latest)
            } else {
                sqlite3_bind_null(handle, 8)
                sqlite3_bind_null(handle, 9)
            }
            if let fields = row.fields { bind(6, fields) } else { sqlite3_bind_text(handle, 6, "{}", 2, Self.copied) }
            sqlite3_bind_int64(handle, 7, row.stamp(believedUpTo: limit).time)
            let code = sqlite3_step(handle)
            let number = code == SQLITE_ROW ? sqlite3_column_int64(handle, 0) : nil
            sqlite3_reset(handle)
            return (code, number)
        }
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
    }

    /// `SQLITE_TRANSIENT`: SQLite copies the text.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
