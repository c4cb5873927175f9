import Foundation

/// Whose events and executions are counted, as the store names it.
struct SubjectKey: Sendable, Hashable {
    typealias Kind = TransferRecord.Subject.Kind

    var kind: Kind
    /// A ``Member/userId``, a tag, or the identifier of a device.
    var text: String
    /// The time of a member's latest deletion: what was recorded under an earlier creation counts no more.
    var ended: Int64 = -1
    /// The time of the creation under which something is recorded now; 0 for whoever is not created.
    var born: Int64 = 0

    init(_ kind: Kind, _ text: String, ended: Int64 = -1, born: Int64 = 0) {
        self.kind = kind
        self.text = text
        self.ended = ended
        self.born = born
    }

    init(_ row: MemberRow) {
        self.init(.member, row.member.userId, ended: row.ended, born: row.origin.time)
    }

    /// The values for `kind = ? AND subject = ?`.
    var values: [BoundValue] { [.text(kind.rawValue), .text(text)] }

    /// Whom it means to an application.
    var subject: ScenarioSubject {
        switch kind {
        case .member: .member(text)
        case .group: .group(text)
        case .kiosk: .kiosk
        }
    }
}
