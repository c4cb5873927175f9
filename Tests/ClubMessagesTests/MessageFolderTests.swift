import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubMessages

@Suite("Messages in a directory", .timeLimit(.minutes(10)))
struct MessageFolderTests {
    let directory: TemporaryDirectory
    let inbox = RefusingInbox()
    let router: MessageRouter
    let notes = Notes()
    let gate = Gate()

    init() throws {
        directory = try TemporaryDirectory()
        router = MessageRouter(inbox: inbox, configuration: .test())
        let (notes, gate) = (notes, gate)
        router.register(type: "greeting") { (_: FieldValue, context) in
            notes.add(context.source.name ?? "")
            return .newData
        }
        router.register(type: "slow") { (_: FieldValue, context) in
            notes.add(context.source.name ?? "")
            await gate.pass()
            return .newData
        }
    }

    private var path: String { directory.file("messages") }
    private static let greeting = #"{"messageType":"greeting"}"#

    private func open(blind: Bool = false, portion: Int = 256) async throws -> MessageFolder {
        var pauses = MessageFolder.Pauses()
        pauses.firstRetry = .milliseconds(1)
        pauses.lastRetry = .milliseconds(5)
        pauses.blindLook = .milliseconds(1)
        pauses.portion = portion
        pauses.look = blind ? .milliseconds(1) : .seconds(3600)
        let folder = MessageFolder(path: path, router: router, pauses: pauses)
        try await folder.start()
        return folder
    }

    private func write(_ text: String, _ name: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }

    /// As a careful writer does it.
    private func rename(_ text: String, _ name: String) throws {
        try write(text, "." + name)
        try FileManager.default.moveItem(atPath: path + "/." + name, toPath: path + "/" + name)
    }

