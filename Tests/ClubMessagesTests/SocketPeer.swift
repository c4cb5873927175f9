import ClubRecords
import Foundation
import MessagesTestSupport
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubMessages

/// A program at the other end of a ``MessageSocket``. It waits nowhere in a system call.
final class SocketPeer: Sendable {
    private let descriptor: Int32
    private let received = Shared<[UInt8]>([])
    private let isClosed = Shared(false)

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = try SocketFile.address(path)
        let isConnected = SocketFile.call(connect, descriptor, &address) == 0
        try #require(isConnected)
    }

    deinit { hangUp() }

    func hangUp() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { close(descriptor) }
    }

    /// Says that nothing more will come, and goes on hearing.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Sends as much as goes without waiting.
    func push(_ bytes: [UInt8]) -> Int {
        max(0, send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)))
    }

    func say(_ text: String) async throws {
        var rest = Array(text.utf8)
        try await until("all is sent") {
            rest.removeFirst(push(rest))
            return rest.isEmpty
        }
    }

    /// The next line; `nil` if the other end has ended the connection.
    func line() async throws -> String? {
        var line: String?
        try await until("a line comes") {
            if let found = takeLine() {
                line = found
                return true
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count > 0 { received.withLock { $0 += bytes[..<count] } }
            return count == 0 || count < 0 && errno != EAGAIN
        }
        return line ?? takeLine()
    }

    private func takeLine() -> String? {
        received.withLock { received in
            guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { received.removeFirst(end + 1) }
            return String(decoding: received[..<end], as: UTF8.self)
        }
    }

    /// The next line as a result.
    func result() async throws -> RoutingResult {
        let line = try #require(try await line())
        return try JSONDecoder().decode(RoutingResult.self, from: Data(line.utf8))
    }

    /// The next line as an error.
    func error() async throws -> (code: String?, offset: Int?) {
        let line = try #require(try await line())
        guard case .object(let fields) = try JSONReader.value(in: Array(line.utf8)),
            case .object(let error)? = fields["error"], case .string(let code)? = error["code"],
            case .string(let message)? = error["message"], !message.isEmpty
        else { return (nil, nil) }
        if case .int(let offset)? = error["offset"] { return (code, offset) }
        return (code, nil)
    }
}
