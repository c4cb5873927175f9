/// Which of the known names somebody may have meant.
enum NearestName {
    /// No longer name is compared, since that takes the product of the lengths.
    private static let longest = 64

    /// The name that takes the fewest changes of a letter, at most one for three letters; `nil` if there is none.
    static func of(_ name: String, among names: some Sequence<String>) -> String? {
        guard name.unicodeScalars.count <= longest else { return nil }
        let letters = Array(name.lowercased().unicodeScalars)
        var best: (name: String, changes: Int)?
        for candidate in names {
            let other = Array(candidate.lowercased().unicodeScalars)
            let most = max(1, min(letters.count, other.count) / 3)
            guard abs(letters.count - other.count) <= most, other.count <= longest else { continue }
            let changes = changes(from: letters, to: other)
            if changes <= most, changes < best?.changes ?? .max { best = (candidate, changes) }
        }
        return best?.name
    }

    /// The least number of letters to insert, remove, replace, or swap with their neighbour.
    static func changes(from first: [Unicode.Scalar], to second: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int]()
        var last = Array(0...second.count)
        for (i, letter) in first.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(second.count + 1)
            for (j, other) in second.enumerated() {
                var value = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter == other ? 0 : 1))
                if i > 0, j > 0, letter == second[j - 1], first[i - 1] == other {
                    value = min(value, beforeLast[j - 1] + 1)
                }
                row.append(value)
            }
            (beforeLast, last) = (last, row)
        }
        return last[second.count]
    }

    /// "Did you mean X?", or all that there are.
    static func hint(_ name: String, among names: [String]) -> String {
        if let nearest = of(name, among: names) { return "Did you mean '\(nearest)'?" }
        return "There are: \(names.joined(separator: ", "))."
    }
}
