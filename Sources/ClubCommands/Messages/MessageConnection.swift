import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// A connection to the socket of a kiosk, used on one thread.
final class MessageConnection {
    /// No answer is longer: the reason of a failure is cut before.
    private static let longestAnswer = 1 << 20

    private let path: String
    private let file: Int32
    private var pending: [UInt8] = []

    init(_ path: String) throws {
        self.path = path
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard made >= 0 else {
            let message = "could not connect to \(path): \(String(cString: strerror(errno)))"
            throw ToolFailure(message, exit: ToolExit.inputOutput)
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        // With a NUL behind it.
        guard !name.isEmpty, name.count < MemoryLayout.size(ofValue: address.sun_path), !name.contains(0) else {
            close(made)
            throw ToolFailure("the path of a socket has 1 to 107 bytes: \(path)", exit: ToolExit.usage)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(made, $0, size) }
        }
        guard status == 0 else {
            let code = errno
            close(made)
            throw ToolFailure(
                """
                nobody takes messages at \(path): \(String(cString: strerror(code))). Start 'clubctl kiosk --listen \
                \(path)', or leave out --to and put the message into the inbox.
                """,
                exit: ToolExit.unavailable
            )
        }
        file = made
    }

    deinit { close(file) }

    /// Sends a message, and waits for what becomes of it.
    func route(_ payload: FieldValue, _ cancellation: CardOnReader.Cancellation) throws -> RoutingResult {
        var line: [UInt8] = []
        JSONText.append(payload, to: &line)
        line.append(UInt8(ascii: "\n"))
        try send(line)
        let answer = try answer(cancellation)
        if let result = try? JSONDecoder().decode(RoutingResult.self, from: Data(answer)) { return result }
        guard let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(answer)) else {
            throw ToolFailure("what answers at \(path) is no kiosk", exit: ToolExit.inputOutput)
        }
        throw refusal
    }

    private func send(_ line: [UInt8]) throws {
        var rest = line[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            // The kiosk may have reported why it hangs up.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private func answer(_ cancellation: CardOnReader.Cancellation) throws -> [UInt8] {
        var part = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = pending.firstIndex(of: 10) {
                defer { pending.removeSubrange(...end) }
                return Array(pending[..<end])
            }
            try InputFile.wait(for: file, or: [cancellation.descriptor])
            try cancellation.check()
            let count = recv(file, &part, part.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0, pending.count < Self.longestAnswer else {
                let message = "the kiosk at \(path) hung up. What it had taken is in its inbox."
                throw ToolFailure(message, exit: ToolExit.inputOutput)
            }
            pending += part.prefix(count)
        }
    }

    struct Refusal: ExitCoded, Decodable, CustomStringConvertible {
        struct Fault: Decodable {
            var code: String
            var message: String
        }

        var error: Fault

        var exitCode: ExitCode {
            switch error.code {
            case "tooManyConnections": ToolExit.unavailable
            case "tooLong", "malformed", "notAnObject", "invalidExpiry", "invalidIdentifier": ToolExit.malformed
            default: ToolExit.failure
            }
        }

        var errorCode: String { error.code }

        var description: String { "the kiosk did not take the message: \(error.message)" }
    }
}
