import CardCore
import ClubRecords
import Foundation
import Synchronization

/// What the thread of a ``MessageSocket`` does.
final class SocketServer: ThreadServer {
    let thread: ServiceThread

    private let path: String
    private let router: MessageRouter
    private let isAllowed: @Sendable (uid_t) -> Bool

    private struct Shared {
        /// What came out, by the number of the connection.
        var answers: [(client: Int, line: [UInt8])] = []
        var connections = 0
        var wakeUps = 0
    }

    private let shared = Mutex(Shared())

    init(path: String, router: MessageRouter, isAllowed: @escaping @Sendable (uid_t) -> Bool, thread: ServiceThread) {
        self.path = path
        self.router = router
        self.isAllowed = isAllowed
        self.thread = thread
    }

    var connections: Int { shared.withLock { $0.connections } }
    var wakeUps: Int { shared.withLock { $0.wakeUps } }

    /// What only the thread knows.
    private struct Memory {
        var clients: [Int: SocketClient] = [:]
        var lastNumber = 0
        /// Until when nobody is taken in, since there are no descriptors left.
        var pausesUntil: ContinuousClock.Instant?
    }

    func run(_ started: (Result<Void, ClubError>) -> Void) {
        let file: SocketFile
        do throws(ClubError) {
            file = try SocketFile(path)
        } catch {
            return started(.failure(error))
        }
        started(.success(()))
        var memory = Memory()
        while !thread.isEnding {
            hear(&memory)
            let count = memory.clients.count
            shared.withLock { shared in
                shared.connections = count
                shared.wakeUps += 1
            }
            wait(file, &memory)
        }
        // First, so that whoever finds a connection ended finds no file either.
        file.remove()
        for client in memory.clients.values { close(client.descriptor) }
        shared.withLock { $0.connections = 0 }
    }

    /// Takes what came out, and goes on with everybody.
    private func hear(_ memory: inout Memory) {
        let answers = shared.withLock { shared in
            defer { shared.answers = [] }
            return shared.answers
        }
        for (number, line) in answers { memory.clients[number]?.answer(line) }
        for (number, _) in answers { goOn(number, &memory) }
    }

    /// Takes the lines of a client, as far as it is its turn, and ends it if it is over.
    private func goOn(_ number: Int, _ memory: inout Memory) {
        while let line = memory.clients[number]?.nextLine() {
            switch line {
            case .message(let bytes): begin(bytes, for: number, &memory)
            case .tooLong:
                let message = "the line has more than \(Message.longest) bytes"
                memory.clients[number]?.answer(SocketAnswer.error(MessageError(.tooLong, at: Message.longest, message)))
            case .over:
                if let client = memory.clients.removeValue(forKey: number) { close(client.descriptor) }
            }
        }
    }

    private func begin(_ bytes: [UInt8], for number: Int, _ memory: inout Memory) {
        let configuration = router.configuration
        let message: Message
        do throws(MessageError) {
            message = try Message(
                json: bytes,
                source: MessageSource(.socket),
                receivedAt: configuration.clock(),
                makeUUID: configuration.makeUUID
            )
        } catch {
            memory.clients[number]?.answer(SocketAnswer.error(error))
            return
        }
        memory.clients[number]?.isBusy = true
        let (router, thread) = (router, thread)
        Task { [weak self] in
            let line: [UInt8]
            do throws(ClubError) {
                line = SocketAnswer.result(try await router.accept(message))
            } catch {
                line = SocketAnswer.error(error)
            }
            self?.shared.withLock { $0.answers.append((number, line)) }
            thread.bell.ring()
        }
    }

    private func wait(_ file: SocketFile, _ memory: inout Memory) {
        let numbers = memory.clients.keys.sorted()
        var time: Int32 = -1
        var listens = true
        if let end = memory.pausesUntil {
            let left = ContinuousClock.now.duration(to: end).seconds
            listens = left <= 0
            if listens { memory.pausesUntil = nil } else { time = Int32((left * 1000).rounded(.up)) }
        }
        // A negative descriptor is passed over: a client whose message is being processed is not heard meanwhile.
        var polled = [
            pollfd(fd: thread.bell.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listens ? file.descriptor : -1, events: Int16(POLLIN), revents: 0),
        ]
        polled += numbers.map { number in
            let events = memory.clients[number]?.events ?? 0
            let descriptor = memory.clients[number]?.descriptor ?? -1
            return pollfd(fd: events == 0 ? -1 : descriptor, events: events, revents: 0)
        }
        guard poll(&polled, nfds_t(polled.count), time) > 0 else { return }
        if polled[0].revents != 0 { thread.bell.silence() }
        for (number, found) in zip(numbers, polled.dropFirst(2)) where found.revents != 0 {
            memory.clients[number]?.transfer()
            goOn(number, &memory)
        }
        if polled[1].revents != 0 { admit(file, &memory) }
    }

    private func admit(_ file: SocketFile, _ memory: inout Memory) {
        let descriptor = accept(file.descriptor, nil, nil)
        guard descriptor >= 0 else {
            // A client that has gone already is no reason to wait; having no descriptors left is.
            if ![EAGAIN, EINTR, ECONNABORTED].contains(errno) {
                router.configuration.logger.error("no connection can be taken: \(String(cString: strerror(errno)))")
                memory.pausesUntil = .now + .seconds(1)
            }
            return
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var client = SocketClient(descriptor)
        guard let user = Self.user(of: descriptor), isAllowed(user) else {
            return refuse(&client, "notAllowed", "only the user of this program and root may send messages here")
        }
        if memory.clients.count >= MessageSocket.mostConnections {
            let idle = memory.clients.filter { !$0.value.isBusy }.min { $0.value.heardAt < $1.value.heardAt }
            guard let idle else {
                return refuse(&client, "tooManyConnections", "all connections are in use; try again")
            }
            close(idle.value.descriptor)
            memory.clients[idle.key] = nil
        }
        memory.lastNumber += 1
        memory.clients[memory.lastNumber] = client
    }

    private func refuse(_ client: inout SocketClient, _ code: String, _ message: String) {
        client.answer(SocketAnswer.error(code: code, message))
        close(client.descriptor)
        router.configuration.logger.warning("a connection was refused: \(message)")
    }

    /// Who is at the other end, as the kernel noted it when that end connected.
    private static func user(of descriptor: Int32) -> uid_t? {
        // `struct ucred`, which Swift does not see: process, user and group, 32 bits each.
        var peer: [UInt32] = [0, 0, 0]
        var size = socklen_t(peer.count * MemoryLayout<UInt32>.size)
        let whole = size
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, size == whole else { return nil }
        return peer[1]
    }
}

/// The lines that a ``MessageSocket`` answers.
enum SocketAnswer {
    static func result(_ result: RoutingResult) -> [UInt8] { line(result) }

    static func error(_ error: MessageError) -> [UInt8] {
        Self.error(code: error.code.rawValue, error.message, at: error.offset)
    }

    static func error(_ error: ClubError) -> [UInt8] { Self.error(code: error.kind.rawValue, error.description) }

    static func error(code: String, _ message: String, at offset: Int? = nil) -> [UInt8] {
        var values: [String: FieldValue] = ["code": .string(code), "message": .string(message)]
        values["offset"] = offset.map(FieldValue.int)
        return line(["error": values])
    }

    private static func line(_ value: some Encodable) -> [UInt8] {
        // Texts and numbers can always be written.
        Array((try? ClubFile.line(value)) ?? Data()) + [UInt8(ascii: "\n")]
    }
}
