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
                        at: Int64.random(in: 0...5, using: &random),
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
