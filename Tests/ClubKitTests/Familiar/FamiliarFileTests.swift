import Foundation
import Testing

@testable import ClubKit

@Suite("Files as in the original library", .timeLimit(.minutes(10)))
struct FamiliarFileTests {
    private let recorder = FamiliarRecorder { user in
        let mail = (user as? CustomUser).map { " \($0.emailAddress ?? "nil") \($0.level)" } ?? ""
        return "\(user.userId ?? "nil") \(user.username ?? "nil") \(user.numVisits)\(mail)"
    }
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open() async throws -> Club {
        try await openClub().recorded(by: recorder).setCustomMembershipUser(classType: CustomUser.self)
    }

    private func file(_ name: String, _ text: String) throws -> URL {
        let url = URL(fileURLWithPath: directory.file(name))
        try Data(text.utf8).write(to: url)
        return url
    }

    private func lines(of club: Club, importing url: URL, _ count: Int = 1) async -> [String] {
        let before = recorder.lines.count
        club.getImportedDataSource(ofType: CustomUser.self, from: url)
        return Array(await recorder.lines(before + count)[before...])
    }

    @Test(
        "Files of both generations are read, on the queue that was set, and left as they are",
        arguments: [
            (
                "one.mucsv",
                "userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,emailAddress,level\n"
                    + "A,Ann,1500000000.5,3,1500000001,ann@example.org,2"
            ),
            (
                "two.MUCSV",
                "\u{FEFF}level,numVisits,memberId,passId,username,emailAddress\r\n2,3,M-1,A,Ann,ann@example.org\r\n\r\n"
            ),
            (
                "three.musrl",
                #"[{"userId":"A","username":"Ann","numVisits":3,"emailAddress":"ann@example.org","level":2}]"#
            ),
            (
                "four.musrl",
                #"[{"memberId":"M-1","passId":"A","username":"Ann","numVisits":"3","level":2,"#
                    + #""emailAddress":"ann@example.org","timeStampAdded":1500000000}]"#
            ),
        ]
    )
    func generations(name: String, text: String) async throws {
        let club = try await open()
        let url = try file(name, text)
        #expect(await lines(of: club, importing: url) == ["imported A Ann 3 ann@example.org 2"])
        #expect(try Data(contentsOf: url) == Data(text.utf8))
        // Nothing is stored before the application merges.
        #expect(try await club.memberCount() == 0)
        try await club.close()
    }

    @Test("Missing ids and names are read back from null and <null>, quotes and commas as they are")
    func nulls() async throws {
        let club = try await open()
        let json = try file("a.musrl", #"[{"userId":"A","username":null},{"userId":null},{"userId":"B"}]"#)
        #expect(
            await lines(of: club, importing: json, 2) == ["error TransferError", "imported A nil 0  0, B nil 0  0"]
        )
        let csv = try file("a.mucsv", "userId,username\nA,<null>\n\"B\",\"Lee, \"\"Ann\"\"\"\n")
        #expect(await lines(of: club, importing: csv) == ["imported A nil 0  0, B Lee, \"Ann\" 0  0"])
        try await club.close()
    }

