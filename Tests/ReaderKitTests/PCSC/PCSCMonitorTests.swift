import CardCore
import CardPasses
import CardTags
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

@Suite(.timeLimit(.minutes(10))) struct PCSCMonitorTests {
    @Test func noReaderAtStart() async throws {
        let fake = FakePCSC()
        let watcher = Watcher(fake.backend())
        try await until("waiting") { fake.waiting == 1 }
        #expect(watcher.texts == [])
        fake.plug("A")
        fake.insert(into: "A")
        await watcher.expect(["added A", "inserted A 1"])
        #expect(watcher.card(on: "A")?.facts.atr == SampleATR.type2)
        watcher.stop()
        await fake.expectClean()
    }

    @Test func readersAndCardsThatAreThere() async throws {
        let fake = FakePCSC(readers: ["A", "B"])
        fake.insert(into: "B")
        let watcher = Watcher(fake.backend())
        await watcher.expect(["added A", "added B", "inserted B 1"])
        watcher.stop()
        await fake.expectClean()
    }

    @Test func noServiceAtStart() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.kill()
        let watcher = Watcher(fake.backend())
        try await until("several attempts") { fake.count(.establish) > 10 }
        // Said once, however often it was tried.
        #expect(watcher.texts == ["lost"])
        guard case .serviceLost(let error)? = watcher.events.first else { return }
        #expect(error.kind == .serviceUnavailable)
        #expect(error.code?.name == "SCARD_E_NO_SERVICE")
        fake.restart()
        await watcher.expect(["lost", "back", "added A"])
        watcher.stop()
        await fake.expectClean()
    }

    @Test func killedAndRestarted() async throws {
        let fake = FakePCSC(readers: ["A", "B"])
        fake.insert(into: "A")
        let watcher = Watcher(fake.backend())
        await watcher.expect(["added A", "added B", "inserted A 1"])
        for round in 1...3 {
            try await until("waiting") { fake.waiting == 1 }
            let before = watcher.texts.count
            fake.kill()
            try await watcher.until("lost", times: round)
            // Everything is reported as gone before the service is.
            let gone = ["removed A \(round == 1 ? 1 : 0)", "gone A", "gone B", "lost"]
            #expect(Array(watcher.texts.dropFirst(before).prefix(4)) == gone)
            try await until("attempts while it is away") { fake.count(.establish) > 4 * round }
            #expect(watcher.texts.count { $0 == "lost" } == round)
            fake.restart()
            try await watcher.until("back", times: round)
            try await watcher.until("inserted A 0", times: round)
            #expect(Array(watcher.texts.suffix(4)) == ["back", "added A", "added B", "inserted A 0"])
        }
        fake.insert(into: "B")
        try await watcher.until("inserted B 1")
        // A context that was made before is never waited on again.
        #expect(fake.deadWaits == 0)
        guard case .serviceLost(let error)? = watcher.events.first(where: { Watcher.text($0) == "lost" }) else {
            return
        }
        // From the wait, 80100013 means the service and not the radio.
        #expect(error.kind == .serviceStopped)
        watcher.stop()
        await fake.expectClean()
    }

    @Test func edgesBetweenTwoLooks() async throws {
        let fake = FakePCSC(readers: ["A", "B"])
        let watcher = Watcher(fake.backend())
        try await until("waiting") { fake.waiting == 1 }
        fake.setCounter("A", 0)
        fake.edges("A", [FakePCSC.Card(), nil, FakePCSC.Card(), nil, FakePCSC.Card()])
        try await watcher.until("inserted A 5")
        fake.edges("A", [nil, FakePCSC.Card()])
        try await watcher.until("inserted A 7")
        fake.edges("B", [FakePCSC.Card(), nil])
        try await watcher.until("missed B 1")
        #expect(
            watcher.texts == [
                "added A", "added B", "missed A 1", "missed A 3", "inserted A 5", "removed A 5", "inserted A 7",
                "missed B 1",
            ]
        )
        watcher.stop()
        await fake.expectClean()
    }

    @Test func twoReadersAtOnce() async throws {
        let fake = FakePCSC()
        let watcher = Watcher(fake.backend())
        try await until("waiting") { fake.waiting == 1 }
        fake.plug("A", "B")
        await watcher.expect(["added A", "added B"])
        fake.unplug("A")
        try await watcher.until("gone A")
        fake.plug("A")
        try await watcher.until("added A", times: 2)
        watcher.stop()
        await fake.expectClean()
    }

    /// The count of readers does not change when one takes another's place; the wait then fails for the unknown name.
    @Test func oneReaderTakesAnothersPlace() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        let watcher = Watcher(fake.backend())
        await watcher.expect(["added A", "inserted A 1"])
        fake.locked {
            fake.readers = [FakePCSC.Reader(name: "B")]
            fake.condition.broadcast()
        }
        await watcher.expect(["added A", "inserted A 1", "removed A 1", "gone A", "added B"])
        watcher.stop()
        await fake.expectClean()
    }

    /// Unplugged just before a wait, which then fails for the unknown name; nothing else happens afterwards.
    @Test func readerGoesBetweenTwoWaits() async throws {
        let fake = FakePCSC(readers: ["A", "B"])
        fake.insert(into: "A")
        var library = fake.library
        let wait = library.getStatusChange
        library.getStatusChange = { context, milliseconds, states in
            if fake.count(.wait) == 1 { fake.unplug("A") }
            return wait(context, milliseconds, &states)
        }
        let watcher = Watcher(PCSCBackend(library: library, configuration: FakePCSC.configuration))
        await watcher.expect(["added A", "added B", "inserted A 1", "removed A 1", "gone A"])
        watcher.stop()
        await fake.expectClean()
    }

    /// An unavailable reader loses its card, and its return is seen.
    @Test func unavailableReader() async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        let watcher = Watcher(fake.backend())
        await watcher.expect(["added A", "inserted A 1"])
        fake.setUnavailable("A", true)
        try await watcher.until("removed A 1")
        fake.setUnavailable("A", false)
        try await watcher.until("inserted A 1", times: 2)
        watcher.stop()
        await fake.expectClean()
    }

    @Test(
        arguments: PCSCCode.all.filter { !$0.isSuccess } + [PCSCCode(0x8010_0070)],
        [FakePCSC.Function.establish, .list, .wait]
    )
    func permanentErrorIsNoBusyLoop(_ code: PCSCCode, in function: FakePCSC.Function) async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.fail(function, with: code, forEver: true)
        var configuration = FakePCSC.configuration
        configuration.lastBackOff = .milliseconds(50)
        let watcher = Watcher(fake.backend(configuration))
        try await until("some rounds") { fake.count(function) >= 12 }
        // Over a while: a busy loop makes hundreds of thousands of calls a second; here three each 20 ms are the most.
        func calls() -> Int { FakePCSC.Function.allCases.map(fake.count).reduce(0, +) }
        let (started, before) = (ContinuousClock.now, calls())
        try await until("a while", within: .seconds(60)) { ContinuousClock.now - started > .milliseconds(50) }
        let rate = Double(calls() - before) / (ContinuousClock.now - started).seconds
        #expect(rate < 1000)
        #expect(watcher.texts.count { $0 == "lost" } <= 1)
        #expect(!watcher.texts.contains("back"))
        fake.heal()
        try await watcher.until("added A")
        watcher.stop()
        await fake.expectClean()
    }

    @Test(
        arguments: PCSCCode.all.filter { !$0.isSuccess },
        [FakePCSC.Function.establish, .list, .wait]
    )
    func oneErrorIsSurvived(_ code: PCSCCode, in function: FakePCSC.Function) async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        for number in 1...3 { fake.fail(function, with: code, onCall: number * 2) }
        let watcher = Watcher(fake.backend())
        // Each edge makes another wait, and each lost context another list and another establish.
        try await watcher.until("inserted A 1")
        for counter in 2...12 {
            fake.edges("A", [counter % 2 == 0 ? nil : FakePCSC.Card()])
        }
        fake.plug("B")
        try await watcher.until("added B")
        // The last error may come after it.
        try await until("each loss is over") {
            watcher.texts.count { $0 == "lost" } == watcher.texts.count { $0 == "back" }
        }
        watcher.stop()
        await fake.expectClean("\(code) in \(function)")
    }

    @Test func waitThatReturnsForNothing() async throws {
        let fake = FakePCSC(readers: ["A"])
        // A driver whose state changes at each look, without any edge.
        var library = fake.library
        let wait = library.getStatusChange
        library.getStatusChange = { context, _, states in
            let code = wait(context, 0, &states)
            return code == .timeout ? .success : code
        }
        let watcher = Watcher(PCSCBackend(library: library, configuration: FakePCSC.configuration))
        try await watcher.until("added A")
        try await until("slowed down") { fake.count(.wait) > 20 }
        let (started, before) = (ContinuousClock.now, fake.count(.wait))
        try await until("a while", within: .seconds(60)) { ContinuousClock.now - started > .milliseconds(100) }
        #expect(Double(fake.count(.wait) - before) / (ContinuousClock.now - started).seconds < 500)
        // It still sees what happens.
        fake.insert(into: "A")
        try await watcher.until("inserted A 1")
        watcher.stop()
        await fake.expectClean()
    }

    @Test(arguments: [0, 1, 5]) func termination(lostCancels: Int) async throws {
        var times: [Duration] = []
        for _ in 0..<7 {
            let fake = FakePCSC(readers: ["A"])
            let watcher = Watcher(fake.backend())
            try await until("waiting") { watcher.texts == ["added A"] && fake.waiting == 1 }
            fake.loseCancels(lostCancels)
            let started = ContinuousClock.now
            watcher.stop()
            try await until("ended") { fake.openContexts == 0 }
            times.append(ContinuousClock.now - started)
            #expect(fake.count(.cancel) > lostCancels)
            #expect(fake.complaints == [])
            try await until("finished") { watcher.hasFinished }
        }
        // The quickest: a busy machine may delay any of them, a cancel that is lost for good delays all.
        #expect(times.sorted()[0] < .milliseconds(100), "\(times)")
    }

    /// The delay is what is varied here: no condition tells the moments at which a cancel is lost.
    @Test func terminationAtAnyMoment() async throws {
        for delay in 0..<60 {
            let fake = FakePCSC(readers: ["A"])
            let watcher = Watcher(fake.backend())
            try await Task.sleep(for: .microseconds(delay * 20))
            watcher.stop()
            try await until("ended") { fake.openContexts == 0 && watcher.hasFinished }
            #expect(fake.complaints == [])
        }
    }

    @Test func terminationWhilePcscdIsAway() async throws {
        let fake = FakePCSC()
        fake.kill()
        var configuration = FakePCSC.configuration
        configuration.firstBackOff = .seconds(3600)
        let backend = fake.backend(configuration)
        let watcher = Watcher(backend)
        try await watcher.until("lost")
        watcher.stop()
        try await until("finished") { watcher.hasFinished }
        #expect(fake.count(.establish) == 1)
    }

    @Test func watchersAreIndependent() async throws {
        let fake = FakePCSC(readers: ["A"])
        let backend = fake.backend()
        let (first, second) = (Watcher(backend), Watcher(backend))
        try await first.until("added A")
        try await second.until("added A")
        first.stop()
        try await until("one left") { fake.openContexts == 1 }
        fake.insert(into: "A")
        await second.expect(["added A", "inserted A 1"])
        #expect(first.texts == ["added A"])
        second.stop()
        await fake.expectClean()
    }

    /// Making a backend does nothing, and letting go of everything ends everything.
    @Test func nothingHappensBeforeItIsAskedFor() async throws {
        let fake = FakePCSC(readers: ["A"])
        do {
            let backend = fake.backend()
            #expect(backend.kind == .pcsc)
            #expect(FakePCSC.Function.allCases.allSatisfy { fake.count($0) == 0 })
            _ = backend.events()
        }
        await fake.expectClean()
    }

    @Test func snapshot() async throws {
        let fake = FakePCSC()
        let backend = fake.backend()
        #expect(try await backend.readers() == [])
        fake.plug("A", "B (77) 00 00")
        fake.insert(into: "B (77) 00 00")
        let readers = try await backend.readers()
        #expect(readers.map(\.reader.name) == ["A", "B (77) 00 00"])
        #expect(readers.map(\.reader.serial) == [nil, "77"])
        #expect(readers.map(\.card?.number) == [nil, 1])
        // Unplugged between the list and the look.
        fake.fail(.wait, with: .unknownReader)
        #expect(try await backend.readers().count == 2)
        fake.kill()
        let error = await readerError { try await backend.readers() }
        #expect(error?.kind == .serviceUnavailable)
        fake.restart()
        for function in [FakePCSC.Function.establish, .list, .wait] {
            for code in PCSCCode.all where !code.isSuccess && !(function == .wait && code == .timeout) {
                fake.fail(function, with: code, forEver: true)
                let error = await readerError { try await backend.readers() }
                #expect(error?.code?.rawValue == Int64(code.rawValue), "\(code) in \(function)")
                fake.heal()
            }
        }
        await fake.expectClean()
    }
}
#endif
