import CardTags

/// The memory of one card as a conversation shows it, and what in it is personal.
///
/// A byte that is read or written is a touch of an address. Where a value changes, a new state of the memory begins;
/// each state is looked at by itself, so that a message is found before and after it was written.
struct RedactionMemory {
    /// A memory with addresses of its own.
    enum Space: Hashable {
        /// The pages of a Type 2 tag's sector, at four bytes each, or the blocks of another tag.
        case pages(sector: Int)
        /// The data blocks of a MIFARE Classic card, sector trailers and the directory left out.
        case classic
        /// The directory of a MIFARE Classic card, in sector 0 or 16.
        case directory(sector: Int)
        /// A file of an ISO 7816 application.
        case file(UInt16)
        /// The blocks of a Type 3 tag, at sixteen bytes each.
        case type3
        /// The blocks of a Type 5 tag.
        case type5
    }

    /// A run of bytes of an exchange that show a run of addresses.
    struct Touch {
        var space: Space
        var exchange: Int
        var isCommand: Bool
        var offset: Int
        var count: Int
        var address: Int
        var state = 0
    }

    private(set) var touches: [Touch] = []
    private(set) var states: [Space: [[Int: UInt8]]] = [:]
    private var stored = 0

    /// The most bytes that are kept in states before a change no longer begins a new one.
    private static let limit = 400_000

    var spaces: [Space] { Array(states.keys) }

    func image(_ space: Space) -> [Int: UInt8] { states[space]?.last ?? [:] }

    mutating func note(_ touch: Touch, _ bytes: ArraySlice<UInt8>) {
        let (space, address) = (touch.space, touch.address)
        guard !bytes.isEmpty, address >= 0, address < 1 << 24 else { return }
        var last = (states[space]?.count ?? 1) - 1
        if changes(space, last, address, bytes), stored < Self.limit, let image = states[space]?[last] {
            stored += image.count
            states[space]?.append(image)
            last += 1
        }
        // In place, for an image may be large.
        for (index, byte) in bytes.enumerated() { states[space, default: [[:]]][last][address + index] = byte }
        var touch = touch
        touch.state = last
        touches.append(touch)
    }

    private func changes(_ space: Space, _ state: Int, _ address: Int, _ bytes: ArraySlice<UInt8>) -> Bool {
        guard let images = states[space], state < images.count else { return false }
        return bytes.enumerated().contains { index, byte in
            images[state][address + index].map { $0 != byte } ?? false
        }
    }

    // MARK: Stand-ins

    /// For each state of a memory, the addresses whose bytes are replaced.
    func replacements(_ space: Space, with message: RedactionMessage) -> [[Int: UInt8]] {
        (states[space] ?? []).map { image in
            var result: [Int: UInt8] = [:]
            if isDirectory(image, space) { return result }
            let areas = messages(in: image, space)
            var covered: Set<Int> = []
            for area in areas {
                // A message of which a part was not read ends there.
                let places = area.prefix { image[$0] != nil }
                let original = places.compactMap { image[$0] }
                for (place, byte) in zip(places, message.redact(original)) { result[place] = byte }
                covered.formUnion(places)
            }
            leftovers(image, space, covered, message, into: &result)
            return result
        }
    }

    /// Texts outside of messages: what an earlier message left behind.
    private func leftovers(
        _ image: [Int: UInt8],
        _ space: Space,
        _ covered: Set<Int>,
        _ message: RedactionMessage,
        into result: inout [Int: UInt8]
    ) {
        let places = image.keys.filter { $0 >= firstData(space) && !covered.contains($0) }.sorted()
        var start = 0
        while start < places.count {
            var end = start + 1
            while end < places.count, places[end] == places[end - 1] + 1 { end += 1 }
            let run = places[start..<end]
            let new = message.text.printableRuns(run.compactMap { image[$0] })
            for (place, byte) in zip(run, new) { result[place] = byte }
            start = end
        }
    }

    func firstData(_ space: Space) -> Int {
        switch space {
        case .pages(sector: 0), .type3: 16
        case .type5: 4
        case .file(0xE103): Int.max
        default: 0
        }
    }

    /// Where messages stand: the addresses of their bytes, in order.
    func messages(in image: [Int: UInt8], _ space: Space) -> [[Int]] {
        switch space {
        case .pages, .directory, .classic, .type5: return tlvs(in: image, space).messages
        case .type3:
            let length = [11, 12, 13].reduce(0) { $0 << 8 | Int(image[$1] ?? 0) }
            return [Array(16..<(16 + min(length, image.count)))]
        case .file(let name):
            guard name != 0xE103 else { return [] }
            // Mapping version 3 announces a length of four bytes by another tag in the capability container.
            let isLong = states[.file(0xE103)]?.contains { $0[7] == 0x06 } ?? false
            let size = isLong ? 4 : 2
            guard (0..<size).allSatisfy({ image[$0] != nil }) else { return [] }
            let length = (0..<size).reduce(0) { $0 << 8 | Int(image[$1] ?? 0) }
            return [Array(size..<(size + min(length, image.count)))]
        }
    }

    /// Whether a whole directory stands there, with its right checksum: it names applications and nobody.
    func isDirectory(_ image: [Int: UInt8], _ space: Space) -> Bool {
        guard case .directory(let sector) = space else { return false }
        let bytes = (0..<(sector == 0 ? 32 : 48)).compactMap { image[$0] }
        return (try? MAD.read(bytes, count: sector == 0 ? 32 : 48)) != nil
    }

