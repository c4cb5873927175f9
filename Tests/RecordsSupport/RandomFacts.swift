import ClubRecords
import Foundation
import TestSupport

extension SeededNumbers {
    package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }
}

/// Facts of which many contradict each other: few times, few devices, few values.
package enum RandomFacts {
    package static let devices = (1...3).map { UUIDSource.uuid(UInt64($0)) } + [Stamp.legacyDevice]

    package static func stamp(_ random: inout SeededNumbers) -> Stamp {
        let time = Int64.random(in: 1...12, using: &random)
        let device = random.pick(devices)
        return device == Stamp.legacyDevice ? .legacy(at: time * 1000) : Stamp(time: time << 16, device: device)
    }

    package static func value(_ random: inout SeededNumbers, depth: Int = 0) -> FieldValue {
        switch Int.random(in: 0..<(depth < 2 ? 10 : 8), using: &random) {
        case 0: .null
        case 1: .string("")
        case 2: .bool(random.chance(50))
        case 3: .int(Int.random(in: 0...2, using: &random))
        case 4: .double(random.pick([0, 1, 0.5, 1e300, -0.0]))
        case 5: .string("e\u{301}")
        case 6: .string("\u{E9}")
        case 7: .string(random.pick(["Ann", "Bob", "A\nB", "\u{0}", "\u{1F600}"]))
        case 8: .array((0..<Int.random(in: 0...2, using: &random)).map { _ in value(&random, depth: depth + 1) })
        default: .object([random.pick(["a", "e\u{301}", "\u{E9}"]): value(&random, depth: depth + 1)])
        }
    }

    package static func tallies(_ random: inout SeededNumbers) -> [MemberFacts.Removal.Tally] {
        (0..<Int.random(in: 0...2, using: &random)).map { _ in
            MemberFacts.Removal.Tally(
                from: Int64.random(in: 1...3, using: &random),
                until: Int64.random(in: 4...6, using: &random),
                visits: Int.random(in: 0...3, using: &random)
            )
        }
    }

    /// One that is exact, or within some microseconds, or not known.
    package static func moment(_ random: inout SeededNumbers) -> Moment {
        let at = Int64.random(in: 0...5, using: &random)
        let margins = (0...2 as ClosedRange<Int64>)
        return random.chance(70)
            ? Moment(at)
            : Moment(at, before: .random(in: margins, using: &random), after: .random(in: margins, using: &random))
    }

    package static func facts(_ random: inout SeededNumbers) -> MemberFacts {
        var facts = MemberFacts()
        for _ in 0..<Int.random(in: 0...14, using: &random) {
            let stamp = stamp(&random)
            switch Int.random(in: 0..<13, using: &random) {
            case 0, 1: facts.add(MemberFacts.Birth(stamp, at: Int64.random(in: 0...5, using: &random)))
            case 2, 3, 4, 5:
                let name = random.pick(["username", "city", "e\u{301}", "\u{E9}", "$blocked"])
                facts.set(name, value(&random), stamp)
            case 6, 7, 8:
                facts.add(
                    MemberFacts.Claim(
                        visits: Int.random(in: 0...4, using: &random),
                        moment: moment(&random),
                        stamp: stamp
                    )
                )
            case 9: facts.add(MemberFacts.Pack(stamp, visits: Int.random(in: 1...3, using: &random)))
            case 10, 11:
                guard !stamp.isLegacy else { continue }
                facts.add(
                    MemberFacts.Removal(
                        stamp,
                        born: self.stamp(&random).time,
                        visits: Int.random(in: 0...3, using: &random),
                        bought: Int.random(in: 0...2, using: &random),
                        latest: Int64.random(in: 0...5, using: &random),
                        tallies: tallies(&random)
                    )
                )
            default:
                guard !stamp.isLegacy else { continue }
                if random.chance(30) { facts.erase(stamp) } else if random.chance(60) { facts.delete(stamp) }
            }
        }
        return facts
    }
}

