import ClubKit
import Diagnosis
import Foundation
import TestSupport
import Testing

@testable import KioskKit

@Suite("The kiosk's file", .timeLimit(.minutes(10)))
struct KioskFileTests {
    private static let path = "/etc/clubkit/kiosk.conf"

    private func file(_ text: String) throws -> KioskFile { try KioskFile(text: text, path: Self.path) }

    /// The findings as `line:column path: message`, and their hints.
    private func faults(_ text: String) -> [(place: String, message: String, hint: String)] {
        do throws(KioskFileError) {
            _ = try KioskFile(text: text, path: Self.path)
            return []
        } catch {
            return error.findings.map { ("\($0.line):\($0.column)", $0.message, $0.hint) }
        }
    }

    // MARK: - Every key

    @Test("Every key takes its example, and becomes its option; paths begin at the folder of the file")
    func everyKey() throws {
        // What only counts with another key comes with it.
        let beside = [
            "http.tokenFile": "http.address", "http.names": "http.address", "http.proxyHeader": "http.address",
            "messages.cardTypes": "messages.programs",
        ]
        for key in KioskFile.Key.all {
            var values = [key.name: Optional(key.example)]
            if let other = beside[key.name] { values[other] = KioskFile.Key.all.first { $0.name == other }?.example }
            let file = try file(KioskFile.edit("", setting: values))
            let setting = try #require(file.settings[key.name], "\(key.name)")
            #expect(!setting.values.isEmpty && setting.line > 0 && setting.column > 0)
            let own = file.arguments().filter { $0 == key.option || $0.hasPrefix(key.option + "=") }
            #expect(own.count == setting.values.count, "\(key.name): \(own)")
            if key.form.isPath, key.content != .program {
                #expect(setting.values.allSatisfy { $0.hasPrefix("/") }, "\(key.name)")
            }
        }
        #expect(try file("passes: keys/passes.json").arguments() == ["--passes=/etc/clubkit/keys/passes.json"])
        let programs = try file("messages: { programs: { print: print-voucher, open: bin/open } }")
        #expect(programs.arguments() == ["--on=print=print-voucher", "--on=open=/etc/clubkit/bin/open"])
        #expect(Set(KioskFile.Key.all.map(\.name)).count == KioskFile.Key.all.count)
        #expect(Set(KioskFile.Key.all.map(\.option)).count == KioskFile.Key.all.count)
    }

