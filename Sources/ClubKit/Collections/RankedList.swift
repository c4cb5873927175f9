/// Distinct elements in their order, of which each is found by its rank, and the rank of each by the element, in a time
/// that hardly grows with their number. So do inserting and removing, also in a copy: copies share all parts that are
/// the same in them.
struct RankedList<Element: Comparable & Sendable>: Sendable {
    /// None is empty, unless it is the only one. Each of several has at least a quarter of ``width``.
    private var parts: [[Element]] = [[]]

    /// The rank of the first element of each part.
    private var starts = [0]

    private(set) var count = 0

    /// How many elements a part has at most.
    private let width: Int

    /// An empty list. Tests set a small width, which makes many parts of few elements.
    init(width: Int = 512) {
        self.width = Swift.max(width, 8)
    }

    /// A list of elements that are in order; those that are not greater than the one before are left out.
    init(sorted elements: some Sequence<Element>, width: Int = 512) {
        self.init(width: width)
        // Not full, so that the first insertions do not split every part.
        let load = self.width * 3 / 4
        var last: Element?
        for element in elements {
            if let last, !(last < element) { continue }
            last = element
            if parts[parts.count - 1].count == load {
                parts.append([])
                starts.append(count)
            }
            parts[parts.count - 1].append(element)
            count += 1
        }
        evenOut(parts.count - 1)
    }

    // MARK: Looking up

    /// The element of that rank, from 0 on; `nil` outside the list.
    func element(at rank: Int) -> Element? {
        guard rank >= 0, rank < count else { return nil }
        let part = starts.partitioningIndex { $0 > rank } - 1
        return parts[part][rank - starts[part]]
    }

    /// How many elements are less than that one, which need not be in the list.
    func rank(before element: Element) -> Int {
        let place = place(of: element)
        return starts[place.part] + place.index
    }

    /// The rank of an element; `nil` if it is not in the list.
    func rank(of element: Element) -> Int? {
        let place = place(of: element)
        return place.isTaken ? starts[place.part] + place.index : nil
    }

    /// Where the element is, or would be.
    private func place(of element: Element) -> (part: Int, index: Int, isTaken: Bool) {
        let part = parts.dropFirst().partitioningIndex { element < $0[0] } - 1
        let index = parts[part].partitioningIndex { !($0 < element) }
        return (part, index, index < parts[part].count && parts[part][index] == element)
    }

    // MARK: Changing

    /// Inserts an element. Returns whether it was not in the list already.
    @discardableResult
    mutating func insert(_ element: Element) -> Bool {
        let place = place(of: element)
        guard !place.isTaken else { return false }
        parts[place.part].insert(element, at: place.index)
        changeCount(of: place.part, by: 1)
        if parts[place.part].count > width { replace(place.part...place.part, with: parts[place.part]) }
        return true
    }

    /// Removes an element. Returns whether it was in the list.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        let place = place(of: element)
        guard place.isTaken else { return false }
        parts[place.part].remove(at: place.index)
        changeCount(of: place.part, by: -1)
        evenOut(place.part)
        return true
    }

    private mutating func changeCount(of part: Int, by change: Int) {
        for later in starts.indices.dropFirst(part + 1) { starts[later] += change }
        count += change
    }

    /// Joins a part that is too small with a neighbour.
    private mutating func evenOut(_ part: Int) {
        guard parts.count > 1, parts[part].count < width / 4 else { return }
        let lower = Swift.max(part - 1, 0)
        replace(lower...lower + 1, with: parts[lower] + parts[lower + 1])
    }

    /// Puts elements in place of parts: in two of the same size if they are too many for one.
    private mutating func replace(_ range: ClosedRange<Int>, with elements: [Element]) {
        let (start, half) = (starts[range.lowerBound], elements.count / 2)
        if elements.count > width {
            parts.replaceSubrange(range, with: [Array(elements[..<half]), Array(elements[half...])])
            starts.replaceSubrange(range, with: [start, start + half])
        } else {
            parts.replaceSubrange(range, with: [elements])
            starts.replaceSubrange(range, with: [start])
        }
    }
}

extension RankedList: Sequence {
    func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { parts.joined().makeIterator() }
}

extension RankedList {
    /// What is wrong with the list, for tests; `nil` if nothing is.
    var fault: String? {
        let sizes = parts.map(\.count)
        let least = parts.count > 1 ? width / 4 : 0
        if !sizes.allSatisfy((least...width).contains) { return "parts of \(sizes)" }
        if sizes.reduce(0, +) != count { return "count \(count) of \(sizes)" }
        if starts != sizes.indices.map({ sizes[..<$0].reduce(0, +) }) { return "starts \(starts) of \(sizes)" }
        return zip(self, dropFirst()).allSatisfy(<) ? nil : "out of order"
    }
}

extension RandomAccessCollection {
    /// Returns the first index whose element meets a condition that, in this order, is met by all elements behind one
    /// that meets it.
    func partitioningIndex(_ isBehind: (Element) -> Bool) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
            if isBehind(self[middle]) { high = middle } else { low = index(after: middle) }
        }
        return low
    }
}
