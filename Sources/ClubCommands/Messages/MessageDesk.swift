import ClubKit
import Foundation
import KioskKit
import ReaderKit
import Synchronization
import ToolSupport

/// Takes messages for the kiosk, hands them to whoever processes them, and prints what became of each.
///
/// While readers are served they come from a socket, a directory, the inbox in the database, where other programs put
/// them too, and from cards where that is wanted. A replay takes those of its cards alone, one after the other between
/// two taps, at the time of the tap.
final class MessageDesk: Sendable {
    /// How often the inbox is looked at for what others put there.
    private static let pause = Duration.seconds(2)

    let club: Club
    let output: Output
    /// The file that the message `scenarios` reads again.
    let scenarios: ScenarioFile?
    let router: MessageRouter
    private let options: MessageOptions
    private let isReplay: Bool
    private let model: KioskModel
    private let inbox: KioskInbox
    private let clock = TapClock()

    private struct State {
        var socket: MessageSocket?
        var folder: MessageFolder?
        var tasks: [Task<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - options: with where the programs are.
    ///   - model: what a screen shows, announcements too.
    init(
        _ club: Club,
        _ output: Output,
        _ options: MessageOptions,
        scenarios: ScenarioFile?,
        isReplay: Bool,
        model: KioskModel
    ) {
        self.club = club
        self.output = output
        self.options = options
        self.scenarios = scenarios
        self.isReplay = isReplay
        self.model = model
        inbox = KioskInbox(club.inbox)
        var configuration = RouterConfiguration(
            timeout: .seconds(options.messageTimeout),
            application: club.configuration.application
        )
        if isReplay { configuration.clock = { [clock] in clock.now } }
        configuration.logger.logLevel = .warning
        router = MessageRouter(inbox: inbox, configuration: configuration)
        // Before the kiosk's own, so that a program can take a message in their place.
        for program in options.programs { register(program) }
        registerOwn()
    }

    /// Begins to take messages, also what is left of earlier runs; a replay takes those of its cards alone.
    func open() async throws {
        for program in options.programs where Self.ownNames.contains(program.type) {
            output.message(
                "Messages of the type '\(program.type)' go to \(program.name), and to the kiosk where that declines."
            )
        }
        guard !isReplay else { return }
        let told = Task { [results = router.results] in
            for await result in results { await tell(result) }
        }
        let looking = Task { await lookAtInbox() }
        state.withLock { $0.tasks = [told, looking] }
        if let path = options.listen {
            let socket = MessageSocket(path: path, router: router)
            try await socket.start()
            state.withLock { $0.socket = socket }
            output.message("Taking messages at \(path).")
        }
        if let path = options.folder {
            let folder = MessageFolder(path: path, router: router)
            try await folder.start()
            state.withLock { $0.folder = folder }
            output.message("Taking messages from the files in \(path).")
        }
    }

    /// Takes no more messages, waits for the one that is being processed, and leaves the others pending.
    func close() async {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        await ended.socket?.stop()
        await ended.folder?.stop()
        await inbox.close()
        // Not waited for: what has not begun never ends in this process.
        for task in ended.tasks { task.cancel() }
    }

    // MARK: Cards

    /// The messages on the card of a tap, as far as they are of types that cards may bring.
    func messages(on tap: ScanEvent) -> [Message] {
        guard !options.cardTypes.isEmpty else { return [] }
        return CardMessages(router).messages(in: tap).filter { message in
            message.type.map(options.cardTypes.contains) ?? false
        }
    }

    /// Has messages processed that were kept in the inbox together with a tap.
    func takeUp(_ messages: [Message]) async throws {
        guard let first = messages.first else { return }
        let ids = Set(messages.map(\.id))
        guard isReplay else {
            // Processing them may take long, and the next tap is not to wait. What the inbox contains is reported by
            // those who look at it now and then.
            try? await router.takeUp(ids)
            return
        }
        clock.set(first.receivedAt)
        let results: Result<[RoutingResult], ClubError>
        do throws(ClubError) {
            results = .success(try await router.resume(only: ids))
        } catch {
            results = .failure(error)
        }
        // Whatever came of it, the end is not to wait for them.
        for id in ids { await inbox.hasTold(id) }
        for result in try results.get() { try show(result) }
    }

    // MARK: The inbox

    /// Takes up what other programs put into the inbox, and what was left there, until the task is cancelled.
    private func lookAtInbox() async {
        var lastFault: ClubError?
        while !Task.isCancelled {
            if await inbox.isIdle {
                do throws(ClubError) {
                    try await router.resume()
                    lastFault = nil
                } catch {
                    // Once, and not each time.
                    if error.kind != .notOpen, error.kind != .cancelled, error != lastFault { tell(error) }
                    lastFault = error
                }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    // MARK: Reporting

    private func tell(_ result: RoutingResult) async {
        // Where it cannot be written, the next tap ends the kiosk.
        try? show(result)
        // Of a message that is still being processed, another of the same name may have come.
        if result.outcome != .duplicate { await inbox.hasTold(result.messageID) }
    }

    private func show(_ result: RoutingResult) throws {
        try output.result(ClubEvent.routed(result), text: "\(LocalTime.ofDay(result.at))  routed    \(result.words)")
    }

    private func tell(_ error: ClubError) {
        try? output.json(ClubEvent.error(error, at: Date()))
        output.message("\(error)")
    }

    // MARK: Programs

    private func register(_ program: MessageProgram) {
        var sources = MessageSource.Kind.allButCard
        if options.cardTypes.contains(program.type) { sources.insert(.card) }
        router.register(type: program.type, sources: sources, name: program.name) {
            (payload: FieldValue, context) in
            await Self.run(program, payload, context)
        }
    }

    private static func run(
        _ program: MessageProgram,
        _ payload: FieldValue,
        _ context: MessageContext
    ) async -> ProcessingResult {
        var environment = ["CLUBKIT_MESSAGE_ID": context.messageID]
        environment["CLUBKIT_MESSAGE_TYPE"] = context.type
        environment["CLUBKIT_MESSAGE_SOURCE"] = context.source.kind.rawValue
        environment["CLUBKIT_KIOSK_STATE"] = context.state.rawValue
        var json: [UInt8] = []
        JSONText.append(payload, to: &json)
        json.append(UInt8(ascii: "\n"))
        let run = ProgramRun(path: program.path, input: json, environment: environment)
        do {
            let (end, lastLine) = try await BlockingThread.run(name: "message") { try run.run($0) }
            switch end {
            case .exited(0): return .newData
            case .exited(3): return .noData
            case .exited(4): return .declined
            case .exited(let status): return .failed(lastLine ?? "\(program.name) ended with status \(status)")
            case .signalled(let signal): return .failed(lastLine ?? "\(program.name) was ended by signal \(signal)")
            }
        } catch {
            return .failed("\(error)")
        }
    }
}

/// The time of the latest tap of a replay.
private final class TapClock: Sendable {
    private let stored = Mutex(Date(timeIntervalSince1970: 0))

    var now: Date { stored.withLock(\.self) }

    func set(_ date: Date) {
        stored.withLock { $0 = date }
    }
}

extension RoutingResult {
    /// What became of the message, on one line for people.
    var words: String {
        var text = "\(type ?? "message") from \(source): \(outcome.name)"
        if let processor { text += " by \(processor)" }
        if let reason = outcome.reason { text += ": \(reason)" }
        return text.onOneLine
    }
}

/// What the kiosk itself does at a message. Never at one of a card, which anybody can write.
extension MessageDesk {
    static let ownTypes = """
        announcement ({"message":"..."}: shown, with --json on standard error), trigger ({"event":"purchase",\
        "userId":"..."}, or "group" in place of "userId", or neither for the kiosk; "eventId", a UUID, records it once: \
        an event for scenarios, which are looked at when a member comes the next time), block and unblock ({"userId":"..."} or {"card":"..."}, and "reason"), scenarios ({}: reads the file of --scenarios again), state ({"state":"maintenance"}, or serving or \
        idle: in maintenance taps are read and not counted)
        """

    static let ownNames: Set = ["announcement", "trigger", "block", "unblock", "scenarios", "state"]

    /// Everything but cards. The application's own messages go other ways.
    private static let sources: Set<MessageSource.Kind> = [.socket, .directory, .hub, .command]

    private struct Announcement: Decodable, Sendable {
        var message: String
    }

    private struct Trigger: Decodable, Sendable {
        var event: String
        var userId: String?
        var group: String?
        var eventId: UUID?
    }

    private struct Blocking: Decodable, Sendable {
        var userId: String?
        var card: String?
        var reason: String?
    }

    private struct StateChange: Decodable, Sendable {
        var state: KioskState
    }

    func registerOwn() {
        own("announcement") { desk, payload, _ in await desk.announce(payload) }
        own("trigger") { desk, payload, context in try await desk.trigger(payload, context) }
        own("block") { desk, payload, context in try await desk.block(payload, true, context) }
        own("unblock") { desk, payload, context in try await desk.block(payload, false, context) }
        own("state") { (desk, change: StateChange, _) in desk.change(to: change.state) }
        own("scenarios") { (desk, _: FieldValue, _) in desk.reload() }
    }

    private func own<Payload: Decodable & Sendable>(
        _ type: String,
        _ process: @escaping @Sendable (MessageDesk, Payload, MessageContext) async throws -> ProcessingResult
    ) {
        router.register(type: type, sources: Self.sources) { [weak self] (payload: Payload, context) in
            guard let self else { return .declined }
            return try await process(self, payload, context)
        }
    }

    private func announce(_ payload: Announcement) async -> ProcessingResult {
        await model.announce(payload.message)
        let line = "\(LocalTime.ofDay(Date()))  message   \(payload.message.onOneLine)"
        if output.isJSON {
            output.message(line)
            return .newData
        }
        do {
            try output.text(line)
            return .newData
        } catch {
            return .failed("the message could not be shown")
        }
    }

    private func trigger(_ payload: Trigger, _ context: MessageContext) async throws -> ProcessingResult {
        let subject: ScenarioSubject
        switch (payload.userId, payload.group) {
        case (let userId?, nil): subject = .member(userId)
        case (nil, let group?): subject = .group(group)
        case (nil, nil): subject = .kiosk
        case (_?, _?): return .failed("the payload names a member and a group; one of them is meant")
        }
        let isNew = try await club.trigger(
            payload.event,
            for: subject,
            at: context.receivedAt,
            // A message that comes again after a crash is the same event.
            id: payload.eventId ?? UUID(uuidString: context.messageID) ?? UUID(derivedFrom: context.messageID)
        )
        return isNew ? .newData : .noData
    }

    private func block(
        _ payload: Blocking,
        _ isBlocked: Bool,
        _ context: MessageContext
    ) async throws -> ProcessingResult {
        let key: String
        switch (payload.userId, payload.card) {
        case (let userId?, nil): key = userId
        case (nil, let card?): key = card
        default: return .failed("the payload has to name either a member, as userId, or a card")
        }
        guard let details = try await club.details(of: key) else { return .failed("there is no such member or card") }
        let former = payload.card == nil ? details.blocked : details.cards.first { $0.id == key }?.blocked
        let action = ActionContext(actor: "message (\(context.source.kind.rawValue))", reason: payload.reason)
        if isBlocked {
            if let former, payload.reason == nil || payload.reason == former { return .noData }
            _ =
                payload.card == nil
                ? try await club.block(key, by: action) : try await club.blockCard(key, by: action)
        } else {
            if former == nil { return .noData }
            _ =
                payload.card == nil
                ? try await club.unblock(key, by: action) : try await club.unblockCard(key, by: action)
        }
        return .newData
    }

    static func words(_ state: KioskState) -> String {
        switch state {
        case .serving: "The kiosk serves: taps are counted."
        case .idle: "The kiosk is idle until the next tap."
        case .maintenance: "The kiosk is in maintenance: cards are read and shown, and no tap is counted."
        }
    }

    private func change(to state: KioskState) -> ProcessingResult {
        guard router.state != state else { return .noData }
        router.state = state
        output.message(Self.words(state))
        return .newData
    }

    private func reload() -> ProcessingResult {
        guard let scenarios else { return .failed("the kiosk was started without --scenarios") }
        do {
            let configuration = try scenarios.load(output)
            club.setScenarios(configuration.scenarios, delivery: .application)
            let count = Count.text(configuration.scenarios.count, "scenario")
            output.message("Read \(scenarios.path) again: \(count).")
            return .newData
        } catch {
            output.message("\(error)\nThe scenarios that were there before stay in force.")
            return .failed((error as? ScenarioFileError)?.findings ?? "\(error)")
        }
    }
}
