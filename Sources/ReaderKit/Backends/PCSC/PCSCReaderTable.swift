import Foundation

/// What the monitor knows of the readers: turns reader states into events, without losing an edge.
///
/// pcscd counts each insertion and removal in the upper half of `dwEventState`. Where the counter moved by more than the
/// edge that the state shows, cards came and went between two looks; they are reported as
/// ``ReaderEvent/cardMissed(_:)``.
struct PCSCReaderTable {
    private struct Entry {
        var reader: ReaderInfo
        var epoch: Int
        var state: UInt32 = 0
        var card: CardPresence?
    }

    private var entries: [Entry] = []
    private let epochs: PCSCEpochs
    private let watch: UUID

    init(epochs: PCSCEpochs = PCSCEpochs(), watch: UUID = UUID()) {
        self.epochs = epochs
        self.watch = watch
    }

    /// The most edges that may lie between two looks. More of them is a counter that went back.
    private static let mostSteps = 0x7FFF

    /// What to hand to the next `SCardGetStatusChange`: each reader with its last state, and the pseudo-reader that
    /// reports readers coming and going.
    var query: [PCSCLibrary.ReaderState] {
        entries.map { PCSCLibrary.ReaderState(name: $0.reader.name, current: $0.state) } + [
            PCSCLibrary.ReaderState(name: PCSCLibrary.plugAndPlay, current: UInt32(min(entries.count, 0xFFFF)) << 16)
        ]
    }

    mutating func update(names: [String]) -> [ReaderEvent] {
        var events: [ReaderEvent] = []
        for entry in entries where !names.contains(entry.reader.name) { events += leaving(entry) }
        entries.removeAll { !names.contains($0.reader.name) }
        for name in names where !entries.contains(where: { $0.reader.name == name }) {
            let reader = ReaderInfo(pcscName: name)
            entries.append(Entry(reader: reader, epoch: epochs.begin(in: watch)))
            events.append(.readerAdded(reader))
        }
        return events
    }

    /// Takes over states that `SCardGetStatusChange` returned for ``query``.
    mutating func update(states: [PCSCLibrary.ReaderState], at now: Date) -> [ReaderEvent] {
        var events: [ReaderEvent] = []
        for state in states {
            guard let index = entries.firstIndex(where: { $0.reader.name == state.name }) else { continue }
            if state.event & PCSCState.unknown != 0 {
                // Gone. It is forgotten here, since the next list may already have a new reader of the same name.
                events += leaving(entries.remove(at: index))
            } else {
                var entry = entries[index]
                events += edges(&entry, state, now)
                entries[index] = entry
            }
        }
        return events
    }

    mutating func clear() -> [ReaderEvent] {
        defer { entries = [] }
        return entries.flatMap(leaving)
    }

    private func leaving(_ entry: Entry) -> [ReaderEvent] {
        epochs.end(entry.epoch)
        return (entry.card.map { [.cardRemoved($0)] } ?? []) + [.readerRemoved(entry.reader)]
    }

    private func edges(_ entry: inout Entry, _ new: PCSCLibrary.ReaderState, _ now: Date) -> [ReaderEvent] {
        let isFirst = entry.state == 0
        let counter = PCSCState.counter(new.event)
        // The counter wraps at 16 bits.
        let steps = isFirst ? 0 : (counter - PCSCState.counter(entry.state)) & 0xFFFF
        if steps > Self.mostSteps {
            // It went back: the reader was pulled out and plugged in again, and counts from the start.
            let left = leaving(entry)
            entry = Entry(reader: entry.reader, epoch: epochs.begin(in: watch))
            return left + [.readerAdded(entry.reader)] + edges(&entry, new, now)
        }
        let isPresent = new.event & PCSCState.present != 0
        entry.state = new.event & ~PCSCState.changed

        func presence(_ number: Int, atr: [UInt8]) -> CardPresence {
            CardPresence(
                reader: entry.reader,
                number: number & 0xFFFF,
                epoch: entry.epoch,
                facts: CardFacts(atr: atr.isEmpty ? nil : atr),
                at: now
            )
        }
        var events: [ReaderEvent] = []
        /// Cards that came and went before this look: two steps each; their numbers are those of their insertion.
        func missed(_ steps: Int, from first: Int) {
            for step in stride(from: 0, to: steps - steps % 2, by: 2) {
                events.append(.cardMissed(presence(first + step, atr: [])))
            }
        }
        let before = entry.card
        if before != nil, isPresent, steps == 0 { return [] }
        if let before { events.append(.cardRemoved(before)) }
        entry.card = nil
        // The removal of the card of before, and the insertion of that of now, are no edges of missed ones.
        let (removal, insertion) = (before == nil ? 0 : 1, isPresent ? 1 : 0)
        missed(steps - removal - insertion, from: counter - steps + 1 + removal)
        if isPresent {
            var card = presence(counter, atr: new.atr)
            card.wasAlreadyThere = isFirst
            entry.card = card
            events.append(.cardInserted(card))
        }
        return events
    }
}
