/// Distinct elements in their order, of which each is found by its rank, and the rank of each by the element, in a time
/// that grows with the logarithm of their number. So do inserting and removing, also in a copy: copies share all that
/// is the same in them.
///
/// It is a B+ tree. Every node but the root holds between a quarter of ``width`` and ``width`` elements or branches.
struct RankedList<Element: Comparable & Sendable>: Sendable {
    private var root: Node = .leaf([])

    /// How many elements there are.
    private(set) var count = 0

    /// How many elements or branches a node holds at most.
    private let width: Int

    fileprivate struct Branch: Sendable {
        var node: Node
        /// The number of elements below.
        var count: Int
        /// The least element below.
        var first: Element
    }

    fileprivate enum Node: Sendable {
        case leaf([Element])
        case inner([Branch])
    }

    /// An empty list. Tests set a small width, which makes a tall tree of few elements.
    init(width: Int = 64) {
        // So that every node but the root holds at least two.
        self.width = Swift.max(width, 8)
    }

    /// A list of elements that are in order; those that are not greater than the one before are left out.
    init(sorted elements: some Sequence<Element>, width: Int = 64) {
        self.init(width: width)
        // Not full, so that the first insertions do not split every node on their way.
        let load = self.width * 3 / 4
        var branches: [Branch] = []
        var leaf: [Element] = []
        var last: Element?
        for element in elements {
            if let last, !(last < element) { continue }
            last = element
            leaf.append(element)
            if leaf.count == load {
                branches.append(Branch(leaf))
                leaf = []
            }
        }
        if !leaf.isEmpty { branches.append(Branch(leaf)) }
        while true {
            evenOut(&branches)
            guard branches.count > 1 else { break }
            branches = stride(from: 0, to: branches.count, by: load).map { start in
                Branch(Array(branches[start..<Swift.min(start + load, branches.count)]))
            }
        }
        guard let top = branches.first else { return }
        root = top.node
        count = top.count
    }

    /// Gives the last branch its share, which may have got too little.
    private func evenOut(_ branches: inout [Branch]) {
        let last = branches.count - 1
        if last > 0, branches[last].size < width / 4 { join(last - 1, in: &branches) }
    }

    // MARK: Looking up

    /// The element of that rank, from 0 on; `nil` outside the list.
    func element(at rank: Int) -> Element? {
        guard rank >= 0, rank < count else { return nil }
        var rank = rank
        var node = root
        while true {
            switch node {
            case .leaf(let elements):
                return elements.indices.contains(rank) ? elements[rank] : nil
            case .inner(let branches):
                var index = 0
                while index < branches.count - 1, rank >= branches[index].count {
                    rank -= branches[index].count
                    index += 1
                }
                node = branches[index].node
            }
        }
    }

    /// How many elements are less than that one, which need not be in the list.
    func rank(before element: Element) -> Int {
        find(element).rank
    }

    /// The rank of an element; `nil` if it is not in the list.
    func rank(of element: Element) -> Int? {
        let found = find(element)
        return found.isThere ? found.rank : nil
    }

    private func find(_ element: Element) -> (rank: Int, isThere: Bool) {
        var rank = 0
        var node = root
        while true {
            switch node {
            case .leaf(let elements):
                let index = elements.firstIndexNotLess(than: element)
                return (rank + index, index < elements.count && elements[index] == element)
            case .inner(let branches):
                let index = Self.index(of: element, in: branches)
                for branch in branches[..<index] { rank += branch.count }
                node = branches[index].node
            }
        }
    }

    /// The branch below which the element is, or would be.
    private static func index(of element: Element, in branches: [Branch]) -> Int {
        var low = 0
        var high = branches.count
        while low < high {
            let middle = (low + high) / 2
            if element < branches[middle].first { high = middle } else { low = middle + 1 }
        }
        return Swift.max(low - 1, 0)
    }

    // MARK: Changing

    /// Inserts an element.
    ///
    /// - Returns: whether it was not in the list already.
    @discardableResult
    mutating func insert(_ element: Element) -> Bool {
        switch insert(element, into: &root) {
        case .wasThere:
            return false
        case .done:
            break
        case .split(let upper):
            if let lower = Branch(root) { root = .inner([lower, upper]) }
        }
        count += 1
        return true
    }

    private enum Insertion {
        case wasThere, done
        case split(upper: Branch)
    }

    private func insert(_ element: Element, into node: inout Node) -> Insertion {
        switch node {
        case .leaf(var elements):
            // Taken out of the node, so that the array has one owner and is not copied.
            node = .leaf([])
            defer { node = .leaf(elements) }
            let index = elements.firstIndexNotLess(than: element)
            if index < elements.count, elements[index] == element { return .wasThere }
            elements.insert(element, at: index)
            guard elements.count > width else { return .done }
            let upper = Branch(Array(elements[(elements.count / 2)...]))
            elements.removeSubrange((elements.count / 2)...)
            return .split(upper: upper)
        case .inner(var branches):
            node = .leaf([])
            defer { node = .inner(branches) }
            let index = Self.index(of: element, in: branches)
            let result = insert(element, into: &branches[index].node)
            if case .wasThere = result { return result }
            branches[index].count += 1
            if element < branches[index].first { branches[index].first = element }
            guard case .split(let upper) = result else { return .done }
            branches[index].count -= upper.count
            branches.insert(upper, at: index + 1)
            guard branches.count > width else { return .done }
            let half = branches.count / 2
            let upperHalf = Branch(Array(branches[half...]))
            branches.removeSubrange(half...)
            return .split(upper: upperHalf)
        }
    }

