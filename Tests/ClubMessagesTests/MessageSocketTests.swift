import ClubRecords
import ClubMessages
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubMessages

@Suite("Messages through a socket", .timeLimit(.minutes(10)))
struct MessageSocketTests {
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
            notes.add(context.messageID)
            return .newData
        }
        router.register(type: "slow") { (_: FieldValue, context) in
            await gate.pass()
            notes.add(context.messageID)
            return .noData
        }
    }

    private func open(_ name: String = "m.sock") async throws -> MessageSocket {
        let socket = MessageSocket(path: directory.file(name), router: router)
        try await socket.start()
        return socket
    }

    private func line(_ id: String, _ type: String = "greeting") -> String {
        #"{"messageType":"\#(type)","messageId":"\#(id)"}"# + "\n"
    }

    @Test("A line is a message, and its result is a line")
    func lines() async throws {
        let socket = try await open()
        let peer = try SocketPeer(socket.path)
        try await peer.say(line("a"))
        let result = try await peer.result()
        #expect(result.messageID == "a")
        #expect(result.outcome == .newData)
        #expect(result.source == MessageSource(.socket))
        #expect(result.processor == "greeting")
        try await peer.say("\n \r\n" + line("b", "unknown") + line("a") + #"{"messageType":"greeting"}"# + "\r\n")
        #expect(try await peer.result().outcome.name == "unhandled")
        #expect(try await peer.result().outcome == .duplicate)
        #expect(try await peer.result().messageID == UUIDSource.uuid(1).uuidString)
        await socket.stop()
        #expect(try await peer.line() == nil)
    }

    @Test(
        "What is no message is answered with the fault, and the connection goes on",
        arguments: [
            ("{", "malformed", 1), ("hello", "malformed", 0), ("[]", "notAnObject", 0), (#"{"a" 1}"#, "malformed", 5),
            (#"{"expires":"soon"}"#, "invalidExpiry", nil), ("\u{0}", "malformed", 0),
            (#"{"a":"\#(String(repeating: "x", count: 65_536))"}"#, "tooLong", 65_536),
            (String(repeating: "x", count: 1_000_000), "tooLong", 65_536),
        ] as [(String, String, Int?)]
    )
    func malformed(text: String, code: String, offset: Int?) async throws {
        let socket = try await open()
        let peer = try SocketPeer(socket.path)
        try await peer.say(text + "\n" + line("a"))
        #expect(try await peer.error() == (code, offset))
        #expect(try await peer.result().outcome == .newData)
        #expect(try await inbox.entries(nil, limit: 10).count == 1)
        await socket.stop()
    }

    @Test("The longest line is a message, and one byte more is none")
    func longest() async throws {
        let socket = try await open()
        let peer = try SocketPeer(socket.path)
        let frame = #"{"messageType":"greeting","a":""}"#
        let text = String(repeating: "x", count: Message.longest - frame.utf8.count)
        try await peer.say(#"{"messageType":"greeting","a":"\#(text)"}"# + "\n")
        #expect(try await peer.result().outcome == .newData)
        try await peer.say(#"{"messageType":"greeting","a":"\#(text)"} "# + "\n")
        #expect(try await peer.error().code == "tooLong")
        // Answered before its end comes, and nothing of the rest is taken for a line.
        try await peer.say(#"{"a":"\#(text)"# + text)
        #expect(try await peer.error().code == "tooLong")
        try await peer.say(#"","messageType":"greeting"}"# + "\n" + line("b"))
        #expect(try await peer.result().messageID == "b")
        await socket.stop()
    }

    @Test("Half a line waits for its other half, and keeps nobody waiting")
    func halfLine() async throws {
        let socket = try await open()
        let (slow, quick) = (try SocketPeer(socket.path), try SocketPeer(socket.path))
        for byte in line("slow").utf8.dropLast() { #expect(slow.push([byte]) == 1) }
        try await quick.say(line("quick"))
        #expect(try await quick.result().messageID == "quick")
        #expect(notes.all == ["quick"])
        try await slow.say("\n")
        #expect(try await slow.result().messageID == "slow")
        await socket.stop()
    }

    @Test("A line that was cut off is no message; one that only lacks its end is")
    func cutOff() async throws {
        let socket = try await open()
        let cut = try SocketPeer(socket.path)
        try await cut.say(#"{"messageType":"greeting","messageId":"cut""#)
        cut.finish()
        #expect(try await cut.error().code == "malformed")
        #expect(try await cut.line() == nil)
        let whole = try SocketPeer(socket.path)
        try await whole.say(line("a") + #"{"messageType":"greeting","messageId":"whole"}"#)
        whole.finish()
        #expect(try await whole.result().messageID == "a")
        #expect(try await whole.result().messageID == "whole")
        #expect(try await whole.line() == nil)
        #expect(notes.all == ["a", "whole"])
        await socket.stop()
    }

    @Test("Messages of a client that does not wait for answers count")
    func fireAndForget() async throws {
        let socket = try await open()
        let peer = try SocketPeer(socket.path)
        try await peer.say((1...5).map { line("\($0)") }.joined())
        peer.hangUp()
        try await until("all are processed") { notes.all.count == 5 }
        #expect(notes.all == ["1", "2", "3", "4", "5"])
        try await until("the connection is over") { socket.connections == 0 }
        await socket.stop()
    }

    @Test("A client that does not read its answers keeps nobody waiting")
    func deaf() async throws {
        let socket = try await open()
        let (deaf, quick) = (try SocketPeer(socket.path), try SocketPeer(socket.path))
        let lines = Array(String(repeating: "x\n", count: 50_000).utf8)
        // Until neither side takes more: the answers are longer than the lines.
        var sent = 0
        for _ in 0..<50 {
            sent += deaf.push(lines)
            try await quick.say(line("\(sent)"))
            _ = try await quick.result()
        }
        #expect(deaf.push(lines) < lines.count)
        deaf.hangUp()
        try await quick.say(line("last"))
        #expect(try await quick.result().messageID == "last")
        await socket.stop()
    }

    @Test("Sixteen clients at a time, each with its own answers in order")
    func manyClients() async throws {
        let socket = try await open()
        let line = line
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<MessageSocket.mostConnections {
                let peer = try SocketPeer(socket.path)
                group.addTask {
                    let ids = (0..<20).map { "\(client)-\($0)" }
                    try await peer.say(ids.map { line($0, "greeting") }.joined())
                    for id in ids { #expect(try await peer.result().messageID == id) }
                }
            }
            try await group.waitForAll()
        }
        #expect(notes.all.count == 320)
        #expect(Set(notes.all).count == 320)
        await socket.stop()
    }

    @Test("One client more takes the place of the one that was silent for longest, never of one that waits")
    func crowd() async throws {
        let socket = try await open()
        var peers: [SocketPeer] = []
        for number in 0..<MessageSocket.mostConnections {
            peers.append(try SocketPeer(socket.path))
            try await until("it is admitted") { socket.connections == number + 1 }
        }
        for peer in peers.dropFirst(3) { try await peer.say(line(UUID().uuidString, "slow")) }
        try await until("they wait") { try await inbox.pending().count == 13 }
        try await peers[0].say(line("first"))
        // Behind the slow ones, so it waits too; the second is the one that was silent for longest.
        try await until("it waits") { try await inbox.pending().count == 14 }
        let newcomer = try SocketPeer(socket.path)
        #expect(try await peers[1].line() == nil)
        try await newcomer.say(line("newcomer"))
        try await until("it waits") { try await inbox.pending().count == 15 }
        let last = try SocketPeer(socket.path)
        #expect(try await peers[2].line() == nil)
        try await last.say(line("last"))
        try await until("it waits") { try await inbox.pending().count == 16 }
        let refused = try SocketPeer(socket.path)
        #expect(try await refused.error().code == "tooManyConnections")
        #expect(try await refused.line() == nil)
        gate.open()
        for peer in peers.dropFirst(3) { #expect(try await peer.result().outcome == .noData) }
        #expect(try await peers[0].result().messageID == "first")
        #expect(try await newcomer.result().messageID == "newcomer")
        #expect(try await last.result().messageID == "last")
        await socket.stop()
    }

    @Test("A disk that is full is told, and the message can be given again")
    func diskFull() async throws {
        let socket = try await open()
        let peer = try SocketPeer(socket.path)
        inbox.refuse(.add)
        try await peer.say(line("a"))
        #expect(try await peer.error().code == "diskFull")
        inbox.refuse()
        try await peer.say(line("a"))
        #expect(try await peer.result().outcome == .newData)
        await socket.stop()
    }

    @Test("The thread wakes only when there is something to do")
    func wakeUps() async throws {
        let socket = try await open()
        let idle = try SocketPeer(socket.path)
        #expect(idle.push(Array("{".utf8)) == 1)
        for number in 0..<20 {
            let peer = try SocketPeer(socket.path)
            try await peer.say(line("\(number)"))
            #expect(try await peer.result().outcome == .newData)
            peer.hangUp()
        }
        try await until("the others are gone") { socket.connections == 1 }
        // Each connection comes, says something, gets an answer and goes.
        #expect(socket.wakeUps < 21 * 6)
        await socket.stop()
    }
}
