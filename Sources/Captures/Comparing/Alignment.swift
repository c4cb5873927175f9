/// Finds what two sequences have in common, in order.
enum Alignment {
    enum Step: Hashable {
        case both(Int, Int)
        case left(Int)
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

    /// The most pairs of elements that are looked at; longer sequences that differ all through are compared in order.
    static let mostPairs = 4_000_000

    /// A longest common subsequence.
    static func align<Element: Hashable>(_ left: [Element], _ right: [Element]) -> [Step] {
        let start = zip(left, right).prefix { $0 == $1 }.count
        let end = zip(left[start...].reversed(), right[start...].reversed()).prefix { $0 == $1 }.count
        let (lefts, rights) = (start..<(left.count - end), start..<(right.count - end))
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        if lefts.isEmpty || rights.isEmpty || lefts.count <= mostPairs / rights.count {
            for change in right[rights].difference(from: left[lefts]) {
                switch change {
                case .remove(let offset, _, _): removed.insert(start + offset)
                case .insert(let offset, _, _): inserted.insert(start + offset)
                }
            }
        } else {
            let common = min(lefts.count, rights.count)
            removed = Set(lefts.filter { $0 >= start + common || left[$0] != right[$0] })
            inserted = Set(rights.filter { $0 >= start + common || left[$0] != right[$0] })
        }
        var steps: [Step] = []
        var (l, r) = (0, 0)
        while l < left.count || r < right.count {
            if removed.contains(l) {
                steps.append(.left(l))
                l += 1
            } else if inserted.contains(r) {
                steps.append(.right(r))
                r += 1
            } else {
                steps.append(.both(l, r))
                l += 1
                r += 1
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

    static func pair(_ lefts: [Int], _ rights: [Int]) -> [Step] {
        let count = min(lefts.count, rights.count)
        return (0..<count).map { .both(lefts[$0], rights[$0]) } + lefts[count...].map { .left($0) }
            + rights[count...].map { .right($0) }
    }
}
