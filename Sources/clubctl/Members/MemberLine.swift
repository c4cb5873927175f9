import ArgumentParser
import ClubKit
import Foundation
import ReaderKit
import ToolSupport

/// What the tool shows of a member.
///
/// In JSON the five base values and the custom fields stand at the top, where a list has them too; what else the club
/// keeps of the member is the object `$status`, a name that no custom field can have.
struct MemberLine: Encodable, Sendable {
    var details: MemberDetails
    /// What became of somebody who was just joined to the member.
    var joined: JoinReport?

    /// The keys, for help texts.
    static let keys = """
        JSON keys: userId, username, timeStampAdded, numVisits, timeStampOfLastVisit (seconds since 1970), any custom \
        fields, and $status with blocked (why; absent if not blocked), expires, visitsLeft (absent without a limit), \
        notes, tags, cards (id, blocked: why).
        """

    private enum CodingKeys: String, CodingKey {
        case status = "$status"
        case joined = "$joined"
    }

    private struct Status: Encodable {
        var blocked: String?
        var expires: String?
        var visitsLeft: Int?
        var notes: String?
        var tags: [String]
        var cards: [Card]
    }

    private struct Card: Encodable {
        var id: String
        var blocked: String?
    }

    private struct Joined: Encodable {
        var carried: [JoinReport.Part]
        var notCarried: [JoinReport.Part]
        var fieldsNotCarried: [String]
    }

    func encode(to encoder: any Encoder) throws {
        try details.member.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        let status = Status(
            blocked: details.blocked,
            expires: details.expires.map(ISO8601.text),
            visitsLeft: details.visitsLeft,
            notes: details.notes,
            tags: details.tags,
            cards: details.cards.map { Card(id: $0.id, blocked: $0.blocked) }
        )
        try container.encode(status, forKey: .status)
        let joined = joined.map {
            Joined(carried: $0.carried, notCarried: $0.notCarried, fieldsNotCarried: $0.fieldsNotCarried)
        }
        try container.encodeIfPresent(joined, forKey: .joined)
    }

    /// All of it, for people.
    var text: String {
        let member = details.member
        var rows = [
            ("userId", member.userId), ("name", member.username ?? ""),
            ("visits", Count.grouped(member.numVisits) + left),
            ("added", member.timeStampAdded == 0 ? "not known" : LocalTime.text(member.timeStampAdded)),
            ("last visit", LocalTime.lastVisit(of: member)),
        ]
        for (name, value) in member.fields.sorted(by: { $0.key < $1.key }) {
            rows.append((name, value.cellText ?? "-"))
        }
        if let reason = details.blocked { rows.append(("blocked", reason.isEmpty ? "yes" : reason)) }
        if let expires = details.expires {
            let isOver = expires <= Date()
            rows.append((isOver ? "expired" : "expires", LocalTime.text(expires.timeIntervalSince1970)))
        }
        if !details.tags.isEmpty { rows.append(("tags", details.tags.joined(separator: ", "))) }
        for card in details.cards where details.cards.count > 1 || card.blocked != nil {
            let note = card.blocked.map { "  blocked" + ($0.isEmpty ? "" : ": \($0)") } ?? ""
            rows.append(("card", card.id + note))
        }
        for line in (details.notes ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        where details.notes != nil {
            rows.append(("notes", String(line)))
        }
        let width = max(10, rows.map(\.0.count).max() ?? 0)
        return rows.map { ($0.0.padded(to: width) + "  " + $0.1.onOneLine).trimmedEnd }.joined(separator: "\n")
    }

    private var left: String {
        details.visitsLeft.map { $0 == 1 ? ", 1 is left" : ", \(Count.grouped($0)) are left" } ?? ""
    }
}

extension Member {
    /// The name and the identifier, for sentences.
    var caption: String {
        let name = (username ?? "").onOneLine
        return name.isEmpty ? userId : "\(name) (\(userId))"
    }
}

extension LocalTime {
    /// When the latest visit was, `never` without one.
    static func lastVisit(of member: Member) -> String {
        member.timeStampOfLastVisit == 0 ? "never" : text(member.timeStampOfLastVisit)
    }
}

extension String {
    /// As a word of a shell's command line.
    var shellWord: String {
        let isPlain = allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:@/".contains($0)) }
        return isPlain && !isEmpty && !hasPrefix("-") ? self : "'" + replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    /// Without spaces at the end.
    var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// A table of members, one a line, as they come.
struct MemberTable: Sendable {
    let output: Output

    func begin() throws {
        try output.text("member".padded(to: 20) + "  visits  last visit           name")
    }

    func add(_ member: Member) throws {
        let visits = String(member.numVisits).padded(onTheLeftTo: 6)
        let last = LocalTime.lastVisit(of: member).padded(to: 19)
        let name = (member.username ?? "").onOneLine
        try output.result(member, text: "\(member.userId.padded(to: 20))  \(visits)  \(last)  \(name)".trimmedEnd)
    }
}

/// Options and steps that commands about one member have in common.
extension DatabaseOptions {
    /// Changes a member, and shows them as they are then.
    ///
    /// - Parameter unchanged: what to say if they are as they were, where that means that nothing was written.
    func change(
        _ key: String,
        _ out: Output,
        _ message: (Member) -> String,
        more: (MemberDetails) -> String = { _ in "" },
        unchanged: ((Member) -> String)? = nil,
        _ work: (Club) async throws -> Member,
        then: (Club, Member) async throws -> Void = { _, _ in }
    ) async throws {
        try await out.tellingErrors {
            try await withClub { club in
                let before = unchanged == nil ? nil : try await club.details(of: key)
                let member: Member
                do {
                    member = try await work(club)
                } catch let error as ClubError where error.kind == .noSuchMember {
                    throw MissingMember(key: key)
                }
                guard let details = try await club.details(of: member.userId) else { return }
                var said = message(member)
                if let unchanged, before == details { said = unchanged(member) }
                try out.result(MemberLine(details: details), text: said + more(details))
                try await then(club, member)
            }
        }
    }
}
