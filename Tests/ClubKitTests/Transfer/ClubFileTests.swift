import Foundation
import TestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

@Suite struct ClubFileTests {
    let directory: TemporaryDirectory
    let club: Club
    let path: String

    init() async throws {
        directory = try TemporaryDirectory()
        club = try await openClub(.test(.file(path: directory.file())))
        _ = try await club.receive(tap("U1", id: UUIDSource.uuid(1001), name: "Ann"))
        _ = try await club.receive(tap("U1", at: 60.25, id: UUIDSource.uuid(1002)))
        _ = try await club.receive(tap("U2", id: UUIDSource.uuid(1003)))
        try await club.undoVisit(UUIDSource.uuid(1002), by: ActionContext(actor: "desk", reason: "twice"))
        try await club.add(Member(userId: "U3", username: "Zoë", fields: ["level": 3]))
        try await club.addCard("C3", to: "U3")
        try await club.replaceCard("U1", with: "C1")
        try await club.sellVisits(10, to: "U1")
        try await club.update("U2") { $0.username = "Bob" }
        try await club.delete("U2")
        path = directory.file("all.clubkit")
        try await club.exportMembers(to: path, options: ExportOptions(format: .clubkit))
    }

    func read(_ path: String) throws -> (reader: ClubFileReader, records: [TransferRecord]) {
        var reader = try ClubFileReader(FileSource(path)) { _ in }
        var records: [TransferRecord] = []
        while true {
            let (some, faults) = try reader.next(3)
            #expect(faults.map(\.fault) == [])
            if some.isEmpty { break }
            records += some.map(\.record)
        }
        return (reader, records)
    }

    @Test func holdsEverythingThatMerges() throws {
        let (reader, records) = try read(path)
        #expect(reader.header.format == "clubkit" && reader.header.version == 1)
        #expect(reader.header.exportedAt == "2026-09-01T10:00:00.000Z")
        #expect(reader.trailer.records == records.count)
        #expect(reader.trailer.members == 3 && reader.trailer.visits == 3)
        var facts: [String: MemberFacts] = [:]
        for case .member(let person) in records { facts[person.userId] = person.facts }
        #expect(facts.keys.sorted() == ["U1", "U2", "U3"])
        #expect(facts["U1"]?.packs.map(\.visits) == [10])
        #expect(facts["U1"]?.username == "Ann")
        #expect(facts["U2"]?.exists == false && facts["U2"]?.end != nil)
        #expect(facts["U3"]?.fields == ["level": .int(3)])
        let cards = records.compactMap { if case .card(let card) = $0 { card } else { nil } }
        #expect(cards.map(\.cardId).sorted() == ["C1", "C3", "U1"])
        #expect(cards.first { $0.cardId == "U1" }?.blocked != nil)
        let visits = records.compactMap { if case .visit(let visit) = $0 { visit } else { nil } }
        #expect(visits.map(\.eventID) == [1001, 1002, 1003].map(UUIDSource.uuid))
        #expect(visits.map(\.userId) == ["U1", "U1", "U2"])
        let undone = records.compactMap { if case .undo(let undo) = $0 { undo } else { nil } }
        #expect(undone.map(\.eventID) == [UUIDSource.uuid(1002)])
        #expect(undone.map(\.reason) == ["twice"])
        #expect(records.contains { if case .audit(let entry) = $0 { entry.action == "undidVisit" } else { false } })
        #expect(try mode(of: path) == 0o600)
    }

    @Test func recordsComeBackFromTheirForm() throws {
        let (_, records) = try read(path)
        for record in records {
            #expect(try JSONDecoder().decode(TransferRecord.self, from: ClubFile.line(record)) == record)
        }
    }

    @Test("A line that is too long is passed over, and what stands before and behind it is taken")
    func passesOverLongLines() throws {
        let card = #"{"card":{"cardId":"C","stamp":[5,"\#(UUIDSource.uuid(5).uuidString)"],"userId":"U"}}"#
        func padded(_ count: Int) -> String { card + String(repeating: " ", count: count - card.utf8.count) }
        // With its end.
        let most = ClubFile.longestLine - 1
        let lengths = [card.utf8.count, most, most + 1, 2 * most, 3 * most + 7, card.utf8.count, most + 2]
        let (taken, faults) = try directory.readRecords(lengths.map(padded))
        #expect(taken == [0, 1, 5])
        #expect(faults == Array(repeating: .tooLong, count: 4))
        let path = try directory.writeRecords([card, padded(2 * most)])
        let bytes = try content(of: path)
        for (place, kind) in [(bytes.count - 200, TransferError.Kind.truncated), (most, .truncated)] {
            let cut = try directory.write(Array(bytes[..<place]), to: "cut.clubkit")
            #expect { _ = try read(cut) } throws: { ($0 as? TransferError)?.kind == kind }
        }
        var changed = bytes
        changed[most] = 0x09
        let altered = try directory.write(changed, to: "changed.clubkit")
        #expect { _ = try read(altered) } throws: { ($0 as? TransferError)?.kind == .altered }
    }

