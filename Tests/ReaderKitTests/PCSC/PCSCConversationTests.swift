import CardCore
import CardTags
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

@Suite(.timeLimit(.minutes(10))) struct PCSCConversationTests {
    private static let command: [UInt8] = [0xFF, 0xCA, 0x00, 0x00, 0x00]

    /// A reader with a card that answers its command with that.
    private static func fake(_ answer: @escaping @Sendable ([UInt8]) -> FakePCSC.Answer) -> FakePCSC {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(FakePCSC.Card(answer: answer), into: "A")
        return fake
    }

    private static func fake() -> FakePCSC { fake { _ in .bytes([0x01, 0x90, 0x00]) } }

    @Test func success() async throws {
        let fake = Self.fake { command in .bytes(command + [0x90, 0x00]) }
        let backend = fake.backend()
        let presence = fake.presence("A")
        let answer = try await backend.withCard(presence) { channel in
            #expect(channel.facts == presence.facts)
            #expect(fake.lockedReaders == ["A"])
            return try channel.transmit(Self.command) + channel.control(1, [1, 2])
        }
        #expect(answer == Self.command + [0x90, 0x00, 2, 1])
        #expect(fake.commands == [Self.command])
        #expect(fake.lockedReaders == [] && fake.openHandles == 0)
        // The context stays for the next conversation.
        #expect(fake.openContexts == 1)
        _ = try await backend.withCard(presence) { try $0.transmit(Self.command) }
        #expect(fake.count(.establish) == 1)
        withExtendedLifetime(backend) {}
    }

    @Test func everythingIsLetGoOfWithTheBackend() async throws {
        let fake = Self.fake()
        do {
            let backend = fake.backend()
            _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        }
        await fake.expectClean()
    }

    @Test func conversationThatThrows() async throws {
        struct Mine: Error, Equatable {}
        let fake = Self.fake()
        let backend = fake.backend()
        await #expect(throws: Mine()) {
            try await backend.withCard(fake.presence("A")) { channel in
                _ = try channel.transmit(Self.command)
                throw Mine()
            }
        }
        #expect(fake.lockedReaders == [] && fake.openHandles == 0)
        #expect(fake.count(.end) == 1 && fake.count(.disconnect) == 1)
        // A channel that was carried out of its conversation (against its rules) is closed, not dangerous.
        #expect(try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) } == [0x01, 0x90, 0x00])
    }

    @Test func cancelledConversation() async throws {
        let gate = Gate()
        let first = Shared(true)
        let fake = Self.fake { _ in
            first.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .hang(gate) : .bytes([0x90, 0x00])
            }
        }
        let backend = fake.backend()
        let task = Task {
            try await backend.withCard(fake.presence("A")) { channel in
                for _ in 0..<1000 { _ = try channel.transmit(Self.command) }
            }
        }
        try await until("in the exchange") { gate.waiting == 1 }
        task.cancel()
        // Whoever waits is told while the exchange is still under way.
        let error = await readerError { try await task.value }
        #expect(error?.kind == .cancelled)
        #expect(gate.waiting == 1 && fake.lockedReaders == ["A"])
        gate.open()
        // The exchange was left to end; no further one began.
        try await until("let go") { fake.openHandles == 0 }
        #expect(fake.commands.count == 1)
        #expect(fake.lockedReaders == [])
        #expect(fake.count(.cancel) == 0)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        }
        #expect(await readerError { try await cancelled.value }?.kind == .cancelled)
        #expect(fake.count(.connect) == 1)
    }

    @Test func cardSwappedBeforeConnect() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let presence = fake.presence("A")
        fake.edges("A", [nil, FakePCSC.Card()])
        let error = await readerError { try await backend.withCard(presence) { try $0.transmit(Self.command) } }
        #expect(error?.kind == .cardRemoved)
        #expect(fake.commands == [])
        fake.remove(from: "A")
        #expect(await readerError { try await backend.withCard(presence) { _ in } }?.kind == .cardRemoved)
        fake.unplug("A")
        #expect(await readerError { try await backend.withCard(presence) { _ in } }?.kind == .readerUnavailable)
        #expect(fake.openHandles == 0)
    }

    @Test func cardSwappedBetweenConnectAndLock() async throws {
        let fake = Self.fake()
        var library = fake.library
        let connect = library.connect
        library.connect = { context, reader, sharing, protocols in
            let result = connect(context, reader, sharing, protocols)
            fake.edges("A", [nil, FakePCSC.Card()])
            return result
        }
        let backend = PCSCBackend(library: library, configuration: FakePCSC.configuration)
        let error = await readerError {
            try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        }
        #expect(error?.kind == .cardRemoved)
        #expect(fake.commands == [])
        #expect(fake.openHandles == 0)
    }

    @Test func resetByAnotherProgram() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let kinds = try await backend.withCard(fake.presence("A")) { channel -> [ReaderError.Kind?] in
            var kinds: [ReaderError.Kind?] = []
            for round in 0..<4 {
                if round % 2 == 1 { fake.reset("A") }
                do {
                    _ = try channel.transmit(Self.command)
                    kinds.append(nil)
                } catch let error as ReaderError {
                    kinds.append(error.kind)
                    #expect(error.code?.name == "SCARD_W_RESET_CARD")
                    // Connected and locked again: usable, and nobody comes in between.
                    #expect(fake.lockedReaders == ["A"])
                }
            }
            return kinds
        }
        #expect(kinds == [nil, .cardReset, nil, .cardReset])
        #expect(fake.count(.reconnect) == 2)
        #expect(fake.lockedReaders == [] && fake.openHandles == 0)
        #expect(fake.complaints == [])
    }

    @Test func resetBeforeTheLock() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        fake.fail(.begin, with: .resetCard)
        #expect(try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) } == [0x01, 0x90, 0x00])
        #expect(fake.count(.reconnect) == 1)
        #expect(fake.lockedReaders == [] && fake.openHandles == 0)
    }

    @Test func ownReset() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        try await backend.withCard(fake.presence("A")) { channel in
            _ = try channel.transmit(Self.command)
            try channel.reset()
            _ = try channel.transmit(Self.command)
        }
        #expect(fake.locked { fake.readers[0].resets } == 1)
        #expect(fake.lockedReaders == [] && fake.openHandles == 0)
        #expect(fake.complaints == [])
    }

    /// The code alone does not tell a card that was taken away from one that is held badly.
    @Test(
        arguments: [PCSCCode.communicationError, .notTransacted, .unpoweredCard, .unresponsiveCard, .noSmartcard],
        ["stays", "leaves", "leaves late", "swapped", "unplugged"]
    )
    func whatBecameOfTheCard(_ code: PCSCCode, _ event: String) async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(
            FakePCSC.Card { [weak fake] _ in
                switch event {
                case "leaves": fake?.remove(from: "A")
                case "swapped": fake?.edges("A", [nil, FakePCSC.Card()])
                case "unplugged": fake?.unplug("A")
                default: break
                }
                return .code(code)
            },
            into: "A"
        )
        var configuration = FakePCSC.configuration
        if event == "leaves late" { configuration.removalGrace = .seconds(60) }
        let backend = fake.backend(configuration)
        let presence = fake.presence("A")
        let before = fake.count(.wait)
        async let result = readerError { try await backend.withCard(presence) { try $0.transmit(Self.command) } }
        if event == "leaves late" {
            // The driver notices late: the conversation waits for it (the third look), and ends at once when it has.
            try await until("waiting for the removal") { fake.waiting == 1 && fake.count(.wait) >= before + 3 }
            fake.remove(from: "A")
        }
        let error = await result
        switch event {
        case "stays": #expect(error?.kind == code.error(attempting: "").kind)
        case "unplugged": #expect(error?.kind == .readerUnavailable)
        default: #expect(error?.kind == .cardRemoved)
        }
        #expect(error?.code != nil)
        #expect(fake.openHandles == 0 && fake.lockedReaders == [])
        // Asking again and again would be a busy loop.
        #expect(fake.count(.wait) < 30)
    }

    @Test func graceEndsWhenTheReaderGoes() async throws {
        let fake = Self.fake { _ in .code(.communicationError) }
        var configuration = FakePCSC.configuration
        configuration.removalGrace = .seconds(60)
        let backend = fake.backend(configuration)
        async let result = readerError {
            try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        }
        try await until("waiting for the removal") { fake.waiting == 1 && fake.count(.wait) == 3 }
        fake.unplug("A")
        #expect(await result?.kind == .readerUnavailable)
        #expect(fake.count(.wait) < 10)
    }

    @Test func sharingViolation() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        fake.fail(.connect, with: .sharingViolation)
        #expect(try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) } == [0x01, 0x90, 0x00])
        #expect(fake.count(.connect) == 2)
        fake.fail(.connect, with: .sharingViolation, forEver: true)
        let error = await readerError { try await backend.withCard(fake.presence("A")) { _ in } }
        #expect(error?.kind == .sharingViolation)
        #expect(fake.count(.connect) == 2 + 1 + FakePCSC.configuration.sharingRetries)
        #expect(fake.openHandles == 0)
    }

    @Test func killedBetweenTwoConversations() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        fake.kill()
        let error = await readerError { try await backend.withCard(fake.presence("A")) { _ in } }
        #expect(error?.kind == .serviceUnavailable)
        fake.restart()
        // The old context stays dead for ever; the first attempt with it is followed by one with a new one.
        _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        fake.kill()
        fake.restart()
        let connects = fake.count(.connect)
        _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        #expect(fake.count(.connect) == connects + 2)
        #expect(fake.openContexts == 1)
        #expect(fake.complaints == [])
    }

    @Test(arguments: [PCSCCode.invalidHandle, .noService, .serviceStopped])
    func staleContextIsReplacedOnce(_ code: PCSCCode) async throws {
        for function in [FakePCSC.Function.connect, .begin, .wait] {
            let fake = Self.fake()
            let backend = fake.backend()
            _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
            fake.fail(function, with: code)
            _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
            #expect(fake.count(.establish) == 2, "\(function)")
            #expect(fake.openContexts == 1 && fake.openHandles == 0, "\(function)")
            let before = fake.count(.establish)
            fake.fail(function, with: code, forEver: true)
            let error = await readerError { try await backend.withCard(fake.presence("A")) { _ in } }
            #expect(error?.kind == code.error(attempting: "").kind, "\(function)")
            #expect(fake.count(.establish) <= before + 1, "\(function)")
            #expect(fake.openHandles == 0, "\(function)")
        }
    }

    @Test func killedInTheMiddleOfAnExchange() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(
            FakePCSC.Card { [weak fake] _ in
                fake?.kill()
                return .bytes([0x90, 0x00])
            },
            into: "A"
        )
        let backend = fake.backend()
        let error = await readerError {
            try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        }
        // 80100013 would mean the radio; the daemon is what was lost.
        #expect(error?.kind == .serviceStopped)
        #expect(error?.code?.name == "SCARD_F_COMM_ERROR")
        #expect(fake.openHandles == 0 && fake.openContexts == 0)
    }

    @Test(arguments: [0, 1]) func shortAnswers(_ length: Int) async throws {
        let fake = Self.fake { _ in .bytes([UInt8](repeating: 0x90, count: length)) }
        let backend = fake.backend()
        let error = await readerError {
            try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        }
        #expect(error?.kind == .invalidAnswer)
    }

    @Test func longestAnswer() async throws {
        let fake = Self.fake { _ in .bytes([UInt8](repeating: 0x61, count: 70_000)) }
        let backend = fake.backend()
        let answer = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        #expect(answer.count == ReaderLimits.responseLength)
    }

    @Test func conversationsOfOneReaderQueueUp() async throws {
        let gate = Gate()
        let fake = Self.fake { _ in .hang(gate) }
        let backend = fake.backend()
        let order = Shared<[String]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await backend.withCard(fake.presence("A")) { channel in
                        order.withLock { $0.append("begin \(number)") }
                        for _ in 0..<5 { _ = try channel.transmit(Self.command) }
                        order.withLock { $0.append("end \(number)") }
                    }
                }
            }
            try await until("the first is at it") { gate.waiting == 1 }
            #expect(order.withLock { $0.count } == 1)
            gate.open()
            try await group.waitForAll()
        }
        let steps = order.withLock { $0 }
        #expect(steps.count == 16)
        for pair in stride(from: 0, to: steps.count, by: 2) {
            #expect(steps[pair].replacing("begin", with: "end") == steps[pair + 1])
        }
        #expect(fake.mostExchangesAtOnce == 1)
        #expect(fake.count(.establish) == 1)
    }

    @Test func conversationsOfTwoReadersRunAtTheSameTime() async throws {
        let gate = Gate()
        let fake = FakePCSC(readers: ["A", "B"])
        for name in ["A", "B"] { fake.insert(FakePCSC.Card { _ in .hang(gate) }, into: name) }
        let backend = fake.backend()
        async let first = backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
        async let second = backend.withCard(fake.presence("B")) { try $0.transmit(Self.command) }
        // Neither ends before both are in their exchange.
        try await until("both") { gate.waiting == 2 }
        gate.open()
        #expect(try await [first, second] == [[0x90, 0x00], [0x90, 0x00]])
        #expect(fake.mostExchangesAtOnce == 2)
        #expect(fake.openHandles == 0)
    }

    @Test func tenThousandConversationsLeaveNothing() async throws {
        let fake = Self.fake()
        let threads = Shared<Set<UInt>>([])
        let (memory, descriptors) = (ProcessFigures.residentBytes, ProcessFigures.descriptors)
        do {
            let backend = fake.backend()
            for number in 0..<10_000 {
                let presence = fake.presence("A")
                let answer = try await backend.withCard(presence) { channel in
                    threads.withLock { _ = $0.insert(UInt(pthread_self())) }
                    return try channel.transmit(Self.command)
                }
                #expect(answer.count == 3)
                // Now and then the card changes.
                if number % 100 == 99 { fake.edges("A", [nil, FakePCSC.Card { _ in .bytes([2, 0x90, 0x00]) }]) }
            }
            #expect(fake.openHandles == 0)
            #expect(fake.count(.establish) == 1)
        }
        #expect(threads.withLock { $0.count } == 1)
        await fake.expectClean()
        // Other tests run meanwhile and open descriptors of their own, for a while; what leaks stays.
        try await until("the descriptors are closed") { ProcessFigures.descriptors - descriptors < 200 }
        let grown = ProcessFigures.residentBytes - memory
        let opened = ProcessFigures.descriptors - descriptors
        // One descriptor or some kilobytes a cycle would be far more.
        #expect(opened < 500 && grown < 96 << 20)
        TestReport.add(
            section: "resilience",
            line: "10000 connect cycles on the function table | one thread, one context; \(grown / 1024) KiB and"
                + " \(opened) file descriptors more, with other tests running"
        )
    }

    /// A reader that goes takes its thread and context along, also when a conversation comes too late.
    @Test func readerThatGoesLeavesNothing() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let watcher = Watcher(backend)
        for round in 1...5 {
            try await watcher.until("inserted A 1", times: round)
            let presence = fake.presence("A")
            _ = try await backend.withCard(presence) { try $0.transmit(Self.command) }
            #expect(fake.openContexts == 2)
            fake.unplug("A")
            try await watcher.until("gone A", times: round)
            try await until("the reader's context is released") { fake.openContexts == 1 }
            #expect(await readerError { try await backend.withCard(presence) { _ in } }?.kind == .readerUnavailable)
            fake.plug("A")
            try await watcher.until("added A", times: round + 1)
            fake.insert(into: "A")
        }
        watcher.stop()
    }
}
#endif
