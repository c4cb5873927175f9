/// What leads from one state of a list to the next. An element that moved is deleted and inserted.
public struct ListChanges: Sendable, Hashable {
    /// The indices, in the list before, of what is no longer there; ascending.
    public var deletions: [Int]

    /// The indices, in the list after, of what was not there; ascending.
    public var insertions: [Int]

    /// The indices, in the list before, of what stayed and is not the same; ascending.
    public var modifications: [Int]

    /// Changes at those indices.
    public init(deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = []) {
        self.deletions = deletions
        self.insertions = insertions
        self.modifications = modifications
    }

    /// Whether nothing changed.
    public var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}