    /// Of a folder that is not there: none.
    private func names(_ folder: String = "") -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path + folder))?.sorted() ?? []
    }

    @Test("What is there is taken in the order of the names, and what comes as it comes")
    func taken() async throws {
        for name in ["b.json", "a.json", "ä.json", "10.json", "9.json", "A.json"] { try write(Self.greeting, name) }
        let folder = try await open()
        try await until("all are taken") { names() == [] }
        #expect(notes.all == ["10.json", "9.json", "A.json", "a.json", "b.json", "ä.json"])
        try rename(Self.greeting, "1.json")
        try await until("the new one is taken") { names() == [] }
        try write(Self.greeting, "0.json")
        try await until("the last one is taken") { names() == [] && notes.all.count == 8 }
        #expect(notes.all.suffix(2) == ["1.json", "0.json"])
        let sources = try await inbox.entries(nil, limit: 100).map(\.message.source)
        #expect(sources.allSatisfy { $0.kind == .directory })
        await folder.stop()
        try rename(Self.greeting, "late.json")
        #expect(names() == ["late.json"])
    }

    @Test("More files than are looked at in one go keep their order")
    func many() async throws {
        let all = (0..<7).map { String(format: "%03d.json", $0) }
        var numbers = SeededNumbers(seed: 7)
        for name in all.shuffled(using: &numbers) { try write(Self.greeting, name) }
        let folder = try await open(portion: 2)
        try await until("all are taken", within: .seconds(400)) { names() == [] }
        #expect(notes.all == all)
        #expect(folder.wakeUps < 50)
        await folder.stop()
    }

    @Test("Other names are left alone, and files that are not written yet")
    func leftAlone() async throws {
        let names = [".hidden.json", "a.JSON", "a.json.tmp", "a.txt", "empty.json", "json"]
        for name in names { try write(name == "empty.json" ? "" : Self.greeting, name) }
        let folder = try await open()
        try rename(Self.greeting, "z.json")
        try await until("the message is taken") { notes.all == ["z.json"] }
        try await until("its file is removed") { self.names() == names }
        try write(Self.greeting, "empty.json")
        try await until("it is written now") { notes.all == ["z.json", "empty.json"] }
        await folder.stop()
    }

    @Test(
        "What is no message is moved away, with the reason",
        arguments: [
            ("{", "the message is no JSON: expected a name in quotes at byte 2"),
            ("[]", "the message is no object of JSON; put it in braces"),
            (#"{"expires":"soon"}"#, "'expires' is no time; write ISO 8601"),
            (#"{"a":"\#(String(repeating: "x", count: 65_536))"}"#, "the message has more than 65536 bytes"),
            ("link", "it is no regular file"), ("folder", "it is no regular file"), ("pipe", "it is no regular file"),
        ]
    )
    func rejected(what: String, reason: String) async throws {
        try write(Self.greeting, "z.json")
        let place = path + "/a.json"
        switch what {
        case "link": try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "z.json")
        case "folder": try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(place, 0o600) == 0)
        default: try write(what, "a.json")
        }
        let before = try #require(FileIdentity(place)).number
        let folder = try await open()
        try await until("all is done") { names() == ["rejected"] && notes.all == ["z.json"] }
        #expect(names("/rejected") == ["a.json", "a.json.reason"])
        #expect(FileIdentity(path + "/rejected/a.json")?.number == before)
        let text = try String(contentsOfFile: path + "/rejected/a.json.reason", encoding: .utf8)
        #expect(text.hasPrefix(reason) && text.hasSuffix("\n"), "\(text)")
        await folder.stop()
    }

    @Test("Files of one name that are rejected one after the other are all kept")
    func rejectedAgain() async throws {
        let folder = try await open()
        for number in 0..<3 {
            try rename("{\(number)", "a.json")
            try await until("it is moved") { names("/rejected").count == 2 * (number + 1) }
        }
        #expect(
            names("/rejected") == [
                "1-a.json", "1-a.json.reason", "2-a.json", "2-a.json.reason", "a.json", "a.json.reason",
            ]
        )
        #expect(FileManager.default.contents(atPath: path + "/rejected/2-a.json") == Data("{2".utf8))
        await folder.stop()
    }

    @Test("What cannot be moved away is left, and keeps nobody waiting")
    func stuck() async throws {
        try write("{", "a.json")
        try write("no directory", "rejected")
        let folder = try await open()
        for number in 0..<3 {
            try rename(Self.greeting, "b\(number).json")
            try await until("the next one is taken") { names() == ["a.json", "rejected"] }
        }
        #expect(notes.all == ["b0.json", "b1.json", "b2.json"])
        await folder.stop()
    }

    @Test("Many files that are left alone keep neither others waiting nor the thread awake")
    func manyLeft() async throws {
        for number in 0..<300 { try write("", "a\(number).json") }
        let folder = try await open()
        for number in 0..<3 {
            try rename(Self.greeting, "b\(number).json")
            try await until("it is taken") { notes.all.count == number + 1 && names().count == 300 }
        }
        #expect(folder.wakeUps < 20)
        await folder.stop()
    }

    @Test("While the disk is full files stay, in order, and are tried again")
    func diskFull() async throws {
        inbox.refuse(.add)
        for name in ["a.json", "b.json"] { try write(Self.greeting, name) }
        let folder = try await open()
        try await until("it was tried several times") { folder.wakeUps > 5 }
        #expect(names() == ["a.json", "b.json"])
        #expect(notes.all == [])
        inbox.refuse(.settle)
        try await until("the first one is processed") { notes.all == ["a.json"] }
        #expect(names() == ["a.json", "b.json"])
        inbox.refuse()
        try await until("all are taken") { names() == [] }
        #expect(notes.all == ["a.json", "b.json"])
        await folder.stop()
    }

    @Test("A message that was stored before a crash is not taken a second time")
    func crash() async throws {
        try write(Self.greeting, "a.json")
        try write(#"{"messageType":"greeting","messageId":"own"}"#, "b.json")
        // What an earlier run stored before it could remove the files.
        let files = try MessageFiles(path)
        for (name, id) in [("a.json", nil), ("b.json", "own")] {
            guard case .file(let file) = files.read(name, unless: nil) else {
                Issue.record("it cannot be read")
                return
            }
            #expect(file.uuid(named: name) == file.uuid(named: name))
            #expect(file.uuid(named: name) != file.uuid(named: "other.json"))
            #expect(try await inbox.add(message(id ?? file.uuid(named: name).uuidString)))
        }
        let folder = try await open()
        try await until("the files are removed") { names() == [] }
        #expect(notes.all == [])
        #expect(try await inbox.pending().count == 2)
        // The same content in another file is another message, but not under the same identifier.
        try rename(Self.greeting, "a.json")
        try rename(#"{"messageType":"greeting","messageId":"own"}"#, "b.json")
        try await until("the files are removed") { names() == [] }
        #expect(notes.all == ["a.json"])
        await folder.stop()
    }

    @Test("Files that the system cannot tell apart are told apart by those that were removed")
    func alike() async throws {
        let folder = try await open()
        for number in 0..<5 {
            try write(Self.greeting, ".a.json")
            try FileManager.default.setAttributes([.modificationDate: start], ofItemAtPath: path + "/.a.json")
            try FileManager.default.moveItem(atPath: path + "/.a.json", toPath: path + "/a.json")
            try await until("it is taken") { names() == [] && notes.all.count == number + 1 }
        }
        await folder.stop()
    }

    @Test("A file that took the place of one that is being processed is taken too")
    func replaced() async throws {
        let folder = try await open()
        try rename(#"{"messageType":"slow"}"#, "a.json")
        try await until("it is being processed") { notes.all == ["a.json"] }
        try FileManager.default.removeItem(atPath: path + "/a.json")
        try rename(Self.greeting, "a.json")
        gate.open()
        try await until("both are done") { names() == [] && notes.all == ["a.json", "a.json"] }
        await folder.stop()
    }

    @Test("It ends in the midst of a message, whose file is removed the next time")
    func stopped() async throws {
        let folder = try await open()
        try rename(#"{"messageType":"slow"}"#, "a.json")
        try await until("it is being processed") { notes.all == ["a.json"] }
        await folder.stop()
        #expect(names() == ["a.json"])
        gate.open()
        try await until("it is settled") { try await inbox.pending().isEmpty }
        try await folder.start()
        try await until("its file is removed") { names() == [] }
        #expect(notes.all == ["a.json"])
        await folder.stop()
    }

    @Test("A directory is made for this user alone; one for everybody is refused, and what is none")
    func places() async throws {
        let folder = try await open()
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode == S_IFDIR | 0o700)
        try await folder.start()
        await folder.stop()
        await folder.stop()
        #expect(chmod(path, 0o777) == 0)
        var error = await #expect(throws: ClubError.self) { try await open() }
        #expect(error?.kind == .invalidValue)
        try FileManager.default.removeItem(atPath: path)
        try Data().write(to: URL(fileURLWithPath: path))
        error = await #expect(throws: ClubError.self) { try await open() }
        #expect(error?.kind == .cannotCreate)
    }

    @Test("A directory that goes and comes back is looked at again")
    func directoryGone() async throws {
        let folder = try await open(blind: true)
        try rename(Self.greeting, "a.json")
        try await until("it is taken") { names() == [] && notes.all.count == 1 }
        try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
        let seen = folder.wakeUps
        try await until("it is missed") { folder.wakeUps > seen + 2 }
        try rename(Self.greeting, "b.json")
        try await until("the new one is looked at") { names() == [] && notes.all.count == 2 }
        await folder.stop()
    }

    @Test("It ends at once, also while a message is being answered")
    func endsMeanwhile() async throws {
        for number in 0..<200 {
            let folder = try await open()
            try rename(Self.greeting, "\(number).json")
            try await until("it is taken") { notes.all.count > number }
            await folder.stop()
        }
    }

    @Test("The thread wakes only when something comes")
    func wakeUps() async throws {
        let folder = try await open()
        for number in 0..<20 {
            try rename(Self.greeting, "a.json")
            try await until("it is taken") { names() == [] && notes.all.count == number + 1 }
        }
        // For the name that begins with a dot, the renaming, and a bell that rang late.
        #expect(folder.wakeUps <= 1 + 20 * 4)
        await folder.stop()
    }
}