    @Test("A value that no key takes is a fault at its place", arguments: KioskFile.Key.all.map(\.name))
    func wrongValue(name: String) throws {
        let key = try #require(KioskFile.Key.all.first { $0.name == name })
        let margin = key.group.isEmpty ? "" : "\(key.group):\n  "
        let line = key.group.isEmpty ? 1 : 2
        let column = (key.group.isEmpty ? 1 : 3) + key.leaf.count + 2
        for wrong in ["{ a: [b] }", "[]", "[[a]]", "", "~"] {
            let found = faults("\(margin)\(key.leaf): \(wrong)\n")
            #expect(found.first?.place.hasPrefix("\(line):") == true, "\(key.name): \(wrong): \(found)")
        }
        let found = faults("\(margin)\(key.leaf): { a: { b: c } }\n")
        #expect(found.first?.place.hasPrefix("\(line):") == true && found.first?.hint.isEmpty == false)
        if !key.form.isMapping { #expect(found.contains { $0.place == "\(line):\(column)" }, "\(found)") }
    }

    private static let wrong: [(text: String, place: String, message: String, hint: String)] = [
        ("databse: club.sqlite", "1:1", "there is no key \"databse\" here", "Did you mean 'database'?"),
        ("theme: club.yaml", "1:1", "there is no key \"theme\" here", "Did you mean 'screen.theme'?"),
        ("listen: /run/x", "1:1", "there is no key \"listen\" here", "Did you mean 'messages.socket'?"),
        ("http:\n  adress: 8080", "2:3", "there is no key \"adress\" here", "Did you mean 'address'?"),
        ("zzz: 1", "1:1", "there is no key \"zzz\" here", "The keys are: clubName, database"),
        ("database: a\nreaders: [x]\ndatabase: b", "1:1", "stands here, and again further down", "Keep one of them."),
        ("cooldownSeconds: soon", "1:18", "expected a number, found \"soon\"", "0 to 31622400"),
        ("cooldownSeconds: -1", "1:18", "expected a number", "0 to 31622400"),
        ("expiryWarningDays: 1.5", "1:20", "expected a whole number", "0 to 3660"),
        ("retentionDays: 0", "1:16", "expected a whole number", "1 to 36500"),
        ("maintenance: yes", "1:14", "expected one of true, false, found \"yes\"", "Write one of these words."),
        ("maintenance: ture", "1:14", "found \"ture\"", "Did you mean 'true'?"),
        ("readerLights: lights", "1:15", "expected one of reader, both, kiosk, found", "Write one of these words."),
        ("readerLights: boht", "1:15", "found \"boht\"", "Did you mean 'both'?"),
        ("readerLights: true", "1:15", "expected one of reader, both, kiosk", "Write one of these words."),
        ("readerlights: both", "1:1", "there is no key \"readerlights\" here", "Did you mean 'readerLights'?"),
        ("screen: { language: ed }", "1:21", "expected one of en, de, zh-Hans, ar", "Did you mean 'en'?"),
        ("screen: dark", "1:9", "expected keys with values, found \"dark\"", "The keys are: theme, language"),
        ("readers: replay:day.capture", "1:10", "expected readers", "pcsc:"),
        ("http: { address: 'http://club.example/' }", "1:18", "expected an address and a port", "127.0.0.1:8080"),
        ("http: { address: '[::1' }", "1:18", "expected an address and a port", "127.0.0.1:8080"),
        ("http: { address: '0.0.0.0:8080' }", "1:9", "is reached by other machines", "Add 'tokenFile'"),
        ("http: { names: [club.example] }", "1:9", "nothing is served to browsers", "Add 'address'"),
        ("http: { address: 8080, names: ['a:1'] }", "1:32", "expected names of hosts", "without a port"),
        ("messages: { cardTypes: [print] }", "1:13", "no program takes messages of the type \"print\"", "programs"),
        ("messages: { programs: { 'a=b': x } }", "1:25", "no type of messages", "type: /path"),
        ("clubName: [a, b]", "1:11", "expected a text, found a list", "one line"),
        ("clubName: \"a\\nb\"", "1:11", "expected a text", "one line"),
        ("- database", "1:1", "expected keys with values, found a list", "The keys are: clubName"),
        ("database: [", "2:1", "neither YAML nor JSON", "Check indentation"),
        ("\tdatabase: a", "1:1", "tab", "Indent with spaces."),
    ]

    @Test("What is wrong is named with its place and a hint", arguments: wrong.indices)
    func wrongTexts(index: Int) {
        let row = Self.wrong[index]
        let found = faults(row.text)
        let matches = found.contains {
            $0.place == row.place && $0.message.contains(row.message) && $0.hint.contains(row.hint)
        }
        #expect(matches, "\(row.text): \(found)")
    }

    @Test("All faults are told at once, in their order")
    func allFaults() {
        #expect(faults("a: 1\nmaintenance: x\nhttp:\n  b: 2\n").map(\.place) == ["1:1", "2:14", "4:3"])
    }

    @Test("An empty file, one of comments, and groups without keys say nothing")
    func empty() throws {
        for text in ["", "# a\n", "http:\nscreen:\n  # b\n", "{}", "\u{FEFF}"] {
            #expect(try file(text).settings.isEmpty, "\(text)")
        }
    }

    @Test("JSON is taken as YAML is")
    func json() throws {
        let file = try file(
            "{\"readers\": [\"pcsc:\", \"nfc:\"], \"screen\": {\"desk\": true}, \"cooldownSeconds\": 5}"
        )
        #expect(file.arguments() == ["--reader=pcsc:", "--reader=nfc:", "--cooldown=5", "--desk"])
    }

    @Test("Options that were given win, also those that take the place of others")
    func winning() throws {
        let file = try file("readers: 'pcsc:'\ncooldownSeconds: 5\nmessages: { socket: s }\nmaintenance: false\n")
        #expect(file.arguments() == ["--reader=pcsc:", "--cooldown=5", "--listen=/etc/clubkit/s"])
        #expect(file.arguments(besides: ["--reader", "nfc:", "--cooldown=1"]) == ["--listen=/etc/clubkit/s"])
        #expect(file.arguments(besides: ["--replay", "day"]) == ["--cooldown=5"])
    }

    // MARK: - Files

    @Test("A file that is not there, a folder and one that is no text are errors")
    func unreadable() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: KioskFileError.self) { try KioskFile(path: folder) }
        let absent = #expect(throws: KioskFileError.self) { try KioskFile(path: folder + "/absent") }
        #expect(absent?.unreadable == ENOENT)
        try Data([0xFF, 0x00]).write(to: URL(fileURLWithPath: folder + "/binary"))
        let binary = #expect(throws: KioskFileError.self) { try KioskFile(path: folder + "/binary") }
        #expect(binary?.unreadable == nil && binary?.findings.isEmpty == false)
    }

    @Test("The files that it names are looked at, each with its own places")
    func namedFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            chmod("\(folder)/\(name)", 0o600)
        }
        try write("scenarios.yaml", "scenarios:\n- id: a\n  every: x\n")
        try write("theme.yaml", "radius: round\n")
        try write("passes.json", "{\"tokens\": 1}")
        let text = """
            database: \(folder)
            passes: passes.json
            scenarios: scenarios.yaml
            screen:
              theme: theme.yaml
            messages:
              programs: { print: ./nowhere }
            """
        try write("kiosk.conf", text)
        let found = try KioskFile(path: folder + "/kiosk.conf").fileFindings()
        let places = found.map {
            "\(($0.file as NSString).lastPathComponent):\($0.finding.line):\($0.finding.column) \($0.finding.path)"
        }
        #expect(places.contains("kiosk.conf:1:1 database"))
        #expect(places.contains("passes.json:0:0 tokens"))
        #expect(places.contains { $0.hasPrefix("scenarios.yaml:3:") })
        #expect(places.contains("theme.yaml:1:9 radius"))
        #expect(places.contains("kiosk.conf:7:3 messages.programs"))
        #expect(found.filter(\.isUnreadable).count == 2)
        for name in ["scenarios.yaml", "theme.yaml", "passes.json"] { unlink("\(folder)/\(name)") }
        let absent = try KioskFile(path: folder + "/kiosk.conf").fileFindings()
        #expect(absent.count == 5 && absent.allSatisfy { $0.isUnreadable && $0.file.hasSuffix("/kiosk.conf") })
    }

    @Test("What the kiosk makes has a place in which it can be made")
    func madeFiles() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data().write(to: URL(fileURLWithPath: folder + "/plain"))
        func faults(_ place: String) throws -> [String] {
            let text = """
                messages: { socket: \(place)/s, folder: \(place) }
                backups: { folder: \(place) }
                http: { address: 8080, tokenFile: \(place)/token }
                """
            return try KioskFile(text: text, path: folder + "/kiosk.conf").fileFindings().map(\.finding.path)
        }
        #expect(try faults("new/folders").isEmpty)
        #expect(try faults("plain") == ["http.tokenFile", "messages.socket", "messages.folder", "backups.folder"])
        try FileManager.default.createDirectory(atPath: folder + "/token", withIntermediateDirectories: true)
        #expect(try faults(".").isEmpty)
    }

    @Test("What the service may not use by its unit, and ports of root's, are named")
    func service() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: root + "/usr/bin", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        func unit(_ properties: String) throws {
            let script =
                "#!/bin/sh\ncat <<END\nExecStart={ argv[]=/usr/bin/clubctl kiosk --config /etc/kiosk.conf ; }\n"
            try writeProgram(script + properties + "\nEND\n", to: root + "/usr/bin/systemctl")
        }
        let full = """
            database: /srv/club.sqlite
            passes: /home/a/passes.json
            scenarios: /srv/scenarios.yaml
            messages: { socket: /run/clubkit/s, folder: /tmp/messages, programs: { a: /root/a, b: b } }
            backups: { folder: /media/disk/club }
            http: { address: 80 }
            """
        var hints: [String] = []
        func faults(_ path: String = "/etc/kiosk.conf", user: UInt32 = 1000, of text: String? = nil) throws -> [String]
        {
            let machine = Machine(root: root, user: .init(name: "kiosk", id: user, groups: [user]))
            let service = MachineDiagnosis.serviceSandbox(reading: path, on: machine)
            let findings = try KioskFile(text: text ?? full, path: path).hindrances(on: machine, service: service)
            hints = findings.map(\.finding.hint)
            return findings.map(\.finding.path)
        }
        let strict =
            "ProtectSystem=strict\nStateDirectory=clubkit\nRuntimeDirectory=clubkit\nReadWritePaths=-/media/disk"
        try unit(strict + "\nProtectHome=yes\nPrivateTmp=yes")
        #expect(try faults() == ["database", "passes", "messages.folder", "messages.programs", "http.address"])
        try unit(strict)
        #expect(try faults() == ["database", "messages.folder", "http.address"])
        #expect(hints[0].contains("install -d -o kiosk -m 700 /srv'") && hints[0].hasSuffix("ReadWritePaths=-/srv"))
        try unit(strict + "\nProtectHome=read-only\nAmbientCapabilities=cap_net_bind_service")
        #expect(try faults() == ["database", "messages.folder", "http.address"])
        let ports = "AmbientCapabilities=cap_net_bind_service\nCapabilityBoundingSet=cap_net_bind_service"
        // The longer path counts, whatever says it.
        try unit(strict + " /srv\nReadOnlyPaths=-/media/disk/club\nInaccessiblePaths=-/home/a\n" + ports)
        #expect(try faults() == ["passes", "messages.folder", "backups.folder"])
        #expect(hints[2].hasSuffix("ReadWritePaths=-/media/disk/club"))
        try unit("ProtectSystem=full")
        #expect(try faults() == ["http.address"])
        #expect(try faults(user: 0).isEmpty)
        #expect(try faults(of: "clubName: A").contains("database"))
        #expect(try faults(of: "database: /etc/clubkit/club.sqlite") == ["database"])
        try unit(
            strict + "\nCacheDirectory=club\nProtectHome=tmpfs\nBindPaths=/opt/x:/srv /home/a:/home/a:rbind\n" + ports
        )
        #expect(try faults() == ["messages.folder", "messages.programs"])
        #expect(try faults(of: "database: /var/cache/club/a/club.sqlite").isEmpty)
        #expect(try faults(of: "database: /run/clubkit/club.sqlite") == ["database"])
        #expect(hints == ["Choose a place in /var/lib/clubkit."])
        // What systemd makes when the service starts need not be there.
        try unit(strict)
        let file = try KioskFile(
            text: "messages: { socket: /run/clubkit/s, folder: /run/other/messages }",
            path: "/etc/kiosk.conf"
        )
        try Data().write(to: URL(fileURLWithPath: root + "/run"))
        let machine = Machine(root: root, user: .init(name: "kiosk", id: 1000, groups: []))
        // One finding for each key.
        #expect(file.findings(on: machine).map(\.finding.path) == ["database", "messages.folder"])
        #expect(file.fileFindings(root: root).map(\.finding.path) == ["messages.socket", "messages.folder"])
        try unit(strict)
        #expect(try faults("/home/a/own.conf", user: 0).isEmpty)
    }

    @Test("A file of one letter in the present folder is one")
    func oneLetter() throws {
        #expect(try KioskFile(text: "passes: p", path: "k")["passes"] == "p")
    }

    // MARK: - Text

    @Test("The example can be used, and has every key")
    func example() throws {
        let text = KioskFile.example()
        #expect(try Set(file(text).settings.keys) == ["database", "http.address"])
        #expect(try Set(file(KioskFile.example(omitting: ["http.address"])).settings.keys) == ["database"])
        var all: [String: String?] = [:]
        for key in KioskFile.Key.all { all[key.name] = key.example }
        let full = KioskFile.edit(text, setting: all)
        #expect(try Set(file(full).settings.keys) == Set(KioskFile.Key.all.map(\.name)))
        // Each key took the place of its comment.
        #expect(full.split(separator: "\n").count == text.split(separator: "\n").count)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test("A setting is changed where it stands, and all else stays")
    func edit() throws {
        let text = """
            # Ours.
            clubName: Old   # since 1990
            readers:
              - pcsc:
              - nfc:
            http:
              # for the tablet
              address: 127.0.0.1:8080
              names: [a]
            passes: p.json
            """
        let changed = KioskFile.edit(
            text,
            setting: ["clubName": "New", "readers": "[nfc:]", "http.names": nil, "screen.language": "de"]
        )
        #expect(
            changed == """
                # Ours.
                clubName: New   # since 1990
                readers: [nfc:]
                http:
                  # for the tablet
                  address: 127.0.0.1:8080
                  #names: [a]
                passes: p.json
                screen:
                  language: de

                """
        )
        #expect(KioskFile.edit(changed, setting: ["http.names": "[b]"]).contains("\n  names: [b]\n"))
        #expect(
            KioskFile.edit(text, setting: ["readers": nil]).contains("\n#readers:\n#  - pcsc:\n#  - nfc:\nhttp:\n")
        )
    }

    @Test(
        "Any name survives being written and read",
        arguments: [
            "Boulder Hall", "null", "~", "#1 Club", "a: b", "\"Q\" \\ 'q'", "Клуб", "- x", "yes", "007", "{a}", "*a",
            "a #b",
        ]
    )
    func scalars(name: String) throws {
        let text = KioskFile.edit(KioskFile.example(), setting: ["clubName": KioskFile.scalar(name)])
        #expect(try file(text)["clubName"] == name)
        let suffix = name + "\r\n\t\u{1}\u{7F}"
        let group = "smartReader:\n  suffix: \(KioskFile.scalar(suffix))\n"
        #expect(try file(group)["smartReader.suffix"] == suffix)
    }

    // MARK: - The club that is meant

    @Test("The club: the variable, then one's own, then the service's, then where one's own would be")
    func place() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder + "/home", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (service, other) = (folder + "/kiosk.conf", folder + "/other.conf")
        func find(_ environment: [String: String]) throws -> String {
            let environment = environment.merging(["HOME": folder + "/home"]) { a, _ in a }
            let place = try ClubPlace.find(environment: environment, standard: service)
            guard case .file(let path) = place.database else { return "memory" }
            return path.replacingOccurrences(of: folder, with: "")
        }
        let own = "/home/.local/share/clubkit/club.sqlite"
        // The contract where there is no service.
        #expect(try find([:]) == own)
        #expect(try find(["XDG_DATA_HOME": folder + "/x"]) == "/x/clubkit/club.sqlite")
        try Data("database: service.sqlite\n".utf8).write(to: URL(fileURLWithPath: service))
        try Data("database: other.sqlite\n".utf8).write(to: URL(fileURLWithPath: other))
        #expect(try find([:]) == "/service.sqlite")
        #expect(try find(["XDG_DATA_HOME": folder + "/x"]) == "/x/clubkit/club.sqlite")
        #expect(try find(["XDG_DATA_HOME": "relative"]) == "/service.sqlite")
        #expect(try find(["CLUBKIT_CONFIG": other, "XDG_DATA_HOME": folder + "/x"]) == "/other.sqlite")
        #expect(try find(["CLUBKIT_CONFIG": ""]) == "/service.sqlite")
        #expect(throws: KioskFileError.self) { try find(["CLUBKIT_CONFIG": folder + "/absent"]) }
        try FileManager.default.createDirectory(
            atPath: folder + "/home/.local/share/clubkit",
            withIntermediateDirectories: true
        )
        try Data().write(to: URL(fileURLWithPath: folder + own))
        #expect(try find([:]) == own)
        #expect(try find(["CLUBKIT_CONFIG": other]) == "/other.sqlite")
        // The user of the service means its club, whatever was made in the home.
        try Data().write(to: URL(fileURLWithPath: folder + "/service.sqlite"))
        #expect(try find([:]) == "/service.sqlite")
        if geteuid() == 0 {
            chown(folder + "/service.sqlite", 4711, 4711)
            #expect(try find([:]) == own)
        }
        unlink(folder + own)
        try Data("# nothing\n".utf8).write(to: URL(fileURLWithPath: service))
        #expect(try find([:]) == own)
        try Data("databse: x\n".utf8).write(to: URL(fileURLWithPath: service))
        #expect(throws: KioskFileError.self) { try find([:]) }
    }
}
