import ReaderKit

/// The ASCII mirror of an NTAG: identifier and counter, shown in place of what is in memory.
struct NTAGMirror {
    /// Where it begins, counted in bytes from page 0; `nil` is no mirror.
    private(set) var place: Int?
    private(set) var showsIdentifier = false
    private(set) var showsCounter = false

    /// No mirror.
    init() {}

    /// The mirror of CFG0: bits 7 and 6 say what, bits 5 and 4 from which byte of the page in the third byte.
    init(_ model: SimulatedNTAG.Model, _ configuration: [UInt8]) {
        guard model.family == .ntag, configuration.count == 4 else { return }
        // Chips without a counter show the identifier wherever a page is named.
        showsIdentifier = configuration[0] & 0x40 != 0 || !model.countsReads
        showsCounter = configuration[0] & 0x80 != 0 && model.countsReads
        let length = (showsIdentifier ? 14 : 0) + (showsIdentifier && showsCounter ? 1 : 0) + (showsCounter ? 6 : 0)
        let place = Int(configuration[2]) * 4 + Int(configuration[0] >> 4 & 3)
        // It is no mirror where it begins before user memory or does not end within it.
        guard length > 0, configuration[2] > 3, place + length <= (model.lastUserPage + 1) * 4 else { return }
        self.place = place
    }
}

extension NTAGState {
    /// What a mirror shows now.
    struct ShownMirror {
        var place = 0
        var text: [UInt8] = []

        /// A page with what is mirrored into it.
        func over(_ bytes: ArraySlice<UInt8>, _ page: Int) -> [UInt8] {
            bytes.enumerated().map { index, byte in
                let place = page * 4 + index - place
                return text.indices.contains(place) ? text[place] : byte
            }
        }
    }

    var mirror: ShownMirror {
        let mirror = configuration.mirror
        guard let place = mirror.place else { return ShownMirror() }
        var text = mirror.showsIdentifier ? Array(uid.hex.utf8) : []
        // A counter that is switched off, or that may not be read, is not shown; memory is.
        if mirror.showsCounter, configuration.countsReads, isAuthenticated || !configuration.protectsCounter {
            let value = counters[2]
            let bytes = [UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
            text += (mirror.showsIdentifier ? Array("x".utf8) : []) + Array(bytes.hex.utf8)
        }
        return ShownMirror(place: place, text: text)
    }
}
