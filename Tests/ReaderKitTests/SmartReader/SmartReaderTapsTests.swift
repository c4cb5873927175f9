import CardCore
import Testing
import TestSupport

@testable import ReaderKit

/// Which lines are taps.
@Suite struct SmartReaderTapsTests {
    private static let start = ContinuousClock.now

    private static func line(_ id: String, _ move: SmartReaderTag.Move? = nil, data: String? = nil) -> String {
        let tag = SmartReaderTag(template: 1, id: id, move: move, data: data)
        return (try? tag.line(as: .scrdr)) ?? ""
    }

    /// Which of the lines are reported, by their places.
    private static func taps(
        _ lines: [(seconds: Double, line: String)],
        _ configuration: SmartReaderConfiguration = SmartReaderConfiguration(sources: [])
    ) -> [Int] {
        var taps = SmartReaderTaps(configuration)
        return lines.indices.filter { taps.take(lines[$0].line, at: start + .seconds(lines[$0].seconds)) != nil }
    }

    @Test func restingTagIsOneTap() {
        let a = Self.line("04A1B2C3")
        #expect(Self.taps([(0, a), (3, a), (6, a), (9, a)]) == [0])
        // Taken away for longer than the reader takes to repeat itself.
        #expect(Self.taps([(0, a), (3, a), (7.1, a)]) == [0, 2])
        #expect(Self.taps([(0, a), (4, a)]) == [0, 1])
        let counted = SmartReaderConfiguration(sources: [], repeatInterval: .zero)
        #expect(Self.taps([(0, a), (0, a)], counted) == [0, 1])
    }

    @Test func tagsAreToldApart() {
        let (a, b, pass) = (Self.line("04A1B2C3"), Self.line("04FFFFFF"), Self.line("04A1B2C3", data: "M-1"))
        #expect(Self.taps([(0, a), (1, b), (2, a), (2, pass), (3, b)]) == [0, 1, 3])
        #expect(Self.taps([(0, "+04A1B2C3"), (1, "04A1B2C3"), (2, "+04A1B2C4")]) == [0, 2])
    }

    @Test func onlyArrivalsAreTaps() {
        let (come, go) = (Self.line("04A1B2C3", .insert), Self.line("04A1B2C3", .remove))
        let both = Self.line("04A1B2C3", .insertAndRemove)
        #expect(Self.taps([(0, come), (0.5, go), (0.6, come), (0.7, go), (0.8, both), (0.9, both)]) == [0, 2, 4, 5])
        // One that went may come back at once.
        let a = Self.line("04A1B2C3")
        #expect(Self.taps([(0, a), (1, go), (1.5, a)]) == [0, 2])
    }

    @Test func whatIsNoTap() {
        var taps = SmartReaderTaps(SmartReaderConfiguration(sources: []))
        #expect(taps.take("$SCRDR*54", at: Self.start) == nil)
        #expect(taps.take("# S550/RDR", at: Self.start) == nil)
        #expect(taps.take(Self.line("04A1B2C3", .remove), at: Self.start) == nil)
        #expect(taps.take("+04A1B2C3", at: Self.start) != nil)
        #expect(taps.take("+04A1B2C3", at: Self.start) == nil)
        #expect((taps.counts.greetings, taps.counts.departures, taps.counts.repeats) == (2, 1, 1))
        // A damaged line is a tap of which nothing could be read.
        #expect(taps.take("$SCRDR;01*00", at: Self.start) == "$SCRDR;01*00")
        #expect(taps.take("$SCRDR;01*01", at: Self.start) == "$SCRDR;01*01")
    }

    /// A damaged line is told; the same one without end is not.
    @Test func damagedLinesAgainAndAgain() {
        #expect(Self.taps([(0, "$SC"), (1, "$SC"), (2, "$SCR"), (3, "$SC"), (6, "$SC"), (20, "$SC")]) == [0, 2, 3, 5])
    }

    @Test func templatesSayWhatTheyLookFor() throws {
        let configuration = SmartReaderConfiguration(sources: [], templates: [1: 0xD1, 2: 0x4E])
        var taps = SmartReaderTaps(configuration)
        for format in [SmartReaderFormat.scrdr, .json] {
            for (number, lookUp) in [(1, 0xD1), (2, 0x4E), (3, 3)] as [(UInt8, UInt8)] {
                var tag = SmartReaderTag(template: number, id: "\(format) \(number)", data: "M-1")
                let line = try #require(taps.take(try tag.line(as: format), at: Self.start))
                tag.template = lookUp
                #expect(try SmartReaderLine(decoding: line, as: format) == .tag(tag))
            }
        }
    }

    /// No more is remembered than is of use.
    @Test func manyTags() {
        let lines = (0..<1000).map { (index: Int) -> (Double, String) in
            let bytes: [UInt8] = [4, UInt8(index >> 8), UInt8(index & 0xFF)]
            return (Double(index) / 1000, Self.line(Hex.encode(bytes)))
        }
        #expect(Self.taps(lines).count == 1000)
    }
}
