/// Walks the addresses of a data area, without those that hold something else.
struct TLVCursor {
    /// The next address, if it is not excluded.
    private(set) var position: Int
    private let start: Int
    private let end: Int
    /// One entry for each address of the area; empty as long as nothing is excluded.
    private var isExcluded: [Bool] = []

    init(start: Int, end: Int) {
        self.start = start
        self.end = max(start, end)
        position = start
    }

    /// How many bytes are left.
    var left: Int { isExcluded.isEmpty ? end - position : isExcluded[(position - start)...].count { !$0 } }

    /// The address of the next byte, or `nil` at the end.
    mutating func advance() -> Int? {
        while position < end {
            position += 1
            if isExcluded.isEmpty || !isExcluded[position - 1 - start] { return position - 1 }
        }
        return nil
    }

    /// Leaves out so many bytes, or all that are left.
    mutating func skip(_ count: Int) {
        if isExcluded.isEmpty {
            position += min(max(0, count), end - position)
        } else {
            for _ in 0..<max(0, count) where advance() == nil { return }
        }
    }

    /// Takes addresses out of the area.
    mutating func exclude(_ addresses: Range<Int>) {
        let inside = addresses.clamped(to: start..<end)
        guard !inside.isEmpty else { return }
        if isExcluded.isEmpty { isExcluded = Array(repeating: false, count: end - start) }
        for address in inside { isExcluded[address - start] = true }
    }
}
