import Dispatch
import Foundation
import Logging
import ReaderKit
import ReaderKitTesting
import Synchronization
import Testing

@testable import ClubKit

@Suite("Opening and closing as in the original library", .timeLimit(.minutes(10)))
struct FamiliarOpeningTests {
    private func open(_ club: Club, _ recorder: FamiliarRecorder, key: String = "key") {
        club.open(withAppKey: key, appId: "Front desk", developerId: "Riverside Gym") { result in
            recorder.note("opened \(result)")
        }
    }

    @Test("The completion comes once, on the queue, when the store is open, also without any reader")
    func opened() async throws {
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder)
        open(club, recorder)
        #expect(await recorder.lines(1) == ["opened E_NOERROR"])
        #expect(club.isOpen)
        #expect(club.identity == KioskIdentity(kiosk: "Front desk", operatorName: "Riverside Gym"))
        #expect(club.numberOfFailedOpenCaptureAttempts == 0)
        // An open club stays open.
        open(club, recorder)
        #expect(await recorder.lines(2).last == "opened E_NOERROR")
        club.close { recorder.note("closed \($0)") }
        #expect(await recorder.lines(3).last == "closed E_NOERROR")
        #expect(!club.isOpen)
        club.close { recorder.note("closed \($0)") }
        #expect(await recorder.lines(4).last == "closed E_NOERROR")
        open(club, recorder)
        #expect(await recorder.lines(5).last == "opened E_NOERROR")
        #expect(recorder.lines.count == 5)
        try await club.close()
    }

    @Test("The readers of this machine are served by default, whether or not there is a service or a reader")
    func standardReaders() async throws {
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).setDelegate(to: recorder).setDispatchQueue(recorder.queue)
        open(club, recorder)
        // The service, or that it is not there, is told before or after.
        let lines = await recorder.lines(2)
        #expect(lines.contains { $0.hasPrefix("manager pcsc") })
        club.close { recorder.note("closed \($0)") }
        var seen = recorder.lines
        while seen.last != "closed E_NOERROR" { seen = await recorder.lines(seen.count + 1) }
        #expect(seen.filter { $0 == "opened E_NOERROR" }.count == 1)
    }

    @Test("The readers that are served by default are those of every way in")
    func everyWayIn() throws {
        let parts = try #require(Club(configuration: .test()).capture as? CombinedBackend).parts
        let expected = try #require(try ReaderSelection().makeBackend() as? CombinedBackend).parts
        #expect(parts.map(\.kind) == expected.map(\.kind))
        #expect(parts.count > 1)
    }

    @Test("A club is configured before it is opened, and refuses it later")
    func configured() async throws {
        let directory = try TemporaryDirectory()
        let log = LogStore()
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder).configure {
            $0.database = .file(path: directory.file())
            $0.cooldown = .seconds(5)
            $0.logger = Logger(label: "club.test") { _ in LogCollector(store: log) }
            $0.scanner.retries = 7
        }
        open(club, recorder)
        // It is being opened.
        club.configure { $0.cooldown = .seconds(6) }
        let lines = await recorder.lines(2)
        #expect(Set(lines) == ["error ClubError alreadyOpen", "opened E_NOERROR"])
        #expect(FileManager.default.fileExists(atPath: directory.file()))
        #expect(!log.lines.isEmpty)
        _ = try await club.receive(tap("A"))
        #expect(try await club.receive(tap("A", at: 4)).outcome == .repeat)
        #expect(try await club.receive(tap("A", at: 5)).outcome == .visit)
        club.configure { $0.cooldown = .seconds(7) }
        #expect(club.configuration.cooldown == .seconds(5))
        #expect(try await club.scannerConfiguration().retries == 7)
        try await club.close()
        #expect(club.configure { $0.cooldown = .seconds(8) }.cooldown == .seconds(8))
    }

    @Test("What is configured at the same time is all kept; a change that changes the club itself is refused")
    func configuredTogether() async {
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder)
        club.configure { $0.expiryWarningDays = 0 }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<50 { club.configure { $0.expiryWarningDays += 1 } } }
            }
        }
        #expect(club.configuration.expiryWarningDays == 200)
        club.configure {
            $0.expiryWarningDays = 1
            club.configure { $0.visitsLeftWarning = 77 }
        }
        #expect(club.configuration.visitsLeftWarning == 77)
        #expect(club.configuration.expiryWarningDays == 200)
        #expect(await recorder.lines(1) == ["error ClubError invalidSetting"])
    }

    @Test("The file of the passes is read at opening, with the club's memory, and a bad one keeps the club closed")
    func passes() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("passes.json")
        try Data(#"{"order":["nothing"]}"#.utf8).write(to: URL(fileURLWithPath: path))
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder).configure { $0.passes = path }
        open(club, recorder)
        #expect(await recorder.lines(2) == ["error ClubError malformedFile", "opened E_UNABLEINITIALIZE"])
        let cause = PassConfigurationError.malformed("", .init(place: "", what: ""))
        #expect("\(recorder.errors[0])".hasSuffix(cause.hint))
        #expect(!club.isOpen)
        try Data(#"{"order":["uid","text"]}"#.utf8).write(to: URL(fileURLWithPath: path))
        open(club, recorder)
        #expect(await recorder.lines(3).last == "opened E_NOERROR")
        let site = try #require(try await club.scannerConfiguration().site)
        #expect(site.memory is ClubPassMemory)
        #expect(site.order == [.uid, .text])
        try await club.close()
    }

    @Test("Closing the club in async code lets go of the readers too")
    func closedAsync() async throws {
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder).setCapture(
            instance: SimulatedBackend(readers: [], now: { start })
        )
        open(club, recorder)
        var seen: [String] = []
        while !seen.contains("opened E_NOERROR") { seen = await recorder.lines(seen.count + 1) }
        #expect(club.isServing)
        try await club.close()
        #expect(!club.isServing)
        #expect(!club.isOpen)
    }

    @Test("Without a completion, and without a delegate, opening works as well")
    func silent() async throws {
        let club = Club(configuration: .test()).setCapture(instance: nil)
        club.open(withAppKey: "key", appId: "", developerId: "")
        let deadline = ContinuousClock.now + .seconds(30)
        while !club.isOpen, ContinuousClock.now < deadline { await Task.yield() }
        #expect(club.isOpen)
        #expect(club.identity == KioskIdentity())
        try await club.close()
    }

    @Test("A store that cannot be opened is E_UNABLEINITIALIZE, once, after its cause; a later attempt may succeed")
    func failed() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        try Data(repeating: 0x41, count: 8192).write(to: URL(fileURLWithPath: path))
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test(.file(path: path))).recorded(by: recorder)
        open(club, recorder)
        #expect(await recorder.lines(2) == ["error ClubError notADatabase", "opened E_UNABLEINITIALIZE"])
        #expect(club.numberOfFailedOpenCaptureAttempts == 1)
        open(club, recorder)
        #expect(await recorder.lines(4).count == 4)
        #expect(club.numberOfFailedOpenCaptureAttempts == 2)
        // The file that is no club's was left as it is.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(repeating: 0x41, count: 8192))
        try FileManager.default.removeItem(atPath: path)
        open(club, recorder)
        #expect(await recorder.lines(5).last == "opened E_NOERROR")
        #expect(club.numberOfFailedOpenCaptureAttempts == 0)
        try await club.close()
    }

    @Test("A store that another program holds is tried three times, with one completion")
    func busy() async throws {
        let directory = try TemporaryDirectory()
        let holder = try LockedDatabase(directory.file())
        let recorder = FamiliarRecorder()
        let configuration = ClubConfiguration.test(.file(path: directory.file()), busyTimeout: .milliseconds(1))
        let club = Club(configuration: configuration).recorded(by: recorder)
        open(club, recorder)
        #expect(await recorder.lines(2) == ["error ClubError busy", "opened E_UNABLEINITIALIZE"])
        #expect(club.numberOfFailedOpenCaptureAttempts == 3)
        holder.release()
        open(club, recorder)
        #expect(await recorder.lines(3).last == "opened E_NOERROR")
        #expect(recorder.lines.count == 3)
        try await club.close()
    }

    @Test("The key is neither stored nor logged")
    func appKey() async throws {
        let secret = "MC4CFQD-the-key-of-the-application"
        let directory = try TemporaryDirectory()
        let log = LogStore()
        var configuration = ClubConfiguration.test(.file(path: directory.file()))
        configuration.logger = Logger(label: "club.test") { _ in LogCollector(store: log) }
        let debug = DebugLogger()
        let recorder = FamiliarRecorder()
        let club = Club(configuration: configuration).recorded(by: recorder)
        club.familiar.withLock { $0.debugLogger = debug }
        club.setDebugMode(isActivated: true)
        open(club, recorder, key: secret)
        _ = await recorder.lines(1)
        _ = try await club.receive(tap("A"))
        club.close { recorder.note("closed \($0)") }
        _ = await recorder.lines(3)
        #expect(!log.lines.isEmpty)
        #expect(!log.lines.contains { $0.contains(secret) })
        #expect(!debug.getAllMessages().isEmpty)
        #expect(!debug.getAllMessages().contains { $0.contains(secret) })
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(files.contains("club.sqlite"))
        for file in files {
            let content = try Data(contentsOf: URL(fileURLWithPath: directory.file(file)))
            #expect(content.range(of: Data(secret.utf8)) == nil, "\(file)")
        }
    }

    @Test("Calls before opening never trap: getters throw, the rest tells the delegate")
    func beforeOpening() async throws {
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder)
        #expect(throws: ClubError(.notOpen, attempting: "look up a member")) { try club.getUser(with: "A") }
        #expect(throws: ClubError.self) { try club.getUser(withPassId: "A") }
        #expect(throws: ClubError.self) { try club.getUser(withMemberId: "A") }
        let information = try #require(CaptureDataInformation(captureDataString: "4|A|x|Ann"))
        let user = try MembershipUser()
        user.userId = "A"
        let failing: [(Club) -> Void] = [
            { $0.createUser(with: information) }, { $0.createUser(with: user) },
            { $0.update(user: user) { user.username = "Eve" } },
            { $0.deleteUser(with: "A") }, { $0.deleteUser(withPassId: "A") }, { $0.deleteUser(withMemberId: "A") },
            { $0.deleteUser(user) }, { $0.merge(importedUsers: [user]) },
        ]
        for call in failing { call(club) }
        #expect(club.getExportableURLForDataSource(ofType: MembershipUser.self, fileType: .csv) == nil)
        let lines = await recorder.lines(failing.count + 1)
        #expect(lines == Array(repeating: "error ClubError notOpen", count: failing.count + 1))
        let device = CaptureLayerDevice(ReaderInfo(name: "own", backend: .simulated))
        let error = club.onDecodedData(decodedData: .init(decodedData: Data("4|A|x|Ann".utf8)), device: device)
        #expect((error as? ClubError)?.kind == .notOpen)
        await #expect(throws: ClubError.self) { try await club.serve(SimulatedBackend()) }
        club.startAutoDiscovery(numSeconds: 1) { recorder.note("found \($0.count)") }
        #expect(await recorder.lines(failing.count + 2).last == "found 0")
        club.setFavorite(discoveredDeviceInfo: DiscoveredDeviceInfo(device.reader))
        club.resetFavorite()
        club.assumeCaptureDelegate()
    }

    @Test("What open serves ends with close, and can begin again")
    func serving() async throws {
        let backend = SimulatedBackend()
        let recorder = FamiliarRecorder()
        let club = Club(configuration: .test()).recorded(by: recorder).setCapture(instance: backend)
        for _ in 0..<2 {
            let before = recorder.lines.count
            open(club, recorder)
            let lines = await recorder.lines(before + 3)[before...]
            #expect(
                Set(lines) == [
                    "opened E_NOERROR", "manager simulated arrived E_NOERROR",
                    "device Simulated Reader 00 00 arrived E_NOERROR",
                ]
            )
            #expect(backend.watchers == 1)
            // Opening an open club begins nothing twice.
            open(club, recorder)
            _ = await recorder.lines(before + 4)
            #expect(backend.watchers == 1)
            club.close { recorder.note("closed \($0)") }
            #expect(
                await recorder.lines(before + 7)[(before + 4)...] == [
                    "device Simulated Reader 00 00 went E_NOERROR", "manager simulated went E_NOERROR",
                    "closed E_NOERROR",
                ]
            )
        }
    }
}
