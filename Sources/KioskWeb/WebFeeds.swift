#if NETWORK
import ClubMessages
import Foundation
import Synchronization

/// An event of a stream, as server-sent events are written.
struct WebFrame: Sendable {
    /// Its place among the numbered events; `nil` if it has none.
    var number: Int?
    var text: String

    init(_ event: String? = nil, id: String? = nil, number: Int? = nil, data: String) {
        self.number = number
        text = ""
        if let id { text += "id: \(id)\n" }
        if let event { text += "event: \(event)\n" }
        // JSON has no line breaks of this format, of which a carriage return is one. Those that Unicode has besides may
        // stand in its strings.
        let breaks: Set<Character> = ["\n", "\r", "\r\n"]
        for line in data.split(omittingEmptySubsequences: false, whereSeparator: breaks.contains) {
            text += "data: \(line)\n"
        }
        text += "\n"
    }

    /// Lets a client notice that the server is there.
    static let ping = WebFrame("ping", data: "{}")
}

/// A stream of states of which only the newest matters: who comes late gets it at once, who is slow misses those in
/// between.
final class StateFeed: Sendable {
    private let listeners = EventBroadcaster<WebFrame>()
    private let latest = Mutex<WebFrame?>(nil)
    private let event: String

    init(event: String) { self.event = event }

    func publish(_ data: String) {
        let frame = WebFrame(event, data: data)
        latest.withLock {
            $0 = frame
            listeners.yield(frame)
        }
    }

    /// Sends a sign of life, and the newest state with it, since a slow client keeps one of both only.
    func ping() {
        latest.withLock {
            guard var frame = $0 else { return }
            frame.text = WebFrame.ping.text + frame.text
            listeners.yield(frame)
        }
    }

    func stream() -> (first: [WebFrame], rest: AsyncStream<WebFrame>) {
        latest.withLock {
            let rest = listeners.stream(bufferingPolicy: .bufferingNewest(1))
            return ([.ping] + ($0.map { [$0] } ?? []), rest)
        }
    }

    func finish() { listeners.finish() }
}

/// A stream of events each of which matters: numbered, with the latest kept for who comes back.
final class EventFeed: Sendable {
    /// The number of events that are kept, and that wait for a slow client.
    static let kept = 1000, waiting = 256

    private struct State {
        var next = 1
        var latest: [WebFrame] = []
    }

    /// Tells the events of this run of the server from those of another.
    private let run: String
    private let state = Mutex(State())
    private let listeners = EventBroadcaster<WebFrame>()

    init(run: String = String(UInt32.random(in: .min ... .max), radix: 36)) { self.run = run }

    /// Adds an event, a line of JSON.
    func publish(_ data: String) {
        state.withLock { state in
            let frame = WebFrame(id: "\(run)-\(state.next)", number: state.next, data: data)
            state.next += 1
            if state.latest.count == Self.kept { state.latest.removeFirst() }
            state.latest.append(frame)
            listeners.yield(frame)
        }
    }

    func ping() { listeners.yield(.ping) }

    func finish() { listeners.finish() }

    /// Events from now on, after those that a client has missed: all after its last one, or a snapshot if that is
    /// not known any more.
    ///
    /// - Parameters:
    ///   - last: the identifier of the last event that the client got.
    ///   - snapshot: what the kiosk is like now, as JSON.
    func stream(
        after last: String?,
        snapshot: () -> String
    ) -> (first: [WebFrame], rest: AsyncStream<WebFrame>) {
        state.withLock { state in
            let rest = listeners.stream(bufferingPolicy: .bufferingNewest(Self.waiting))
            let newest = "\(run)-\(state.next - 1)"
            let parts = last?.split(separator: "-") ?? []
            if parts.count == 2, parts[0] == run, let number = Int(parts[1]), number < state.next {
                let missed = state.latest.filter { ($0.number ?? 0) > number }
                if missed.count == state.next - 1 - number { return ([.ping] + missed, rest) }
                return ([Self.missed(state.next - 1 - number, newest), snapshotFrame(snapshot, newest)], rest)
            }
            return ([.ping, snapshotFrame(snapshot, newest)], rest)
        }
    }

    private func snapshotFrame(_ snapshot: () -> String, _ id: String) -> WebFrame {
        WebFrame("snapshot", id: id, data: snapshot())
    }

    /// Reports that events were dropped.
    static func missed(_ count: Int, _ id: String? = nil) -> WebFrame {
        WebFrame("missed", id: id, data: "{\"count\":\(count)}")
    }
}
#endif
