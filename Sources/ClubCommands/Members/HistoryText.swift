import ClubKit
import Foundation
import ReaderKit

// A history in words for people, in the time zone of this machine and without JSON.

extension FormerValue {
    /// Until when it was the value. What is not known comes first.
    var end: Date { until ?? Date(timeIntervalSince1970: 0) }

    var text: String {
        let time = until.map { LocalTime.text($0) } ?? "(not known when)   "
        let said = saidAt.map { " \(LocalTime.text($0))" } ?? ""
        let who = device.map { "device \($0.uuidString)" } ?? "a file"
        return "\(time)  was            \(FieldValue.label(name)) \(value.words), said\(said) by \(who)"
    }
}

extension FieldValue {
    static func label(_ name: String) -> String {
        switch name {
        case "username": "name"
        case "$notes": "notes"
        default: name
        }
    }

    /// The value in words; `-` for none.
    var words: String {
        switch self {
        case .bool(let value): value ? "yes" : "no"
        case .array(let values): values.isEmpty ? "-" : values.map(\.part).joined(separator: ", ")
        case .object(let values):
            values.isEmpty
                ? "-"
                : values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.part)" }.joined(separator: ", ")
        default: cellText.flatMap { $0.isEmpty ? nil : $0 } ?? "-"
        }
    }

    private var part: String {
        switch self {
        case .array(let values) where values.count > 1: "(\(words))"
        case .object(let values) where !values.isEmpty: "(\(words))"
        default: words
        }
    }
}

extension Visit {
    var text: String {
        var text = "\(LocalTime.text(at))  visit          "
        text += source == .manual ? "by hand" : reader
        if let reason { text += ": \(reason)" }
        if let actor { text += " (\(actor))" }
        if let undoing {
            let who = undoing.actor.map { " by \($0)" } ?? ""
            text += "; undone\(who)\(undoing.reason.map { ": \($0)" } ?? "")"
        }
        return text + "  [\(id.uuidString)]"
    }
}

extension AuditEntry {
    var reason: String? {
        if case .string(let text) = detail["reason"] { text } else { nil }
    }

    /// What is kept of it besides the reason, with times as they are written.
    var particulars: [String: FieldValue] {
        var values = detail.filter { $0.key != "reason" }
        if action == .setExpiry, let time = expiry { values["expires"] = .string(ISO8601.text(time)) }
        // The reason of a block is what is shown at the reader.
        if action == .blocked, values["blocked"] == detail["reason"] { values["blocked"] = nil }
        return values
    }

    private var expiry: Date? {
        guard case .int(let time) = detail["expires"] else { return nil }
        return Date(timeIntervalSince1970: Double(time) / 1_000_000)
    }

    /// A line for people, of a member or with the name of the member.
    func text(naming: Bool) -> String {
        var text = "\(LocalTime.text(at))  \(action.words.padded(to: 13))  "
        if naming, let subject { text += "\(subject)  " }
        let told = told
        text += told.joined(separator: ", ")
        if let reason { text += "\(told.isEmpty ? "" : ": ")\(reason)" }
        if let actor { text += "  (\(actor))" }
        return text.onOneLine.trimmedEnd
    }

    private var told: [String] {
        let values = particulars
        if action == .replacedCard, let old = values["old"], let new = values["new"] {
            return ["\(new.words) in place of \(old.words)"]
        }
        return values.sorted { $0.key < $1.key }.compactMap { told($0.key, $0.value) }
    }

    private func told(_ name: String, _ value: FieldValue) -> String? {
        switch (name, value) {
        case ("expires", _): return expiry.map { LocalTime.text($0) } ?? "no end"
        case ("before", .string(let text)):
            let time = ISO8601.date(text)
            return "before \(time.map { LocalTime.text($0) } ?? text)"
        // Whether somebody is blocked follows from the action.
        case ("blocked", .null), ("blocked", .string("")): return nil
        case ("tags", .array([])): return "none"
        case ("tags", _), ("card", _): return value.words
        case ("fields", .array(let names)):
            return names.map { FieldValue.label($0.words) }.joined(separator: ", ")
        case ("distinctFrom", _): return "another person than \(value.words)"
        case ("carried", _): return "carried over: \(Self.parts(value))"
        case ("notCarried", _): return "not carried over: \(Self.parts(value))"
        case ("fieldsNotCarried", _): return "fields not carried over: \(value.words)"
        default: return "\(name) \(value.words)"
        }
    }

    private static func parts(_ value: FieldValue) -> String {
        guard case .array(let names) = value else { return value.words }
        return names.map { JoinReport.Part(rawValue: $0.words)?.words ?? $0.words }.joined(separator: ", ")
    }
}

extension AuditEntry.Action {
    /// The name as words: "recorded visit".
    var words: String {
        rawValue.reduce(into: "") { words, letter in
            words += letter.isUppercase ? " " + letter.lowercased() : String(letter)
        }
    }
}