    @Test("An export says whose record nobody can take")
    func tellsLongRecords() async throws {
        let text = String(repeating: "x", count: 1_000_000)
        for round in 0..<5 { try await club.update("U3") { $0.fields["photo"] = .string("\(round)" + text) } }
        let path = directory.file("long.clubkit")
        let options = ExportOptions(format: .clubkit)
        #expect(try await club.exportMembers(to: path, options: options).tooLong == [])
        for name in ["a", "b"] { try await club.update("U3") { $0.fields[name] = .string(text) } }
        let other = directory.file("longer.clubkit")
        #expect(try await club.exportMembers(to: other, options: options).tooLong == ["U3"])
        let device = try await openClub()
        let report = try await device.importMembers(from: other)
        #expect(report.malformed == 1 && report.created == 1)
    }

    @Test func isTheSameBytesEachTime() async throws {
        let again = directory.file("again.clubkit")
        // The audit log says that something was exported, so the club is asked twice after that.
        try await club.exportMembers(to: again, options: ExportOptions(format: .userList))
        let lines = { (path: String) in try content(of: path).split(separator: 0x0A).dropLast() }
        let first = try lines(path).filter { !$0.starts(with: Array(#"{"audit""#.utf8)) }
        let other = directory.file("other.clubkit")
        try await club.exportMembers(to: other, options: ExportOptions(format: .clubkit))
        let second = try lines(other).filter { !$0.starts(with: Array(#"{"audit""#.utf8)) }
        #expect(first.dropFirst() == second.dropFirst())
    }

    @Test("A byte order mark before it is no part of what its checksum is of, and UTF-16 is named")
    func marks() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let other = directory.file("marked.clubkit")
        try (Data([0xEF, 0xBB, 0xBF]) + bytes).write(to: URL(fileURLWithPath: other))
        #expect(try read(other).records == read(path).records)
        let text = try #require(String(data: bytes, encoding: .utf8))
        try #require(text.data(using: .utf16)).write(to: URL(fileURLWithPath: other))
        let error = #expect(throws: TransferError.self) { try read(other) }
        #expect(error?.kind == .wrongEncoding)
    }

    @Test func isRefusedWhenItWasCutOff() throws {
        let bytes = try content(of: path)
        for count in Array(stride(from: 0, to: bytes.count, by: 23)) + [bytes.count - 2, bytes.count - 1] {
            let cut = try directory.write(Array(bytes[..<count]), to: "cut.clubkit")
            #expect {
                _ = try read(cut)
            } throws: { error in
                [.truncated, .malformed].contains((error as? TransferError)?.kind)
            }
        }
    }

    @Test func isRefusedWhenItWasCutAtLinesAndSoSeemsWhole() throws {
        let lines = try content(of: path).split(separator: 0x0A)
        for left in 1..<lines.count - 1 {
            let kept = lines.enumerated().filter { $0.offset != left }.map(\.element)
            let other = try directory.write(Array(kept.joined(separator: [0x0A])) + [0x0A], to: "less.clubkit")
            #expect {
                _ = try read(other)
            } throws: { error in
                (error as? TransferError)?.kind == .altered
            }
        }
    }

    @Test func isRefusedWhenAnyByteWasChanged() throws {
        let bytes = try content(of: path)
        var random = SeededNumbers(seed: 9)
        for offset in stride(from: 0, to: bytes.count, by: 37) {
            var other = bytes
            other[offset] ^= 1 << UInt8.random(in: 0..<7, using: &random)
            let changed = try directory.write(other, to: "changed.clubkit")
            #expect(throws: TransferError.self, "byte \(offset)") { try read(changed) }
        }
    }

    @Test func isRefusedWhenItIsNewer() throws {
        let newer = try directory.write(#"{"format":"clubkit","version":2,"news":true}"# + "\n", to: "n.clubkit")
        #expect {
            _ = try read(newer)
        } throws: { error in
            (error as? TransferError)?.kind == .newerVersion
        }
        let other = try directory.write("{\"format\":\"other\",\"version\":1}\n", to: "o.clubkit")
        #expect {
            _ = try read(other)
        } throws: { error in
            (error as? TransferError)?.kind == .malformed
        }
    }

    /// A member of whom a file tells that.
    private func facts(_ parts: String) -> String {
        #"{"member":{"userId":"U9","facts":{"births":[[[1],5]],\#(parts)}}}"#
    }

    @Test func theEndOfAMembershipIsATime() {
        for (value, time) in [(Int.max, Timestamp.latest), (Int.min, 0), (7, 7)] {
            var facts = MemberFacts()
            facts.set(SystemValues.Name.expires, .int(value), Stamp(time: 1, device: UUIDSource.uuid(1)))
            #expect(SystemValues(facts).expiresAt == time)
        }
    }

    @Test func anUnreadableRecordKeepsNoOtherOut() throws {
        // Whole, with a checksum of its own, but with records that nobody should write.
        let bad = [
            #"{"member":{"userId":"","facts":{"births":[],"values":{}}}}"#, #"{"later":{}}"#, "{}", "7",
            #"{"undo":{"eventID":"\#(UUIDSource.uuid(1))","stamp":[1],"at":-5}}"#,
            #"{"member":{"userId":"U9","origin":[1],"addedAt":99999999999999999999}}"#,
            #"{"erasure":{"salt":"AA==","hash":"AA==","stamp":[1]}}"#,
            facts(#""values":{"$expires":[[[1],-9223372036854775808]]}"#),
            facts(#""values":{"$expires":[[[9],1],[[1],9223372036854775807]]}"#),
            facts(#""values":{"$packsFrom":[[[1],9223372036854775807]]}"#),
            facts(#""values":{},"claims":[[[1],9223372036854775807,5]]"#),
            facts(#""values":{},"packs":[[[1],9223372036854775807]]"#),
            facts(#""values":{},"removals":[[[1],1,9223372036854775807,0,1]]"#),
            facts(#""values":{},"removals":[[[1],1,1,9223372036854775807,1]]"#),
            facts(#""values":{},"removals":[[[1],1,1,1,9223372036854775807]]"#),
            facts(#""values":{},"removals":[[[1],-9223372036854775808,1,1,1]]"#),
        ]
        let good = #"{"member":{"userId":"U9","origin":[1],"addedAt":5,"username":"Eve"}}"#
        let path = directory.file("bad.clubkit")
        let output = try OutputFile(path, overwrite: false, hashed: true)
        let header = ClubFile.Header(device: UUIDSource.uuid(5), exportedAt: "", clock: 0)
        try output.write { $0 += (try? ClubFile.line(header)) ?? Data() }
        for line in bad + [good] { try output.write { $0 += Array("\n\(line)".utf8) } }
        try output.write { $0.append(0x0A) }
        let sums = ClubFile.Trailer(
            records: bad.count + 1,
            members: 0,
            visits: 0,
            sha256: try output.checksum().hex
        )
        try output.write { $0 += ((try? ClubFile.line(["end": sums])) ?? Data()) + [0x0A] }
        _ = try output.finish(overwrite: false)
        var reader = try ClubFileReader(FileSource(path)) { _ in }
        let (records, faults) = try reader.next(100)
        #expect(records.map(\.line) == [bad.count + 2])
        #expect(faults.map(\.row) == Array(2...bad.count + 1))
    }

    @Test func canOnlyBeReadTwice() throws {
        let pipe = directory.file("pipe.clubkit")
        try #require(mkfifo(pipe, 0o600) == 0)
        let writer = open(pipe, O_RDWR)
        defer { close(writer) }
        #expect {
            _ = try read(pipe)
        } throws: { error in
            (error as? TransferError)?.kind == .notRepeatable
        }
    }

    @Test func namesGetNumbersBeforeTheExtension() {
        #expect(OutputFile.numbered("/a.b/c.mucsv", 2) == "/a.b/c-2.mucsv")
        #expect(OutputFile.numbered("/a.b/c", 3) == "/a.b/c-3")
        #expect(OutputFile.numbered("c.x.y", 4) == "c.x-4.y")
        #expect(OutputFile.numbered("/a/.hidden", 5) == "/a/.hidden-5")
    }
}
