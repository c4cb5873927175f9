import Foundation
import ReaderKit
import ReaderKitTesting
import Synchronization
import Testing

@testable import ClubKit

@Suite("Readers and taps as in the original library", .timeLimit(.minutes(10)))
struct FamiliarReaderTests {
    private let backend = SimulatedBackend(readers: [], now: { start })
    private let recorder = FamiliarRecorder()

    private func card(_ text: String) throws -> any SimulatedCard {
        let message = try NDEFMessage([.text(text, language: "en")]).encoded()
        return try #require(SimulatedNTAG.formatted(.ntag213, message: message))
    }

    /// A club that serves the backend, and the task in which it does.
    private func serve(_ configuration: ClubConfiguration = .test()) async throws -> (Club, Task<Void, any Error>) {
        let club = try await openClub(configuration).recorded(by: recorder)
        let task = Task { try await club.serve(backend) }
        _ = await recorder.lines(1)
        return (club, task)
    }

    @Test("Services, readers and taps reach the delegate in their order, and a tap before what the club makes of it")
    func everything() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        backend.insert(try card("4|U1|x|Ann"))
        _ = await recorder.lines(4)
        backend.removeReader(named: "R1")
        backend.loseService()
        _ = await recorder.lines(7)
        backend.restoreService()
        backend.addReader(named: "R2")
        _ = await recorder.lines(9)
        task.cancel()
        _ = await task.result
        #expect(
            await recorder.lines(11) == [
                "manager simulated arrived E_NOERROR", "device R1 arrived E_NOERROR",
                "data 4|U1|x|Ann E_NOERROR", "created U1 Ann 1", "device R1 went E_NOERROR",
                "manager simulated went E_NOTINITIALIZED", "error ReaderError",
                "manager simulated arrived E_NOERROR", "device R2 arrived E_NOERROR", "device R2 went E_NOERROR",
                "manager simulated went E_NOERROR",
            ]
        )
        try await club.close()
    }

    @Test("The charge of a reader's battery is told when it is known and when it changes")
    func battery() async throws {
        let s550 = SimulatedS550()
        let name = "SpringCard H518 [CCID] (000A1B2C) 00 00"
        let backend = SimulatedBackend(readers: [name], reader: SimulatedReader(control: s550), now: { start })
        let club = try await openClub().recorded(by: recorder)
        let task = Task { try await club.serve(BatteryBackend(backend, every: .milliseconds(5))) }
        #expect(
            await recorder.lines(3) == [
                "manager simulated arrived E_NOERROR", "device \(name) arrived E_NOERROR", "battery 83",
            ]
        )
        s550.setBattery(percent: 82)
        #expect(await recorder.lines(4).contains("battery 82"))
        task.cancel()
        _ = await task.result
        try await club.close()
    }

    @Test("A service that is not there from the start is told too, with its error")
    func noService() async throws {
        backend.loseService()
        let (club, task) = try await serve()
        #expect(await recorder.lines(2) == ["manager simulated went E_NOTINITIALIZED", "error ReaderError"])
        task.cancel()
        _ = await task.result
        try await club.close()
    }

    @Test("Failures of readers and cards that were too quick are told")
    func failures() async throws {
        let (club, task) = try await serve()
        let reader = ReaderInfo(name: "R1", backend: .simulated)
        backend.addReader(named: "R1")
        backend.flash(try card("4|U1|x|Ann"))
        backend.publish(.readerStuck(reader, ReaderError(.stuck, attempting: "talk to the card")))
        backend.publish(.readerRecovered(reader))
        backend.publish(.failed(ReaderError(.exhausted, attempting: "serve readers")))
        let lines = await recorder.lines(6)
        #expect(
            lines[2...] == [
                "data nil E_NOERROR", "error CKError nullDecodedData", "error ReaderError", "error ReaderError",
            ]
        )
        #expect(recorder.errors.compactMap { ($0 as? ReaderError)?.kind } == [.stuck, .exhausted])
        task.cancel()
        _ = await task.result
        try await club.close()
    }

    @Test("A condition that is not satisfied, and a card that names nobody, are told as events of their own")
    func ignored() async throws {
        let (club, task) = try await serve(.test(userCreationStyle: .withSatisfied { false }))
        let events = club.events
        backend.addReader(named: "R1")
        backend.insert(try card("4|U1|x|Ann"))
        _ = await recorder.lines(3)
        backend.insert(try card("a|b|c"))
        let received = await events.first(4)
        #expect(received.map(\.name) == ["scan", "ignored", "scan", "rejected"])
        #expect(received.compactMap(\.reason).count == 2)
        task.cancel()
        _ = await task.result
        #expect(try await club.memberCount() == 0)
        try await club.close()
    }

    @Test("A kiosk that has a delegate alone hears what became of every tap, with the original's errors")
    func receipts() async throws {
        let recorder = FamiliarRecorder(notesReceipts: true)
        let isOpenToAll = Atomic(true)
        let style = UserCreation.withSatisfied { isOpenToAll.load(ordering: .relaxed) }
        let club = try await openClub(.test(userCreationStyle: style)).recorded(by: recorder)
        _ = try await club.receive(tap("A"))
        _ = try await club.receive(tap("A", at: 10))
        let later = tap("A", at: 60)
        _ = try await club.receive(later)
        // Seen before: its receipt was reported already.
        _ = try await club.receive(later)
        isOpenToAll.store(false, ordering: .relaxed)
        _ = try await club.receive(tap("B"))
        let problems: [ScanEvent.Problem.Code] = [.invalidPass, .ndefMalformed, .cardRemoved, .randomUID]
        for code in problems { _ = try await club.receive(tap(nil, problems: [ScanEvent.Problem(code, "so it is")])) }
        _ = try await club.receive(tap(nil))
        _ = try await club.receive(tap("A\u{7}"))
        #expect(
            await recorder.lines(17) == [
                "receipt created -", "created A  1", "receipt repeat -", "receipt visit -", "updated A  2",
                "receipt ignored unknownCard", "receipt rejected invalidPass", "error CKError invalidPassInformation",
                "receipt rejected ndefMalformed", "error CKError nonExistentUTF8DecodedDataString",
                "receipt rejected cardRemoved", "error CKError nullDecodedData", "receipt rejected randomUID",
                "receipt rejected noIdentifier", "error CKError nullDecodedData",
                "receipt rejected invalidIdentifier", "error CKError invalidPassInformation",
            ]
        )
        #expect((recorder.errors.first as? CKError)?.message == "so it is")
        try await club.close()
    }

    @Test("Texts of cards that are no membership text, or no text, reach the delegate at the tap")
    func errorsOfCards() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        backend.insert(try card("a|b|c"))
        #expect(await recorder.lines(4).last == "error CKError invalidPassInformation")
        // A Text record in UTF-8 whose text is none.
        let message: [UInt8] = [0xD1, 0x01, 0x07, 0x54, 0x02, 0x65, 0x6E, 0x34, 0x7C, 0xFF, 0xFE]
        backend.insert(try #require(SimulatedNTAG.formatted(.ntag213, message: message)))
        #expect(await recorder.lines(6).last == "error CKError nonExistentUTF8DecodedDataString")
        task.cancel()
        _ = await task.result
        try await club.close()
    }

    @Test("Of several ways in, the readers of that alone go whose service is lost, and come back with it")
    func combined() async throws {
        let other = SimulatedBackend(readers: ["Other"], now: { start })
        backend.addReader(named: "R1")
        let club = try await openClub().recorded(by: recorder)
        let combined = CombinedBackend([backend, other])
        let task = Task { try await club.serve(combined) }
        _ = await recorder.lines(4)
        backend.loseService()
        #expect(
            await recorder.lines(7)[4...] == [
                "device R1 went E_NOERROR", "manager simulated went E_NOTINITIALIZED", "error ReaderError",
            ]
        )
        other.insert(try card("4|U1|x|Ann"))
        #expect(await recorder.lines(9)[7...] == ["data 4|U1|x|Ann E_NOERROR", "created U1 Ann 1"])
        backend.restoreService()
        #expect(
            await recorder.lines(11)[9...] == ["manager simulated arrived E_NOERROR", "device R1 arrived E_NOERROR"]
        )
        task.cancel()
        _ = await task.result
        let lines = await recorder.lines(15)
        #expect(lines[11...].filter { $0 == "device Other went E_NOERROR" }.count == 1)
        #expect(lines.count == 15)
        try await club.close()
    }

    @Test("A backend that wraps several keeps the readers whose service stays")
    func wrapped() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        _ = await recorder.lines(2)
        backend.publish(.serviceLost(ReaderError(.serviceUnavailable, attempting: "watch readers")))
        #expect(await recorder.lines(4)[2...] == ["manager simulated went E_NOTINITIALIZED", "error ReaderError"])
        task.cancel()
        _ = await task.result
        #expect(await recorder.lines(5).last == "device R1 went E_NOERROR")
        try await club.close()
    }

    @Test("Only the favourite is served, until it is reset")
    func favorite() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        backend.addReader(named: "R2")
        _ = await recorder.lines(3)
        club.setFavorite(discoveredDeviceInfo: DiscoveredDeviceInfo(ReaderInfo(name: "R2", backend: .simulated)))
        #expect(club.favorite?.deviceName == "R2")
        backend.insert(try card("4|U1|x|Ann"))
        backend.remove(from: "R1")
        backend.insert(try card("4|U2|x|Ben"), into: "R2")
        #expect(await recorder.lines(5)[3...] == ["data 4|U2|x|Ben E_NOERROR", "created U2 Ben 1"])
        club.setFavorite(
            discoveredDeviceInfo: DiscoveredDeviceInfo(identifierUUID: "*", deviceName: "", serviceUUID: "")
        )
        #expect(club.favorite == nil)
        backend.insert(try card("4|U1|x|Ann"))
        #expect(await recorder.lines(7)[5...] == ["data 4|U1|x|Ann E_NOERROR", "created U1 Ann 1"])
        task.cancel()
        _ = await task.result
        try await club.close()
    }

    @Test("Discovery tells once which readers there are when it ends, and clears the favourite")
    func discovery() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        _ = await recorder.lines(2)
        club.setFavorite(discoveredDeviceInfo: DiscoveredDeviceInfo(ReaderInfo(name: "R1", backend: .simulated)))
        let found = Mutex<[DiscoveredDeviceInfo]>([])
        let (recorder, backend) = (recorder, backend)
        club.discover {
            found.withLock { [devices = $0] in $0 = devices }
            recorder.note("found")
        } afterWaiting: {
            #expect(club.favorite == nil)
            backend.addReader(named: "R2")
            _ = await recorder.lines(3)
        }
        #expect(await recorder.lines(4)[2...] == ["device R2 arrived E_NOERROR", "found"])
        #expect(found.withLock { $0.map(\.deviceName) } == ["R1", "R2"])
        club.startAutoDiscovery(numSeconds: 0) { recorder.note("found \($0.count)") }
        #expect(await recorder.lines(5).last == "found 2")
        task.cancel()
        _ = await task.result
        let lines = await recorder.lines(8).count
        // Nothing is served now.
        club.startAutoDiscovery(numSeconds: 3600) { recorder.note("found \($0.count)") }
        #expect(await recorder.lines(lines + 1).last == "found 0")
        try await club.close()
    }

    /// Takes the club's place.
    private final class Writer: CaptureMiddlewareDelegate, Sendable {
        let recorder: FamiliarRecorder

        init(_ recorder: FamiliarRecorder) { self.recorder = recorder }

        func capture(
            _ capture: CaptureMiddleware,
            didReceive decodedData: CaptureLayerDecodedData?,
            for device: CaptureLayerDevice,
            withResult result: CaptureLayerResult
        ) {
            recorder.note("writer \(decodedData?.stringFromDecodedData() ?? "")")
        }
    }

    @Test("Who stands in for the club gets the taps, which are not recorded, until the club takes over")
    func standIn() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        _ = await recorder.lines(2)
        var writer: Writer? = Writer(recorder)
        if let writer { club.resignCaptureDelegate(to: writer) }
        backend.insert(try card("4|U1|x|Ann"))
        #expect(await recorder.lines(3).last == "writer 4|U1|x|Ann")
        club.assumeCaptureDelegate()
        backend.insert(try card("4|U2|x|Ben"))
        #expect(await recorder.lines(5)[3...] == ["data 4|U2|x|Ben E_NOERROR", "created U2 Ben 1"])
        if let writer { club.resignCaptureDelegate(to: writer) }
        // The last callback may still hold it for a moment.
        weak let gone = writer
        writer = nil
        let deadline = ContinuousClock.now + .seconds(30)
        while gone != nil, ContinuousClock.now < deadline { await Task.yield() }
        backend.insert(try card("4|U3|x|Cid"))
        #expect(await recorder.lines(7)[5...] == ["data 4|U3|x|Cid E_NOERROR", "created U3 Cid 1"])
        task.cancel()
        _ = await task.result
        #expect(try await club.memberCount() == 2)
        try await club.close()
    }

    @Test("A manager's queue is that of the club")
    func managerQueue() async throws {
        let club = try await openClub()
        let manager = CaptureLayerDeviceManager(.pcsc, of: club)
        #expect(manager.dispatchQueue?.label == DispatchQueue.main.label)
        let queue = DispatchQueue(label: "other")
        manager.dispatchQueue = queue
        #expect(club.callbacks.currentQueue === queue)
        manager.dispatchQueue = nil
        #expect(manager.dispatchQueue === queue)
        #expect(manager == CaptureLayerDeviceManager(.pcsc, of: club))
        #expect(manager != CaptureLayerDeviceManager(.nfc, of: club))
    }

    @Test("A recording is served to its end, and what it showed is gone then")
    func recording() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let capture = try Capture(contentsOf: folder.appendingPathComponent("Fixtures/cards/ntag213-uri.capture").path)
        let club = try await openClub().recorded(by: recorder)
        try await club.serve(ReplayBackend([capture]))
        let lines = await recorder.lines(6)
        let reader = "SpringCard H518 [CCID] (000A1B2C) 00 00"
        #expect(
            lines == [
                "manager replay arrived E_NOERROR", "device \(reader) arrived E_NOERROR", "data 42 E_NOERROR",
                "created 42  1", "device \(reader) went E_NOERROR", "manager replay went E_NOERROR",
            ]
        )
        try await club.close()
    }

    @Test("Serving a club that was closed ends with an error at the next tap")
    func closedMeanwhile() async throws {
        let (club, task) = try await serve()
        backend.addReader(named: "R1")
        _ = await recorder.lines(2)
        try await club.close()
        backend.insert(try card("4|U1|x|Ann"))
        let error = await #expect(throws: ClubError.self) { try await task.value }
        #expect(error?.kind == .notOpen)
    }

    @Test("A tap waits while another program holds the database, and is not lost", arguments: [false, true])
    func busy(isCancelled: Bool) async throws {
        let directory = try TemporaryDirectory()
        let (club, task) = try await serve(.test(.file(path: directory.file()), busyTimeout: .milliseconds(20)))
        let events = club.events
        let locked = try LockedDatabase(directory.file())
        backend.addReader(named: "R1")
        backend.insert(try card("4|U1|x|Ann"))
        for await event in events {
            if case .error(let error, _) = event, error.kind == .busy { break }
        }
        if isCancelled {
            // Nobody waits for it any more.
            task.cancel()
            try await task.value
            locked.release()
            #expect(try await club.memberCount() == 0)
        } else {
            locked.release()
            for await event in events {
                if case .received(let receipt) = event, receipt.outcome == .created { break }
            }
            #expect(try await club.memberCount() == 1)
            task.cancel()
        }
        try await club.close()
    }
}
