import Foundation
import ReaderKit
import ToolSupport

/// What passes are worth at a place, and how that is reported.
struct PassVerdict: Encodable, Sendable {
    private let judgement: PassJudgement
    private let card: String
    private let json: JSONObject
    private let reader: String?

    var isAccepted: Bool { judgement.member != nil }

    init(_ event: String, _ judgement: PassJudgement, card: String, at: Date, reader: String? = nil) {
        (self.judgement, self.card, self.reader) = (judgement, card, reader)
        json = [
            "event": event, "at": ISO8601.text(at), "reader": reader, "card": card, "uid": judgement.uid?.hex,
            "uidKind": judgement.uid?.kind, "wallet": judgement.wallet.flatMap(WalletLine.init)?.json,
            "passes": judgement.passes, "memberKey": judgement.member?.key, "memberName": judgement.member?.name,
            "problems": judgement.problems,
        ]
    }

    func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }

    var text: String {
        var lines: InfoLines = [
            "reader": reader, "card": card, "uid": judgement.uid.map { "\($0.hex) (\($0.kind.rawValue))" },
        ]
        if let wallet = judgement.wallet.flatMap(WalletLine.init) { lines.add(wallet.lines) }
        for pass in judgement.passes {
            let name = pass.name.map { " (\($0))" } ?? ""
            let kind = pass.kind.rawValue + (pass.type.map { " (\($0))" } ?? "")
            lines.add("pass", "\(kind) \(pass.id)\(name), \(pass.assurance.rawValue)")
        }
        for problem in judgement.problems { lines.add("problem", problem.message) }
        lines.add("result", judgement.member.map { "accepted: \($0.key)" } ?? "not accepted: nobody is named")
        return lines.rows().joined(separator: "\n")
    }
}

/// What a phone answered, and which passes and objects it was asked for.
private struct WalletLine {
    let json: JSONObject
    let lines: InfoLines

    init?(_ report: WalletReport) {
        switch report {
        case .apple(let outcome):
            let version = outcome.application.map { "\($0.version.major).\($0.version.minor)" }
            let asked = outcome.findings.map {
                ($0.passTypeIdentifier, Self.words($0), $0.message.map { ISO8601.text($0.at) })
            }
            json = [
                "kind": "apple", "version": version,
                "asked": asked.map { type, answer, time in
                    ["passTypeIdentifier": type, "answer": answer, "madeAt": time] as JSONObject
                },
            ]
            var lines: InfoLines = ["wallet": "apple" + (version.map { ", version \($0)" } ?? "")]
            for (type, answer, time) in asked {
                lines.add("asked", "\(type): \(answer)\(time.map { ", made at \($0)" } ?? "")")
            }
            self.lines = lines
        case .google(let finding):
            let objects = finding.objects.map(\.kind.rawValue)
            json = ["kind": "google", "status": finding.status?.meaning, "objects": objects]
            lines = [
                "wallet": "google", "status": finding.status?.meaning,
                "objects": objects.isEmpty ? nil : objects.joined(separator: ", "),
            ]
        case .other(let label):
            let kind = ["ApplePay": "apple", "AndroidPay": "google"][label] ?? label
            json = ["kind": kind]
            lines = ["wallet": kind]
        case .absent, .malformed: return nil
        }
    }

    private static func words(_ finding: AppleVASReader.Finding) -> String {
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
