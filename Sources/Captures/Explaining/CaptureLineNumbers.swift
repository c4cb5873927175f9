import CardPasses

/// Where the lines of a capture stand in its file that the capture itself does not know: answers, removals, and the lines of
/// Smart Readers.
struct CaptureLineNumbers {
    private var answers: [Int] = []
    private var removals: [Int?: [Int]] = [:]
    private(set) var reports: [Int] = []

    /// Looks through the text of a capture that was read from it.
    init(_ text: [UInt8]) {
        for (index, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            let cursor = CaptureCursor(Array(line), line: index + 1, file: nil)
            switch cursor.current {
            case UInt8(ascii: "<"), UInt8(ascii: "!"): answers.append(index + 1)
            case UInt8(ascii: "l"): if Self.begins(cursor, "line") { reports.append(index + 1) }
            case UInt8(ascii: "r"):
                guard Self.begins(cursor, "removed") else { break }
                removals[Self.number(cursor, behind: "removed"), default: []].append(index + 1)
            default: break
            }
        }
    }

    /// The answer, or the fault, to what stands on that line.
    func answer(to line: Int?) -> Int? { line.flatMap { Self.first(after: $0, in: answers) } }

    /// The removal of the card that came on that line.
    func removal(ofCardOn line: Int?, reader: Int?) -> Int? {
        line.flatMap { Self.first(after: $0, in: removals[reader] ?? []) }
    }

    /// The first of some ascending numbers that is greater.
    private static func first(after line: Int, in lines: [Int]) -> Int? {
        var (low, high) = (0, lines.count)
        while low < high {
            let middle = (low + high) / 2
            if lines[middle] > line { high = middle } else { low = middle + 1 }
        }
        return low < lines.count ? lines[low] : nil
    }

    /// Whether a line is that statement, and no header of that name.
    private static func begins(_ line: CaptureCursor, _ word: StaticString) -> Bool {
        var line = line
        return line.skipWord(word)
    }

    private static func number(_ line: CaptureCursor, behind word: StaticString) -> Int? {
        var line = line
        _ = line.skipWord(word)
        return Int(String(decoding: line.peekWord(), as: UTF8.self))
    }
}
