// Data outside of messages.
extension RedactionMemory {
    /// Exchanges that show data of which nothing is known and that stay as they are: neither zeros nor a part of a
    /// message, of what frames messages, or of a tag's configuration.
    ///
    /// - Parameters:
    ///   - replacements: for each state of a memory, the addresses whose bytes are replaced.
    ///   - isReplaced: whether a byte is replaced by something else: exchange, command or answer, and its offset.
    func unexamined(
        _ replacements: [Space: [[Int: UInt8]]],
        isReplaced: (_ exchange: Int, _ isCommand: Bool, _ offset: Int) -> Bool
    ) -> Set<Int> {
        var result: Set<Int> = []
        let known = states.map { space, images in (space, images.map { knownPlaces($0, space) }) }
        let places = Dictionary(uniqueKeysWithValues: known)
        for (space, touch) in touches where !result.contains(touch.exchange) {
            guard let images = states[space], let known = places[space], touch.state < images.count else { continue }
            let isPlain = (0..<touch.count).contains { index in
                let address = touch.address + index
                guard address >= firstData(space), let value = images[touch.state][address], value != 0x00,
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
                return (byte(space, touch, index, replacements[space] ?? []) ?? value) == value
            }
            if isPlain { result.insert(touch.exchange) }
        }
        return result
    }

    /// Messages, what frames them, and configuration.
    private func knownPlaces(_ image: [Int: UInt8], _ space: Space) -> Set<Int> {
        var result = Set(messages(in: image, space).joined())
        switch space {
        case .pages(sector: 0):
            result.formUnion(tlvMessages(in: image, from: 16).frames)
            if image[12] == 0xE1, let size = image[14] {
                // Behind the user memory are lock bits and settings.
                result.formUnion(image.keys.filter { $0 >= 16 + 8 * Int(size) })
            }
        case .classic: result.formUnion(tlvMessages(in: image, from: 0).frames)
        case .type5:
            let start = image[2] == 0 ? 8 : 4
            result.formUnion(tlvMessages(in: image, from: start).frames)
            result.formUnion(0..<start)
        case .type3:
            // FeliCa Lite: system code, versions, settings, counter, state.
            for block in [0x84, 0x85, 0x86, 0x88, 0x90, 0x92, 0xA0] {
                result.formUnion((16 * block)..<(16 * block + 16))
            }
        case .file: result.formUnion(0..<4)
        case .directory: if isDirectory(image, space) { result.formUnion(image.keys) }
        case .pages: break
        }
        return result
    }
}
