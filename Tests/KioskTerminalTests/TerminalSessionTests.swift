import Foundation
import TestSupport
import Testing

@testable import KioskTerminal

/// A process has one session, so one test runs at a time.
@Suite("A session in a terminal", .serialized, .timeLimit(.minutes(10)))
struct TerminalSessionTests {
    private static let leaving = "^[0m^[?7h^[?25h^[?1049l"

    private func frame(_ text: String, columns: Int = 40, rows: Int = 8) -> TerminalCanvas {
        var canvas = TerminalCanvas(size: .init(columns: columns, rows: rows))
        canvas.draw(text, column: 0, row: 0, style: .init())
        return canvas
    }

    private func put(_ text: String, on descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    @Test("draws, takes standard error, and restores all of it")
    func whole() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        let messages = dup(terminal.slave)
        defer { close(messages) }
        let session = try terminal.session(messagesTo: messages)
        #expect(terminal.settings != before)
        #expect(session.size == .init(columns: 40, rows: 8))
        session.draw(frame("Hello"))
        try await until("the frame") { terminal.text.contains("Hello") }
        #expect(terminal.text.hasPrefix("^[?1049h^[?7l^[?25l^[0m^[2J"))
        session.draw(frame("Hallo"))
        try await until("the change") { terminal.text.hasSuffix("^[1;2H^[0ma") }

        for number in 1...60 { put("message \(number)\n", on: messages) }
        put("a last one", on: messages)
        #expect(!terminal.text.contains("message"))
        session.close()
        session.close()
        #expect(terminal.settings == before)
        let end = terminal.text.split(separator: Self.leaving, omittingEmptySubsequences: false)
        #expect(end.count == 2)
        // The terminal is as before, so line feeds become two characters.
        let repeated = (12...60).map { "message \($0)\r\n" }.joined() + "a last one"
        #expect(end.last.map(String.init) == repeated)
        put("outside\n", on: messages)
        #expect(terminal.text.hasSuffix("a last oneoutside\r\n"))
    }

