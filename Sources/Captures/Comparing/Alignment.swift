/// Finds what two sequences have in common, in order.
enum Alignment {
    /// One step along both sequences.
    enum Step: Hashable {
        /// Two elements belong together.
        case both(Int, Int)
        /// An element that only the first sequence has.
        case left(Int)
        /// An element that only the second sequence has.
        case right(Int)

        /// The same step with the indexes that its own stand for.
        func mapped(_ lefts: [Int], _ rights: [Int]) -> Step {
            switch self {
            case .both(let l, let r): .both(lefts[l], rights[r])
            case .left(let l): .left(lefts[l])
            case .right(let r): .right(rights[r])
            }
        }
    }

    /// The most cells of the table that is filled; longer sequences that differ all through are compared in order.
    static let largestTable = 4_000_000

    /// A longest common subsequence.
    static func align<Element: Hashable>(_ left: [Element], _ right: [Element]) -> [Step] {
        var (start, leftEnd, rightEnd) = (0, left.count, right.count)
        while start < leftEnd, start < rightEnd, left[start] == right[start] { start += 1 }
        while leftEnd > start, rightEnd > start, left[leftEnd - 1] == right[rightEnd - 1] {
            leftEnd -= 1
            rightEnd -= 1
        }
        var steps = (0..<start).map { Step.both($0, $0) }
        steps += middle(left, start..<leftEnd, right, start..<rightEnd)
        steps += (0..<(left.count - leftEnd)).map { Step.both(leftEnd + $0, rightEnd + $0) }
        return steps
    }

    private static func middle<Element: Hashable>(
        _ left: [Element],
        _ lefts: Range<Int>,
        _ right: [Element],
        _ rights: Range<Int>
    ) -> [Step] {
        let (rows, columns) = (lefts.count, rights.count)
        guard rows > 0, columns > 0, rows <= largestTable / columns else {
            return inOrder(left, lefts, right, rights)
        }
        // Numbers are compared faster than elements.
        var numbers: [Element: Int] = [:]
        func number(_ element: Element) -> Int {
            if let number = numbers[element] { return number }
            numbers[element] = numbers.count
            return numbers.count - 1
        }
        let (a, b) = (lefts.map { number(left[$0]) }, rights.map { number(right[$0]) })
        let width = columns + 1
        var table = [Int32](repeating: 0, count: (rows + 1) * width)
        for row in stride(from: rows - 1, through: 0, by: -1) {
            for column in stride(from: columns - 1, through: 0, by: -1) {
                table[row * width + column] =
                    a[row] == b[column]
                    ? table[(row + 1) * width + column + 1] + 1
                    : max(table[(row + 1) * width + column], table[row * width + column + 1])
            }
        }
        var steps: [Step] = []
        var (row, column) = (0, 0)
        while row < rows, column < columns {
            if a[row] == b[column] {
                steps.append(.both(lefts.lowerBound + row, rights.lowerBound + column))
                row += 1
                column += 1
            } else if table[(row + 1) * width + column] >= table[row * width + column + 1] {
                steps.append(.left(lefts.lowerBound + row))
                row += 1
            } else {
                steps.append(.right(rights.lowerBound + column))
                column += 1
            }
        }
        steps += (row..<rows).map { .left(lefts.lowerBound + $0) }
        steps += (column..<columns).map { .right(rights.lowerBound + $0) }
        return steps
    }

    private static func inOrder<Element: Hashable>(
        _ left: [Element],
        _ lefts: Range<Int>,
        _ right: [Element],
        _ rights: Range<Int>
    ) -> [Step] {
        var steps: [Step] = []
        for offset in 0..<max(lefts.count, rights.count) {
            let (l, r) = (lefts.lowerBound + offset, rights.lowerBound + offset)
            if offset < lefts.count, offset < rights.count, left[l] == right[r] {
                steps.append(.both(l, r))
            } else {
                if offset < lefts.count { steps.append(.left(l)) }
                if offset < rights.count { steps.append(.right(r)) }
            }
        }
        return steps
    }

    /// Looks again at each run of elements that found no partner.
    static func refine(_ steps: [Step], _ again: ([Int], [Int]) -> [Step]) -> [Step] {
        var result: [Step] = []
        var (lefts, rights): ([Int], [Int]) = ([], [])
        func flush() {
            if lefts.isEmpty || rights.isEmpty {
                result += lefts.map { .left($0) } + rights.map { .right($0) }
            } else {
                result += again(lefts, rights)
            }
            (lefts, rights) = ([], [])
        }
        for step in steps {
            switch step {
            case .both:
                flush()
                result.append(step)
            case .left(let l): lefts.append(l)
            case .right(let r): rights.append(r)
            }
        }
        flush()
        return result
    }

    /// Pairs elements in their order.
    static func pair(_ lefts: [Int], _ rights: [Int]) -> [Step] {
        let count = min(lefts.count, rights.count)
        return (0..<count).map { .both(lefts[$0], rights[$0]) } + lefts[count...].map { .left($0) }
            + rights[count...].map { .right($0) }
    }
}
