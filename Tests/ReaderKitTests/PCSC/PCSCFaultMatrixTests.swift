import CardCore
import CardPasses
import CardTags
import Foundation
import Synchronization
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// Every code at every call, once and for ever, with a watch and a conversation under way: what each case ends in is
/// told beforehand by a rule, the next card is read, no edge is lost and nothing is left behind.
@Suite(.timeLimit(.minutes(10))) struct PCSCFaultMatrixTests {
    private static let codes = PCSCCode.all.filter { !$0.isSuccess } + [PCSCCode(0x8010_0070), PCSCCode(1)]

    /// How often the call fails.
    enum Times: String, CaseIterable, Sendable {
        case once
        case forEver = "for ever"
    }

    @Test(arguments: FakePCSC.Function.allCases, Times.allCases)
    func everyCode(in function: FakePCSC.Function, _ times: Times) async throws {
        let cells = try await withThrowingTaskGroup(of: (PCSCCode, String).self) { group in
            var rest = Self.codes[...]
            var cells: [PCSCCode: String] = [:]
            for code in rest.prefix(16) { group.addTask { (code, try await Self.run(function, code, times)) } }
            rest = rest.dropFirst(16)
            while let (code, ending) = try await group.next() {
                cells[code] = ending
                guard let next = rest.popFirst() else { continue }
                group.addTask { (next, try await Self.run(function, next, times)) }
            }
            return cells
        }
        #expect(cells.count == Self.codes.count)
        let lines = Self.codes.compactMap { code in cells[code].map { (code, $0) } }
        TestReport.add(
            section: "fault-matrix",
            lines: lines.map { "\(function.call) fails \(times.rawValue) with \($0.0) | \($0.1)" }
        )
        let endings = Dictionary(grouping: lines, by: \.1).map { "\($0.value.count) x \($0.key)" }.sorted()
        TestReport.add(
            section: "resilience",
            line: "\(function.call) fails \(times.rawValue), \(lines.count) codes | \(endings.joined(separator: "; "))"
        )
    }

    // MARK: - One case

    private static var configuration: PCSCConfiguration {
        PCSCConfiguration(
            callDeadline: .seconds(300),
            firstBackOff: .milliseconds(1),
            lastBackOff: .milliseconds(4),
            removalGrace: .milliseconds(1),
            sharingRetries: 1
        )
    }

    private static func card(_ id: UInt8) -> FakePCSC.Card {
        FakePCSC.Card { $0.first == 0xFF ? .bytes([id, 0x90, 0x00]) : .bytes([0x90, 0x00]) }
    }

    /// - Returns: what the case ended in.
    private static func run(_ function: FakePCSC.Function, _ code: PCSCCode, _ times: Times) async throws -> String {
        let what = "\(function.call) fails \(times.rawValue) with \(code)"
        let fake = FakePCSC(readers: ["A"])
        let abandoned = AbandonedThreads()
        var ending = ""
        do {
            let kiosk = Kiosk(fake.backend(configuration, abandoned: abandoned))
            defer { kiosk.stop() }
            try await until("\(what): watching") { kiosk.texts == ["added A"] && fake.waiting == 1 }
            let before = fake.count(function)
            fake.fail(function, with: code, forEver: times == .forEver)
            if function.isOfTheService {
                // These are called again only when the service has gone.
                fake.kill()
                fake.restart()
            }
            fake.insert(card(1), into: "A")
            if function == .cancel {
                try await until("\(what): at rest") { kiosk.endings == ["read 1"] && fake.waiting == 1 }
                kiosk.stop()
                if times == .forEver {
                    try await until("\(what): tried") { fake.count(.cancel) > before }
                    fake.heal()
                }
                try await until("\(what): ended") { kiosk.hasFinished && fake.openContexts == 0 }
                ending = "the watch ends all the same"
            } else {
                try await until("\(what): an end") { kiosk.endings.first != nil || kiosk.texts.contains("lost") }
                try await until("\(what): hit") { fake.count(function) > before }
                if times == .once || function == .release {
                    // A card that was there when the service was lost is announced again, and read then.
                    try await until("\(what): an end") { kiosk.endings.first != nil }
                }
                ending = kiosk.endings.first ?? "nothing is read meanwhile"
                #expect(allowed(function, code, times).contains(ending), "\(what): \(ending)")
                let isLost = kiosk.texts.contains("lost") && !function.isOfTheService
                if isLost { ending += ", service reported lost" }
                fake.heal()
                fake.remove(from: "A")
                fake.insert(card(2), into: "A")
                try await until("\(what): the next card; \(kiosk.texts) \(kiosk.endings)") {
                    kiosk.endings.last == "read 2"
                }
                if isLost { ending += " and back" }
                ending += ", next card read"
                try await until("\(what): all edges told") { kiosk.edgeFault(fake) == nil }
                #expect(kiosk.texts.count { $0 == "lost" } == kiosk.texts.count { $0 == "back" }, "\(what)")
            }
        }
        // A context that could not be released is left to the library; but each was tried.
        if function == .release {
            try await until("\(what): all contexts let go") {
                fake.count(.release) >= fake.locked { fake.contextsMade }
            }
            fake.locked {
                fake.contexts = [:]; fake.handles = [:]
            }
        }
        await fake.expectClean(what)
        #expect(abandoned.count == 0, "\(what)")
        return ending.replacingOccurrences(of: "read 1", with: "the card is read")
    }

    // MARK: - The rule

    private static func allowed(_ function: FakePCSC.Function, _ code: PCSCCode, _ times: Times) -> [String] {
        let isOnce = times == .once
        let kind = code.error(attempting: "").kind
        let service = code.serviceError(attempting: "").kind
        let (read, ends) = ("read 1", "ends with \(kind)")
        switch function {
        case .transmit, .reconnect:
            return [ends]
        case .control:
            return ["ends with \(code.controlError(attempting: "").kind)"]
        case .attribute, .end, .disconnect, .release, .cancel:
            // The conversation itself went well.
            return [read]
        case .connect:
            // Tried again when pcscd was restarted or the reader is in use.
            if isOnce { return kind.isOfService || service.isOfService || code == .sharingViolation ? [read] : [ends] }
            return code.meansServiceLost ? ["ends with \(service)"] : [ends]
        case .begin:
            return isOnce && (kind.isOfService || code == .resetCard) ? [read] : [ends]
        case .list:
            return isOnce ? [read] : ["nothing is read meanwhile"]
        case .establish:
            // Whoever comes first gets it, the watch or the conversation.
            return isOnce ? [read, ends] : [ends, "nothing is read meanwhile"]
        case .wait:
            let look = code == .unknownReader ? "ends with readerUnavailable" : "ends with \(service)"
            // The watch gets it, perhaps while the conversation begins: its presentation is over then, and is announced
            // again.
            return [isOnce ? read : "nothing is read meanwhile", look, "ends with cardRemoved"]
        }
    }
}