    @Test("standard error that is no terminal gets all at once, and once")
    func passingOn() async throws {
        let terminal = try PseudoTerminal()
        let log = Pipe()
        let messages = log.fileHandleForWriting.fileDescriptor
        let session = try terminal.session(messagesTo: messages)
        put("one\ntwo\n" + String(repeating: "x", count: 5000) + "\n", on: messages)
        session.close()
        try log.fileHandleForWriting.close()
        let text = String(decoding: try log.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(text == "one\ntwo\n" + String(repeating: "x", count: 5000) + "\n")
    }

    @Test("standard error that nobody reads holds up neither keys nor the end, and nothing of it is lost")
    func unreadMessages() async throws {
        let terminal = try PseudoTerminal()
        let log = Pipe()
        let messages = log.fileHandleForWriting.fileDescriptor
        let session = try terminal.session(messagesTo: messages)
        let seen = Shared<[TerminalSession.Event]>([])
        let reading = Task {
            for await event in session.events { seen.withLock { $0.append(event) } }
        }
        // More than the pipe of the test takes, and less than it and the one of the session.
        let lines = (0..<1600).map { "message \($0) " + String(repeating: ".", count: 50) + "\n" }.joined()
        put(lines, on: messages)
        session.draw(frame("Hello"))
        terminal.type("k")
        try await until("the key") { seen.withLock { $0.contains(.key(.character("k"))) } }
        terminal.type("\u{0C}")
        try await until("the second frame") { terminal.text.split(separator: "^[2J").count == 3 }
        let (handle, all) = (log.fileHandleForReading, Shared<Data?>(nil))
        // A thread of its own: closing blocks one of the few that tasks have.
        Thread.detachNewThread {
            let data = (try? handle.readToEnd()) ?? Data()
            all.withLock { $0 = data }
        }
        session.close()
        try log.fileHandleForWriting.close()
        try await until("the end") { all.withLock { $0 != nil } }
        #expect(all.withLock { String(decoding: $0 ?? Data(), as: UTF8.self) } == lines)
        await reading.value

        // Now nobody reads it until the end.
        let unread = Pipe()
        let other = try terminal.session(messagesTo: unread.fileHandleForWriting.fileDescriptor)
        put(lines, on: unread.fileHandleForWriting.fileDescriptor)
        #expect(ContinuousClock().measure { other.close() } < .seconds(10))
        // The thread that was given up goes on to write: without a reader that would end the process.
        _ = dup(unread.fileHandleForReading.fileDescriptor)
        let text = String(decoding: unread.fileHandleForReading.availableData, as: UTF8.self)
        #expect(!text.isEmpty && lines.hasPrefix(text))
    }

    @Test("control-backslash is a key like others, and what was stopped draws anew when it goes on")
    func goingOn() async throws {
        let terminal = try PseudoTerminal()
        let session = try terminal.session()
        let own = terminal.settings
        session.draw(frame("Hello"))
        try await until("the frame") { terminal.text.contains("Hello") }
        terminal.type("\u{1C}")
        // What a shell does with the terminal of a program that was stopped.
        var settings = termios()
        tcgetattr(terminal.slave, &settings)
        settings.c_lflag |= tcflag_t(ICANON | ECHO)
        tcsetattr(terminal.slave, TCSANOW, &settings)
        #expect(terminal.settings != own)
        kill(getpid(), SIGCONT)
        try await until("the screen again") { terminal.text.split(separator: "^[?1049h").count == 2 }
        try await until("the second frame") { terminal.text.split(separator: "^[2J").count == 3 }
        #expect(terminal.settings == own)
        session.close()
    }

    @Test("keys and sizes come as events, control-L draws anew, and closing ends them")
    func events() async throws {
        let terminal = try PseudoTerminal()
        let session = try terminal.session()
        let seen = Shared<[TerminalSession.Event]>([])
        let reading = Task {
            for await event in session.events { seen.withLock { $0.append(event) } }
        }
        session.draw(frame("Hello"))
        try await until("the frame") { terminal.text.contains("Hello") }
        terminal.type("aé漢\u{1B}[A\u{1B}OB\r")
        try await until("the keys") { seen.withLock { $0.count } == 6 }
        terminal.type("\u{1B}")
        try await until("the escape") { seen.withLock { $0.last } == .key(.escape) }
        terminal.type("\u{0C}")
        try await until("the second frame") { terminal.text.split(separator: "^[2J").count == 3 }
        terminal.resize(columns: 50, rows: 9)
        try await until("the size") { seen.withLock { $0.last } == .resized(.init(columns: 50, rows: 9)) }
        session.draw(frame("Wider", columns: 50, rows: 9))
        try await until("the third frame") { terminal.text.contains("Wider") }
        #expect(terminal.text.split(separator: "^[2J").count == 4)
        // A frame for the former, larger size.
        terminal.resize(columns: 30, rows: 5)
        try await until("the size") { session.size.columns == 30 }
        session.draw(frame("Too wide", columns: 50, rows: 9))
        session.draw(frame("Narrow", columns: 30, rows: 5))
        try await until("the fourth frame") { terminal.text.contains("Narrow") }
        #expect(!terminal.text.contains("Too wide"))
        session.close()
        await reading.value
        let keys: [TerminalKey] = [
            .character("a"), .character("é"), .character("漢"), .up, .down, .enter, .escape, .redraw,
        ]
        #expect(seen.withLock { $0.prefix(8) } == keys.map { .key($0) }[...])
    }

    @Test("a terminal that takes nothing holds up nobody, and the newest frame wins")
    func hanging() async throws {
        let terminal = try PseudoTerminal(columns: 200, rows: 60)
        let before = terminal.settings
        let session = try terminal.session()
        let clock = ContinuousClock()
        // Far more than a terminal buffers.
        let drawing = clock.measure {
            for number in 0..<200 {
                var canvas = TerminalCanvas(size: session.size)
                for row in 0..<60 {
                    canvas.draw(String(repeating: "\(number % 10)", count: 200), column: 0, row: row, style: .init())
                }
                session.draw(canvas)
            }
            session.draw(frame("the newest", columns: 200, rows: 60))
        }
        #expect(drawing < .seconds(20))
        try await until("the newest frame") { terminal.text.contains("the newest") }
        let count = terminal.text.count
        #expect(count < 200 * 60 * 40)
        var number = 0
        try await until("a terminal that takes no more") {
            number += 1
            session.draw(frame(String(repeating: "\(number % 10)", count: 200), columns: 200, rows: 60))
            return !terminal.isWritable
        }
        let closing = clock.measure { session.close() }
        #expect(closing < .seconds(10))
        #expect(terminal.settings == before)
        #expect(terminal.text.hasSuffix(Self.leaving))
    }

    @Test("what cannot be opened")
    func errors() async throws {
        let pipe = Pipe()
        let terminal = try PseudoTerminal()
        #expect(throws: TerminalError.self) {
            try TerminalSession(
                on: .init(
                    input: pipe.fileHandleForReading.fileDescriptor,
                    output: terminal.slave,
                    messages: terminal.slave
                ),
                environment: [:]
            )
        }
        let before = ProcessFigures.descriptors
        for _ in 0..<3 {
            let messages = dup(terminal.slave)
            let session = try terminal.session(messagesTo: messages)
            let error = #expect(throws: TerminalError.self) { try terminal.session() }
            #expect(error?.kind == .alreadyOpen)
            #expect(
                error?.description
                    == "could not show a screen: this process shows a screen already. Close the other session first."
            )
            session.close()
            close(messages)
        }
        // One that the refused sessions were given, each time.
        try await until("the descriptors") { ProcessFigures.descriptors <= before + 3 }
    }

    @Test("a process that dies leaves the terminal as it was", arguments: [SIGSEGV, SIGABRT, SIGTRAP, SIGQUIT])
    func dying(_ number: Int32) async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        async let typing: Void = answer(terminal)
        await #expect(processExitsWith: .signal(number)) { [path = terminal.path as String, number] in
            try await openSession(on: path)
            // Threads of the pool let few signals in, so others get it from outside.
            if number == SIGABRT { abort() }
            kill(getpid(), number)
            try await Task.sleep(for: .seconds(60))
        }
        try await typing
        check(terminal, before)
    }

    @Test("a process dies though a handler of before lets it live", arguments: [SIGSEGV, SIGQUIT])
    func surviving(_ number: Int32) async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        async let typing: Void = answer(terminal)
        await #expect(processExitsWith: .signal(number)) { [path = terminal.path as String, number] in
            var action = sigaction()
            action.sa_flags = SA_SIGINFO
            action.__sigaction_handler.sa_sigaction = { _, _, _ in _ = write(STDERR_FILENO, "seen\n", 5) }
            sigaction(number, &action, nil)
            try await openSession(on: path)
            kill(getpid(), number)
            try await Task.sleep(for: .seconds(60))
        }
        try await typing
        check(terminal, before)
    }

    @Test("a process dies though nobody reads its terminal and its messages")
    func unreadDeath() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        async let typing: Void = answer(terminal)
        let clock = ContinuousClock.now
        await #expect(processExitsWith: .signal(SIGABRT)) { [path = terminal.path as String] in
            let log = Pipe()
            let messages = log.fileHandleForWriting.fileDescriptor
            try await openSession(on: path, messagesTo: messages)
            for _ in 0..<100 {
                let line = String(repeating: "x", count: 1000)
                _ = write(messages, line, 1000)
            }
            abort()
        }
        try await typing
        #expect(ContinuousClock.now - clock < .seconds(60))
        #expect(terminal.settings == before)
    }

    @Test("a program that exits leaves the terminal as it was")
    func exiting() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.settings
        async let typing: Void = answer(terminal)
        await #expect(processExitsWith: .exitCode(7)) { [path = terminal.path as String] in
            try await openSession(on: path)
            exit(7)
        }
        try await typing
        check(terminal, before)
    }

    private func answer(_ terminal: PseudoTerminal) async throws {
        try await until("the frame") { terminal.text.contains("Hello") }
        terminal.type("x")
    }

    private func check(_ terminal: PseudoTerminal, _ before: [UInt8]) {
        #expect(terminal.settings == before)
        let text = terminal.text
        #expect(text.hasPrefix("^[?1049h"))
        #expect(text.hasSuffix(Self.leaving + "the last words\r\n"))
    }
}

