import Dispatch
import Foundation
import Glibc
import ReaderKit
import Synchronization

/// Presents simulated cards to a real pcscd, through the virtual reader of vsmartcard (Debian: `vsmartcard-vpcd`).
///
/// To a program that uses PC/SC there is no difference to a reader with a card on it. pcscd looks every 400 ms whether
/// there is a card, so one that is present or absent for less than ``settlingTime`` may never be seen: wait for what the
/// program under test reports, or at least that long, between ``present(_:)`` and ``remove()``.
///
/// The virtual reader listens on all network interfaces and lets anybody insert cards. It has no place on a machine that
/// serves people; `Scripts/isolated` gives tests a network of their own.
public final class VirtualCardReader: Sendable {
    /// The port of the virtual reader's first slot.
    public static let firstPort: UInt16 = 35963

    /// The port of its second slot.
    public static let secondPort: UInt16 = 35964

    /// How long a card must be present, or absent, to be surely seen.
    public static let settlingTime = Duration.milliseconds(500)

    /// The port of the slot, on this machine.
    public let port: UInt16

    /// The reader's part in the answers.
    public let reader: SimulatedReader

    private let link = Mutex<VirtualCardLink?>(nil)
    private let counter = Counter()

    /// The reader of one slot, without a card.
    public init(port: UInt16 = VirtualCardReader.firstPort, reader: SimulatedReader = SimulatedReader()) {
        self.port = port
        self.reader = reader
    }

    deinit { link.withLock { $0 }?.end() }

    /// Whether a card is presented, and pcscd has not ended.
    public var isPresenting: Bool { link.withLock { $0?.isAlive ?? false } }

    /// Whether pcscd has asked for the card that is presented. Where it has not after ``settlingTime``, it serves a card
    /// that another program presents in the same slot, and this one waits.
    public var isSeen: Bool { link.withLock { $0?.isSeen ?? false } }

    /// How many command APDUs all cards together have answered here.
    public var exchanges: Int { counter.count.load(ordering: .relaxed) }

    /// Presents a card, served by a thread of its own until ``remove()`` is called or pcscd ends; one that is there is
    /// removed first.
    ///
    /// - Throws: ``ReaderError/Kind/readerUnavailable`` if nothing listens on the port, or so many programs present
    ///   cards there that no more may wait.
    public func present(_ card: any SimulatedCard) throws(ReaderError) {
        remove()
        let new = VirtualCardLink(descriptor: try connect(), card: card, reader: reader, counter: counter)
        new.start()
        replaceLink(by: new)
    }

    /// Removes the card, and returns when it is no longer served. Nothing happens if there is none.
    public func remove() { replaceLink(by: nil) }

    private func replaceLink(by new: VirtualCardLink?) {
        let old = link.withLock { link in
            defer { link = new }
            return link
        }
        old?.end()
    }

    private func connect() throws(ReaderError) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw failure() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // A time limit for the connection too: where programs wait in line already, it would wait without end.
        var limit = timeval(tv_sec: Self.longestConnect, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        limit.tv_sec = 0
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard result == 0 else {
            let error = failure()
            close(descriptor)
            throw error
        }
        descriptor.setOption(TCP_NODELAY)
        return descriptor
    }

    private static let longestConnect = 2

    private func failure() -> ReaderError {
        let code = ReaderError.Code(errno: errno)
        return ReaderError(.readerUnavailable, attempting: "connect to the virtual reader on port \(port)", code: code)
    }
}

/// Counts for both sides; the thread of a card must not hold the reader, whose end waits for it.
private final class Counter: Sendable {
    let count = Atomic(0)
}

/// One card at the virtual reader: a connection and the thread that serves it.
private final class VirtualCardLink: Sendable {
    private let descriptor: Int32
    private let card: any SimulatedCard
    private let reader: SimulatedReader
    private let counter: Counter
    private let hasEnded = DispatchSemaphore(value: 0)
    private let alive = Mutex(true)
    private let seen = Atomic(false)

    var isAlive: Bool { alive.withLock { $0 } }

    var isSeen: Bool { seen.load(ordering: .acquiring) }

    init(descriptor: Int32, card: any SimulatedCard, reader: SimulatedReader, counter: Counter) {
        self.descriptor = descriptor
        self.card = card
        self.reader = reader
        self.counter = counter
    }

    func start() {
        Thread.detachNewThread { self.serve() }
    }

    /// Closing the connection is the removal; the thread does it, so that no other descriptor of that number is hit.
    func end() {
        alive.withLock { if $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }
        hasEnded.wait()
        hasEnded.signal()
    }

    private func serve() {
        while let request = receive() {
            seen.store(true, ordering: .releasing)
            guard let answer = answer(to: request) else { continue }
            if request.count > 1 { counter.count.add(1, ordering: .relaxed) }
            // A zero-length answer would make pcscd wait for ever.
            guard send(answer.isEmpty || answer.count > 0xFFFF ? [0x6F, 0x00] : answer) else { break }
        }
        alive.withLock {
            $0 = false
            close(descriptor)
        }
        card.powerOff()
        hasEnded.signal()
    }

    /// Bodies of one byte steer the power; anything else is a command APDU.
    private func answer(to request: [UInt8]) -> [UInt8]? {
        guard request.count == 1 else {
            // A reader reports a card that stays silent; it never stays silent itself.
            return reader.transmit(request, to: card) ?? Status.mute
        }
        switch request[0] {
        case 0x00: card.powerOff()
        case 0x01: card.powerOn()
        case 0x02:
            card.powerOff()
            card.powerOn()
        case 0x04: return card.atr
        default: break
        }
        return nil
    }

    // MARK: Frames: a length of two bytes, most significant first, and a body

    private func receive() -> [UInt8]? {
        guard let header = read(2) else { return nil }
        return read(Int(header[0]) << 8 | Int(header[1]))
    }

    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            // The other side sends length and body apart and waits for the acknowledgement of the first: without this
            // each command takes 44 ms. It has to be set again before every read.
            descriptor.setOption(TCP_QUICKACK)
            let result = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: done), count - done, 0)
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return nil }
            done += result
        }
        return bytes
    }

    private func send(_ body: [UInt8]) -> Bool {
        let frame = [UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
        var done = 0
        while done < frame.count {
            let result = frame.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: done), frame.count - done, Int32(MSG_NOSIGNAL))
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return false }
            done += result
        }
        return true
    }
}

extension Int32 {
    /// Sets an option of a TCP socket. A failure only costs speed.
    fileprivate func setOption(_ option: Int32) {
        var on: Int32 = 1
        setsockopt(self, Int32(IPPROTO_TCP), option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}
