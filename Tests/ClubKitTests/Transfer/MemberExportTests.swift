import Foundation
import Testing

@testable import ClubKit

@Suite struct MemberExportTests {
    let directory: TemporaryDirectory
    let club: Club

    init() async throws {
        directory = try TemporaryDirectory()
        club = try await openClub(.test(.file(path: directory.file())))
        _ = try await club.receive(tap("U1", name: "Ann, \"A\""))
        _ = try await club.receive(tap("U1", at: 60.25))
        try await club.add(Member(userId: "+49 30", username: "=1+1", fields: ["level": 3, "memo": "a\nb"]))
        let list = #"[{"userId":"U3","username":null,"timeStampAdded":1788256800,"memo":null,"teams":["x","y"]}]"#
        try await club.importMembers(from: directory.write(list, to: "list.musrl"))
        try await club.add(Member(userId: "gone"))
        try await club.delete("gone")
    }

    func export(_ format: TransferFormat, columns: [String]? = nil) async throws -> String {
        let path = directory.file("out." + format.pathExtension)
        let report = try await club.exportMembers(
            to: path,
            options: ExportOptions(format: format, columns: columns, overwrite: true)
        )
        let bytes = try content(of: path)
        #expect(report.file == path && report.bytes == bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func writesCSV() async throws {
        #expect(
            try await export(.csv) == """
                userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,level,memo,teams
                U1,"Ann, ""A\""",1788256800,2,1788256860.25,,,
                "'+49 30","'=1+1",1788256800,0,0,3,"a
                b",
                U3,<null>,1788256800,0,0,,<null>,"[""x"",""y""]"
                """
        )
    }

    @Test func writesDatesUnlessTheNameIsOneOfTheOriginal() async throws {
        let path = directory.file("out.csv")
        let columns = ["userId", "timeStampAdded", "timeStampOfLastVisit"]
        try await club.exportMembers(to: path, options: ExportOptions(format: .csv, columns: columns))
        #expect(
            String(decoding: try content(of: path), as: UTF8.self) == """
                userId,timeStampAdded,timeStampOfLastVisit
                U1,2026-09-01T10:00:00Z,2026-09-01T10:01:00.25Z
                "'+49 30",2026-09-01T10:00:00Z,0
                U3,2026-09-01T10:00:00Z,0
                """
        )
    }

    @Test func writesAUserList() async throws {
        let text = try await export(.userList)
        let list = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        #expect(list.count == 3)
        #expect(list[0]["userId"] as? String == "U1")
        #expect(list[0]["timeStampOfLastVisit"] as? Double == 1_788_256_860.25)
        #expect(list[0]["numVisits"] as? Int == 2)
        #expect(list[1]["username"] as? String == "=1+1")
        #expect(list[1]["level"] as? Int == 3)
        #expect(list[2]["username"] is NSNull)
        #expect(list[2]["teams"] as? [String] == ["x", "y"])
        // As the original library reads it.
        let users = try JSONDecoder().decode([MembershipUser].self, from: Data(text.utf8))
        #expect(users.map(\.userId) == ["U1", "+49 30", "U3"])
    }

    @Test func writesTheColumnsThatAreAskedFor() async throws {
        #expect(
            try await export(.csv, columns: ["numVisits", "level", "userId", "nothing"])
                == "numVisits,level,userId,nothing\n2,,U1,\n0,3,\"'+49 30\",\n0,,U3,"
        )
        #expect(
            try await export(.userList, columns: ["level", "userId"])
                == "[{\"level\":null,\"userId\":\"U1\"},\n{\"level\":3,\"userId\":\"+49 30\"},\n"
                + "{\"level\":null,\"userId\":\"U3\"}]"
        )
    }

    @Test func writesWhatACustomClassWrites() throws {
        let report = try club.exportMembersNow(
            ofType: CustomUser.self,
            format: .csv,
            intoDirectory: directory.file("exports")
        )
        let text = String(decoding: try content(of: report.file), as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(
            lines[0]
                == "userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,emailAddress,level,interests,birthday"
        )
        #expect(lines[1] == "U1,\"Ann, \"\"A\"\"\",1788256800,2,1788256860.25,\"\",0,\"[]\",<null>")
        #expect(report.members == 3)
    }

    @Test func everythingThatIsExportedCanBeRead() async throws {
        for format in [TransferFormat.csv, .userList] {
            _ = try await export(format)
            var reader = try MemberFileReader(directory.file("out." + format.pathExtension))
            let (members, malformed) = try #require(try reader.next())
            #expect(malformed.isEmpty)
            #expect(members.map(\.userId) == ["U1", "+49 30", "U3"])
            #expect(members.map(\.username) == [.string("Ann, \"A\""), .string("=1+1"), .null])
            #expect(members.map(\.addedAt?.at) == Array(repeating: 1_788_256_800_000_000, count: 3))
            #expect(members[0].lastVisitAt?.at == 1_788_256_860_250_000)
            #expect(members[2].fields == ["memo": .null, "teams": ["x", "y"]])
        }
    }

    @Test func makesFilesAndFoldersForNobodyElse() async throws {
        let folder = directory.file("a/b")
        let report = try await club.exportMembers(intoDirectory: folder, options: ExportOptions(format: .csv))
        #expect(try mode(of: report.file) == 0o600)
        #expect(try mode(of: folder) == 0o700)
        #expect(try mode(of: directory.file("a")) == 0o700)
    }

    @Test func givesEachExportANameOfItsOwn() async throws {
        var names: [String] = []
        for _ in 0..<3 {
            let report = try await club.exportMembers(
                intoDirectory: directory.file("exports"),
                options: ExportOptions(format: .csv)
            )
            names.append((report.file as NSString).lastPathComponent)
        }
        let name = ExportName.name(at: start, .csv).dropLast(6)
        #expect(names == ["\(name).mucsv", "\(name)-2.mucsv", "\(name)-3.mucsv"])
        #expect(try directory.names("exports") == names.sorted())
    }

    static let names: [(Double, String, String)] = [
        (1_788_256_800, "GMT", "exported_membership_users_September-01-2026-10-00-00.mucsv"),
        // Half a day apart, which the original library gives one name.
        (1_788_300_000, "GMT", "exported_membership_users_September-01-2026-22-00-00.mucsv"),
        (1_788_256_800, "Asia/Kolkata", "exported_membership_users_September-01-2026-15-30-00.mucsv"),
        (1_767_225_599, "GMT", "exported_membership_users_December-31-2025-23-59-59.mucsv"),
    ]

    @Test(arguments: names) func namesTheMoment(_ time: Double, _ zone: String, _ name: String) throws {
        let zone = try #require(TimeZone(identifier: zone))
        #expect(ExportName.name(at: Date(timeIntervalSince1970: time), in: zone, .csv) == name)
    }

    @Test func choosesTheFolder() {
        let home = "/home/x"
        #expect(ExportName.directory(environment: ["XDG_DOCUMENTS_DIR": "/d"], home: home) == "/d")
        #expect(ExportName.directory(environment: ["XDG_DATA_HOME": "/s"], home: home) == "/s/clubkit/exports")
        #expect(
            ExportName.directory(environment: ["XDG_DOCUMENTS_DIR": "d", "XDG_DATA_HOME": "s"], home: home)
                == "/home/x/.local/share/clubkit/exports"
        )
    }

    @Test func replacesNothingUnlessToldTo() async throws {
        let path = try directory.write("mine", to: "x.csv")
        await #expect {
            try await club.exportMembers(to: path, options: ExportOptions(format: .csv))
        } throws: { error in
            (error as? TransferError)?.kind == .exists
        }
        #expect(try content(of: path) == Array("mine".utf8))
        try await club.exportMembers(to: path, options: ExportOptions(format: .csv, overwrite: true))
        #expect(try content(of: path) != Array("mine".utf8))
        #expect(try directory.names().filter { $0.hasPrefix(".") } == [])
    }

    @Test func leavesNothingBehindWhenItFails() async throws {
        let club = club
        for path in [directory.path, directory.file("no/such/folder.csv"), "/proc/x.csv"] {
            await #expect(throws: TransferError.self) {
                try await club.exportMembers(to: path, options: ExportOptions(format: .csv))
            }
        }
        let path = directory.file("cancelled.csv")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await club.exportMembers(to: path, options: ExportOptions(format: .csv))
        }
        await #expect {
            _ = try await task.value
        } throws: { error in
            (error as? TransferError)?.kind == .cancelled
        }
        #expect(try directory.names().filter { !$0.hasPrefix("club.sqlite") } == ["list.musrl"])
    }

    @Test("The database itself is never replaced, by whatever name", arguments: ["", "-wal", "-shm", "link"])
    func leavesTheDatabase(ending: String) async throws {
        let database = directory.file()
        let path = ending == "link" ? directory.file("link") : database + ending
        if ending == "link" { try #require(link(database, path) == 0) }
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        await #expect {
            try await club.exportMembers(to: path, options: ExportOptions(format: .csv, overwrite: true))
        } throws: { ($0 as? TransferError)?.kind == .exists }
        await #expect {
            try await club.exportTaps(to: path, overwrite: true)
        } throws: { ($0 as? TransferError)?.kind == .exists }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func writesToAPipeInPlace() async throws {
        let path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let text = Task.detached {
            [UInt8](try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data())
        }
        try await club.exportMembers(to: path, options: ExportOptions(format: .csv))
        #expect(try await text.value.starts(with: Array("userId,".utf8)))
        #expect(try directory.names().contains("pipe"))
    }

    @Test func aPipeWhoseReaderWentIsAnErrorAndNoMore() throws {
        let path = directory.file("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        let output = try OutputFile(path, overwrite: false)
        close(reader)
        try output.write { $0.append(1) }
        #expect {
            _ = try output.finish(overwrite: false)
        } throws: { error in
            (error as? TransferError)?.code?.rawValue == Int(EPIPE)
        }
    }

    @Test func writesDownWhoExported() async throws {
        try await club.exportMembers(
            to: directory.file("x.csv"),
            options: ExportOptions(format: .csv),
            by: ActionContext(actor: "desk", reason: "newsletter")
        )
        let entry = try #require(try await club.auditLog().first)
        #expect(entry.action == .exported && entry.actor == "desk")
        #expect(entry.detail == ["format": "csv", "members": 3, "reason": "newsletter"])
    }

    @Test("An export stands though another program keeps the audit log from being written, and says so")
    func exportsBesideALock() async throws {
        let path = directory.file("own.sqlite")
        let club = Club(configuration: .test(.file(path: path), busyTimeout: .milliseconds(50)))
        try await club.open()
        _ = try await club.receive(tap("A"))
        let other = try LockedDatabase(path)
        let members = try await club.exportMembers(
            to: directory.file("x.csv"),
            options: ExportOptions(format: .csv)
        )
        let taps = try await club.exportTaps(to: directory.file("taps.csv"))
        other.release()
        #expect(members.rows == 1 && taps.rows == 1)
        #expect(members.auditFailure?.hasPrefix("could not write the audit log") == true)
        #expect(taps.auditFailure?.hasPrefix("could not write the audit log") == true)
        #expect(FileManager.default.fileExists(atPath: members.file))
        #expect(FileManager.default.fileExists(atPath: taps.file))
        #expect(try await club.exportTaps(to: directory.file("more.csv")).auditFailure == nil)
        try await club.close()
    }

    @Test func needsAnOpenClub() async throws {
        let club = Club(configuration: .test())
        await #expect {
            try await club.exportMembers(to: directory.file("x"), options: ExportOptions(format: .csv))
        } throws: { error in
            (error as? TransferError)?.cause?.kind == .notOpen
        }
        await #expect(throws: TransferError.self) { try await club.importMembers(from: directory.file("x")) }
    }
}
