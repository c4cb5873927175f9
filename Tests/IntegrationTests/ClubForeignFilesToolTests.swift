import Foundation
import TestSupport
import Testing

/// Files of other programs: how they are read, how that is kept, and files for a spreadsheet.
@Suite(.timeLimit(.minutes(10)))
struct ClubForeignFilesToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    private func report(_ objects: [[String: Any]]) throws -> [String: Any] {
        try #require(objects.last { $0["event"] as? String == "report" })
    }

    private func members() async throws -> [String] {
        try await club.json("members", "list", "--sort", "userId").map {
            "\($0["userId"] as? String ?? "")=\($0["username"] as? String ?? "")"
        }
    }

    @Test("How a file is read is kept in a file, and used again")
    func mappingFiles() async throws {
        let text = "x\nList\nKarte#Name, Vorname#Bild\n7#Berg, Zo\u{EB}#zzz\n"
        let file = club.scratch.file("list.csv")
        try Data(text.unicodeScalars.map { UInt8($0.value) }).write(to: URL(fileURLWithPath: file))
        let kept = club.scratch.file("kept.yaml")
        let options = [
            "--delimiter", "#", "--skip-lines", "2", "--encoding", "windows-1252", "--date-order", "dmy",
            "--map", "Karte=userId", "--map", "Name, Vorname=username", "--map", "Bild=", "--save-mapping", kept,
        ]
        let first = try await club.run(["import", file] + options)
        #expect(first.status == 0, "\(first.messages)")
        #expect(first.messages.contains("--mapping \(kept)"))
        #expect(try await members() == ["7=Berg, Zoë"])
        let expected = """
            delimiter: "#"
            skipLines: 2
            encoding: windows-1252
            dateOrder: dmy
            map:
              Karte: userId
              "Name, Vorname": username
              Bild:

            """
        let text2 = try String(contentsOfFile: kept, encoding: .utf8)
        #expect(text2.hasSuffix(expected), "\(text2)")
        let again = try await club.run("import", file, "--mapping", kept, "--json")
        #expect(again.status == 0, "\(again.messages)")
        #expect(try report(again.objects)["kept"] as? Int == 1)
        // What stands on the command line comes before it.
        let other = try await club.run("import", file, "--mapping", kept, "--map", "Bild=picture", "--merge", "--json")
        #expect(try report(other.objects)["changed"] as? Int == 1)
        // JSON is YAML.
        let text3 =
            ##"{"skipLines": 2, "delimiter": "#", "encoding": "cp1252", "map": {"Karte": "userId", "Bild": null}}"##
        let json = try club.scratch.write(text3, to: "kept.json")
        #expect(try await club.run("import", file, "--mapping", json).status == 0)
    }

    @Test("A fault of a mapping file is named by its line, and leaves nothing behind")
    func badMappingFiles() async throws {
        let file = try club.scratch.write("userId\nU1\n", to: "members.csv")
        let table: [(String, [String], Int32)] = [
            ("delimiter: abc\nskiplines: 2\nskipLines: x", [":1:1: ", ":2:1: ", "skipLines", ":3:1: "], 65),
            ("encoding: klingon\ndateOrder: xyz\nmap: userId", [":1:1: ", "windows-1252", ":2:1: ", ":3:1: "], 65),
            ("- a", [":1:1: expected keys with values"], 65), ("a: [", ["neither YAML nor JSON"], 65), ("", [], 0),
        ]
        for (text, says, status) in table {
            let mapping = try club.scratch.write(text, to: "mapping.yaml")
            let outcome = try await club.run("import", file, "--mapping", mapping)
            #expect(outcome.status == status, "\(text): \(outcome.messages)")
            for part in says { #expect(outcome.messages.contains(part), "\(text): \(outcome.messages)") }
            #expect(FileManager.default.fileExists(atPath: club.database) == (status == 0))
        }
        #expect(try await club.run("import", file, "--mapping", club.scratch.file("none.yaml")).status == 66)
        for option in [["--delimiter", "ab"], ["--encoding", "x"], ["--date-order", "d"], ["--skip-lines", "-1"]] {
            #expect(try await club.run(["import", file] + option).status == 64, "\(option)")
        }
    }

    @Test("A first import that fails leaves no database behind")
    func noDatabase() async throws {
        let folder = (club.database as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(
            atPath: club.scratch.file("folder.csv"),
            withIntermediateDirectories: true
        )
        let good = "userId,username\nU1,Ann\n"
        let table: [(name: String, text: String?, arguments: [String], status: Int32)] = [
            ("no-id.csv", "Name,City\nAnn,Bonn\n", [], 65), ("map.csv", good, ["--map", "X=userId"], 64),
            ("none.csv", nil, [], 66), ("folder.csv", nil, [], 74), ("empty.csv", "", [], 65),
            ("book.csv", "PK\u{3}\u{4}[Content_Types].xml", [], 65), ("book.xlsx", "PK\u{3}\u{4}xl/", [], 65),
            ("rows.csv", "userId,numVisits\nU1,many\n#N/A,2\n", [], 65), ("list.musrl", "[{]", [], 65),
            ("club.clubkit", "{\"clubkit\":1}\n", [], 65), ("what.txt", "hello\n", [], 65),
            ("wide.csv", "\u{0}u\u{0}s\u{0}e", [], 65), ("skip.csv", good, ["--skip-lines", "5"], 65),
            ("delimiter.csv", good, ["--delimiter", ";"], 65),
        ]
        for (name, text, arguments, status) in table {
            let path = club.scratch.file(name)
            if let text { _ = try club.scratch.write(text, to: name) }
            let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let outcome = try await club.run(["import", path] + arguments)
            #expect(outcome.status == status, "\(name): \(outcome.messages)")
            #expect(!outcome.messages.contains("new one was made"), "\(name): \(outcome.messages)")
            #expect(!FileManager.default.fileExists(atPath: club.database), "\(name)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before, "\(name)")
        }
        // One that is there stays, and so does one into which a row was taken.
        let some = try club.scratch.write("userId,numVisits\nU1,1\nU2,many\n", to: "some.csv")
        let first = try await club.run("import", some)
        #expect(first.status == 65 && first.messages.contains("a new one was made"))
        #expect(try await club.run("import", club.scratch.file("no-id.csv")).status == 65)
        #expect(try await members() == ["U1="])
    }

    @Test("A database that another program has opened meanwhile stays, though the first import fails")
    func openMeanwhile() async throws {
        let file = club.scratch.file("pipe.csv")
        #expect(mkfifo(file, 0o600) == 0)
        let importing = try Tool.clubctl.start(["import", file, "--database", club.database])
        try await until("it is made") { FileManager.default.fileExists(atPath: club.database) }
        let kiosk = try await MessageKiosk(club)
        try Data("Name,City\nA,B\n".utf8).write(to: URL(fileURLWithPath: file))
        let outcome = await importing.finish()
        #expect(outcome.status == 65 && outcome.messages.contains("a new one was made"), "\(outcome.messages)")
        #expect(FileManager.default.fileExists(atPath: club.database))
        #expect(await kiosk.stop() == 130)
        #expect(try await members().isEmpty)
    }

    @Test("A mapping that cannot be written leaves the one that is there, and the report is printed all the same")
    func unwritableMapping() async throws {
        let file = try club.scratch.write("userId,numVisits\nU1,1\nU2,many\n", to: "some.csv")
        let pipe = club.scratch.file("pipe.yaml")
        #expect(mkfifo(pipe, 0o600) == 0)
        for (number, kept) in [club.scratch.file("none/m.yaml"), pipe, club.scratch.path].enumerated() {
            let outcome = try await club.run("import", file, "--save-mapping", kept, "--merge")
            #expect(outcome.status == 74, "\(kept): \(outcome.messages)")
            #expect(outcome.output.contains("row 3") && outcome.messages.contains(kept), "\(number): \(outcome)")
        }
        #expect(try await members() == ["U1="])
        let kept = try club.scratch.write("delimiter: x\n", to: "kept.yaml")
        #expect(try await club.run("import", file, "--save-mapping", kept, "--merge").status == 65)
        #expect(try String(contentsOfFile: kept, encoding: .utf8).hasPrefix("# How a file"))
    }

    @Test("An identifier that lost its zeros is noted, whoever was known first")
    func lostZeros() async throws {
        let known = try club.scratch.write("userId\n0001234567\n9999999\n00\n5\n", to: "known.csv")
        #expect(try await club.run("import", known).status == 0)
        _ = try await club.json("members", "cards", "add", "5", "0042")
        let file = try club.scratch.write("userId\n1234567\n09999999\n0\n42\n7\n", to: "zeros.csv")
        for options in [["--dry-run"], []] {
            let rows = try await club.json(["import", file] + options).filter { $0["event"] as? String == "row" }
            let noted = rows.filter { ($0["notes"] as? [String])?.contains { $0.contains("leading zeros") } == true }
            #expect(noted.compactMap { $0["row"] as? Int } == [2, 3, 4, 5], "\(rows)")
        }
        let text = try await club.run("import", try club.scratch.write("userId\n001234567\n", to: "more.csv"))
        #expect(text.output.contains("row 2: created 001234567; note: "), "\(text.output)")
        // What was known already is nothing new.
        let again = try await club.json("import", file).filter { $0["event"] as? String == "row" }
        #expect(!again.contains { ($0["notes"] as? [String])?.contains { $0.contains("leading zeros") } == true })
    }

    @Test("A file for a spreadsheet is one in its language, and comes back as it was")
    func forExcel() async throws {
        let file = try club.scratch.write(
            """
            userId,username,timeStampAdded,numVisits,timeStampOfLastVisit,zip,phone,born
            0001234,"=HYPERLINK(""x"")",1793527200.253,3,1793731512.918,01234,'+49 30,10-16
            123456789012345,@SUM,1793527200,0,0,1.5,-5,true
            U1,"a;b,c",1793527200,1,1793527200,x,"\t1","\n2"
            """,
            to: "members.csv"
        )
        #expect(try await club.run("import", file).status == 0)
        let before = try await club.json("members", "list", "--sort", "userId")
        let table: [(environment: [String: String], arguments: [String], delimiter: Character)] = [
            (["LC_ALL": "de_DE.UTF-8"], [], ";"), (["LC_ALL": "", "LC_NUMERIC": "fr_FR"], [], ";"),
            (["LC_ALL": "en_US.UTF-8"], [], ","), (["LC_ALL": "C"], [], ","),
            (["LC_ALL": "C"], ["--delimiter", ";"], ";"), (["LC_ALL": "de_DE"], ["--delimiter", "tab"], "\t"),
        ]
        for (index, row) in table.enumerated() {
            let path = club.scratch.file("out-\(index).csv")
            let arguments = ["export", "--for", "excel", path, "--database", club.database] + row.arguments
            let outcome = try await Tool.clubctl.start(arguments, environment: row.environment).finish()
            #expect(outcome.status == 0, "\(outcome.messages)")
            // Foundation would take the mark away.
            let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
            #expect(text.utf8.starts(with: [0xEF, 0xBB, 0xBF]))
            #expect(
                text.dropFirst().prefix { $0 != "\n" }.split(separator: row.delimiter).prefix(2) == [
                    "userId", "username",
                ]
            )
            let cells = text.split { $0 == row.delimiter || $0 == "\n" }.map { $0.trimmingPrefix("\"") }
            #expect(!cells.contains { "=+-@\t\r".contains($0.first ?? " ") }, "\(cells)")
            #expect(text.contains("'0001234") && text.contains("2026-11-03 18:45:12.918Z"), "\(text)")
            for mode in [[], ["--merge"], ["--merge", "--overwrite"]] {
                let report = try report(try await club.json(["import", path] + mode))
                #expect(report["created"] as? Int == 0 && report["changed"] as? Int == 0, "\(report)")
            }
        }
        let after = try await club.json("members", "list", "--sort", "userId")
        #expect(NSArray(array: before) == NSArray(array: after))
        for arguments in [["--for", "excel", "x.musrl"], ["--delimiter", ";", "x.csv"], ["--for", "word", "x.csv"]] {
            #expect(try await club.run(["export"] + arguments).status == 64)
        }
    }
}
