import CardCore
import CardTags
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// Many readers, many taps and many looks for nothing.
@Suite(.timeLimit(.minutes(10))) struct PCSCManyReadersTests {
    private static func names(_ count: Int) -> [String] {
        (0..<count).map { "Reader (\($0)) \(Hex.encode([UInt8($0)])) 00" }
    }

    /// pcscd counts what nobody looked at: 40 taps on each of two readers, at once, and then a card that stays.
    @Test func quickTaps() async throws {
        let fake = FakePCSC(readers: ["A", "B"])
        let watcher = Watcher(fake.backend())
        try await until("watching") { watcher.texts == ["added A", "added B"] && fake.waiting == 1 }
        await withTaskGroup(of: Void.self) { group in
            for name in ["A", "B"] {
                group.addTask {
                    for tap in 0..<40 {
                        fake.insert(into: name)
                        // Sometimes the watch gets its turn in between, sometimes it does not.
                        if tap % 3 == 0 { await Task.yield() }
                        fake.remove(from: name)
                    }
                    fake.insert(into: name)
                }
            }
        }
        for name in ["A", "B"] {
            try await watcher.until("inserted \(name) 81")
            let texts = watcher.texts.filter { $0.contains(" \(name) ") }
            let (inserted, removed) = (texts.count { $0.hasPrefix("ins") }, texts.count { $0.hasPrefix("rem") })
            let missed = texts.count { $0.hasPrefix("missed") }
            #expect(inserted + missed == 41, "\(texts)")
            #expect(removed == inserted - 1)
            // Each tap is told once, in its order.
            let numbers = texts.filter { !$0.hasPrefix("rem") }.compactMap {
                $0.split(separator: " ").last.map(String.init)
            }
            #expect(numbers == (0...40).map { "\(2 * $0 + 1)" })
        }
        let (missed, all) = (watcher.texts.count { $0.hasPrefix("missed") }, 82)
        TestReport.add(
            section: "resilience",
            line:
                "40 quick taps on each of two readers | \(all) of \(all) told, \(missed) of them as missed"
        )
        watcher.stop()
        await fake.expectClean()
    }

    /// One call takes 16 readers with the pseudo-reader. More are asked for in portions.
    @Test(arguments: [15, 16, 17, 40]) func manyReaders(_ count: Int) async throws {
        let names = Self.names(count)
        let fake = FakePCSC(readers: names)
        for name in names { fake.insert(into: name) }
        let backend = fake.backend()
        #expect(try await backend.readers().map(\.reader.name) == names)
        let watcher = Watcher(backend)
        for name in names { try await watcher.until("inserted \(name) 1") }
        let started = ContinuousClock.now
        for name in names { fake.edges(name, [nil, FakePCSC.Card()]) }
        for name in names { try await watcher.until("inserted \(name) 3") }
        let took = ContinuousClock.now - started
        fake.plug("late")
        try await watcher.until("added late")
        fake.unplug(names[count - 1])
        try await watcher.until("gone \(names[count - 1])")
        #expect(!watcher.texts.contains("lost"))
        // A wait in portions looks around some times a second, and no more often than that.
        try await until("waiting") { fake.waiting == 1 }
        let (before, since) = (fake.count(.wait), ContinuousClock.now)
        try await until("a while", within: .seconds(60)) { ContinuousClock.now - since > .milliseconds(300) }
        let rate = Double(fake.count(.wait) - before) / (ContinuousClock.now - since).seconds
        #expect(rate < 40)
        let ended = ContinuousClock.now
        watcher.stop()
        try await until("ended") { watcher.hasFinished && fake.openContexts <= 1 }
        TestReport.add(
            section: "resilience",
            line:
                "\(count) readers, a tap on each | all told after \(took.milliseconds) ms, \(Int(rate)) looks a second"
                + " while nothing happens, ended after \((ContinuousClock.now - ended).milliseconds) ms"
        )
    }

    /// A reader where much happens does not hide the others.
    @Test func busyReaderAmongMany() async throws {
        let names = Self.names(20)
        let fake = FakePCSC(readers: names)
        let watcher = Watcher(fake.backend())
        for name in names { try await watcher.until("added \(name)") }
        let storm = Task {
            while !Task.isCancelled {
                fake.insert(into: names[0])
                await Task.yield()
                fake.remove(from: names[0])
                // The pace of the storm; what is tested waits for its own conditions.
                try? await Task.sleep(for: .microseconds(200))
            }
        }
        for _ in 0..<5 {
            fake.insert(into: names[19])
            fake.remove(from: names[19])
        }
        fake.insert(into: names[19])
        try await watcher.until("inserted \(names[19]) 11")
        storm.cancel()
        watcher.stop()
        await storm.value
        await fake.expectClean()
    }

    /// Thousands of changes of state without an edge: other programs that connect and let go, for a second.
    @Test func eventStorm() async throws {
        let fake = FakePCSC(readers: ["A", "B"])
        fake.insert(into: "A")
        let watcher = Watcher(fake.backend())
        await watcher.expect(["added A", "added B", "inserted A 1"])
        let looks = fake.count(.wait)
        let memory = ProcessFigures.residentBytes
        let (started, used) = (ContinuousClock.now, ProcessFigures.processorSeconds)
        var changes = 0
        while changes < 20_000 || ContinuousClock.now - started < .milliseconds(500) {
            fake.setInUse("A", changes % 2 == 0)
            changes += 1
            if changes % 100 == 0 { await Task.yield() }
        }
        let took = (ContinuousClock.now - started).seconds
        // Several changes between two looks are one, and a storm is looked at less and less often.
        let looked = fake.count(.wait) - looks
        #expect(looked < Int(took * 400) + 50, "\(looked) looks in \(took) s")
        #expect(watcher.texts == ["added A", "added B", "inserted A 1"])
        let grown = ProcessFigures.residentBytes - memory
        #expect(grown < 64 << 20)
        TestReport.add(
            section: "resilience",
            line: "\(changes) changes of state without an edge in \(took.formatted(2)) s | no event, \(looked) looks,"
                + " \((ProcessFigures.processorSeconds - used).formatted(2)) s of processor time with the storm itself"
        )
        // And an edge in the middle of it is told.
        fake.insert(into: "B")
        try await watcher.until("inserted B 1")
        watcher.stop()
        await fake.expectClean()
    }

    /// What the library is asked for, and what it makes of more readers than one call takes.
    @Test func portions() {
        let fake = FakePCSC(readers: Self.names(20))
        let library = fake.library
        let context = library.establishContext().context
        func states(_ current: UInt32) -> [PCSCLibrary.ReaderState] {
            Self.names(20).map { PCSCLibrary.ReaderState(name: $0, current: current) }
        }
        var all = states(0)
        #expect(library.getStatusChange(context, 0, ofAll: &all) == .success)
        #expect(all.allSatisfy { $0.event == 0x10 | PCSCState.changed })
        // Nothing new: told after the time given, and what is known stays as it is.
        all = states(0x10)
        let started = ContinuousClock.now
        #expect(library.getStatusChange(context, 120, ofAll: &all) == .timeout)
        #expect(ContinuousClock.now - started >= .milliseconds(100))
        #expect(all.allSatisfy { $0.event == 0x10 })
        // One change, in the second portion.
        fake.insert(into: Self.names(20)[18])
        #expect(library.getStatusChange(context, PCSCLibrary.infinite, ofAll: &all) == .success)
        #expect(all.indices.filter { all[$0].event & PCSCState.changed != 0 } == [18])
        all = states(0x10)
        #expect(library.getStatusChange(context, PCSCLibrary.infinite, ofAll: &all) { true } == .cancelled)
        fake.fail(.wait, with: .noService, onCall: 2)
        #expect(library.getStatusChange(context, 0, ofAll: &all) == .noService)
        _ = library.releaseContext(context)
    }
}
#endif
