/// The changes from one state of a list to the next. A moved element is deleted and inserted.
public struct ListChanges: Sendable, Hashable {
    /// The indices of removed elements in the old list; ascending.
    public var deletions: [Int]

    /// The indices of added elements in the new list; ascending.
    public var insertions: [Int]

    /// The indices of changed elements in the old list; ascending.
    public var modifications: [Int]

    /// Creates changes at those indices.
    public init(deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = []) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
    }

    /// Whether there are no changes.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

extension ListChanges {
    /// Creates the changes that lead from one list to another, with as few moved elements as possible. It takes n log n
    /// steps.
    ///
    /// - Parameters:
    ///   - old: the identifiers of the elements before, each once.
    ///   - new: those of the elements after, each once.
    ///   - isModified: returns whether an element that stays is another one now; it gets the indices before and after.
    public init<ID: Hashable>(from old: [ID], to new: [ID], isModified: (_ before: Int, _ after: Int) -> Bool) {
        let places = Dictionary(new.enumerated().map { ($1, $0) }) { first, _ in first }
        let kept = old.enumerated().compactMap { index, id in places[id].map { (id: Int64(index), place: $0) } }
        let stayed = Self.longestAscending(kept)
        let arrived = Set(kept.lazy.filter { stayed.contains($0.id) }.map(\.place))
        deletions = old.indices.filter { !stayed.contains(Int64($0)) }
        insertions = new.indices.filter { !arrived.contains($0) }
        modifications = kept.filter { stayed.contains($0.id) && isModified(Int($0.id), $0.place) }.map { Int($0.id) }
    }

    struct Place {
        var index: Int
        var id: Int64
    }

    /// Puts together what changed: rows that are no longer where the order had them, with their indices before; rows
    /// that it has elsewhere now, or that are new, with their indices after; and the indices, before, of others that
    /// are not the same. A row that is both removed and added, and nevertheless stands where it did among those that are
    /// neither, has only been modified.
    init(removed: [Place], added: [Place], modified: [Int]) {
        let removed = removed.sorted { $0.index < $1.index }
        let added = added.sorted { $0.index < $1.index }
        let stayed = Self.stayed(removed, added)
        deletions = removed.lazy.filter { !stayed.contains($0.id) }.map(\.index)
        insertions = added.lazy.filter { !stayed.contains($0.id) }.map(\.index)
        modifications = modified + removed.lazy.filter { stayed.contains($0.id) }.map(\.index)
        modifications.sort()
    }

    /// The rows that are in both lists, which are in order, and need not move: between the same two rows that are in
    /// neither, and in the same order, as many as there can be.
    private static func stayed(_ removed: [Place], _ added: [Place]) -> Set<Int64> {
        guard !removed.isEmpty, !added.isEmpty else { return [] }
        // How many rows that are in neither come before, and the place among those that are in one.
        var after: [Int64: (gap: Int, place: Int)] = [:]
        for (place, row) in added.enumerated() { after[row.id] = (row.index - place, place) }
        var candidates: [(id: Int64, place: Int)] = []
        for (place, row) in removed.enumerated() {
            if let other = after[row.id], other.gap == row.index - place { candidates.append((row.id, other.place)) }
        }
        return longestAscending(candidates)
    }

    /// The longest run, not necessarily without interruption, in which the places ascend.
    private static func longestAscending(_ rows: [(id: Int64, place: Int)]) -> Set<Int64> {
        // For each length, the row with the least place that ends a run of it; and for each row the one before it.
        var ends: [Int] = []
        var before: [Int?] = []
        for (index, row) in rows.enumerated() {
            let length = ends.partitioningIndex { rows[$0].place >= row.place }
            before.append(length == 0 ? nil : ends[length - 1])
            ends.replaceSubrange(length..<min(length + 1, ends.count), with: [index])
        }
        var result: Set<Int64> = []
        var next = ends.last
        while let index = next {
            result.insert(rows[index].id)
            next = before[index]
        }
        return result
    }

    /// What leads from one list in order to another. `isModified` is whether a row with that key, which is in both
    /// lists, is another one now; it gets the indices before and after too.
    init(
        from old: some Sequence<MemberKey>,
        to new: some Sequence<MemberKey>,
        isModified: (_ key: MemberKey, _ before: Int, _ after: Int) -> Bool
    ) {
        var removed: [Place] = []
        var added: [Place] = []
        var modified: [Int] = []
        var (left, right) = (old.makeIterator(), new.makeIterator())
        var (before, after) = (0, 0)
        var (oldKey, newKey) = (left.next(), right.next())
        while oldKey != nil || newKey != nil {
            if let one = oldKey, let other = newKey, one == other {
                if isModified(one, before, after) { modified.append(before) }
                (oldKey, newKey) = (left.next(), right.next())
                before += 1
                after += 1
            } else if let one = oldKey, newKey.map({ one < $0 }) ?? true {
                removed.append(Place(index: before, id: one.id))
                oldKey = left.next()
                before += 1
            } else if let other = newKey {
                added.append(Place(index: after, id: other.id))
                newKey = right.next()
                after += 1
            }
        }
        self.init(removed: removed, added: added, modified: modified)
    }
}