    @Test("A bad row is told with its place, and the others are handed out")
    func badRows() async throws {
        let club = try await open()
        let url = try file("a.mucsv", "userId,numVisits,level\nA,3,1\nB,many,1\nC,4,high\nD,5,2\n")
        #expect(
            await lines(of: club, importing: url, 2) == ["error TransferError", "imported A nil 3  1, D nil 5  2"]
        )
        let error = try #require(recorder.errors.first as? TransferError)
        #expect(error.line == 3)
        #expect(error.detail?.contains("2 of 4 rows") == true)
        #expect(error.detail?.contains("numVisits") == true)
        #expect(!"\(error)".contains("many"))
        try await club.close()
    }

    @Test("Each failure to read is told, whatever it is")
    func failures() async throws {
        let club = try await open()
        let failing: [(URL, TransferError.Kind)] = [
            (URL(fileURLWithPath: directory.file("absent.mucsv")), .notFound),
            (URL(fileURLWithPath: directory.path), .notReadable),
            (URL(string: "https://club.example/members.mucsv") ?? URL(fileURLWithPath: "/"), .notFound),
            (try file("empty.mucsv", ""), .noHeader),
            (try file("names.mucsv", "username\nAnn\n"), .noIdentifierColumn),
        ]
        for (url, kind) in failing {
            let line = await lines(of: club, importing: url)
            #expect(line == ["error TransferError"], "\(url.lastPathComponent)")
            #expect((recorder.errors.last as? TransferError)?.kind == kind, "\(url.lastPathComponent)")
        }
        // Of a file that ends too early, what was there before is handed out.
        let torn = try file("torn.musrl", #"[{"userId":"A"},{"userId":"B""#)
        #expect(await lines(of: club, importing: torn, 2) == ["error TransferError", "imported A nil 0  0"])
        #expect((recorder.errors.last as? TransferError)?.kind == .malformed)
        try await club.close()
    }

    @Test("An export has the columns of the class, a name of its own and nobody else's eyes on it")
    func export() async throws {
        let club = try await open()
        _ = try await club.receive(tap("A", name: "Lee, \"Ann\""))
        let user = try #require(try club.getUser(with: "A") as? CustomUser)
        club.update(user: user) {
            user.emailAddress = "=ann@example.org"
            user.level = 2
            user.interests = ["chess", "go"]
        }
        var names: Set<String> = []
        for type in [IOFileType.csv, .userList, .csv] {
            let report = try club.exportMembersNow(
                ofType: CustomUser.self,
                format: type == .csv ? .csv : .userList,
                intoDirectory: directory.file("exports")
            )
            names.insert(report.file)
            let mode = try FileManager.default.attributesOfItem(atPath: report.file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(
                await lines(of: club, importing: URL(fileURLWithPath: report.file)).last
                    == "imported A Lee, \"Ann\" 1 =ann@example.org 2"
            )
            if type == .csv {
                let text = try String(contentsOfFile: report.file, encoding: .utf8)
                let header = CustomUser.variableNamesAsStrings().joined(separator: ",")
                #expect(text.hasPrefix(header))
            }
        }
        #expect(names.count == 3)
        let mode =
            try FileManager.default.attributesOfItem(atPath: directory.file("exports"))[.posixPermissions] as? Int
        #expect(mode == 0o700)
        try await club.close()
    }

    @Test("Merging adds what is new, rolls nothing back, and tells once of each member who changed")
    func merge() async throws {
        let club = try await open()
        let events = club.events
        for seconds in [0.0, 60, 120] { _ = try await club.receive(tap("A", at: seconds, name: "Ann")) }
        let before = await recorder.lines(3).count
        let old = try CustomUser(
            from: RecordDecoder([
                "userId": "A", "numVisits": 2, "username": "", "level": 5,
                "timeStampOfLastVisit": .double(start.timeIntervalSince1970 + 60),
            ])
        )
        let new = try CustomUser(from: RecordDecoder(["userId": "B", "numVisits": 7, "username": "Ben"]))
        club.merge(importedUsers: [old, new])
        let ann = try #require(try club.getUser(with: "A") as? CustomUser)
        #expect(ann.numVisits == 3)
        #expect(ann.username == "Ann")
        #expect(ann.level == 5)
        #expect(try club.getUser(with: "B")?.numVisits == 7)
        #expect(await recorder.lines(before + 1)[before...] == ["updated A Ann 3  5"])
        // The same again changes nothing.
        club.merge(importedUsers: [old, new])
        club.deleteUser(with: "B")
        #expect(await recorder.lines(before + 2).last == "deleted B Ben 7  0")
        #expect(recorder.lines.count == before + 2)
        #expect(await events.first(7).contains { $0.updateReason == .merge && $0.member?.userId == "A" })
        try await club.close()
    }

    @Test("Members who cannot be merged are told of, and the others are merged")
    func mergeOfUnusable() async throws {
        let club = try await open()
        let nobody = try CustomUser()
        let someone = try CustomUser(from: RecordDecoder(["userId": "A", "numVisits": 1]))
        club.merge(importedUsers: [nobody, someone])
        #expect(await recorder.lines(1) == ["error ClubError invalidValue"])
        #expect("\(recorder.errors)".contains("1 of 2"))
        #expect(try await club.memberCount() == 1)
        try await club.close()
    }

    @Test("The identifier of a file of the later generation stays with the member")
    func memberID() async throws {
        let club = try await open()
        let user = try CustomUser(from: RecordDecoder(["passId": "A", "memberId": "M-1", "numVisits": 1]))
        #expect(user.userId == "A" && user.memberId == "M-1")
        club.merge(importedUsers: [user])
        #expect(try club.getUser(withMemberId: "M-1")?.userId == "A")
        #expect(try club.getUser(withPassId: "A")?.memberId == "M-1")
        try await club.close()
    }
}
