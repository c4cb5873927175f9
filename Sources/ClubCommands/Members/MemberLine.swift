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

    static let keys = """
        JSON keys: userId, username, timeStampAdded, numVisits, timeStampOfLastVisit (seconds since 1970), any custom \
        fields, and $status with blocked (why; absent if not blocked), expires, visitsLeft (absent without a limit), \
        notes, tags, cards (id, blocked: why).
        """

    func encode(to encoder: any Encoder) throws {
        let status: JSONObject = [
            "blocked": details.blocked, "expires": details.expires.map(ISO8601.text), "visitsLeft": details.visitsLeft,
            "notes": details.notes, "tags": details.tags,
            "cards": details.cards.map { ["id": $0.id, "blocked": $0.blocked] as JSONObject },
        ]
        let joined: JSONObject? = joined.map {
            ["carried": $0.carried, "notCarried": $0.notCarried, "fieldsNotCarried": $0.fieldsNotCarried]
        }
        try JSONObject(details.member, ["$status": status, "$joined": joined]).encode(to: encoder)
    }

    var text: String {
        let member = details.member
        var rows = [
            ("userId", member.userId), ("name", member.username ?? ""),
            ("visits", Count.grouped(member.numVisits) + left),
            ("added", member.timeStampAdded == 0 ? "not known" : LocalTime.text(member.timeStampAdded)),
            ("last visit", LocalTime.lastVisit(of: member)),
        ]
        for (name, value) in member.fields.sorted(by: { $0.key < $1.key }) {
            // From a time when a field could have such a name.
            let isMistakable = StandingColumn.named(name) != nil || rows.contains { $0.0 == name }
            rows.append((isMistakable ? "own field '\(name)', without effect" : name, value.cellText ?? "-"))
        }
        if let reason = details.blocked { rows.append(("blocked", reason.isEmpty ? "yes" : reason)) }
        if let expires = details.expires {
            let isOver = expires <= Date()
            rows.append((isOver ? "expired" : "expires", LocalTime.text(expires)))
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
    var shellWord: String {
        let isPlain = allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.:@/".contains($0)) }
        return isPlain && !isEmpty && !hasPrefix("-") ? self : "'" + replacingOccurrences(of: "'", with: "'\\''") + "'"
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

/// A command that shows a member as they are after a change.
protocol MemberDisplay: ClubCommand {
    /// What names the member: mostly an argument of that name.
    var member: String { get }

    func message(_ details: MemberDetails) -> String

    /// The message if the member is as before, where that means that nothing was written.
    func unchanged(_ details: MemberDetails) -> String?
}

extension MemberDisplay {
    func unchanged(_ details: MemberDetails) -> String? { nil }

    /// Does the work, and shows the member as they are then.
    func show(_ club: Club, _ out: Output, after work: () async throws -> Member) async throws {
        let before = try await club.details(of: member)
        let changed: Member
        do {
            changed = try await work()
        } catch let error as ClubError where error.kind == .noSuchMember {
            throw MissingMember(key: member)
        }
        guard let details = try await club.details(of: changed.userId) else { return }
        let words = before == details ? unchanged(details) : nil
        try out.result(MemberLine(details: details), text: words ?? message(details))
    }
}

/// A command that changes a member, and shows them as they are then.
protocol MemberChange: MemberDisplay {
    func change(_ club: Club, _ out: Output) async throws -> Member
}

extension MemberChange {
    func perform(_ club: Club, _ out: Output) async throws {
        try await show(club, out) { try await change(club, out) }
    }
}

extension MemberDetails {
    var caption: String { member.caption }
}
