extension Type2Tag {
    /// Reads all pages. A password or key is never shown, even where a chip would give it.
    ///
    /// - Throws: ``TagError`` if the link to the tag fails.
    public mutating func dump() throws(TagError) -> TagDump {
        try open()
        let header = try memory.readWholeHeader()
        let place = try? readContainer()
        let product = try memory.identify()
        var parts: [TagDump.Part] = []
        let notes = [
            "identifier", "identifier", "check byte, internal byte, static lock bytes", "capability container",
        ]
        for (page, note) in notes.enumerated() {
            parts.append(.init("page \(page)", Array(header[4 * page..<4 * page + 4]), note: note))
        }
        let end = product?.pages ?? Type2Memory.lastPage + 1
        for page in 4..<end {
            let name = "page \(page)"
            if let secret = product?.secret(page) {
                parts.append(.init(name, nil, note: secret))
                continue
            }
            guard try memory.gives(page) else {
                // Without knowing the chip, the first page that is missing is taken for the end.
                if product == nil { break }
                parts.append(.init(name, nil, note: "protected"))
                continue
            }
            let dataEnd = place.map { $0.area.end / 4 } ?? 4
            let note = product?.note(page) ?? (page < dataEnd ? "data" : nil)
            parts.append(.init(name, Array(try memory.page(page)), note: note))
        }
        return TagDump(type: .type2, parts: parts)
    }
}

extension Type2Product {
    /// Why a page is never shown, or `nil`.
    func secret(_ page: Int) -> String? {
        if let first = configurationPage {
            if page == first + 2 { return "password, never shown" }
            if page == first + 3 { return "password acknowledgement, never shown" }
        }
        if let pages = authenticationPages, page > pages.lowerBound + 2, pages.contains(page) {
            return "key, never shown"
        }
        return nil
    }

    /// What a page behind user memory is for, or `nil`.
    func note(_ page: Int) -> String? {
        if page == dynamicLocks?.page { return "dynamic lock bytes" }
        if page == configurationPage || page == configurationPage.map({ $0 + 1 }) { return "configuration" }
        guard let pages = authenticationPages, pages.contains(page) else { return nil }
        return page == pages.lowerBound ? "counter" : "authentication settings"
    }
}
