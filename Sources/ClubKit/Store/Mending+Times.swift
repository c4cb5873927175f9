import Foundation
import GRDB
import ReaderKit

/// The logical clock, and records at no possible time.
extension Mending {
    /// Sets the clock after all records, or to the present where it shows what no clock does.
    mutating func mendClock() throws {
        let latest = try LogicalTimes.latest(in: db)
        let stored =
            try LogicalTimes.isClockAhead(now: transaction.device.clock(), in: db) ? nil : LogicalTimes.clock(in: db)
        let isWhole = try Bool.fetchOne(db, sql: "SELECT count(*) = 1 AND min(id) = 1 FROM clock") ?? false
        if let stored, stored >= latest, isWhole { return }
        let time = max(latest, stored ?? LogicalTimes.present(transaction.device.clock()))
        try db.execute(sql: "DELETE FROM clock; INSERT INTO clock (id, hlc) VALUES (1, \(time))")
        let words = stored == nil ? "the logical clock was set anew" : "the logical clock was set after all records"
        if !mended.contains(words) { mended.append(words) }
    }

    /// Sets the logical time of records whose own is impossible to one near to when they were made.
    mutating func mendTimes() throws {
        try mendOrigins()
        try mendTimes(of: "visit", key: "event_id")
        try mendTimes(of: "undo", key: "event_id")
        try mendTimes(of: "audit", key: "hlc")
        try note(
            "visits count again",
            changing: """
                UPDATE visit SET born = coalesce((SELECT origin_hlc FROM member WHERE id = member_id), 0)
                WHERE NOT born \(LogicalTimes.isPossible)
                """
        )
        if try db.has("card WHERE NOT hlc \(LogicalTimes.isPossible)") {
            let now = try transaction.nextStamp()
            let sql = "UPDATE card SET hlc = ?, device_id = ? WHERE NOT hlc \(LogicalTimes.isPossible)"
            try note("cards are their members' from now on", changing: sql, [now.time, now.device])
        }
        try mendErasures()
    }

    private mutating func mendTimes(of table: String, key: String) throws {
        let rows = try db.rows("SELECT device_id, at, \(key) FROM \(table) WHERE NOT hlc \(LogicalTimes.isPossible)")
        for row in rows {
            let device: UUID = try row.value(0)
            let time = try freeTime(near: try row.value(1), of: device, in: table)
            let value: DatabaseValue = row[2]
            try db.write("UPDATE \(table) SET hlc = ? WHERE device_id = ? AND \(key) = ?", [time, device, value])
            try transaction.observe(time)
        }
        note("records got a possible logical time", rows.count)
    }

    /// A creation was when the visits state that were made under it, else when the member was added.
    private mutating func mendOrigins() throws {
        let sql = """
            SELECT id, facts IS NULL FROM member
            WHERE NOT origin_hlc \(LogicalTimes.isPossible) OR ended_hlc NOT BETWEEN -1 AND \(Stamp.latestTime - 1)
            """
        let rows = try db.rows(sql)
        for stored in rows {
            let (id, isPlain): (Int64, Bool) = (try stored.value(0), try stored.value(1))
            touched.insert(id)
            note("members got a possible time of their creation or deletion", 1)
            guard let row = try db.members.row(id: id) else { continue }
            let added = Timestamp.microseconds(Date(timeIntervalSince1970: row.member.timeStampAdded)) ?? 0
            var origin = row.origin
            if !(0..<Stamp.latestTime).contains(origin.time) {
                let sql = "SELECT max(born) FROM visit WHERE member_id = ? AND born \(LogicalTimes.isPossible)"
                let born: Int64? = try db.value(sql, [id])
                if let born {
                    origin.time = born
                } else if origin.isLegacy {
                    origin = .legacy(at: added)
                } else {
                    origin.time = try freeTime(near: added, of: origin.device, in: "visit")
                }
            }
            var ended = row.ended
            // Visits of a creation before this one ended with it.
            if !(-1..<Stamp.latestTime).contains(ended) { ended = row.exists && isPlain ? -1 : origin.time - 1 }
            try db.write("UPDATE member SET origin_hlc = ?, ended_hlc = ? WHERE id = ?", [origin.time, ended, id])
        }
    }

    /// An erasure was before whoever is there under that identifier began, else it counts from now on.
    private mutating func mendErasures() throws {
        let rows = try Row.fetchAll(db, sql: "SELECT salt, hash FROM erased WHERE NOT hlc \(LogicalTimes.isPossible)")
        guard !rows.isEmpty else { return }
        let now = try transaction.nextStamp().time
        var times: [[Data]: Int64] = [:]
        for row in rows { times[[try row.value(0), try row.value(1)]] = now }
        let sql = "SELECT user_id, origin_hlc FROM member WHERE status <> 1 AND origin_device IS NOT NULL"
        let members = try Row.fetchCursor(db, sql: sql)
        let salts = Set(times.keys.map { $0[0] })
        while let member = try members.next() {
            for salt in salts {
                let key = [salt, Erasure.hash(try member.value(0), salt: salt)]
                if times[key] != nil { times[key] = max(try member.value(1) - 1, 0) }
            }
        }
        for (key, time) in times {
            try db.write("UPDATE erased SET hlc = ? WHERE salt = ? AND hash = ?", [time, key[0], key[1]])
        }
        note("records got a possible logical time", rows.count)
    }

    /// A logical time near that time (microseconds since 1970) at which that device has made no record in the table.
    func freeTime(near at: Int64, of device: UUID, in table: String) throws -> Int64 {
        // Far enough from the end that there is a free one.
        let limit = Stamp.latestTime - (1 << 32)
        var time = min(Stamp.time(milliseconds: at / 1000, counter: 0), limit)
        while try db.has("\(table) WHERE device_id = ? AND hlc = ?", [device, time]) {
            // The largest counter is that of files.
            time &+= time & 0xFFFF == 0xFFFE ? 2 : 1
        }
        return time
    }
}
