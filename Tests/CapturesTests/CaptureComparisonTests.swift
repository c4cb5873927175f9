import CardPasses
import ReaderKitTesting
import Testing
import TestSupport

@testable import Captures

@Suite struct CaptureComparisonTests {
    private static let card = """
        capture 1
        title: A
        card at 0.000 atr 3B80800101
        > FF CA 00 00 00
        < 04 90 00 @ 0.004
        > 00 A4 04 00
        < 90 00
        > 00 B0 00 00 0F
        < 00 0F 90 00
        removed at 1.000

        """

    private func compare(
        _ left: String,
        _ right: String,
        times: Bool = false,
        headers: Bool = false
    ) throws -> [CaptureDifference] {
        CaptureComparison(
            try Capture(parsing: left),
            try Capture(parsing: right),
            comparingTimes: times,
            comparingHeaders: headers
        ).differences
    }

    @Test(arguments: [
        // what does not count
        ("title: A", "title: B # other"), ("04 90 00 @ 0.004", "0490 00"), ("removed at 1.000", "removed at 2.000"),
        ("3B80800101", "3b 80 80 01 01"), ("card at", "# a comment\ncard at"),
    ])
    func overlooks(old: String, new: String) throws {
        #expect(try compare(Self.card, Self.card.replacing(old, with: new)) == [])
    }

    struct Change {
        var old: String
        var new: String
        var kind: CaptureDifference.Kind
        var leftLine: Int?
        var rightLine: Int?
        var left: String?
        var right: String?

        init(
            _ old: String,
            _ new: String,
            _ kind: CaptureDifference.Kind,
            _ leftLine: Int?,
            _ rightLine: Int?,
            _ left: String?,
            _ right: String?
        ) {
            (self.old, self.new, self.kind) = (old, new, kind)
            (self.leftLine, self.rightLine, self.left, self.right) = (leftLine, rightLine, left, right)
        }
    }

    @Test(arguments: [
        Change("3B80800101", "3B8180018080", .fact, 3, 3, "3B80800101", "3B8180018080"),
        Change("< 90 00\n> 00 B0", "< 6A 82\n> 00 B0", .answer, 6, 6, "< 90 00", "< 6A 82"),
        Change("< 90 00\n> 00 B0", "! timeout\n> 00 B0", .answer, 6, 6, "< 90 00", "! timeout"),
        Change("> 00 A4 04 00\n< 90 00\n", "", .exchange, 6, nil, "> 00 A4 04 00\n< 90 00", nil),
        Change("> 00 B0", "> 80 CA 00 00\n< 6D 00\n> 00 B0", .exchange, nil, 8, nil, "> 80 CA 00 00\n< 6D 00"),
        Change("removed at 1.000\n", "", .removal, 3, 3, "removed at 1.000", nil),
    ])
    func finds(change: Change) throws {
        let (old, new, kind) = (change.old, change.new, change.kind)
        let (leftLine, rightLine, left, right) = (change.leftLine, change.rightLine, change.left, change.right)
        let differences = try compare(Self.card, Self.card.replacing(old, with: new))
        let difference = try #require(differences.first)
        #expect(differences.count == 1, "\(differences)")
        #expect(difference.kind == kind)
        #expect(difference.leftLine == leftLine)
        #expect(difference.rightLine == rightLine)
        #expect(difference.left == left)
        #expect(difference.right == right)
        // The other way round, the two sides change places.
        let back = try compare(Self.card.replacing(old, with: new), Self.card)
        #expect(back.map(\.left) == [right])
        #expect(back.map(\.right) == [left])
    }

    @Test func alignsBehindAChange() throws {
        // The first command is left out, the last one is another, between them all is the same.
        let other = Self.card.replacing("> FF CA 00 00 00\n< 04 90 00 @ 0.004\n", with: "")
            .replacing("0F\n< 00 0F", with: "0E\n< 00 0F")
        let differences = try compare(Self.card, other)
        #expect(differences.map(\.kind) == [.exchange, .exchange, .exchange])
        #expect(differences.map(\.leftLine) == [4, 8, nil])
        #expect(differences.map(\.rightLine) == [nil, nil, 6])
    }

    @Test func alignsPresentations() throws {
        let more = Self.card + "card at 5 atr 3B00\n! timeout\nremoved at 6\n"
        #expect(try compare(Self.card, more).map(\.kind) == [.presentation])
        let before = Self.card.replacing("card at 0.000", with: "card at 0 atr 3B00\nremoved at 0\ncard at 0.000")
        let found = try compare(Self.card, before)
        #expect(found.map(\.kind) == [.presentation])
        #expect(found.first?.rightPresentation == 1)
        #expect(found.first?.right == "card at 0.000 atr 3B00  # 0 exchanges")
    }

    @Test func comparesTimesAndHeadersWhenAsked() throws {
        let other = Self.card.replacing("@ 0.004", with: "@ 0.005").replacing("title: A", with: "title: B\nx: y")
        #expect(try compare(Self.card, other) == [])
        #expect(try compare(Self.card, other, times: true).map(\.right) == ["0.005"])
        #expect(try compare(Self.card, other, headers: true).map(\.name) == ["title", "x"])
        #expect(try compare(Self.card, Self.card, times: true, headers: true) == [])
    }

    @Test func comparesLinesAndReaders() throws {
        let lines = "capture 1\nline at 0 a\nline at 1 b\n"
        #expect(try compare(lines, lines.replacing("line at 0 a\n", with: "")).map(\.left) == ["a"])
        let two = "capture 1\nreader 1: a\nreader 2: b\ncard 1 at 0\nremoved 1 at 1\n"
        #expect(
            try compare(two, two.replacing("card 1", with: "card 2").replacing("d 1 at", with: "d 2 at")).map(\.kind)
                == [.reader]
        )
    }

    @Test func longOnesAreComparedWithinBounds() {
        func capture(_ count: Int, _ first: UInt8) -> Capture {
            let exchanges = (0..<count).map { index in
                let count = UInt32(index)
                let apdu: [UInt8] = [first, UInt8(count & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count >> 16)]
                return Capture.Exchange(.apdu(apdu), .bytes([0x90, 0x00]))
            }
            return Capture(presentations: [.init(at: .zero, exchanges: exchanges)])
        }
        #expect(CaptureComparison(capture(5000, 0), capture(5000, 1)).differences.count == 10_000)
        #expect(CaptureComparison(capture(5000, 0), capture(5000, 0)).isSame)
        #expect(CaptureComparison(capture(3000, 0), capture(2999, 0)).differences.count == 1)
    }

    /// Captures made from seeds: each is the same as itself as text, and differs by what was taken away.
    @Test(arguments: 1...60)
    func findsWhatWasTakenAway(seed: Int) throws {
        var maker = CaptureMaker(seed: UInt64(seed))
        let capture = maker.capture()
        #expect(CaptureComparison(capture, try Capture(parsing: capture.text()), comparingTimes: true).isSame)
        guard let index = capture.presentations.firstIndex(where: { !$0.exchanges.isEmpty }) else { return }
        var less = capture
        less.presentations[index].exchanges.removeLast()
        #expect(!CaptureComparison(capture, less).isSame)
    }
}
