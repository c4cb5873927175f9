#if PCSC
import Foundation
import Glibc
import ReaderKit
import Synchronization
import TestSupport

/// A card behind the virtual reader that may break every rule: it can answer with nothing at all, or not answer.
final class UnrulyCard: Sendable {
    /// What becomes of a command.
    enum Answer: Sendable {
        case bytes([UInt8])
        /// A frame without a body.
        case nothing
        /// No frame at all.
        case never
    }

    private let descriptor: Int32
    private let hasEnded = Mutex(false)
    private let commands = Mutex(0)

    /// A card on the reader from now on.
    init(port: UInt16 = 35963, atr: [UInt8], answer: @escaping @Sendable ([UInt8]) -> Answer) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw ReaderError(.readerUnavailable, attempting: "reach the virtual reader") }
        Thread.detachNewThread { self.serve(atr, answer) }
    }

    deinit { remove() }

    /// How many commands came.
    var received: Int { commands.withLock(\.self) }

    /// Takes the card away.
    func remove() { hasEnded.withLock { if !$0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    private func serve(_ atr: [UInt8], _ answer: ([UInt8]) -> Answer) {
        while let header = read(2), let request = read(Int(header[0]) << 8 | Int(header[1])) {
            if request.count == 1 {
                if request[0] == 4 { send(atr) }
                continue
            }
            commands.withLock { $0 += 1 }
            switch answer(request) {
            case .bytes(let bytes): send(bytes)
            case .nothing: send([])
            case .never: break
            }
        }
        hasEnded.withLock {
            $0 = true
            close(descriptor)
        }
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: max(count, 1))
        while bytes.count < count {
            let result = recv(descriptor, &buffer, count - bytes.count, 0)
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return nil }
            bytes += buffer[..<result]
        }
        return bytes
    }

    private func send(_ body: [UInt8]) {
        let frame = [UInt8(body.count >> 8 & 0xFF), UInt8(body.count & 0xFF)] + body
        _ = Glibc.send(descriptor, frame, frame.count, Int32(MSG_NOSIGNAL))
    }
}

/// Collects what a stream gives, and waits for it.
final class Collected<Element: Sendable>: Sendable {
    private let seen = Mutex<[Element]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ source: some AsyncSequence<Element, Never> & Sendable) {
        task.withLock {
            $0 = Task { [weak self] in
                for await element in source { self?.seen.withLock { $0.append(element) } }
            }
        }
    }

    deinit { stop() }

    var all: [Element] { seen.withLock { $0 } }

    func stop() { task.withLock { $0?.cancel() } }

    /// The n-th element that the closure takes, once it has come.
    func first<Value>(
        _ what: String,
        number: Int = 1,
        within limit: Duration = .seconds(30),
        _ match: (Element) -> Value?
    ) async throws -> Value {
        var found: [Value] = []
        do {
            try await until(what, within: limit) {
                found = all.compactMap(match)
                return found.count >= number
            }
        } catch is NotInTime {
            throw NotSeen(description: "not seen: \(what); seen: \(all)")
        }
        return found[number - 1]
    }
}

/// How often something happened.
final class Counted: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock(\.self) }

    func add() { count.withLock { $0 += 1 } }
}

struct NotSeen: Error, CustomStringConvertible {
    var description: String
}
#endif
