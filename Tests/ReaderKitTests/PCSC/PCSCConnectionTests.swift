import CardTags
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

@Suite(.timeLimit(.minutes(10))) struct PCSCConnectionTests {
    private static let command: [UInt8] = [0x00, 0xA4, 0x04, 0x00]

    private static func fake() -> FakePCSC {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(FakePCSC.Card { command in .bytes([UInt8(command.count), 0x90, 0x00]) }, into: "A")
        return fake
    }

    @Test func transmit() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let connection = try await backend.connect(to: fake.presence("A"))
        #expect(fake.lockedReaders == ["A"])
        for length in 4..<20 {
            let answer = try await connection.transmit([UInt8](repeating: 0, count: length))
            #expect(answer == [UInt8(length), 0x90, 0x00])
        }
        await connection.close()
        #expect(fake.openHandles == 0 && fake.lockedReaders == [])
        await connection.close()
        #expect(fake.count(.disconnect) == 1)
        let error = await readerError { try await connection.transmit(Self.command) }
        #expect(error?.kind == .cancelled)
        #expect(fake.complaints == [])
        withExtendedLifetime(backend) {}
    }

    @Test func lettingGoCloses() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        do {
            let connection = try await backend.connect(to: fake.presence("A"))
            _ = try await connection.transmit(Self.command)
        }
        try await until("closed") { fake.openHandles == 0 && fake.lockedReaders == [] }
        // And the reader is free again.
        try await until("free") { fake.count(.disconnect) == 1 }
        _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
    }

    /// Without this a second lock on the connection's own thread would wait for ever.
    @Test func otherConversationsAreRefusedMeanwhile() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let connection = try await backend.connect(to: fake.presence("A"))
        let error = await readerError { try await backend.withCard(fake.presence("A")) { _ in } }
        #expect(error?.kind == .sharingViolation)
        #expect(error?.hint.contains("Close") == true)
        #expect(await readerError { try await backend.connect(to: fake.presence("A")) }?.kind == .sharingViolation)
        #expect(try await connection.transmit(Self.command) == [4, 0x90, 0x00])
        await connection.close()
        #expect(try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) } == [4, 0x90, 0x00])
    }

    @Test func connectThatFails() async throws {
        let fake = Self.fake()
        do {
            let backend = fake.backend()
            fake.fail(.begin, with: .unpoweredCard)
            #expect(await readerError { try await backend.connect(to: fake.presence("A")) }?.kind == .cardUnpowered)
            #expect(fake.openHandles == 0)
            let connection = try await backend.connect(to: fake.presence("A"))
            await connection.close()
        }
        await fake.expectClean()
    }

    @Test func cardTakenAway() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let connection = try await backend.connect(to: fake.presence("A"))
        fake.remove(from: "A")
        #expect(await readerError { try await connection.transmit(Self.command) }?.kind == .cardRemoved)
        await connection.close()
        #expect(fake.openHandles == 0)
        fake.insert(into: "A")
        // The reader is not dead after a removal.
        _ = try await backend.withCard(fake.presence("A")) { try $0.transmit(Self.command) }
    }

    @Test func cancelledTask() async throws {
        let fake = Self.fake()
        let backend = fake.backend()
        let connection = try await backend.connect(to: fake.presence("A"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let error = await readerError { try await connection.transmit(Self.command) }
            // Closing is done even so.
            await connection.close()
            return error
        }
        #expect(await task.value?.kind == .cancelled)
        #expect(fake.commands == [])
        #expect(fake.openHandles == 0 && fake.lockedReaders == [])
    }

    /// The connection outlives its backend and its reader.
    @Test func outlivesReaderAndBackend() async throws {
        let fake = Self.fake()
        var backend: PCSCBackend? = fake.backend()
        let watcher = try Watcher(#require(backend))
        try await watcher.until("inserted A 1")
        let connection = try #require(try await backend?.connect(to: fake.presence("A")))
        fake.unplug("A")
        try await watcher.until("gone A")
        #expect(await readerError { try await connection.transmit(Self.command) }?.kind == .readerUnavailable)
        watcher.stop()
        backend = nil
        #expect(await readerError { try await connection.transmit(Self.command) } != nil)
        await connection.close()
        await fake.expectClean()
    }

    @Test func stuckConnection() async throws {
        let gate = Gate()
        let fake = FakePCSC(readers: ["A"])
        fake.insert(FakePCSC.Card { _ in .hang(gate) }, into: "A")
        var configuration = FakePCSC.configuration
        configuration.callDeadline = .milliseconds(100)
        let abandoned = AbandonedThreads()
        do {
            let backend = fake.backend(configuration, abandoned: abandoned)
            do {
                let connection = try await backend.connect(to: fake.presence("A"))
                #expect(await readerError { try await connection.transmit(Self.command) }?.kind == .stuck)
                // It was given up once and for all, however often it is asked.
                for _ in 0..<3 {
                    #expect(await readerError { try await connection.transmit(Self.command) }?.kind == .stuck)
                    await connection.close()
                }
                #expect(abandoned.count == 1)
            }
            #expect(fake.count(.disconnect) == 0 && fake.count(.release) == 0)
            gate.open()
            try await until("back") { abandoned.count == 0 }
        }
        await fake.expectClean()
        #expect(abandoned.count == 0)
    }
}
#endif
