import Foundation
import ReaderKit
import Synchronization
import TestSupport
import Testing

@testable import ClubKit
@testable import ClubRecords

/// Files of two kiosks go out, through a spreadsheet that rounds what it shows, and in again.
@Suite("A file that comes back counts nothing twice")
struct RoundedFilesTests {
    private static let steps = 60

    @Test(
        "Whatever columns are exported, however they are rounded, in whatever mode they come back",
        arguments: rounds(3)
    )
    func comesBack(round: Int) async throws {
        let seed = UInt64(round) + 1
        var trial = try await Trial(seed)
        for step in 0..<Self.steps { try await trial.act("seed \(seed), step \(step)") }
        try await trial.exchange("seed \(seed), at the end")
        for club in trial.clubs { #expect(try await club.check() == [], "seed \(seed)") }
    }

    /// What a spreadsheet makes of a time.
    private enum Rounding: CaseIterable {
        case none, general, seconds, secondsUp, minutes, day, dots, slashes, serial, serialDay, scientific, comma

        /// A cell of a column of times.
        func cell(_ text: String) -> String {
            guard text != "0", !text.isEmpty,
                let time = try? Array(text.utf8).withUnsafeBufferPointer({
                    try NumberText.moment($0, NumberText.Forms()).get().at
                })
            else { return text }
            let seconds = Double(time) / 1e6
            let (days, minute) = (Int(time / 86_400_000_000), Int(time / 60_000_000 % 1440))
            let (year, month, day) = ISO8601.civil(days: days)
            let clock = "\(minute / 60):" + (minute % 60 < 10 ? "0" : "") + "\(minute % 60)"
            return switch self {
            case .none: text
            case .general: String(format: "%.0f", seconds)
            case .seconds: "\(time / 1_000_000)"
            case .secondsUp: "\((time + 999_999) / 1_000_000)"
            case .minutes: String(format: "%04d-%02d-%02d %02d:%02d", year, month, day, minute / 60, minute % 60)
            case .day: String(format: "%04d-%02d-%02d", year, month, day)
            case .dots: "\(day).\(month).\(year) \(clock)"
            case .slashes: "\(month)/\(day)/\(year) \(clock)"
            case .serial: String(format: "%.5f", 25_569 + seconds / 86_400)
            case .serialDay: "\(25_569 + days)"
            case .scientific: String(format: "%.5E", seconds)
            case .comma: String(format: "%.1f", seconds).replacing(".", with: ",")
            }
        }
    }

    /// Identifiers that no other kiosk makes.
    private final class UUIDs: Sendable {
        private let last: Mutex<UInt64>

        init(_ kiosk: Int) { last = Mutex(UInt64(kiosk) << 32) }

        func next() -> UUID {
            last.withLock { last in
                last += 1
                return UUIDSource.uuid(last)
            }
        }
    }

    private struct Trial {
        var random: SeededNumbers
        let directory: TemporaryDirectory
        let clock = HandClock(start.addingTimeInterval(0.253_125))
        var clubs: [Club] = []
        /// What each kiosk knows of what has happened, by number.
        var known: [Set<Int>] = [[], []]
        var events = 0
        /// What the members come to: what the original counted, and the visits that were not undone.
        var base: [String: (visits: Int, latest: Double)]
        var visits: [String: [UUID: Double]] = [:]
        var files: [(path: String, known: Set<Int>)] = []

        static let members = ["U1", "U2", "U3", "U4", "U5"]

        init(_ seed: UInt64) async throws {
            random = SeededNumbers(seed: seed)
            directory = try TemporaryDirectory()
            let latest = start.timeIntervalSince1970 - 1000.5
            base = ["U1": (40, latest), "U2": (5, 0), "U3": (0, 0)]
            let list = """
                [{"userId":"U1","username":"One","timeStampAdded":1598441234.123456,"numVisits":40,"timeStampOfLastVisit":\(latest)},
                {"passId":"U2","username":"Two","timeStampAdded":0,"numVisits":5,"timeStampOfLastVisit":0},
                {"userId":"U3","username":"Three"}]
                """
            let path = try directory.write(list, to: "base.musrl")
            for number in 1...2 {
                let clock = clock
                let ids = UUIDs(number)
                var configuration = ClubConfiguration.test(.memory, clock: { clock.now })
                configuration.makeUUID = { ids.next() }
                let club = try await openClub(configuration)
                try await club.importMembers(from: path)
                clubs.append(club)
            }
        }

        mutating func act(_ place: Comment) async throws {
            clock.advance(
                by: random.pick([61, 3600.75, 86_400.5]) + Double(Int.random(in: 0..<1000, using: &random)) / 1000
            )
            let kiosk = Int.random(in: 0...1, using: &random)
            let (club, member) = (clubs[kiosk], random.pick(Self.members))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let id = UUIDSource.uuid(random.next())
                let now = clock.now
                let before = try await club.member(withUserID: member)?.numVisits ?? 0
                let event = ScanEvent(id: id, at: now, reader: "Desk", backend: .simulated, memberKey: member)
                _ = try await club.receive(event)
                #expect(try await club.member(withUserID: member)?.numVisits == before + 1, place)
                visits[member, default: [:]][id] = Timestamp.seconds(Timestamp.microseconds(now) ?? 0)
                note(kiosk)
            case 3:
                let there = (try? await club.visits(of: member)) ?? []
                guard let visit = there.filter(\.counts).randomElement(using: &random) else { return }
                _ = try await club.undoVisit(visit.id, by: ActionContext(reason: "by mistake"))
                visits[member]?[visit.id] = nil
                note(kiosk)
            case 4, 5: try await export(kiosk)
            case 6..<9: if let file = files.randomElement(using: &random) { try await takeIn(file, kiosk, place) }
            default: try await exchange(place)
            }
        }

        private mutating func note(_ kiosk: Int) {
            known[kiosk].insert(events)
            events += 1
        }

        /// Writes some or all columns, as a spreadsheet leaves them.
        private mutating func export(_ kiosk: Int) async throws {
            let names = FieldKey.baseNames
            let format: TransferFormat = random.chance(75) ? .csv : .userList
            let some = names.filter { $0 == "userId" || random.chance(60) }
            let columns = random.chance(40) ? nil : some.shuffled(using: &random)
            let number = files.count
            // By its name a CSV file has dates, or the numbers of the original library.
            let path = directory.file(
                "\(number)." + (format == .csv && random.chance(50) ? "csv" : format.pathExtension)
            )
            try await clubs[kiosk].exportMembers(to: path, options: ExportOptions(format: format, columns: columns))
            var text = String(decoding: try content(of: path), as: UTF8.self)
            if format == .csv {
                let header = columns ?? names
                let roundings = Dictionary(
                    header.map { ($0, $0.hasPrefix("timeStamp") ? random.pick(Rounding.allCases) : .none) }
                ) { one, _ in one }
                let rows = text.split(separator: "\n").map {
                    $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                }
                let rounded = rows.dropFirst().map { row in
                    zip(header, row).map { (roundings[$0] ?? .none).cell($1) }
                }
                // A comma for a point needs another delimiter.
                text = ([header] + rounded).map { $0.joined(separator: ";") }.joined(separator: "\n")
            } else if random.chance(50) {
                // What has no fractions.
                text = text.replacing(/(\d{10})\.\d+/) { String($0.output.1) }
            } else {
                text = text.replacing(#""userId""#, with: #""passId""#)
            }
            let rounded = try directory.write(text, to: "rounded-\(number)." + format.pathExtension)
            files.append((rounded, known[kiosk]))
        }

        private mutating func takeIn(_ file: (path: String, known: Set<Int>), _ kiosk: Int, _ place: Comment)
            async throws
        {
            let club = clubs[kiosk]
            let before = try await shown(club)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let options = ImportOptions(mode: random.pick(MergeMode.allCases))
                let report = try await club.importMembers(from: file.path, options: options)
                // What is known here already changes nothing, and raises nothing.
                guard file.known.isSubset(of: known[kiosk]) else { continue }
                #expect(try await shown(club) == before, "\(place) \(file.path)")
                #expect(report.raised == 0, place)
            }
        }

        private func shown(_ club: Club) async throws -> [String] {
            try await club.members(sortedBy: .userId).map {
                "\($0.userId) \($0.numVisits) \($0.timeStampOfLastVisit) \($0.timeStampAdded)"
            }
        }

        /// Both tell each other everything, and come to what has happened.
        mutating func exchange(_ place: Comment) async throws {
            for (from, to) in [(0, 1), (1, 0), (0, 1)] {
                let path = directory.file("exchange.clubkit")
                try await clubs[from].exportMembers(to: path, options: ExportOptions(format: .clubkit, overwrite: true))
                try await clubs[to].importMembers(from: path)
            }
            known = Array(repeating: known[0].union(known[1]), count: 2)
            for club in clubs {
                for member in try await club.members(sortedBy: .userId) {
                    let (former, made) = (base[member.userId] ?? (0, 0), visits[member.userId] ?? [:])
                    #expect(member.numVisits == former.visits + made.count, "\(place) \(member.userId)")
                    #expect(member.timeStampOfLastVisit == max(former.latest, made.values.max() ?? 0), place)
                }
            }
            #expect(try await shown(clubs[0]) == shown(clubs[1]), place)
        }
    }
}
