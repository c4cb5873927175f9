import Foundation

/// Asks a server on this machine, one request after the other: chromedriver, whose answers Foundation's `URLSession` does
/// not read.
final class DriverConnection: Sendable {
    private let port: UInt16
    private let queue = DispatchQueue(label: "driver")

    /// How long an answer may take, in seconds.
    private static let patience = 60

    init(port: UInt16) { self.port = port }

    /// Returns the answer's body, and its status.
    func send(_ method: String, _ path: String, _ body: Data) async throws -> (status: Int, body: Data) {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try answer(method, path, body) }) }
        }
    }

    private func answer(_ method: String, _ path: String, _ body: Data) throws -> (status: Int, body: Data) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var time = timeval(tv_sec: Self.patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw failure() }
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json; charset=utf-8\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        var rest = Array(head.utf8) + body
        while !rest.isEmpty {
            let count = Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { throw failure() }
            rest.removeFirst(count)
        }
        return try receive(descriptor)
    }

    private func receive(_ descriptor: Int32) throws -> (status: Int, body: Data) {
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let end = Data("\r\n\r\n".utf8)
        var head: (status: Int, length: Int, size: Int)?
        while true {
            if head == nil, let range = received.range(of: end) {
                let lines = String(decoding: received[..<range.lowerBound], as: UTF8.self).split(separator: "\r\n")
                let length = lines.first { $0.lowercased().hasPrefix("content-length:") }?.split(separator: ":").last
                let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
                head = (status ?? 0, Int(length?.trimmingCharacters(in: .whitespaces) ?? "") ?? 0, range.upperBound)
            }
            if let head, received.count >= head.size + head.length {
                return (head.status, Data(received[head.size..<(head.size + head.length)]))
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw failure() }
            received.append(contentsOf: buffer[..<count])
        }
    }

    private func failure() -> Browser.Failure {
        Browser.Failure(description: "chromedriver does not answer: \(String(cString: strerror(errno)))")
    }
}
