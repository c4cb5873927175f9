import CardPasses
import Foundation

/// What stands in a club's file before what.
struct RecordOrder {
    private var salt: Data?
    private var salts = 0
    private var isBehindErasures = false

    /// Why a record cannot be taken where it stands.
    mutating func fault(of record: TransferRecord) -> RowFault? {
        guard case .erasure(let erasure) = record else {
            isBehindErasures = true
            return nil
        }
        if isBehindErasures { return RowFault(nil, "expected erasures before all other records") }
        guard erasure.salt != salt else { return nil }
        if let salt, erasure.salt.lexicographicallyPrecedes(salt) {
            return RowFault("salt", "expected erasures in the order of their salts")
        }
        guard salts < ClubFile.mostSalts else {
            return RowFault("salt", "expected the erasures of at most \(ClubFile.mostSalts) devices")
        }
        salts += 1
        salt = erasure.salt
        return nil
    }
}

extension MemberFacts {
    /// Of what the member has more than ``ClubFile/mostParts``, by its name in a club's file.
    package var overfull: String? {
        let most = ClubFile.mostParts
        if births.count > most { return "births" }
        if claims.count > most { return "claims" }
        if packs.count > most { return "packs" }
        if removals.count > most { return "removals" }
        return values.count > most ? "values" : nil
    }
}

extension MemberFacts {
    /// The first value of which a version, or the name, has a NUL.
    fileprivate var nameWithNUL: String? {
        values.filter { name, versions in name.hasNUL || versions.contains { $0.value.hasNUL } }.keys.min()
    }

    /// Whether all that the member was recorded as joined to can be somebody's identifier.
    fileprivate var isJoinedToUsable: Bool {
        (values[SystemValues.Name.mergedInto] ?? []).allSatisfy { version in
            if case .string(let userID) = version.value { MemberID.isUsable(userID) } else { true }
        }
    }
}

extension TransferRecord {
    /// The part of the record that has a NUL. Identifiers have none if they are usable.
    private var partWithNUL: String? {
        func first(_ texts: KeyValuePairs<String, String?>) -> String? { texts.first { $0.value?.hasNUL == true }?.key }
        switch self {
        case .member(let person): return person.facts.nameWithNUL
        case .card(let card): return first(["blocked": card.blocked])
        case .visit(let visit):
            return first([
                "reader": visit.reader, "backend": visit.backend, "reason": visit.reason, "actor": visit.actor,
            ])
        case .undo(let undo): return first(["reason": undo.reason, "actor": undo.actor])
        case .erasure: return nil
        case .reset(let reset): return first(["subject": reset.subject.text, "scenario": reset.scenario])
        case .event(let event): return first(["subject": event.subject.text, "name": event.name])
        case .execution(let one): return first(["subject": one.subject.text, "scenario": one.scenario])
        case .settlement(let one): return first(["reason": one.reason, "actor": one.actor])
        case .audit(let entry):
            return first(["actor": entry.actor, "action": entry.action, "subject": entry.subject])
                ?? (entry.detail?.nameWithNUL == nil ? nil : "detail")
        }
    }

    /// Why the record cannot be taken, although it could be decoded.
    var fault: RowFault? { textFault ?? valueFault }

    private var textFault: RowFault? {
        if let part = partWithNUL { return .nul(part) }
        guard case .member(let person) = self, !person.facts.isJoinedToUsable else { return nil }
        return RowFault(SystemValues.Name.mergedInto, RowFault.badIdentifier.reason)
    }

