import Foundation
import GRDB
import ReaderKit

/// Writes everything that merges into a club's file.
struct ClubFileExport {
    let device: UUID
    let at: Date
    /// Computes the checksum of what it writes.
    let output: OutputFile
    /// Called now and then; throwing ends the export.
    let progress: (TransferProgress) throws -> Void

    private static let newline: UInt8 = 0x0A

    /// Writes all of the store.
    ///
    /// - Parameter tooLong: gets whose records are longer than a line may be, so that nobody takes them.
    /// - Returns: how many members there are, and how many records in all.
    func write(_ db: Database, tooLong: inout [String]) throws -> (members: Int, records: Int) {
        var total = 0
        for table in [
            "erased", "member", "card", "visit", "undo", "scenario_reset", "scenario_event", "scenario_execution",
            "scenario_settlement", "audit",
        ] {
            total += try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
        }
        let clock = try Int64.fetchOne(db, sql: "SELECT hlc FROM clock") ?? 0
        try append(ClubFile.line(ClubFile.Header(device: device, exportedAt: ISO8601.text(at), clock: clock)))
        var count = Count(total: total)
        var (members, visits) = (0, 0)
        try TransferRecord.forEach(in: db, members: { members = try self.members(db, &count, &tooLong) }) { record in
            if case .visit = record { visits += 1 }
            try append(record, &count)
        }
        let sum = try output.checksum().hex
        let sums = ClubFile.Trailer(records: count.records, members: members, visits: visits, sha256: sum)
        try append(ClubFile.line(["end": sums]))
        try progress(TransferProgress(bytes: output.count, rows: count.records, totalRows: total))
        return (members, count.records)
    }

    private struct Count {
        let total: Int
        var records = 0
    }

    private func append(_ line: Data) throws {
        try output.write { text in
            text.append(contentsOf: line)
            text.append(Self.newline)
        }
    }

    private func append(_ record: TransferRecord, _ count: inout Count) throws {
        try append(ClubFile.line(record))
        try step(&count)
    }

    private func step(_ count: inout Count) throws {
        count.records += 1
        guard count.records.isMultiple(of: MemberExport.step) else { return }
        try progress(TransferProgress(bytes: output.count, rows: count.records, totalRows: count.total))
    }

    // MARK: Members

    private func members(_ db: Database, _ count: inout Count, _ tooLong: inout [String]) throws -> Int {
        // A row without facts is only there to be joined to records of others.
        let rows = try RawRows(
            db,
            """
            SELECT user_id, username, added_at, fields, origin_hlc, origin_device, claim_visits, claim_at, facts
            FROM member WHERE facts IS NOT NULL OR status <> 1 ORDER BY id
            """
        )
        var members = 0
        while try rows.next() {
            let before = output.count
            try output.write { text in
                text.append(contentsOf: #"{"member":{"#.utf8)
                if rows.isNull(8) {
                    plain(rows, &text)
                } else {
                    text.append(contentsOf: #""facts":"#.utf8)
                    text.append(contentsOf: rows.bytes(8))
                }
                text.append(contentsOf: #","userId":"#.utf8)
                JSONText.append(rows.bytes(0), to: &text)
                text.append(contentsOf: "}}\n".utf8)
            }
            if output.count - before > ClubFile.longestLine {
                tooLong.append(String(decoding: rows.bytes(0), as: UTF8.self))
            }
            members += 1
            try step(&count)
        }
        return members
    }

    /// A member whom one row describes completely, in the form that ``TransferRecord/Person`` reads.
    private func plain(_ row: RawRows, _ text: inout [UInt8]) {
        text.append(contentsOf: #""addedAt":"#.utf8)
        NumberText.append(row.integer(2), to: &text)
        if row.bytes(3).count > 2 {
            text.append(contentsOf: #","fields":"#.utf8)
            text.append(contentsOf: row.bytes(3))
        }
        text.append(contentsOf: #","origin":["#.utf8)
        NumberText.append(row.integer(4), to: &text)
        if let device = Self.uuid(row.bytes(5)) { text.append(contentsOf: ",\"\(device.uuidString)\"".utf8) }
        text.append(UInt8(ascii: "]"))
        if !row.isNull(1) {
            text.append(contentsOf: #","username":"#.utf8)
            JSONText.append(row.bytes(1), to: &text)
        }
        if !row.isNull(6) {
            text.append(contentsOf: #","visits":"#.utf8)
            NumberText.append(row.integer(6), to: &text)
            text.append(contentsOf: #","visitsAt":"#.utf8)
            NumberText.append(row.integer(7), to: &text)
        }
    }

    private static func uuid(_ bytes: UnsafeBufferPointer<UInt8>) -> UUID? {
        bytes.count == 16 ? UUID(uuid: UnsafeRawBufferPointer(bytes).loadUnaligned(as: uuid_t.self)) : nil
    }
}
