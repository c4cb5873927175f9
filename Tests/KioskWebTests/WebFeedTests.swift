#if NETWORK
import Foundation
import Testing

@testable import KioskWeb

@Suite(.timeLimit(.minutes(10))) struct WebFeedTests {
    private func texts(_ frames: [WebFrame]) -> [String] {
        frames.map { $0.text.trimmingCharacters(in: .newlines).replacing("\n", with: "|") }
    }

    @Test("A frame is written as server-sent events are, also with line breaks in its data")
    func frames() {
        #expect(WebFrame(data: "{}").text == "data: {}\n\n")
        #expect(WebFrame("a", id: "x-1", data: "1").text == "id: x-1\nevent: a\ndata: 1\n\n")
        #expect(WebFrame(data: "1\r\n2\n\n3\r4").text == "data: 1\ndata: 2\ndata: \ndata: 3\ndata: 4\n\n")
        // Line breaks of Unicode are part of a text.
        let text = "{\"name\":\"a\u{2028}b\u{85}c\u{0B}d\u{0C}e\"}"
        #expect(WebFrame(data: text).text == "data: \(text)\n\n")
    }

    @Test("Of states the newest counts: who comes late gets it, and who is slow nothing else")
    func states() async {
        let feed = StateFeed(event: "screen")
        #expect(texts(feed.stream().first) == ["event: ping|data: {}"])
        feed.publish { "1" }
        let (first, rest) = feed.stream()
        #expect(texts(first) == ["event: ping|data: {}", "event: screen|data: 1"])
        for number in 2...9 { feed.publish { "\(number)" } }
        feed.ping()
        feed.finish()
        var all: [WebFrame] = []
        for await frame in rest { all.append(frame) }
        // The sign of life takes no state away.
        #expect(texts(all) == ["event: ping|data: {}||event: screen|data: 9"])
    }

    @Test("Who comes back gets all after the last event, or a snapshot and how many were missed")
    func resuming() {
        let feed = EventFeed(run: "r")
        for number in 1...3 { feed.publish("\(number)") }
        let first = { (last: String?) in
            let beginning = feed.stream(after: last)
            return self.texts(beginning.first) + (beginning.needsSnapshot ? ["snapshot \(beginning.number)"] : [])
        }
        let ping = "event: ping|data: {}"
        #expect(first(nil) == [ping, "snapshot 3"])
        #expect(first("r-1") == [ping, "id: r-2|data: 2", "id: r-3|data: 3"])
        #expect(first("r-3") == [ping])
        #expect(first("r-0") == [ping, "id: r-1|data: 1", "id: r-2|data: 2", "id: r-3|data: 3"])
        // Of another run, of the future, and of nobody.
        for last in ["q-1", "r-4", "r-x", "r", "r--1", "r-1-2", "r-99999999999999999999"] {
            #expect(first(last) == [ping, "id: r-3|event: missed|data: {}", "snapshot 3"], "\(last)")
        }
        #expect(first("") == [ping, "snapshot 3"])
        #expect(texts([feed.snapshot("{}", after: 3)]) == ["id: r-3|event: snapshot|data: {}"])
        for number in 4...(EventFeed.kept + 5) { feed.publish("\(number)") }
        let newest = EventFeed.kept + 5
        let missed = "id: r-\(newest)|event: missed|data: {\"count\":\(newest - 2)}"
        #expect(first("r-2") == [missed, "snapshot \(newest)"])
        #expect(first("r-5").count == EventFeed.kept + 1)
        // Numbers go on from where the client is, so that gaps show.
        #expect(feed.stream(after: nil).first.map(\.number) == [newest])
        #expect(feed.stream(after: "r-\(newest - 1)").first.map(\.number) == [newest - 1, newest])
    }

    @Test("What waits for a slow client is bounded, and the gap shows in the numbers")
    func bounded() async {
        let feed = EventFeed(run: "r")
        let rest = feed.stream(after: nil).rest
        let count = EventFeed.waiting + 100
        for number in 1...count { feed.publish("\(number)") }
        feed.finish()
        var numbers: [Int] = []
        for await frame in rest { frame.number.map { numbers.append($0) } }
        #expect(numbers == Array((count - EventFeed.waiting + 1)...count))
    }

    @Test("A QR code is one square, with the three marks in its corners; a text that is too long has none")
    func codes() {
        let rows = QRCode.rows(of: "https://club.example/join")
        #expect(rows.count == 25 && rows.allSatisfy { $0.count == 25 })
        #expect(rows[0].hasPrefix("1111111") && rows[0].hasSuffix("1111111"))
        #expect(rows[6].hasPrefix("1111111") && rows[6].hasSuffix("1111111"))
        #expect(rows[24].hasPrefix("1111111"))
        #expect(QRCode.rows(of: String(repeating: "x", count: 4000)) == [])
    }
}
#endif
