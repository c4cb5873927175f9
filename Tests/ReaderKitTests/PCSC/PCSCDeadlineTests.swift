import CardCore
import CardTags
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// A call that does not return is given up, and its thread with it.
@Suite(.timeLimit(.minutes(10))) struct PCSCDeadlineTests {
    private static let command: [UInt8] = [0x00, 0xB0, 0x00, 0x00]

    private static var configuration: PCSCConfiguration {
        var configuration = FakePCSC.configuration
        configuration.callDeadline = .milliseconds(500)
        return configuration
    }

    private struct Bench {
        var fake = FakePCSC(readers: ["A", "B"])
        var gate = Gate()
        var abandoned: AbandonedThreads
        var backend: PCSCBackend
        var watcher: Watcher

        /// Reader A has a card that never answers, reader B a good one.
        init(limit: Int = 16, deadline: Duration = .milliseconds(500)) async throws {
            let gate = gate
            abandoned = AbandonedThreads(limit: limit)
            var configuration = FakePCSC.configuration
            configuration.callDeadline = deadline
            backend = fake.backend(configuration, abandoned: abandoned)
            fake.insert(FakePCSC.Card { _ in .hang(gate) }, into: "A")
            fake.insert(into: "B")
            watcher = Watcher(backend)
            try await watcher.until("inserted A 1")
            try await watcher.until("inserted B 1")
        }

        func converse(_ name: String) async -> ReaderError? {
            await readerError { try await backend.withCard(fake.presence(name)) { try $0.transmit(command) } }
        }
    }

    @Test func transmitThatNeverReturns() async throws {
        let bench = try await Bench()
        let (fake, gate, watcher) = (bench.fake, bench.gate, bench.watcher)
        let started = ContinuousClock.now
        let error = await bench.converse("A")
        #expect(error?.kind == .stuck)
        #expect(ContinuousClock.now - started >= .milliseconds(100))
        #expect(error?.description.contains("exchange an APDU") == true)
        // Published and counted before the conversation is told.
        try await watcher.until("stuck A")
        #expect(bench.abandoned.count == 1)
        // The same presentation is refused at once, without another call.
        let connects = fake.count(.connect)
        #expect(await bench.converse("A")?.kind == .stuck)
        #expect(fake.count(.connect) == connects)
        // Another reader goes on.
        for _ in 0..<10 { #expect(await bench.converse("B") == nil) }
        // Nothing was done to the thread from elsewhere.
        #expect(fake.complaints == [])
        #expect(fake.openHandles == 1)
        #expect(gate.waiting == 1)
        // The next presentation is served by a new thread, while the old one still hangs.
        fake.remove(from: "A")
        try await watcher.until("recovered A")
        fake.insert(into: "A")
        try await watcher.until("inserted A 3")
        // The fake's reader is busy with the exchange; the real one is so no more once the card is gone.
        fake.locked {
            fake.index("A").map {
                fake.readers[$0].exchanges = 0; fake.readers[$0].owner = nil
            }
        }
        #expect(await bench.converse("A") == nil)
        #expect(gate.waiting == 1 && bench.abandoned.count == 1)
        // It comes back after all and cleans up on its own thread.
        let releases = fake.count(.release)
        gate.open()
        try await until("back") { bench.abandoned.count == 0 }
        #expect(fake.count(.release) == releases + 1)
        #expect(fake.openHandles == 0)
        #expect(fake.complaints == [])
        #expect(await bench.converse("A") == nil)
        watcher.stop()
        #expect(watcher.texts.count { $0 == "stuck A" } == 1)
        #expect(watcher.texts.count { $0 == "recovered A" } == 1)
    }

    /// Everybody in the queue is told; none of their conversations is begun when the call returns.
    @Test func queueOfAStuckReader() async throws {
        let bench = try await Bench()
        let (fake, gate, abandoned) = (bench.fake, bench.gate, bench.abandoned)
        let errors = await withTaskGroup(of: ReaderError?.self) { group in
            for _ in 0..<5 { group.addTask { await bench.converse("A") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.allSatisfy { $0?.kind == .stuck })
        #expect(abandoned.count == 1)
        let (connects, establishes) = (fake.count(.connect), fake.count(.establish))
        gate.open()
        try await until("back") { abandoned.count == 0 }
        try await until("released") { fake.openHandles == 0 }
        #expect(fake.count(.connect) == connects)
        #expect(fake.count(.establish) == establishes)
        #expect(fake.openContexts == 1)
        #expect(fake.complaints == [])
        bench.watcher.stop()
        await fake.expectClean()
        #expect(abandoned.count == 0)
    }

    /// The presentation that is refused is the one that hangs, not the first that the thread served.
    @Test func hangAtALaterPresentation() async throws {
        let bench = try await Bench()
        let (fake, watcher) = (bench.fake, bench.watcher)
        #expect(await bench.converse("B") == nil)
        fake.remove(from: "B")
        fake.insert(FakePCSC.Card { _ in .hang(bench.gate) }, into: "B")
        try await watcher.until("inserted B 3")
        #expect(await bench.converse("B")?.kind == .stuck)
        try await watcher.until("stuck B")
        let connects = fake.count(.connect)
        #expect(await bench.converse("B")?.kind == .stuck)
        #expect(fake.count(.connect) == connects)
        #expect(!watcher.texts.contains("recovered B"))
        bench.gate.open()
        try await until("back") { bench.abandoned.count == 0 }
        watcher.stop()
    }

    /// Who waits behind another conversation and loses interest does not wait for it.
    @Test func cancelledInTheQueue() async throws {
        let fake = FakePCSC(readers: ["A"])
        let gate = Gate()
        fake.insert(FakePCSC.Card { _ in .hang(gate) }, into: "A")
        // No deadline comes into this: the first conversation hangs until the gate opens.
        var configuration = FakePCSC.configuration
        configuration.callDeadline = .seconds(60)
        let backend = fake.backend(configuration)
        let presence = fake.presence("A")
        func converse() async -> ReaderError? {
            await readerError { try await backend.withCard(presence) { try $0.transmit(Self.command) } }
        }
        let first = Task { await converse() }
        try await until("the first hangs") { gate.waiting == 1 }
        let second = Task { await converse() }
        second.cancel()
        #expect(await second.value?.kind == .cancelled)
        gate.open()
        #expect(await first.value == nil)
        #expect(fake.count(.connect) == 1)
    }

    /// A conversation that goes on after it was told does not get through to the library.
    @Test func nothingIsCalledAfterwards() async throws {
        let bench = try await Bench()
        let attempts = Shared<[ReaderError.Kind?]>([])
        let error = await readerError {
            try await bench.backend.withCard(bench.fake.presence("A")) { channel in
                for _ in 0..<3 {
                    do {
                        _ = try channel.transmit(Self.command)
                        attempts.withLock { $0.append(nil) }
                    } catch {
                        attempts.withLock { $0.append((error as? ReaderError)?.kind) }
                    }
                }
            }
        }
        #expect(error?.kind == .stuck)
        bench.gate.open()
        try await until("back") { bench.abandoned.count == 0 }
        #expect(attempts.withLock { $0 } == [.stuck, .stuck, .stuck])
        #expect(bench.fake.count(.transmit) == 1)
        // The release of the context ends lock and connection.
        #expect(bench.fake.count(.end) == 0 && bench.fake.count(.disconnect) == 0)
        #expect(bench.fake.openHandles == 0 && bench.fake.lockedReaders == [])
    }

    /// A pcscd that neither works nor ends: the watch tells it as lost and goes on when it works again.
    @Test(arguments: [FakePCSC.Function.establish, .list, .wait])
    func watchThatHangs(_ function: FakePCSC.Function) async throws {
        let fake = FakePCSC(readers: ["A"])
        let gate = Gate()
        let abandoned = AbandonedThreads(limit: 1000)
        let library = fake.library(hanging: function, at: gate)
        let backend = PCSCBackend(library: library, configuration: Self.configuration, abandoned: abandoned)
        let watcher = Watcher(backend)
        try await watcher.until("lost")
        #expect(abandoned.count >= 1)
        gate.open()
        try await watcher.until("back")
        try await watcher.until("added A")
        try await until("all came back") { abandoned.count == 0 }
        // Told as lost once, however many threads hung.
        #expect(watcher.texts.count { $0 == "lost" } == 1)
        watcher.stop()
        await fake.expectClean()
        #expect(fake.complaints == [])
    }

    /// Whichever call hangs: the thread is given up, and what the call gave when it returned is given back.
    @Test(arguments: [FakePCSC.Function.establish, .connect, .begin, .wait, .end, .disconnect, .reconnect, .control])
    func everyCallHasADeadline(_ function: FakePCSC.Function) async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        let gate = Gate()
        let abandoned = AbandonedThreads()
        let library = fake.library(hanging: function, at: gate)
        do {
            let backend = PCSCBackend(library: library, configuration: Self.configuration, abandoned: abandoned)
            let error = await readerError {
                try await backend.withCard(fake.presence("A")) { channel in
                    _ = try channel.control(1, [])
                    try channel.reset()
                }
            }
            #expect(error?.kind == .stuck)
            #expect(abandoned.count == 1)
            gate.open()
            try await until("back") { abandoned.count == 0 }
        }
        await fake.expectClean("\(function)")
    }

    @Test func readersThatHang() async throws {
        let fake = FakePCSC(readers: ["A"])
        let gate = Gate()
        let abandoned = AbandonedThreads(limit: 2)
        let library = fake.library(hanging: .list, at: gate)
        let backend = PCSCBackend(library: library, configuration: Self.configuration, abandoned: abandoned)
        #expect(await readerError { try await backend.readers() }?.kind == .stuck)
        #expect(await readerError { try await backend.readers() }?.kind == .stuck)
        // pcscd itself hangs: no third thread is spent on it.
        #expect(await readerError { try await backend.readers() }?.kind == .exhausted)
        gate.open()
        try await until("back") { abandoned.count == 0 }
        #expect(try await backend.readers().count == 1)
        await fake.expectClean()
    }

    @Test func capOfHangingThreads() async throws {
        let bench = try await Bench(limit: 2)
        let (fake, watcher) = (bench.fake, bench.watcher)
        let gate = bench.gate
        #expect(await bench.converse("A")?.kind == .stuck)
        #expect(watcher.texts.contains("failed exhausted") == false)
        // The next presentation hangs as well.
        fake.locked {
            fake.index("A").map {
                fake.readers[$0].exchanges = 0; fake.readers[$0].owner = nil
            }
        }
        fake.edges("A", [nil, FakePCSC.Card { _ in .hang(gate) }])
        try await watcher.until("inserted A 3")
        #expect(await bench.converse("A")?.kind == .stuck)
        #expect(bench.abandoned.count == 2)
        try await watcher.until("failed exhausted")
        // Nothing new is started, and what serves goes on: B has no thread yet.
        fake.edges("A", [nil, FakePCSC.Card()])
        try await watcher.until("inserted A 5")
        let error = await bench.converse("A")
        #expect(error?.kind == .exhausted)
        #expect(error?.hint.contains("69") == true)
        #expect(await bench.converse("B")?.kind == .exhausted)
        gate.open()
        try await until("back") { bench.abandoned.count == 0 }
        #expect(await bench.converse("A") == nil)
        #expect(await bench.converse("B") == nil)
        #expect(fake.complaints == [])
    }

    /// The reader is pulled out while it hangs, and plugged in again: the old thread's end must not touch the new one.
    @Test func replugWhileACallHangs() async throws {
        let bench = try await Bench(deadline: .seconds(1))
        let (fake, watcher, gate) = (bench.fake, bench.watcher, bench.gate)
        async let hanging = bench.converse("A")
        try await until("hanging") { gate.waiting == 1 }
        fake.unplug("A")
        try await watcher.until("gone A")
        fake.plug("A")
        fake.insert(into: "A")
        try await watcher.until("inserted A 1", times: 2)
        #expect(await bench.converse("A") == nil)
        #expect(await hanging?.kind == .stuck)
        // The new thread goes on; the reader was not stuck since it was plugged in.
        #expect(await bench.converse("A") == nil)
        #expect(!watcher.texts.contains("stuck A"))
        #expect(bench.abandoned.count == 1)
        gate.open()
        try await until("back") { bench.abandoned.count == 0 }
        #expect(await bench.converse("A") == nil)
        // The monitor, and A's new thread.
        #expect(fake.openContexts == 2)
        #expect(fake.complaints == [])
    }

    /// The card is taken away before the deadline: the next one says that the reader serves again.
    @Test func cardGoneBeforeTheDeadline() async throws {
        let bench = try await Bench(deadline: .seconds(1))
        let (fake, watcher, gate) = (bench.fake, bench.watcher, bench.gate)
        async let hanging = bench.converse("A")
        try await until("hanging") { gate.waiting == 1 }
        fake.remove(from: "A")
        try await watcher.until("removed A 1")
        #expect(await hanging?.kind == .stuck)
        try await watcher.until("stuck A")
        fake.locked {
            fake.index("A").map {
                fake.readers[$0].exchanges = 0; fake.readers[$0].owner = nil
            }
        }
        fake.insert(into: "A")
        try await watcher.until("inserted A 3")
        #expect(await bench.converse("A") == nil)
        try await watcher.until("recovered A")
        gate.open()
        try await until("back") { bench.abandoned.count == 0 }
    }

    @Test func restartFreesAStuckReader() async throws {
        let bench = try await Bench()
        let (fake, watcher, gate) = (bench.fake, bench.watcher, bench.gate)
        #expect(await bench.converse("A")?.kind == .stuck)
        fake.kill()
        try await watcher.until("lost")
        fake.locked { fake.index("A").map { fake.readers[$0].exchanges = 0 } }
        fake.restart()
        try await watcher.until("inserted A 0")
        fake.edges("A", [nil, FakePCSC.Card()])
        try await watcher.until("inserted A 2")
        #expect(await bench.converse("A") == nil)
        gate.open()
        try await until("back") { bench.abandoned.count == 0 }
        #expect(fake.complaints == [])
    }

    /// A call that is slow but in time, again and again, is never given up.
    @Test func slowConversation() async throws {
        let fake = FakePCSC(readers: ["A"])
        let calls = Counter()
        fake.insert(
            FakePCSC.Card { _ in
                // The call itself is slow here; nothing is waited for.
                if calls.next() % 4 == 0 { Thread.sleep(forTimeInterval: 0.02) }
                return .bytes([0x90, 0x00])
            },
            into: "A"
        )
        var configuration = Self.configuration
        configuration.callDeadline = .seconds(1)
        let abandoned = AbandonedThreads()
        let backend = fake.backend(configuration, abandoned: abandoned)
        // In sum twice the deadline.
        try await backend.withCard(fake.presence("A")) { channel in
            for _ in 0..<400 { _ = try channel.transmit(Self.command) }
        }
        #expect(abandoned.count == 0)
    }
}

extension FakePCSC {
    /// The table with one function that does its work and then does not return before the gate is opened.
    func library(hanging function: Function, at gate: Gate) -> PCSCLibrary {
        var table = library
        let original = table
        switch function {
        case .establish:
            table.establishContext = {
                let result = original.establishContext(); gate.pass(); return result
            }
        case .list:
            table.listReaders = {
                let result = original.listReaders($0); gate.pass(); return result
            }
        case .wait:
            table.getStatusChange = {
                let code = original.getStatusChange($0, $1, &$2); gate.pass(); return code
            }
        case .connect:
            table.connect = {
                let result = original.connect($0, $1, $2, $3); gate.pass(); return result
            }
        case .begin:
            table.beginTransaction = {
                let code = original.beginTransaction($0); gate.pass(); return code
            }
        case .end:
            table.endTransaction = {
                let code = original.endTransaction($0, $1); gate.pass(); return code
            }
        case .disconnect:
            table.disconnect = {
                let code = original.disconnect($0, $1); gate.pass(); return code
            }
        case .reconnect:
            table.reconnect = {
                let result = original.reconnect($0, $1, $2, $3); gate.pass(); return result
            }
        case .control:
            table.control = {
                let result = original.control($0, $1, $2); gate.pass(); return result
            }
        case .release:
            table.releaseContext = {
                let code = original.releaseContext($0); gate.pass(); return code
            }
        case .cancel, .transmit, .attribute: break
        }
        return table
    }
}
#endif
