import Foundation

/// One connection of a ``MessageSocket``.
struct SocketClient {
    enum Line {
        case message([UInt8])
        /// A line that is too long, of which nothing is kept.
        case tooLong
        /// It has gone, and all of its lines are done.
        case over
    }

    let descriptor: Int32

    /// Whether a message of it is being processed.
    var isBusy = false

    /// When something came from it.
    private(set) var heardAt = ContinuousClock.now

    private var incoming: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    /// Up to where there is no end of that line.
    private var searched = 0
    private var outgoing: [UInt8] = []
    /// Whether what comes up to the next end of a line belongs to one that is too long.
    private var isSkipping = false
    /// Whether nothing more will come.
    private var hasEnded = false
    /// Whether it will never read an answer.
    private var isDeaf = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// What to wait for on its descriptor.
    var events: Int16 {
        if isBusy { return 0 }
        return Int16(outgoing.isEmpty ? POLLIN : POLLOUT)
    }

    /// Sends an answer, as far as that goes without waiting.
    mutating func answer(_ line: [UInt8]) {
        isBusy = false
        guard !isDeaf else { return }
        outgoing += line
        flush()
    }

    mutating func transfer() {
        if outgoing.isEmpty { receive() } else { flush() }
    }

    /// What there is to do, once the answers are sent; `nil` if nothing.
    mutating func nextLine() -> Line? {
        guard !isBusy, outgoing.isEmpty else { return nil }
        while let end = incoming[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(incoming[start..<end])
            start = end + 1
            searched = start
            if isSkipping {
                isSkipping = false
            } else if line.count > Message.longest {
                return .tooLong
            } else if !Self.isBlank(line) {
                return .message(line)
            }
        }
        searched = incoming.count
        if isSkipping || incoming.count - start > Message.longest {
            clear()
            guard isSkipping else {
                isSkipping = true
                return .tooLong
            }
        }
        guard hasEnded else { return nil }
        // The last line may lack its end. If it was cut off, it is no JSON.
        let line = Array(incoming[start...])
        clear()
        return Self.isBlank(line) ? .over : .message(line)
    }

    private static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D } }

    private mutating func clear() {
        incoming = []
        (start, searched) = (0, 0)
    }

    private mutating func receive() {
        incoming.removeFirst(start)
        searched -= start
        start = 0
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            incoming += bytes[..<count]
            heardAt = .now
        } else if count == 0 || ![EAGAIN, EINTR].contains(errno) {
            hasEnded = true
        }
    }

    private mutating func flush() {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        while !outgoing.isEmpty {
            let count = outgoing.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 {
                outgoing.removeFirst(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                // What it has sent counts even if it does not wait for the answer.
                isDeaf = true
                outgoing = []
            }
        }
    }
}
