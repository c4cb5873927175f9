import Foundation

/// The pages of a database file, looked at without SQLite: which of them are roots of trees, and what kind of rows these
/// hold. See https://www.sqlite.org/fileformat2.html#b_tree_pages.
struct RescuePages {
    /// How many there are; the first is 1.
    let count: Int
    private let bytes: Data
    private let size: Int
    /// How much of a page is SQLite's own.
    private let usable: Int

    /// - Returns: `nil` for a file without a header.
    init?(_ path: String) {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe), bytes.count >= 512
        else { return nil }
        let stored = Int(bytes[16]) << 8 | Int(bytes[17])
        size = stored == 1 ? 65536 : stored
        guard size >= 512, size & (size - 1) == 0 else { return nil }
        usable = size - Int(bytes[20])
        guard usable >= 480 else { return nil }
        self.bytes = bytes
        count = bytes.count / size
    }

    /// A page of a tree.
    struct Page {
        var isTable: Bool
        var isLeaf: Bool
        /// Where the cells are in the page.
        var cells: [Int]
        /// The pages below.
        var children: [Int]
    }

    /// Reads a page; `nil` for one that is no sound page of a tree. The first is left out, which has the list of tables.
    func page(_ number: Int) -> Page? {
        guard number >= 2, number <= count, let kind = byte(number, 0),
            [2, 5, 10, 13].contains(kind)
        else { return nil }
        let isLeaf = kind > 5
        let header = isLeaf ? 8 : 12
        guard let cells = integer(number, 3, 2), header + 2 * cells <= usable else { return nil }
        var page = Page(isTable: kind == 5 || kind == 13, isLeaf: isLeaf, cells: [], children: [])
        for index in 0..<cells {
            guard let place = integer(number, header + 2 * index, 2), place >= header + 2 * cells, place + 4 <= usable
            else { return nil }
            page.cells.append(place)
            if !isLeaf { page.children.append(integer(number, place, 4) ?? 0) }
        }
        if !isLeaf { page.children.append(integer(number, 8, 4) ?? 0) }
        return page.children.allSatisfy { (2...count).contains($0) && $0 != number } ? page : nil
    }

    /// The pages that are below no other.
    func roots() -> [Int] {
        guard count >= 2 else { return [] }
        var isBelow = [Bool](repeating: false, count: count + 1)
        var pages: [Int] = []
        for number in 2...count {
            guard let page = page(number) else { continue }
            pages.append(number)
            for child in page.children { isBelow[child] = true }
        }
        return pages.filter { !isBelow[$0] }
    }

    /// Whether most rows on the first page of a tree that can be read are of that kind: one may be damaged.
    func rows(ofTreeAt root: Int, are shape: RowShape) -> Bool {
        var number = root
        // No tree is as high as that, but damaged pages may lead in circles.
        for _ in 0..<20 {
            guard let page = page(number), page.isTable == shape.isTable else { return false }
            if page.isTable, !page.isLeaf {
                guard let child = page.children.first(where: { self.page($0)?.isTable == true }) else { return false }
                number = child
                continue
            }
            let fitting = page.cells.filter { types(number, $0, page).map { shape.fits($0) } ?? false }
            return fitting.count * 2 > page.cells.count
        }
        return false
    }

    /// Whether a page has these bytes somewhere.
    func contains(_ text: String, _ number: Int) -> Bool {
        bytes[(number - 1) * size..<number * size].range(of: Data(text.utf8)) != nil
    }

    /// The serial types of a row's values.
    private func types(_ number: Int, _ cell: Int, _ page: Page) -> [UInt64]? {
        var place = page.isLeaf ? cell : cell + 4
        // How long the row is, and in a table its number.
        guard varint(number, &place) != nil, !page.isTable || varint(number, &place) != nil else { return nil }
        let begin = place
        guard let length = varint(number, &place), length > 0, length < 400 else { return nil }
        let end = begin + Int(length)
        var types: [UInt64] = []
        while place < end {
            guard let type = varint(number, &place) else { return nil }
            types.append(type)
        }
        return place == end ? types : nil
    }

    private func byte(_ number: Int, _ place: Int) -> UInt8? {
        place < usable ? bytes[(number - 1) * size + place] : nil
    }

    private func integer(_ number: Int, _ place: Int, _ length: Int) -> Int? {
        guard place + length <= usable else { return nil }
        return (0..<length).reduce(0) { $0 << 8 | Int(bytes[(number - 1) * size + place + $1]) }
    }

    private func varint(_ number: Int, _ place: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = byte(number, place) else { return nil }
            place += 1
            if index == 8 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return value
    }
}

/// What the values of a table's or an index's rows are, so that the tree is known by its rows.
struct RowShape {
    var isTable: Bool
    /// A letter for each value: `n` no value, `i` a whole number, `t` a text, `b` bytes, `u` 16 bytes; a capital letter
    /// where there may be none.
    var values: String
    /// How many values a row has at least: columns that came later are missing in old rows.
    var least: Int

    init(table values: String, least: Int? = nil) {
        (isTable, self.values, self.least) = (true, values, least ?? values.count)
    }

    init(index values: String, least: Int? = nil) {
        (isTable, self.values, self.least) = (false, values, least ?? values.count)
    }

    /// Whether values of these serial types can be such a row.
    func fits(_ types: [UInt64]) -> Bool {
        guard (least...values.count).contains(types.count) else { return false }
        return zip(values, types).allSatisfy { letter, type in
            switch letter {
            case "n": type == 0
            case "i": (1...6).contains(type) || type == 8 || type == 9
            case "I": type <= 6 || type == 8 || type == 9
            case "t": type >= 13 && type % 2 == 1
            case "T": type == 0 || type >= 13 && type % 2 == 1
            case "u": type == 44
            case "U": type == 0 || type == 44
            default: type >= 12 && type % 2 == 0
            }
        }
    }
}