    private var valueFault: RowFault? {
        func isTime(_ time: Int64) -> Bool { (0...Timestamp.latest).contains(time) }
        let time = RowFault("at", "expected microseconds since 1970, up to the year 9999")
        switch self {
        case .member(let person):
            if !MemberID.isUsable(person.userId) { return .badIdentifier }
            let facts = person.facts
            if let name = facts.overfull { return RowFault(name, "expected at most \(ClubFile.mostParts)") }
            let tallies = facts.removals.flatMap(\.tallies)
            let times =
                facts.births.map(\.at) + facts.claims.map(\.at) + facts.removals.map(\.latest)
                + tallies.flatMap { [$0.from, $0.until] }
            if !times.allSatisfy(isTime) { return time }
            // What the club keeps among the values as numbers, in all versions, since each may become the latest.
            func isMoment(_ time: Int64) -> Bool { (0..<Stamp.latestTime).contains(time) }
            guard facts.removals.map(\.born).allSatisfy(isMoment) else {
                return RowFault("removals", "expected a moment of a clock")
            }
            for case .int(let value) in (facts.values[SystemValues.Name.expires] ?? []).map(\.value)
            where !isTime(Int64(value)) { return RowFault(SystemValues.Name.expires, time.reason) }
            for case .int(let value) in (facts.values[SystemValues.Name.packsFrom] ?? []).map(\.value)
            where !isMoment(Int64(value)) {
                return RowFault(SystemValues.Name.packsFrom, "expected a moment of a clock")
            }
            let removed = facts.removals.flatMap { [$0.visits, $0.bought] } + tallies.map(\.visits)
            let carried = facts.values.filter { SystemValues.Name.isCarried($0.key) }.values.joined()
                .compactMap { if case .int(let visits) = $0.value { visits } else { nil } }
            let counts = facts.claims.map(\.visits) + facts.packs.map(\.visits) + removed + carried
            return counts.allSatisfy { (0...NumberText.mostVisits).contains($0) } ? nil : .visits("visits", .tooLarge)
        case .card(let card):
            return MemberID.isUsable(card.cardId) && MemberID.isUsable(card.userId) ? nil : .badIdentifier
        case .visit(let visit):
            if !MemberID.isUsable(visit.userId) { return .badIdentifier }
            if visit.stamp.isLegacy { return RowFault("stamp", "expected the device of a visit") }
            if ClubRecords.Visit.Source(rawValue: visit.source) == nil {
                return RowFault("source", "expected card or manual")
            }
            return isTime(visit.at) ? nil : time
        case .undo(let undo): return isTime(undo.at) ? nil : time
        case .reset(let reset): return reset.subject.fault ?? RowFault.name(reset.scenario, "scenario")
        case .event(let event):
            return event.subject.fault ?? RowFault.name(event.name, "name") ?? (isTime(event.at) ? nil : time)
        case .execution(let one):
            if let fault = one.subject.fault ?? RowFault.name(one.scenario, "scenario") { return fault }
            guard (1...NumberText.mostVisits).contains(one.number) else {
                return RowFault("number", "expected a number from 1 to \(NumberText.mostVisits)")
            }
            return isTime(one.at) ? nil : time
        case .settlement(let one):
            let state = ScenarioExecution.State(rawValue: one.state)
            if state == nil || state == .charged {
                return RowFault("state", "expected delivered, refunded or redeemed")
            }
            return isTime(one.at) ? nil : time
        case .erasure(let erasure):
            return erasure.hash.count == 32 && !erasure.salt.isEmpty && erasure.salt.count <= 256
                ? nil : RowFault("hash", "expected a keyed hash of 32 bytes")
        case .audit(let entry):
            guard entry.detail?.count ?? 0 <= ClubFile.mostParticulars else {
                return RowFault("detail", "expected at most \(ClubFile.mostParticulars) particulars")
            }
            return isTime(entry.at) ? nil : time
        }
    }
}

extension TransferRecord.Subject {
    fileprivate var fault: RowFault? {
        switch Kind(rawValue: kind) {
        case .member: MemberID.isUsable(text) ? nil : .badIdentifier
        case .group: RowFault.name(text, "subject")
        case .kiosk: UUID(uuidString: text) != nil ? nil : RowFault("subject", "expected the identifier of a device")
        case nil: RowFault("subject", "expected member, group or kiosk")
        }
    }
}

extension RowFault {
    static let tooLong = RowFault(nil, "expected a line of \(ClubFile.longestLine) bytes at most; shorten the values")

    /// Why a text is no name, if it is none.
    fileprivate static func name(_ text: String, _ field: String) -> RowFault? {
        // Longer ones than anybody enters; what the club adds itself begins with a control character.
        guard (1...1000).contains(text.utf8.count) else { return RowFault(field, "expected 1 to 1000 bytes") }
        let hasControls = text.unicodeScalars.dropFirst().contains(where: PlainText.isControl)
        return hasControls ? RowFault(field, "expected no control characters") : nil
    }
}
