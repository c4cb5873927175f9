import ClubKit
import Foundation
import ToolSupport

/// What the kiosk itself does at a message. Never at one of a card, which anybody can write.
extension MessageDesk {
    /// The types of messages, for help texts.
    static let ownTypes = """
        announcement ({"message":"…"}: shown, with --json on standard error), trigger ({"event":"purchase",\
        "userId":"…"}, or "group" in place of "userId", or neither for the kiosk; "eventId", a UUID, records it once: \
        an event for scenarios, which are looked at when a member comes the next time), block and unblock ({"userId":"…"} or {"card":"…"}, and "reason"), scenarios ({}: reads the file of --scenarios again), state ({"state":"maintenance"}, or serving or \
        idle: in maintenance taps are read and not counted)
        """

    /// Their names.
    static let ownNames: Set = ["announcement", "trigger", "block", "unblock", "scenarios", "state"]

    /// Everything but cards. What the application says itself has other ways.
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
        own("announcement") { desk, payload, _ in desk.announce(payload) }
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

    private func announce(_ payload: Announcement) -> ProcessingResult {
        let line = "\(FrontDesk.time(Date()))  message   \(payload.message.onOneLine)"
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

    /// What a state of the kiosk means, for people.
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