/// Records of which many of one key contradict each other.
package enum RandomRecords {
    package static let kinds = TransferRecord.CodingKeys.allCases

    /// So many pairs are joined.
    package static let pairs = rounds(2000).count

    /// A record of a kind; those of one number have one key.
    package static func record(
        _ kind: TransferRecord.CodingKeys,
        _ number: Int,
        _ random: inout SeededNumbers
    ) -> TransferRecord {
        let id = UUIDSource.uuid(UInt64(1_000_000 + number))
        switch kind {
        case .member: return .member(.init(userId: "M\(number)", facts: RandomFacts.facts(&random)))
        case .card:
            let holder = "H\(number)" + random.pick(["", "e\u{301}", "\u{E9}"])
            return .card(.init(cardId: "C\(number)", userId: holder, blocked: text(&random), stamp: stamp(&random)))
        case .visit:
            return .visit(
                .init(
                    eventID: id,
                    stamp: stamp(&random),
                    userId: "V\(number)" + random.pick(["", "e\u{301}", "\u{E9}"]),
                    at: time(&random),
                    reader: random.pick(["", "Desk"]),
                    backend: random.pick(["pcsc", "nfc"]),
                    born: born(&random),
                    source: random.pick(["card", "manual"]),
                    reason: text(&random),
                    actor: text(&random)
                )
            )
        case .undo:
            let stamp = stamp(&random)
            return .undo(
                .init(eventID: id, stamp: stamp, at: time(&random), reason: text(&random), actor: text(&random))
            )
        case .reset: return .reset(.init(subject: .init("group", "g\(number)"), scenario: "s", stamp: stamp(&random)))
        case .event:
            return .event(
                .init(
                    eventID: id,
                    stamp: stamp(&random),
                    subject: subject(number, &random),
                    name: random.pick(["e\u{301}", "\u{E9}"]),
                    at: time(&random),
                    born: born(&random),
                    visit: random.pick([nil, UUIDSource.uuid(1), UUIDSource.uuid(2)]),
                    undone: random.pick([nil, true])
                )
            )
        case .execution:
            return .execution(
                .init(
                    id: id,
                    stamp: stamp(&random),
                    subject: subject(number, &random),
                    scenario: random.pick(["a", "b"]),
                    at: time(&random),
                    born: born(&random),
                    visit: random.pick([nil, UUIDSource.uuid(1), UUIDSource.uuid(2)]),
                    number: Int.random(in: 1...3, using: &random)
                )
            )
        case .settlement:
            return .settlement(
                .init(
                    id: id,
                    state: ["delivered", "refunded", "redeemed"][number % 3],
                    stamp: stamp(&random),
                    at: time(&random),
                    reason: text(&random),
                    actor: text(&random)
                )
            )
        case .erasure:
            let hash = Data(repeating: 7, count: 16) + Data(hexadecimal(id).utf8.prefix(16))
            return .erasure(.init(salt: Data([1]), hash: hash, stamp: stamp(&random)))
        case .audit:
            return .audit(
                .init(
                    stamp: Stamp(time: Int64(number) << 16, device: RandomFacts.devices[0]),
                    at: 5,
                    actor: text(&random),
                    action: "noted",
                    subject: random.pick([nil, "A\(number)", "B\(number)"]),
                    detail: random.pick([nil, [:], ["x": "\u{E9}"], ["x": "e\u{301}"], ["x": 1]])
                )
            )
        }
    }

    private static func hexadecimal(_ id: UUID) -> String { String(id.uuidString.filter { $0 != "-" }.reversed()) }

    /// A moment of a device, some of which are those of rounded records.
    private static func stamp(_ random: inout SeededNumbers) -> Stamp {
        let milliseconds = random.pick([1, 2, Stamp.day - 1, Stamp.day, Stamp.day + 1, 2 * Stamp.day - 1])
        return Stamp(
            time: milliseconds << 16 | random.pick([0, 0, 1]),
            device: RandomFacts.devices[random.pick([0, 1])]
        )
    }

    private static func time(_ random: inout SeededNumbers) -> Int64 { random.pick([0, 9, 10]) }

    private static func born(_ random: inout SeededNumbers) -> Int64 { random.pick([0, 5 << 16, 5 << 16, 7 << 16]) }

    private static func text(_ random: inout SeededNumbers) -> String? {
        random.pick([nil, "", "a", "e\u{301}", "\u{E9}"])
    }

    private static func subject(_ number: Int, _ random: inout SeededNumbers) -> TransferRecord.Subject {
        random.pick([.init("member", "S\(number)"), .init("group", "S\(number)"), .init("group", "T\(number)")])
    }
}
