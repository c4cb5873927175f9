#if NFC
import Foundation
import ReaderKit
import ReaderKitTesting
import TestSupport
import Testing

/// Passes through the tools, with phones on a simulated PN532.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct PassToolTests {
    private let folder: ScratchFolder
    private let board: PN532Terminal
    private let key = AppleVASKey()

    init() throws {
        folder = try ScratchFolder()
        board = try PN532Terminal(link: folder.file("pn532"))
        let made = FileManager.default.createFile(
            atPath: folder.file("vas.pem"),
            contents: Data(key.pem.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(made)
        _ = try folder.write(
            #"{"appleVAS":{"passes":[{"passTypeIdentifier":"pass.com.example.club","keys":["vas.pem"]}]}}"#,
            to: "passes.json"
        )
    }

    private func phone(_ message: String) -> SimulatedApplePhone {
        SimulatedApplePhone([
            SimulatedApplePhone.Pass(
                passTypeIdentifier: "pass.com.example.club",
                message: message,
                readerKey: key.publicKey
            )
        ])
    }

    @Test("[real libnfc] a phone's pass is the member; its identifier never is; a recorded pass is refused")
    func kiosk() async throws {
        let database = folder.file("club.sqlite")
        let kiosk = try Tool.clubctl.start([
            "kiosk", "--json", "--cooldown", "0", "--database", database, "--passes", folder.file("passes.json"),
            "--reader", "nfc:pn532_uart:" + folder.file("pn532"),
        ])
        defer { kiosk.kill() }
        func tap(_ phone: SimulatedApplePhone, _ event: String) async throws -> [String: Any] {
            board.insert(phone)
            let line = try #require(await kiosk.next(event))
            board.remove()
            let commands = board.commands
            try await until("it was looked for") { board.commands > commands + 12 }
            return line
        }
        let ann = phone("M-1042")
        let created = try await tap(ann, "created")
        #expect((created["member"] as? [String: Any])?["userId"] as? String == "M-1042")
        for count in 2...3 {
            let visit = try await tap(ann, "visit")
            #expect((visit["member"] as? [String: Any])?["numVisits"] as? Int == count)
        }
        ann.isLocked = true
        #expect(try await tap(ann, "rejected")["reasonCode"] as? String == "phoneLocked")
        let recorded = try #require(
            try AppleVASRecording.cryptogram(of: phone("M-1042"), passTypeIdentifier: "pass.com.example.club")
        )
        let thief = phone("")
        thief.replay(recorded)
        _ = try await tap(thief, "visit")
        #expect(try await tap(thief, "rejected")["reasonCode"] as? String == "passReplayed")
        kiosk.kill(SIGINT)
        #expect(await kiosk.finish().status == 130)
        let members = try await Tool.clubctl.run("members", "list", "--json", "--database", database).objects
        #expect(members.map { $0["userId"] as? String } == ["M-1042"])
        #expect(members.first?["numVisits"] as? Int == 4)
    }

    @Test("[real libnfc] a phone whose pass cannot be used is refused, and is nobody", .timeLimit(.minutes(10)))
    func unusablePasses() async throws {
        let google = SmartTapKey(collectorID: 7, version: 2)
        let made = FileManager.default.createFile(
            atPath: folder.file("smarttap.pem"),
            contents: Data(google.pem.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(made)
        let passes = try folder.write(
            #"{"smartTap":{"collector":7,"keyVersion":2,"key":"smarttap.pem"}}"#,
            to: "google.json"
        )
        let database = folder.file("refused.sqlite")
        let kiosk = try Tool.clubctl.start([
            "kiosk", "--json", "--database", database, "--passes", passes,
            "--reader", "nfc:pn532_uart:" + folder.file("pn532"),
        ])
        defer { kiosk.kill() }
        for (objects, code) in [
            ([.init(value: "")], "invalidPass"), ([.init(value: "M-1\n2")], "invalidPass"),
            ([.init(value: String(repeating: "A", count: 300))], "invalidPass"), ([], "noPass"),
            ([.init(kind: .offer, value: "OFFER-77")], "noPass"),
        ] as [([SimulatedAndroidPhone.Pass], String)] {
            board.insert(SimulatedAndroidPhone(objects, collector: .init(google), givesAll: true))
            let line = try #require(await kiosk.next("rejected"))
            #expect(line["reasonCode"] as? String == code)
            board.remove()
            let commands = board.commands
            try await until("it was looked for") { board.commands > commands + 12 }
        }
        kiosk.kill(SIGINT)
        #expect(await kiosk.finish().status == 130)
        #expect(try await Tool.clubctl.run("members", "list", "--json", "--database", database).objects.isEmpty)
    }

    @Test("[real libnfc] an emulated phone of each wallet is read with the keys that it was made for")
    func emulatedPhones() async throws {
        let google = SmartTapKey(collectorID: 7, version: 2)
        let made = FileManager.default.createFile(
            atPath: folder.file("smarttap.pem"),
            contents: Data(google.pem.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        #expect(made)
        let passes = try folder.write(
            """
            {"appleVAS":{"passes":[{"passTypeIdentifier":"pass.com.example.club","keys":["vas.pem"]}]},
             "smartTap":{"collector":7,"keyVersion":2,"key":"smarttap.pem"}}
            """,
            to: "both.json"
        )
        for (wallet, locked, kind) in [
            ("apple", [], "appleVAS"), ("google", [], "smartTap"), ("apple", ["--locked"], nil),
            ("google", ["--locked"], nil),
        ] as [(String, [String], String?)] {
            let phone = try Tool.readerctl.start(
                [
                    "emulate", "--phone", wallet, "--passes", passes, "--message", "M-77", "--via", "pn532", "--json",
                ] + locked
            )
            defer { phone.kill() }
            let connection = try #require(await phone.next("reachable")?["connection"] as? String)
            let read = try await Tool.readerctl.run(
                "pass",
                "read",
                "--json",
                "--passes",
                passes,
                "--reader",
                "nfc:" + connection
            )
            let line = try #require(read.objects.last)
            #expect((line["wallet"] as? [String: Any])?["kind"] as? String == wallet)
            #expect(read.status == (kind == nil ? 1 : 0) && line["memberKey"] as? String == kind.map { _ in "M-77" })
            let found = (line["passes"] as? [[String: Any]])?.first?["kind"] as? String
            #expect(found == kind)
            let findings = (line["findings"] as? [[String: Any]])?.compactMap { $0["code"] as? String } ?? []
            #expect(findings.contains("readerDoesNotAnnotate"))
            #expect(findings.contains("phoneLocked") == (kind == nil))
            phone.kill(SIGTERM)
            _ = await phone.finish()
        }
    }

    @Test("What is wrong with the configuration or a key is told before anything is begun")
    func wrongConfigurations() async throws {
        for (prepare, status, word) in [
            ({ chmod(folder.file("vas.pem"), 0o644) == 0 }, 65, "chmod 600"),
            ({ unlink(folder.file("vas.pem")) == 0 }, 66, "vas.pem"),
            ({ (try? folder.write(#"{"aple":{}}"#, to: "passes.json")) != nil }, 65, "aple"),
            ({ unlink(folder.file("passes.json")) == 0 }, 66, "passes.json"),
        ] as [(() -> Bool, Int32, String)] {
            #expect(prepare())
            for tool in [
                try await Tool.readerctl.run("scan", "--json", "--once", "--passes", folder.file("passes.json")),
                try await Tool.clubctl.run(
                    "kiosk",
                    "--json",
                    "--database",
                    folder.file("none.sqlite"),
                    "--passes",
                    folder.file("passes.json")
                ),
            ] {
                #expect(tool.status == status, "\(word)")
                #expect(tool.messages.contains(word))
                #expect(tool.objects.first?["error"] != nil)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("none.sqlite")))
    }
}

/// What somebody records who holds a reader to a phone.
private enum AppleVASRecording {
    static func cryptogram(of phone: SimulatedApplePhone, passTypeIdentifier: String) throws -> [UInt8]? {
        let merchant = AppleVASMerchant(passTypeIdentifier: passTypeIdentifier, keys: [])
        phone.powerOn()
        _ = phone.receive(apdu: WalletSelection.command.encoded())
        let request = try AppleVASRequest(merchantID: merchant.merchantID).command()
        let answer = try #require(phone.receive(apdu: request.encoded()))
        return try BERTLV.decode(Array(answer.dropLast(2))).find(0x70, 0x9F27)?.value
    }
}
#endif
