import Foundation
import Synchronization
import Testing

@testable import ClubKit

@Suite("Migrations of an application's records", .timeLimit(.minutes(10)))
struct FamiliarMigrationTests {
    private let recorder = FamiliarRecorder()
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func club() -> Club {
        Club(configuration: .test(.file(path: directory.file()))).recorded(by: recorder)
    }

    private func open(_ club: Club) async {
        let before = recorder.lines.count
        club.open(withAppKey: "", appId: "", developerId: "") { [recorder] in recorder.note("opened \($0)") }
        _ = await recorder.lines(before + 1)
    }

    private func fill() async throws {
        let club = try await openClub(.test(.file(path: directory.file())))
        // Some records have the value of the old name, some do not.
        let members = (0..<2500).map { number in
            let fields: [String: FieldValue] =
                number % 2 == 0 ? ["mail": .string("m\(number)@example.org")] : ["level": 1]
            return Member(userId: "U\(number)", username: "Ann", fields: fields)
        }
        #expect(try await club.merge(members).created == members.count)
        try await club.close()
    }

    @Test("Steps run once, in order, on the queue, and see what the former ones changed")
    func steps() async throws {
        try await fill()
        let calls = Mutex<[String]>([])
        func register(_ club: Club) -> Club {
            club.addVersionMigration { migration in
                calls.withLock { $0.append("\(migration.oldSchemaVersion) \(migration.newSchemaVersion)") }
                #expect(migration.newSchemaVersion == 1)
                migration.renameProperty(onType: CustomUser.className(), from: "mail", to: "emailAddress")
            }
            .addVersionMigration { migration in
                calls.withLock { $0.append("\(migration.oldSchemaVersion) \(migration.newSchemaVersion)") }
                migration.enumerateObjects(ofType: CustomUser.className()) { old, new in
                    if case .string(let address)? = old?["emailAddress"] {
                        new?["domain"] = .string(String(address.drop { $0 != "@" }.dropFirst()))
                    }
                    // A base value stays.
                    new?["numVisits"] = 99
                    new?["$blocked"] = "no"
                }
            }
        }
        let first = register(club())
        await open(first)
        #expect(recorder.lines == ["opened E_NOERROR"])
        #expect(calls.withLock { $0 } == ["0 1", "0 2"])
        let even = try #require(try await first.member(withUserID: "U2498"))
        #expect(even.fields["emailAddress"] == "m2498@example.org")
        #expect(even.fields["domain"] == "example.org")
        #expect(even.fields["mail"] ?? .null == .null)
        #expect(even.numVisits == 0)
        #expect(try await first.member(withUserID: "U2499")?.fields == ["level": 1])
        #expect(try await first.check().isEmpty)
        try await first.close()
        let second = register(club())
        await open(second)
        #expect(calls.withLock { $0.count } == 2)
        try await second.close()
        // Fewer steps than before: nothing to do, and it opens.
        let third = club().addVersionMigration { _ in Issue.record("the step ran again") }
        await open(third)
        #expect(recorder.lines == Array(repeating: "opened E_NOERROR", count: 3))
        try await third.close()
        // A new step runs alone.
        let fourth = register(club()).addVersionMigration { migration in
            calls.withLock { $0.append("\(migration.oldSchemaVersion) \(migration.newSchemaVersion)") }
        }
        await open(fourth)
        #expect(calls.withLock { $0 } == ["0 1", "0 2", "2 3"])
        try await fourth.close()
    }

    @Test("Steps need not be handed to the configuration, and count once if they are")
    func configuration() async throws {
        let count = Mutex(0)
        let club = club().addVersionMigration { _ in count.withLock { $0 += 1 } }
        var configuration = MembershipConfiguration.default
        configuration.migrationChanges = club.build()
        #expect(club.build().map(\.version) == [1])
        club.setMembershipConfiguration(configuration)
        #expect(club.membershipConfiguration.migrationChanges.map(\.version) == [1])
        await open(club)
        #expect(count.withLock { $0 } == 1)
        try await club.close()
    }

    @Test("A club whose records cannot be migrated is not open")
    func failureCloses() async throws {
        let before = try await openClub(.test(.file(path: directory.file())))
        _ = try await before.add(Member(userId: "A", fields: ["level": 1]))
        try await before.close()
        let club = club()
        club.addVersionMigration { migration in
            migration.enumerateObjects(ofType: "") { _, new in new?["level"] = 2 }
            let store = try? club.openStore("test")
            try? store?.close()
        }
        await open(club)
        while recorder.lines.last != "opened E_UNABLEINITIALIZE" { _ = await recorder.lines(recorder.lines.count + 1) }
        #expect(!club.isOpen)
        let again = try await openClub(.test(.file(path: directory.file())))
        #expect(try await again.member(withUserID: "A")?.fields["level"] == 1)
        try await again.close()
    }

    @Test("Steps that could not be stored run again at the next opening")
    func failure() async throws {
        let club = club()
        try await club.open()
        _ = try await club.add(Member(userId: "A", fields: ["level": 1]))
        let calls = Mutex(0)
        club.addVersionMigration { migration in
            migration.enumerateObjects(ofType: "") { _, new in new?["level"] = 2 }
            calls.withLock { $0 += 1 }
            guard calls.withLock({ $0 }) == 1 else { return }
            // The store is gone when the changes are to be written.
            let store = try? club.openStore("test")
            try? store?.close()
        }
        await open(club)
        let expected = ["created A  0", "error ClubError notOpen", "opened E_UNABLEINITIALIZE"]
        #expect(await recorder.lines(3) == expected)
        try? await club.close()
        let again = Club(configuration: .test(.file(path: directory.file()))).recorded(by: recorder)
        again.addVersionMigration { migration in
            migration.enumerateObjects(ofType: "") { old, new in
                #expect(old?["level"] == 1)
                new?["level"] = 3
            }
        }
        await open(again)
        #expect(try await again.member(withUserID: "A")?.fields["level"] == 3)
        try await again.close()
    }

    @Test("The shared club's configuration is Club.Configuration")
    func shared() {
        let before = Club.Configuration
        defer { Club.Configuration = before }
        let style = UserCreation.withSatisfied { true }
        Club.Configuration.userCreationStyle = style
        #expect(Club.Configuration.userCreationStyle == style)
        #expect(Club.shared.membershipConfiguration.userCreationStyle == style)
    }
}