/// Opens a session on the terminal, in a process of its own, waits for a key, and writes to its standard error.
private func openSession(on path: String, messagesTo descriptor: Int32? = nil) async throws {
    let terminal = open(path, O_RDWR | O_NOCTTY)
    let messages = descriptor ?? dup(terminal)
    let session = try TerminalSession(
        on: .init(input: terminal, output: terminal, messages: messages),
        environment: ["TERM": "xterm"]
    )
    var canvas = TerminalCanvas(size: session.size)
    canvas.draw("Hello", column: 0, row: 0, style: .init())
    session.draw(canvas)
    for await _ in session.events { break }
    _ = write(messages, "the last words\n", 15)
}

@Suite("Keys")
struct TerminalKeyTests {
    @Test("from bytes")
    func keys() {
        let cases: [([String], [TerminalKey])] = [
            (["ab"], [.character("a"), .character("b")]), (["\u{1B}[", "A"], [.up]),
            (["\u{1B}OC\u{1B}[D"], [.right, .left]),
            (["\u{1B}[1;5B"], [.down]), (["\u{1B}[15~x"], [.character("x")]), (["\u{1B}xy"], [.character("y")]),
            (["\u{1B}"], [.escape]), (["\u{1B}\u{1B}[A"], [.escape, .up]), (["\u{1B}[\u{1B}[A"], [.up]),
            (["\r\n\u{0C}\u{7F}\u{1}"], [.enter, .enter, .redraw]), (["👍"], [.character("👍")]),
            (["\u{1B}[" + String(repeating: "1", count: 99)], (0..<66).map { _ in .character("1") }),
        ]
        let found = differences(cases) { pieces in
            var parser = TerminalKeyParser()
            let keys = pieces.flatMap { parser.keys(in: $0.utf8) }
            return keys + parser.timeOut()
        }
        #expect(found == [])
        var parser = TerminalKeyParser()
        // A character in two pieces, and bytes that are none.
        #expect(parser.keys(in: [0xC3]) == [])
        #expect(parser.keys(in: [0xA9, 0xFF, 0x80, 0xC3, 0x41]) == [.character("é"), .character("A")])
    }
}
