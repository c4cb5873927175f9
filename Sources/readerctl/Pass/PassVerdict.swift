import Foundation
import ReaderKit
import ToolSupport

/// What passes are worth at a place, and what is said of it.
struct PassVerdict: Encodable, Sendable {
    var event: String
    var at: String?
    var reader: String?
    var card: String
    var uid: String?
    var uidKind: CardUID.Kind?
    var wallet: WalletLine?
    var passes: [Pass]
    var memberKey: String?
    var memberName: String?
    var problems: [ScanEvent.Problem]

    /// Whether a pass stands for a member.
    var isAccepted: Bool { memberKey != nil }

    init(_ event: String, _ reading: CardReading) {
        self.event = event
        card = reading.card
        uid = reading.uid?.hex
        uidKind = reading.uid?.kind
        wallet = reading.wallet.flatMap(WalletLine.init)
        passes = reading.passes
        memberKey = reading.member?.key
        memberName = reading.member?.name
        problems = reading.problems
    }

    /// For people.
    var text: String {
        var lines = [InfoLine("card", card)]
        if let reader { lines.insert(InfoLine("reader", reader), at: 0) }
        if let uid { lines.append(InfoLine("uid", "\(uid) (\(uidKind?.rawValue ?? "unknown"))")) }
        lines += wallet?.lines ?? []
        for pass in passes {
            let name = pass.name.map { " (\($0))" } ?? ""
            let kind = pass.kind.rawValue + (pass.type.map { " (\($0))" } ?? "")
            lines.append(InfoLine("pass", "\(kind) \(pass.id)\(name), \(pass.assurance.rawValue)"))
        }
        lines += problems.map { InfoLine("problem", $0.message) }
        lines.append(InfoLine("result", memberKey.map { "accepted: \($0)" } ?? "not accepted: nobody is named"))
        return lines.map { "  " + $0.name.padding(toLength: 11, withPad: " ", startingAt: 0) + $0.value }
            .joined(separator: "\n")
    }
}

/// What a phone answered.
struct WalletLine: Encodable, Sendable {
    /// `apple`, `google`, or the label of another one.
    var kind: String
    var version: String?
    /// The kinds of passes that were asked for, with the answers.
    var asked: [Answer]?
    /// What the last status of Smart Tap means.
    var status: String?
    /// The kinds of objects that Smart Tap gave.
    var objects: [String]?

    struct Answer: Encodable, Sendable {
        var passTypeIdentifier: String
        var answer: String
        var madeAt: String?
    }

    init?(_ report: WalletReport) {
        switch report {
        case .apple(let outcome):
            kind = "apple"
            version = outcome.application.map { "\($0.version.major).\($0.version.minor)" }
            asked = outcome.findings.map(Answer.init)
        case .google(let finding):
            kind = "google"
            status = finding.status?.meaning
            objects = finding.objects.map(\.kind.rawValue)
        case .other(let label): kind = ["ApplePay": "apple", "AndroidPay": "google"][label] ?? label
        case .absent, .malformed: return nil
        }
    }

    var lines: [InfoLine] {
        var lines = [InfoLine("wallet", kind + (version.map { ", version \($0)" } ?? ""))]
        lines += (asked ?? []).map { answer in
            let time = answer.madeAt.map { ", made at \($0)" } ?? ""
            return InfoLine("asked", "\(answer.passTypeIdentifier): \(answer.answer)\(time)")
        }
        if let status { lines.append(InfoLine("status", status)) }
        if let objects, !objects.isEmpty { lines.append(InfoLine("objects", objects.joined(separator: ", "))) }
        return lines
    }
}

extension WalletLine.Answer {
    init(_ finding: AppleVASReader.Finding) {
        passTypeIdentifier = finding.passTypeIdentifier
        madeAt = finding.message.map { ISO8601.text($0.at) }
        answer =
            switch finding.answer {
            case .pass: finding.message == nil ? "a pass that does not open" : "a pass"
            case .noData: "nothing"
            case .noSuchPass: "no such pass"
            case .locked: "a pass, but the phone is locked"
            case .needsUser: "the phone wants its owner to choose"
            case .refused(let status): "refused (\(status))"
            case nil: "a malformed answer"
            }
    }
}
