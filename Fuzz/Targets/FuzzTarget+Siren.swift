import SirenKit

extension FuzzTarget {
    /// A document comes back from its encoding, strict and lenient reading agree, and GUIDs are unique.
    static func runSiren(_ bytes: [UInt8]) throws(FuzzFinding) {
        let end = bytes.firstIndex(of: 0x0A) ?? bytes.endIndex
        let path = String(decoding: bytes[..<end], as: UTF8.self)
        let text = Array(bytes[end...].dropFirst())
        let strict = try? SirenDocument(decoding: text, .strict)
        guard let document = try? SirenDocument(decoding: text) else {
            return try require(strict == nil, "what cannot be read leniently is not read strictly")
        }
        try require((strict != nil) == document.violations.isEmpty, "strict reading refuses what has violations")
        for violation in document.violations {
            let isLine = violation.path.hasPrefix("$") && !violation.description.contains { $0.isNewline }
            try require(isLine, "a violation is a line with a path")
        }
        if let encoded = try? document.entity.encoded() {
            let again = try unfailing("what is written is read") { try SirenDocument(decoding: encoded) }
            try require(again.entity == document.entity, "an entity comes back from its encoding")
            try require(!again.violations.contains(where: \.rule.isOfSchema), "the schema accepts what is written")
        } else {
            let violations = document.violations
            let isExplained = violations.contains(where: \.rule.isOfSchema) || violations.count == 1000
            try require(isExplained, "what the schema accepts is written")
        }
        let mapping = (try? SirenGUIDMapping(["": path])) ?? SirenGUIDMapping()
        let guids = mapping.identities(in: document.entity, base: nil).all.compactMap(\.guid)
        try require(Set(guids).count == guids.count, "no two entities have one GUID")
    }
}
