import CardCore
import CardPasses
import Cryptography
import Foundation

/// What the club itself keeps among a member's values.
package struct SystemValues {
    package var blocked: String?
    package var expiresAt: Int64?
    package var notes: String?
    /// In order.
    package var tags: [String] = []
    package var mergedInto: String?
    /// Those that still count.
    package var packs: [MemberFacts.Pack]

    package enum Name {
        package static let blocked = "$blocked"
        package static let expires = "$expires"
        package static let notes = "$notes"
        package static let mergedInto = "$mergedInto"
        package static let packsFrom = "$packsFrom"

        private static let tagMark = "$tag:"
        private static let carriedMark = "$carried:"

        /// The name of the value that contains how many bought visits came from a member who joined. It is the same on
        /// every device, so that two desks that join the same pair before they learn of one another carry them
        /// over once.
        package static func carried(from userID: String) -> String {
            carriedMark + SHA256.hash(userID.utf8).prefix(8).hex
        }

        static func isCarried(_ name: String) -> Bool { name.hasPrefix(carriedMark) }

        /// The name of the value that reports whether a member has a tag. Each tag is a value of its own, so that two
        /// devices that each add one keep both.
        static func tag(_ tag: String) -> String { tagMark + tag }

        /// The tag that a value is about; `nil` if it is about none that can be shown.
        static func tag(in name: String) -> String? {
            guard name.hasPrefix(tagMark) else { return nil }
            let tag = String(name.dropFirst(tagMark.count))
            return !tag.isEmpty && !tag.unicodeScalars.contains(where: PlainText.isControl) ? tag : nil
        }
    }

    package init(_ facts: MemberFacts) {
        if case .string(let reason) = facts.value(Name.blocked) { blocked = reason }
        // Whoever adds to it or takes from it need not fear an overflow, whatever a file contains.
        if case .int(let time) = facts.value(Name.expires) { expiresAt = min(max(0, Int64(time)), Timestamp.latest) }
        if case .string(let text) = facts.value(Name.notes), !text.isEmpty { notes = text }
        if case .string(let userID) = facts.value(Name.mergedInto) { mergedInto = userID }
        let cut: Int64 = if case .int(let time) = facts.value(Name.packsFrom) { Int64(time) } else { -1 }
        packs = facts.allPacks.filter { $0.stamp.time > cut }
        tags = facts.tags.sorted()
    }
}

extension MemberFacts {
    /// The visits that were bought, and those that came from members who joined, oldest first.
    package var allPacks: [Pack] {
        let carried = values.compactMap { name, versions -> Pack? in
            guard SystemValues.Name.isCarried(name), let latest = versions.first, case .int(let visits) = latest.value
            else { return nil }
            return Pack(latest.stamp, visits: max(0, visits))
        }
        return carried.isEmpty ? packs : (packs + carried).sorted()
    }

    fileprivate var tags: [String] {
        values.compactMap { name, versions in
            versions.first?.value == .bool(true) ? SystemValues.Name.tag(in: name) : nil
        }
    }

    /// Records that the member has a tag, or no longer has it.
    package mutating func setTag(_ tag: String, _ isThere: Bool, _ stamp: Stamp) {
        set(SystemValues.Name.tag(tag), isThere ? .bool(true) : .null, stamp)
    }
}