    /// Removes an element.
    ///
    /// - Returns: whether it was in the list.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard remove(element, from: &root) else { return false }
        count -= 1
        if case .inner(let branches) = root, branches.count == 1 { root = branches[0].node }
        return true
    }

    private func remove(_ element: Element, from node: inout Node) -> Bool {
        switch node {
        case .leaf(var elements):
            let index = elements.firstIndexNotLess(than: element)
            guard index < elements.count, elements[index] == element else { return false }
            node = .leaf([])
            elements.remove(at: index)
            node = .leaf(elements)
            return true
        case .inner(var branches):
            let index = Self.index(of: element, in: branches)
            node = .leaf([])
            defer { node = .inner(branches) }
            guard remove(element, from: &branches[index].node) else { return false }
            branches[index].count -= 1
            // An empty branch cannot be: it would have been joined to its neighbour before.
            if let first = branches[index].node.first { branches[index].first = first }
            if branches[index].size < width / 4, branches.count > 1 {
                join(index == 0 ? 0 : index - 1, in: &branches)
            }
            return true
        }
    }

    /// Makes one branch of two neighbours, or two of the same size if they are too many for one.
    private func join(_ index: Int, in branches: inout [Branch]) {
        let joined: [Branch]
        switch (branches[index].node, branches[index + 1].node) {
        case (.leaf(let lower), .leaf(let upper)):
            joined = halves(lower + upper).map { Branch($0) }
        case (.inner(let lower), .inner(let upper)):
            joined = halves(lower + upper).map { Branch($0) }
        default:
            // All leaves are at the same depth.
            return
        }
        branches.replaceSubrange(index...index + 1, with: joined)
    }

    private func halves<Part>(_ parts: [Part]) -> [[Part]] {
        guard parts.count > width else { return [parts] }
        return [Array(parts[..<(parts.count / 2)]), Array(parts[(parts.count / 2)...])]
    }
}

extension RankedList.Branch {
    /// A leaf of at least one element.
    fileprivate init(_ elements: [Element]) {
        self.init(node: .leaf(elements), count: elements.count, first: elements[0])
    }

    /// A node of at least one branch.
    fileprivate init(_ branches: [RankedList.Branch]) {
        let count = branches.reduce(0) { $0 + $1.count }
        self.init(node: .inner(branches), count: count, first: branches[0].first)
    }

    fileprivate init?(_ node: RankedList.Node) {
        switch node {
        case .leaf(let elements) where !elements.isEmpty: self.init(elements)
        case .inner(let branches) where !branches.isEmpty: self.init(branches)
        default: return nil
        }
    }

    /// The number of elements or branches that the node itself holds.
    fileprivate var size: Int {
        switch node {
        case .leaf(let elements): elements.count
        case .inner(let branches): branches.count
        }
    }
}

extension RankedList.Node {
    fileprivate var first: Element? {
        switch self {
        case .leaf(let elements): elements.first
        case .inner(let branches): branches.first?.first
        }
    }
}

extension Array where Element: Comparable {
    /// Of an array that is in order.
    fileprivate func firstIndexNotLess(than element: Element) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RankedList: Sequence {
    /// Goes through the elements in order.
    struct Iterator: IteratorProtocol {
        private var leaf: [Element] = []
        private var index = 0
        /// The branches to the right of the leaf, the nearest last.
        private var rest: [ArraySlice<Branch>] = []

        fileprivate init(_ node: Node) {
            descend(node)
        }

        private mutating func descend(_ node: Node) {
            var node = node
            while true {
                switch node {
                case .leaf(let elements):
                    leaf = elements
                    index = 0
                    return
                case .inner(let branches):
                    rest.append(branches.dropFirst())
                    node = branches[0].node
                }
            }
        }

        mutating func next() -> Element? {
            while index == leaf.count {
                guard var branches = rest.popLast() else { return nil }
                guard let branch = branches.popFirst() else { continue }
                rest.append(branches)
                descend(branch.node)
            }
            index += 1
            return leaf[index - 1]
        }
    }

    func makeIterator() -> Iterator { Iterator(root) }

    var underestimatedCount: Int { count }
}

extension RankedList {
    /// What is wrong with the tree, for tests; `nil` if nothing is.
    var fault: String? {
        var depths: Set<Int> = []
        var last: Element?
        func check(_ node: Node, depth: Int, isRoot: Bool) -> (fault: String?, count: Int) {
            switch node {
            case .leaf(let elements):
                depths.insert(depth)
                if elements.count > width || (!isRoot && elements.count < width / 4) {
                    return ("leaf of \(elements.count)", 0)
                }
                for element in elements {
                    if let last, !(last < element) { return ("out of order", 0) }
                    last = element
                }
                return (nil, elements.count)
            case .inner(let branches):
                if branches.count > width || branches.count < (isRoot ? 2 : width / 4) {
                    return ("node of \(branches.count)", 0)
                }
                var sum = 0
                for branch in branches {
                    let below = check(branch.node, depth: depth + 1, isRoot: false)
                    if let fault = below.fault { return (fault, 0) }
                    if below.count != branch.count { return ("count \(branch.count) of \(below.count)", 0) }
                    if branch.first != branch.node.first { return ("first", 0) }
                    sum += below.count
                }
                return (nil, sum)
            }
        }
        let whole = check(root, depth: 0, isRoot: true)
        if let fault = whole.fault { return fault }
        if whole.count != count { return "count \(count) of \(whole.count)" }
        return depths.count > 1 ? "depths \(depths)" : nil
    }
}