/// A program as simple as can be: it watches, and talks to each card once.
private final class Kiosk: Sendable {
    private let seen = Mutex<[ReaderEvent]>([])
    private let results = Mutex<[String]>([])
    private let finished = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ backend: PCSCBackend) {
        let stream = backend.events()
        task.withLock {
            $0 = Task { [weak self] in
                for await event in stream {
                    self?.seen.withLock { $0.append(event) }
                    guard case .cardInserted(let card) = event else { continue }
                    let result = await Self.converse(backend, card)
                    self?.results.withLock { $0.append(result) }
                }
                self?.finished.withLock { $0 = true }
            }
        }
    }

    var texts: [String] { seen.withLock { $0.map(Watcher.text) } }
    /// What each conversation ended in, in their order.
    var endings: [String] { results.withLock { $0 } }
    var hasFinished: Bool { finished.withLock { $0 } }

    func stop() { task.withLock { $0?.cancel() } }

    private static func converse(_ backend: PCSCBackend, _ card: CardPresence) async -> String {
        do {
            let id = try await backend.withCard(card) { channel in
                let id = try channel.transmit([0xFF, 0xCA, 0x00, 0x00, 0x00]).first ?? 0
                _ = try channel.control(1, [])
                _ = channel.capabilities
                try channel.reset()
                _ = try channel.transmit([0x00, 0xB0, 0x00, 0x00])
                return id
            }
            return "read \(id)"
        } catch let error as ReaderError {
            guard !error.hint.isEmpty && !error.attempt.isEmpty else { return "ends with an error without words" }
            return "ends with \(error.kind)"
        } catch {
            return "ends with \(error)"
        }
    }

    /// What is wrong with the edges that were told, or `nil`.
    func edgeFault(_ fake: FakePCSC) -> String? {
        var present: Int?
        var edges = 0
        var wasLost = false
        for event in seen.withLock({ $0 }) {
            switch event {
            case .cardInserted(let card):
                guard present == nil else { return "two insertions" }
                present = card.number
                edges += 1
            case .cardRemoved(let card):
                guard present == card.number else { return "removal of another card" }
                present = nil
                edges += 1
            case .cardMissed: edges += 2
            case .serviceLost: wasLost = true
            default: break
            }
        }
        let counter = fake.locked { fake.readers[0].counter }
        if present != counter { return "the card that is there was not told" }
        // Nobody can tell edges of while the service was away; otherwise each is told.
        return wasLost || edges == counter ? nil : "\(edges) edges of \(counter)"
    }
}

extension ReaderError.Kind {
    /// Whether a conversation is begun once more, with a new context.
    fileprivate var isOfService: Bool { self == .serviceStopped || self == .serviceUnavailable }
}

extension FakePCSC.Function {
    /// Whether only the loss of the service makes it be called again.
    fileprivate var isOfTheService: Bool { self == .establish || self == .list || self == .release }

    /// The C function.
    fileprivate var call: String {
        switch self {
        case .establish: "SCardEstablishContext"
        case .release: "SCardReleaseContext"
        case .list: "SCardListReaders"
        case .wait: "SCardGetStatusChange"
        case .cancel: "SCardCancel"
        case .connect: "SCardConnect"
        case .reconnect: "SCardReconnect"
        case .disconnect: "SCardDisconnect"
        case .begin: "SCardBeginTransaction"
        case .end: "SCardEndTransaction"
        case .transmit: "SCardTransmit"
        case .control: "SCardControl"
        case .attribute: "SCardGetAttrib"
        }
    }
}
#endif
