#if NETWORK
import CardCore
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
        // Of a stream only these end a line; JSON has none of them, but may have others that are line breaks in texts.
        // Bytes are looked at first, since characters cost a hundred times as much.
        if data.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) {
            let isEnd = { (character: Character) in ["\n", "\r", "\r\n"].contains(character) }
            for line in data.split(omittingEmptySubsequences: false, whereSeparator: isEnd) {
                text += "data: \(line)\n"
            }
            text += "\n"
        } else {
            text += "data: \(data)\n\n"
        }
    }

    /// Lets a client notice that the server is there.
    static let ping = WebFrame("ping", data: "{}")
}

/// A stream of states of which only the newest matters: who comes late gets it at once, who is slow misses those in
/// between.
final class StateFeed: Sendable {
    private let listeners = EventBroadcaster<WebFrame>()
    private let latest = Mutex<Latest?>(nil)
    private let event: String

    /// The newest state, which is not written as long as nobody listens.
    private struct Latest {
        var frame: WebFrame?
        var data: @Sendable () -> String
    }

    init(event: String) { self.event = event }

    func publish(_ data: @escaping @Sendable () -> String) {
        latest.withLock {
            $0 = Latest(data: data)
            if listeners.consumerCount > 0, let frame = write(&$0) { listeners.yield(frame) }
        }
    }

    private func write(_ latest: inout Latest?) -> WebFrame? {
        if let state = latest, state.frame == nil { latest?.frame = WebFrame(event, data: state.data()) }
        return latest?.frame
    }

    /// Sends a sign of life, and the newest state with it, since a slow client keeps one of both only.
    func ping() {
        latest.withLock {
            guard listeners.consumerCount > 0, var frame = write(&$0) else { return }
            frame.text = WebFrame.ping.text + frame.text
            listeners.yield(frame)
        }
    }

    func stream() -> (first: [WebFrame], rest: AsyncStream<WebFrame>) {
        latest.withLock {
            let rest = listeners.stream(bufferingPolicy: .bufferingNewest(1))
            return ([.ping] + (write(&$0).map { [$0] } ?? []), rest)
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

    /// Distinguishes the events of this run of the server from those of another.
    private let run: String
    private let state = Mutex(State())
    let listeners = EventBroadcaster<WebFrame>()

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

    /// What a client gets that begins to follow.
    struct Beginning: Sendable {
        /// The events that it has missed.
        var first: [WebFrame]
        /// The number of the latest event so far.
        var number: Int
        /// Whether it has to be sent what the kiosk is like, since its last event is not known any more.
        var needsSnapshot: Bool
        var rest: AsyncStream<WebFrame>
    }

    /// Events from now on, after those that a client has missed.
    ///
    /// - Parameter last: the identifier of the last event that the client got.
    func stream(after last: String?) -> Beginning {
        state.withLock { state in
            let rest = listeners.stream(bufferingPolicy: .bufferingNewest(Self.waiting))
            let newest = state.next - 1
            // It counts as the latest event, so that those show which are dropped before the first is sent.
            var ping = WebFrame.ping
            ping.number = newest
            var beginning = Beginning(first: [ping], number: newest, needsSnapshot: true, rest: rest)
            let parts = last?.split(separator: "-", omittingEmptySubsequences: false) ?? []
            guard parts.count == 2, parts[0] == run, let number = Int(parts[1]), number < state.next else {
                // What was sent since by another run is not known.
                if last?.isEmpty == false { beginning.first.append(Self.missed(nil, "\(run)-\(newest)")) }
                return beginning
            }
            let missed = state.latest.filter { ($0.number ?? 0) > number }
            if missed.count == newest - number {
                beginning.needsSnapshot = false
                // Numbers go on from where the client was.
                beginning.first[0].number = number
                beginning.first += missed
            } else {
                beginning.first = [Self.missed(newest - number, "\(run)-\(newest)")]
            }
            return beginning
        }
    }

    /// What the kiosk is like after the event with that number.
    func snapshot(_ data: String, after number: Int) -> WebFrame {
        WebFrame("snapshot", id: "\(run)-\(number)", number: number, data: data)
    }

    /// Reports that events were not sent, and how many if that is known.
    static func missed(_ count: Int?, _ id: String? = nil) -> WebFrame {
        WebFrame("missed", id: id, data: count.map { "{\"count\":\($0)}" } ?? "{}")
    }
}
#endif
