import Foundation
import Synchronization

/// The service manager that started this process, such as systemd, and wants to be notified of its state: sd_notify(3).
package struct ServiceManager: Sendable {
    /// The path of its socket, or behind an `@` a name in the abstract name space.
    private let socketName: String

    /// How often it is notified that this process works: three times while it waits for that, if it does.
    package let interval: Duration

    /// - Returns: `nil` if nobody asked to be notified.
    package init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
        socketName = name
        let isMeant = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
        let patience = isMeant ? environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0 : 0
        interval = patience > 0 ? .microseconds(patience) / 3 : .seconds(10)
    }

    /// Sends assignments such as `READY=1`, each a line of one datagram. It waits for nobody: what cannot be sent is
    /// lost, so what matters is sent again.
    package func tell(_ assignments: String...) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socketName.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // In the abstract name space all bytes count, so the length is exact.
        let length = socklen_t(MemoryLayout.size(ofValue: address.sun_family) + name.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(assignments.joined(separator: "\n").utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), $0, length)
            }
        }
    }

    /// The elements of a source, and a `nil` at each interval, for which whoever takes the elements has time only while
    /// nothing holds it up. The next `nil` comes after the last one was taken.
    package static func pulsing<Element: Sendable>(
        _ source: AsyncStream<Element>,
        every interval: Duration?
    ) -> some AsyncSequence<Element?, Never> & Sendable {
        let (stream, continuation) = AsyncStream.makeStream(of: Element?.self)
        let isWaiting = Mutex(false)
        let pulses = Task {
            guard let interval else { return }
            while !Task.isCancelled {
                let isNew = isWaiting.withLock { isWaiting in
                    defer { isWaiting = true }
                    return !isWaiting
                }
                if isNew { continuation.yield(nil) }
                try? await Task.sleep(for: interval)
            }
        }
        let elements = Task {
            for await element in source { continuation.yield(element) }
            continuation.finish()
        }
        continuation.onTermination = { _ in
            pulses.cancel()
            elements.cancel()
        }
        return stream.map { element in
            if element == nil { isWaiting.withLock { $0 = false } }
            return element
        }
    }
}