    /// The NDEF messages in a row of TLVs, and the places of what frames them.
    func tlvs(in image: [Int: UInt8], _ space: Space) -> (messages: [[Int]], frames: Set<Int>) {
        var place: Int
        switch space {
        case .pages(sector: 0): place = 16
        case .classic: place = 0
        case .type5: place = image[2] == 0 ? 8 : 4
        case .pages, .directory, .type3, .file: return ([], [])
        }
        var reserved: Set<Int> = []
        var result: [[Int]] = []
        var frames: Set<Int> = []
        var header: [Int] = []
        func next() -> UInt8? {
            while reserved.contains(place) { place += 1 }
            defer { place += 1 }
            header.append(place)
            return image[place]
        }
        while let tag = next() {
            if tag == 0xFE {
                frames.insert(place - 1)
                break
            }
            if tag == 0x00 {
                header = []
                continue
            }
            guard let first = next() else { break }
            var length = Int(first)
            if first == 0xFF {
                guard let high = next(), let low = next() else { break }
                length = Int(high) << 8 | Int(low)
            }
            var area: [Int] = []
            for _ in 0..<length {
                while reserved.contains(place) { place += 1 }
                // What was not read ends what can be reported of the message.
                guard image[place] != nil else { break }
                area.append(place)
                place += 1
            }
            if [0x01, 0x02, 0x03, 0xFD].contains(tag) { frames.formUnion(header) }
            header = []
            if tag == 0x03 { result.append(area) }
            if tag == 0x03, length == 0, let flags = image[place], flags & 0xC0 == 0xC0 {
                // A writing that was torn: the header of the record that is there already.
                frames.formUnion(place..<(place + 7))
            }
            if tag == 0x01 || tag == 0x02 { frames.formUnion(area) }
            if tag == 0x01 || tag == 0x02, area.count == 3 {
                let control = area.compactMap { image[$0] }
                guard control.count == 3 else { break }
                let pageSize = 1 << Int(control[2] & 0x0F)
                let address = Int(control[0] >> 4) * pageSize + Int(control[0] & 0x0F)
                let size = control[1] == 0 ? 256 : Int(control[1])
                reserved.formUnion(address..<(address + (tag == 0x01 ? (size + 7) / 8 : size)))
            }
        }
        return (result, frames.union(reserved))
    }

    /// The stand-in of one byte: from the state in which it was read, or for what was written from the last state that
    /// still has it, for a message is whole only when its writing is over.
    func byte(_ touch: Touch, _ index: Int, _ replacements: [[Int: UInt8]]) -> UInt8? {
        guard let images = states[touch.space] else { return nil }
        let address = touch.address + index
        guard touch.state < images.count, let value = images[touch.state][address] else { return nil }
        var state = touch.state
        // Within limits, for many writes make many states.
        let last = min(images.count - 1, state + 1024)
        if touch.isCommand || replacements[state][address] == nil {
            while state < last, images[state + 1][address] == value { state += 1 }
        }
        return replacements[state][address] ?? replacements[touch.state][address]
    }
}

// Data outside of messages.
extension RedactionMemory {
    /// Exchanges that show data of which nothing is known and that stay as they are: neither zeros nor a part of a
    /// message, of what frames messages, or of a tag's configuration.
    ///
    /// - Parameter isReplaced: whether a byte is replaced by something that is no part of the memory.
    func unexamined(
        _ replacements: [Space: [[Int: UInt8]]],
        isReplaced: (_ exchange: Int, _ isCommand: Bool, _ offset: Int) -> Bool
    ) -> Set<Int> {
        var result: Set<Int> = []
        let known = states.map { space, images in (space, images.map { knownPlaces($0, space) }) }
        let places = Dictionary(uniqueKeysWithValues: known)
        for touch in touches where !result.contains(touch.exchange) {
            guard let images = states[touch.space], let known = places[touch.space], touch.state < images.count else {
                continue
            }
            let isPlain = (0..<touch.count).contains { index in
                let address = touch.address + index
                guard address >= firstData(touch.space), let value = images[touch.state][address], value != 0x00,
                    value != 0xFF, value != 0x2E, !isReplaced(touch.exchange, touch.isCommand, touch.offset + index)
                else { return false }
                // A message may be complete only when more was written.
                var state = touch.state
                let last = min(images.count - 1, state + 1024)
                while true {
                    if known[state].contains(address) { return false }
                    guard state < last, images[state + 1][address] == value else { break }
                    state += 1
                }
                return (byte(touch, index, replacements[touch.space] ?? []) ?? value) == value
            }
            if isPlain { result.insert(touch.exchange) }
        }
        return result
    }

    /// Messages, what frames them, and configuration.
    private func knownPlaces(_ image: [Int: UInt8], _ space: Space) -> Set<Int> {
        var result = tlvs(in: image, space).frames.union(messages(in: image, space).joined())
        switch space {
        case .pages(sector: 0):
            if image[12] == 0xE1, let size = image[14] {
                // Behind the user memory are lock bits and settings.
                result.formUnion(image.keys.filter { $0 >= 16 + 8 * Int(size) })
            }
        case .type5: result.formUnion(0..<(image[2] == 0 ? 8 : 4))
        case .type3:
            // FeliCa Lite: system code, versions, settings, counter, state.
            for block in [0x84, 0x85, 0x86, 0x88, 0x90, 0x92, 0xA0] {
                result.formUnion((16 * block)..<(16 * block + 16))
            }
        case .file: result.formUnion(0..<4)
        case .directory: if isDirectory(image, space) { result.formUnion(image.keys) }
        case .pages, .classic: break
        }
        return result
    }
}
