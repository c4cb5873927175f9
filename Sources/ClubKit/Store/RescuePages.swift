import Foundation
import GRDB

/// The pages of a database file, read without SQLite, which follows no tree further than its first damaged page: here
/// every page is read by itself. See https://www.sqlite.org/fileformat2.html#b_tree_pages.
final class RescuePages {
    /// How many there are; the first is 1.
    let count: Int
    private let file: Data
    private let size: Int
    /// How much of a page is SQLite's own.
    private let usable: Int

    /// A file with a sound header.
    init?(_ path: String) {
        guard let file = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe), file.count >= 512
        else { return nil }
        let stored = Int(file[16]) << 8 | Int(file[17])
        size = stored == 1 ? 65536 : stored
        usable = size - Int(file[20])
        guard size >= 512, size & (size - 1) == 0, usable >= 480 else { return nil }
        self.file = file
        count = file.count / size
    }

    struct Page {
        let number: Int
        /// Of a table with row numbers, else of an index or of a table without.
        var isTable: Bool
        var isLeaf: Bool
        /// Where the cells are in the page, as far as that makes sense.
        var cells: [Int] = []
        var children: [Int] = []
        /// Whether some of it makes no sense.
        var isDamaged = false
    }

    /// A row of a table or an index.
    struct Row {
        /// `nil` in an index.
        var number: Int64?
        /// No column of the schema has numbers with fractions.
        var values: [DatabaseValue]
    }

    /// Reads a page; `nil` for one that is no page of a tree. The first is left out, which has the list of tables.
    func page(_ number: Int) -> Page? {
        guard number >= 2, number <= count, let kind = integer(number, 0, 1), [2, 5, 10, 13].contains(kind) else {
            return nil
        }
        var page = Page(number: number, isTable: kind == 5 || kind == 13, isLeaf: kind > 5)
        let header = page.isLeaf ? 8 : 12
        guard let cells = integer(number, 3, 2), header + 2 * cells <= usable else { return nil }
        for index in 0..<cells {
            guard let place = integer(number, header + 2 * index, 2), place >= header + 2 * cells, place + 4 <= usable
            else {
                page.isDamaged = true
                continue
            }
            page.cells.append(place)
            if !page.isLeaf { page.children.append(integer(number, place, 4) ?? 0) }
        }
        if !page.isLeaf { page.children.append(integer(number, 8, 4) ?? 0) }
        let sound = page.children.filter { (2...count).contains($0) && $0 != number }
        page.isDamaged = page.isDamaged || sound.count < page.children.count
        page.children = sound
        return page
    }

    /// The rows on a page, `nil` for those that make no sense. Pages of tables that lead to others have none.
    func rows(_ page: Page) -> [Row?] {
        if page.isTable, !page.isLeaf { return [] }
        return page.cells.map { cell in
            var place = page.isLeaf ? cell : cell + 4
            guard let length = varint(page.number, &place), length <= UInt64(file.count) else { return nil }
            var number: Int64?
            if page.isTable {
                guard let stored = varint(page.number, &place) else { return nil }
                number = Int64(bitPattern: stored)
            }
            return payload(page, place, Int(length)).flatMap(Self.values).map { Row(number: number, values: $0) }
        }
    }

    /// The bytes of a row, of which the end may be on pages of their own.
    private func payload(_ page: Page, _ place: Int, _ length: Int) -> [UInt8]? {
        let most = page.isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        var local = length
        if length > most {
            let least = (usable - 12) * 32 / 255 - 23
            local = least + (length - least) % (usable - 4)
            if local > most { local = least }
        }
        guard place + local + (length > most ? 4 : 0) <= usable else { return nil }
        let start = (page.number - 1) * size + place
        var bytes = [UInt8](file[start..<start + local])
        var next = length > most ? integer(page.number, place + local, 4) ?? 0 : 0
        // Damaged pages may lead in circles, but each adds bytes.
        while bytes.count < length {
            guard (2...count).contains(next) else { return nil }
            let part = (next - 1) * size + 4
            bytes += file[part..<part + min(usable - 4, length - bytes.count)]
            next = integer(next, 0, 4) ?? 0
        }
        return bytes
    }

    /// The values of a row. See https://www.sqlite.org/fileformat2.html#record_format.
    private static func values(_ bytes: [UInt8]) -> [DatabaseValue]? {
        func byte(_ place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }
        var place = 0
        guard let header = varint(byte, &place), header <= bytes.count else { return nil }
        var start = Int(header)
        var values: [DatabaseValue] = []
        while place < Int(header) {
            guard let type = varint(byte, &place), type != 7, type < 10 || type > 11 else { return nil }
            let length = type < 12 ? [0, 1, 2, 3, 4, 6, 8, 0, 0, 0][Int(type)] : Int(clamping: (type - 12) / 2)
            guard length <= bytes.count - start else { return nil }
            let content = bytes[start..<start + length]
            start += length
            switch type {
            case 0: values.append(.null)
            case 8, 9: values.append((Int64(type) - 8).databaseValue)
            case 1...6:
                let sign: Int64 = content.first.map { $0 >= 0x80 } == true ? -1 : 0
                values.append(content.reduce(sign) { $0 << 8 | Int64($1) }.databaseValue)
            default:
                values.append(
                    type % 2 == 1 ? String(decoding: content, as: UTF8.self).databaseValue : Data(content).databaseValue
                )
            }
        }
        return place == Int(header) ? values : nil
    }

    private func integer(_ number: Int, _ place: Int, _ length: Int) -> Int? {
        guard place + length <= usable else { return nil }
        let start = (number - 1) * size + place
        return file[start..<start + length].reduce(0) { $0 << 8 | Int($1) }
    }

    private func varint(_ number: Int, _ place: inout Int) -> UInt64? {
        Self.varint({ $0 < usable ? file[(number - 1) * size + $0] : nil }, &place)
    }

    private static func varint(_ byte: (Int) -> UInt8?, _ place: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = byte(place) else { return nil }
            place += 1
            if index == 8 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return value
    }
}
