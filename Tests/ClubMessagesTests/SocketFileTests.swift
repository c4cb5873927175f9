import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubMessages

@Suite("The file of a socket", .timeLimit(.minutes(10)))
struct SocketFileTests {
    let directory: TemporaryDirectory
    let router = MessageRouter(configuration: .test())

    init() throws {
        directory = try TemporaryDirectory()
        router.register(type: "greeting") { (_: FieldValue, _) in .newData }
    }

    private func open(_ name: String = "m.sock") async throws -> MessageSocket {
        let socket = MessageSocket(path: directory.file(name), router: router)
        try await socket.start()
        return socket
    }

    private func line(_ id: String) -> String {
        #"{"messageType":"greeting","messageId":"\#(id)"}"# + "\n"
    }

    @Test("The file is this user's alone, and goes when serving ends")
    func file() async throws {
        let socket = try await open("new/folder/m.sock")
        var status = stat()
        #expect(lstat(socket.path, &status) == 0)
        #expect(status.st_mode == S_IFSOCK | 0o600)
        try await socket.start()
        await socket.stop()
        #expect(lstat(socket.path, &status) != 0)
        await socket.stop()
        try await socket.start()
        let peer = try SocketPeer(socket.path)
        try await peer.say(line("a"))
        #expect(try await peer.result().outcome == .newData)
        await socket.stop()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.file("new/folder")) == [])
    }

    @Test("Serving ends with its object")
    func dropped() async throws {
        var socket: MessageSocket? = try await open()
        let path = try #require(socket?.path)
        let peer = try SocketPeer(path)
        socket = nil
        #expect(try await peer.line() == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Other users are refused")
    func otherUsers() async throws {
        let asked = Shared<[uid_t]>([])
        let socket = MessageSocket(path: directory.file("m.sock"), router: router) { user in
            asked.withLock { $0.append(user) }
            return false
        }
        try await socket.start()
        let peer = try SocketPeer(socket.path)
        #expect(try await peer.error().code == "notAllowed")
        #expect(try await peer.line() == nil)
        #expect(asked.withLock { $0 } == [geteuid()])
        await socket.stop()
    }

    @Test("A socket that a killed program left behind is replaced")
    func stale() async throws {
        let path = directory.file("m.sock")
        let left = try SocketFile(path)
        close(left.descriptor)
        #expect(FileManager.default.fileExists(atPath: path))
        let socket = try await open()
        let peer = try SocketPeer(path)
        try await peer.say(line("a"))
        #expect(try await peer.result().outcome == .newData)
        await socket.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A socket that is served is left alone, of several that start at once one serves")
    func alive() async throws {
        let path = directory.file("m.sock")
        let router = router
        let sockets = (0..<8).map { _ in MessageSocket(path: path, router: router) }
        let failures = await withTaskGroup(of: ClubError?.self) { group in
            for socket in sockets {
                group.addTask {
                    do throws(ClubError) {
                        try await socket.start()
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(failures.filter { $0 == nil }.count == 1)
        #expect(failures.compactMap { $0?.kind } == Array(repeating: .fileExists, count: 7))
        let peer = try SocketPeer(path)
        try await peer.say(line("a"))
        #expect(try await peer.result().outcome == .newData)
        for socket in sockets { await socket.stop() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Another file is left alone", arguments: ["file", "folder", "link"])
    func otherFile(kind: String) async throws {
        let path = directory.file("m.sock")
        switch kind {
        case "file": try Data("text".utf8).write(to: URL(fileURLWithPath: path))
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        }
        let before = FileIdentity(path)
        let error = await #expect(throws: ClubError.self) { try await open() }
        #expect(error?.kind == .fileExists)
        #expect(FileIdentity(path) == before)
    }

    @Test("A file that took the socket's place stays")
    func replaced() async throws {
        let socket = try await open()
        try Data("text".utf8).write(to: URL(fileURLWithPath: socket.path + ".new"))
        #expect(rename(socket.path + ".new", socket.path) == 0)
        await socket.stop()
        #expect(FileManager.default.contents(atPath: socket.path) == Data("text".utf8))
    }

    @Test("A path that is too long is refused")
    func tooLong() async throws {
        let error = await #expect(throws: ClubError.self) { try await open(String(repeating: "x", count: 108)) }
        #expect(error?.kind == .invalidValue)
    }
}
