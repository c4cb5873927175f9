import Foundation
import GRDB
import Testing

/// What stands at the place of the club's database, and beside it.
@Suite(.timeLimit(.minutes(10)))
struct ClubFilesToolTests {
    private let club: ClubTool

    init() throws {
        club = try ClubTool()
    }

    @Test(
        "A database that is no file is refused at once, and nothing is left beside it",
        arguments: [
            ["members", "list"], ["members", "add", "A"], ["check"], ["check", "--repair"], ["stats"],
            ["backup", "copy"], ["kiosk", "--replay", Fixtures.path + "/day", "--once"], ["audit"],
        ]
    )
    func noFile(arguments: [String]) async throws {
        #expect(mkfifo(club.database, 0o600) == 0)
        let pipe = try await club.run(arguments + ["--json"])
        #expect(pipe.status == 74, "\(arguments): \(pipe.messages)")
        #expect(pipe.messages.contains("the path names no regular file"), "\(arguments): \(pipe.messages)")
        if arguments[0] != "kiosk" {
            let error = try #require(pipe.objects.last?["error"] as? [String: Any])
            #expect(error["code"] as? String == "cannotOpen")
        }
        let device = try await Tool.clubctl.start(arguments + ["--database", "/dev/null"]).finish()
        #expect(device.status == 74, "\(arguments): \(device.messages)")
        #expect(device.messages.contains("the path names no regular file"), "\(arguments): \(device.messages)")
        let folder = (club.database as NSString).deletingLastPathComponent
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["club.sqlite"])
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-journal"))
        #expect(!FileManager.default.fileExists(atPath: "/dev/null-wal"))
    }

    @Test("The database of an earlier version is upgraded in a checked copy, and kept as it was")
    func earlierVersion() async throws {
        let former = Fixtures.path + "/databases/version-1.sqlite"
        try FileManager.default.copyItem(atPath: former, toPath: club.database)
        let listed = try await club.run("members", "list")
        #expect(listed.status == 0 && listed.messages.contains("Upgraded \(club.database), checked."))
        let folder = (club.database as NSString).deletingLastPathComponent
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let kept = try #require(files.first { $0.hasPrefix("club.sqlite.before-upgrade-") })
        #expect(FileManager.default.contentsEqual(atPath: former, andPath: folder + "/" + kept))
        #expect(try await !club.run("members", "list").messages.contains("Upgraded"))
    }

    @Test(
        "What root makes beside a database it makes as the user to whom the folder belongs",
        .enabled(if: geteuid() == 0),
        arguments: [["upgrade"], ["upgrade", "--undo"], ["check", "--repair"], ["members", "list"]]
    )
    func folderOwner(arguments: [String]) async throws {
        try FileManager.default.copyItem(
            atPath: Fixtures.path + "/databases/version-1.sqlite",
            toPath: club.database
        )
        let folder = (club.database as NSString).deletingLastPathComponent
        // In which its owner may make nothing, but root could.
        for file in [club.database, folder] { #expect(chown(file, 4711, 4711) == 0) }
        chmod(folder, 0o500)
        let refused = try await club.run(arguments)
        #expect(refused.status == 74, "\(refused.messages)")
        #expect(refused.messages.contains(/cannot be written|permission denied/), "\(refused.messages)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["club.sqlite"])
        chmod(folder, 0o700)
        let done = try await club.run(arguments.filter { $0 != "--undo" })
        #expect(done.status == 0, "\(done.messages)")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            #expect(try owner(folder + "/" + file) == 4711, "\(file)")
        }
        // Also what does not upgrade.
        for ending in ["-wal", "-shm"] { unlink(club.database + ending) }
        chmod(folder, 0o500)
        #expect(try await club.run("members", "add", "A").status == 74)
    }

    private func owner(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? Int
    }

    /// Gives the club to a user.
    private func giveClub(to user: uid_t) throws -> String {
        let folder = (club.database as NSString).deletingLastPathComponent
        for name in [""] + (try FileManager.default.contentsOfDirectory(atPath: folder)) {
            chown(folder + "/" + name, user, user)
        }
        return folder
    }

    @Test("Root reads and makes the files of who calls it, beside another's club", .enabled(if: geteuid() == 0))
    func callersFiles() async throws {
        _ = try await club.json("members", "add", "A", "--name", "Ann")
        let folder = try giveClub(to: 4711)
        // Folders that the club's user may not enter, of root and of somebody else, who gets what is made there.
        for user in [0, 4712] as [uid_t] {
            let home = try ScratchFolder()
            chown(home.path, user, user)
            chmod(home.path, 0o700)
            let list = try home.write("userId\nB\(user)\n", to: "list.csv")
            #expect(try await club.run("import", list).status == 0)
            for (words, name) in [
                (["export"], "out.csv"), (["visits", "export"], "visits.csv"), (["backup"], "copy.sqlite"),
                (["members", "disclose", "A"], "ann"),
            ] {
                let place = home.file(name)
                let made = try await club.run(words + [place])
                #expect(made.status == 0 && (made.output + made.messages).contains(place), "\(made)")
                #expect(try owner(place) == Int(user), "\(place)")
                let attributes = try FileManager.default.attributesOfItem(atPath: place)
                #expect(attributes[.groupOwnerAccountID] as? Int == Int(user), "\(place)")
                #expect(try await club.run(words + [place]).status == 74, "\(place)")
            }
            #expect(mkfifo(home.file("pipe"), 0o600) == 0)
            #expect(symlink(club.database, home.file("link")) == 0)
            for place in [home.file("pipe"), home.file("link"), club.database, club.database + "-wal"] {
                let refused = try await club.run("export", "--force", "--type", "csv", place)
                #expect(refused.status == 74, "\(place): \(refused)")
            }
            for name in ["pipe", "link"] { unlink(home.file(name)) }
            #expect(try await club.run("export", "--force", home.file("out.csv")).status == 0)
            #expect(try String(contentsOfFile: home.file("out.csv"), encoding: .utf8).contains("Ann"))
            let names = try FileManager.default.contentsOfDirectory(atPath: home.path).sorted()
            #expect(names == ["ann", "copy.sqlite", "list.csv", "out.csv", "visits.csv"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: home.file("ann")).count == 2)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).allSatisfy { $0.hasPrefix("club.sqlite") })
        // By links of root's and of theirs, one behind the other.
        let links = try ScratchFolder()
        chmod(links.path, 0o755)
        #expect(symlink(folder + "/link", links.file("root")) == 0 && symlink("/root", folder + "/link") == 0)
        lchown(folder + "/link", 4711, 4711)
        #expect(try await club.run("backup", links.file("root") + "/copy.sqlite").status == 74)
        #expect(!FileManager.default.fileExists(atPath: "/root/copy.sqlite"))
        let copy = folder + "/copy.sqlite"
        #expect(try await club.run("backup", copy).status == 0)
        #expect(try owner(copy) == 4711)
        let check = try await Tool.clubctl.run("check", "--database", copy)
        #expect(check.status == 0, "\(check.messages)")
    }

    @Test("A database that root put into another's folder is named", .enabled(if: geteuid() == 0))
    func misplaced() async throws {
        _ = try await club.json("members", "add", "A")
        _ = try giveClub(to: 4711)
        chown(club.database, 0, 0)
        let refused = try await club.run("check")
        #expect(refused.status == 66 && refused.messages.contains("sudo chown -h 4711: "), "\(refused.messages)")
        // One that nobody else can lead elsewhere is root's to use, whoever has the file.
        let own = try ScratchFolder()
        chmod(own.path, 0o700)
        let copy = own.file("club.sqlite")
        try FileManager.default.copyItem(atPath: Fixtures.path + "/databases/version-1.sqlite", toPath: copy)
        chown(copy, 4711, 4711)
        let check = try await Tool.clubctl.run("check", "--database", copy)
        #expect(check.status == 0, "\(check.messages)")
    }

    @Test("Whoever erases somebody is told of backups and exported files, and of the copies that a repair kept")
    func keptCopies() async throws {
        for name in ["A", "B"] { _ = try await club.json("members", "add", name) }
        let erased = try await club.run("members", "erase", "A", "--yes", "--json")
        #expect(erased.status == 0)
        #expect(erased.objects.first?["copies"] == nil)
        #expect(!erased.messages.contains("repair"))
        #expect(erased.messages.contains("Backups and exported files that were made before still hold them"))
        let queue = try DatabaseQueue(path: club.database)
        try await queue.write { try $0.execute(sql: "UPDATE member SET num_visits = 7") }
        try queue.close()
        let kept = try #require(try await club.json("check", "--repair").first?["keptFile"] as? String)
        let other = try await club.run("members", "erase", "B", "--yes", "--json")
        #expect(other.status == 0)
        #expect(other.objects.first?["erased"] as? String == "B")
        #expect(other.objects.first?["copies"] as? [String] == [kept])
        #expect(other.messages.contains("\(kept)\n"), "\(other.messages)")
        #expect(other.messages.contains("Backups and exported files"))
    }

    @Test("Whoever makes a new database by a mistyped path is told so")
    func newDatabases() async throws {
        let file = try club.scratch.write("userId\nA\n", to: "members.csv")
        let commands: [[String]] = [["members", "add", "B"], ["import", file], ["import", file, "--merge"]]
        for (index, command) in commands.enumerated() {
            let path = club.scratch.file("new-\(index).sqlite")
            let first = try await Tool.clubctl.start(command + ["--json", "--database", path]).finish()
            #expect(first.status == 0)
            #expect(first.messages == "There was no database at \(path): a new one was made.\n")
            #expect(!first.output.contains("new one"))
            let second = try await Tool.clubctl.start(command + ["--database", path]).finish()
            #expect(!second.messages.contains("new one"), "\(second.messages)")
        }
        let dry = try await club.run("import", file, "--dry-run")
        #expect(dry.messages.contains("There is no database at \(club.database)"))
        #expect(!FileManager.default.fileExists(atPath: club.database))
    }

    @Test("A file that is no database is named, and left alone")
    func noDatabase() async throws {
        let file = try club.scratch.write(String(repeating: "This is a letter.\n", count: 100), to: "letter.txt")
        let outcome = try await Tool.clubctl.start(["members", "list", "--database", file]).finish()
        #expect(outcome.status == 65)
        #expect(
            outcome.messages.hasPrefix(
                "clubctl: could not open the member database \(file): the file is no database of a club"
            )
        )
    }

    @Test("A backup that was killed leaves nothing after the next one")
    func killedBackup() async throws {
        _ = try await club.json("members", "add", "A", "--field", "memo=" + String(repeating: "x", count: 60_000))
        let folder = (club.database as NSString).deletingLastPathComponent
        let left = folder + "/.clubkit-work-Zz19aX"
        try FileManager.default.createDirectory(
            atPath: left,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.copyItem(atPath: club.database, toPath: left + "/copy.sqlite")
        _ = try await club.json("backup", folder + "/copy.sqlite")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.contains("copy.sqlite"))
        #expect(!names.contains { $0.hasPrefix(".") }, "\(names)")
    }
}
