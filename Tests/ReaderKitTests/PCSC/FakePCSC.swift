import CardCore
import CardTags
import Foundation
import TestSupport

@testable import ReaderKit

#if PCSC

/// A model of pcscd and libpcsclite behind a ``PCSCLibrary`` table, with everything that a virtual reader cannot show.
///
/// What it does follows the real pair: the edges counted in the upper half of a state, a cancel that is lost when it
/// comes before the wait, contexts that stay dead when the daemon was killed, a connect that waits for another's exchange.
///
/// `@unchecked Sendable`: every stored variable is touched only while `condition` is locked.
final class FakePCSC: @unchecked Sendable {
    enum Function: String, CaseIterable, Sendable {
        case establish, release, list, wait, cancel, connect, reconnect, disconnect, begin, end, transmit, control
        case attribute
    }

    /// What a card does with a command.
    enum Answer: Sendable {
        case bytes([UInt8])
        case code(PCSCCode)
        /// The call does not return before the gate is opened; then it succeeds with `9000`.
        case hang(Gate)
    }

    struct Card: Sendable {
        var atr: [UInt8]
        var answer: @Sendable ([UInt8]) -> Answer

        init(
            atr: [UInt8] = SampleATR.type2,
            answer: @escaping @Sendable ([UInt8]) -> Answer = { _ in .bytes([0x90, 0x00]) }
        ) {
            self.atr = atr
            self.answer = answer
        }
    }

    struct Reader {
        var name: String
        var counter = 0
        var card: Card?
        /// How often the card was reset.
        var resets = 0
        /// Exchanges under way.
        var exchanges = 0
        var owner: Int?
        var locks = 0
        var isUnavailable = false
        /// Whether another program is connected.
        var isInUse = false
    }

    struct ContextState {
        var generation: Int
        var thread: pthread_t
        var isWaiting = false
        var isCancelled = false
        /// Calls under way other than a wait.
        var calls = 0
    }

    struct HandleState {
        var context: Int
        var generation: Int
        var reader: String
        var counter: Int
        var resets: Int
    }

    struct Fault {
        var first: Int
        var isForEver: Bool
        var code: PCSCCode
    }

    let condition = NSCondition()
    var isServing = true
    var generation = 1
    var readers: [Reader] = []
    var contexts: [Int: ContextState] = [:]
    var handles: [Int: HandleState] = [:]
    var faults: [Function: [Fault]] = [:]
    var counts: [Function: Int] = [:]
    var lastNumber = 100
    var contextsMade = 0
    var cancelsToLose = 0
    /// What must never happen, and did.
    var violations: [String] = []
    var transmitted: [[UInt8]] = []
    var waitsOnDeadContexts = 0
    var mostExchanges = 0

    init(readers names: [String] = []) {
        readers = names.map { Reader(name: $0) }
    }

    func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    private func change(_ body: () -> Void) {
        locked {
            body()
            condition.broadcast()
        }
    }

    func index(_ name: String) -> Int? { readers.firstIndex { $0.name == name } }

    // MARK: - What happens to readers and cards

    func plug(_ name: String...) { change { for name in name { readers.append(Reader(name: name)) } } }

    func unplug(_ name: String) {
        change {
            readers.removeAll { $0.name == name }
            for (handle, state) in handles where state.reader == name { handles[handle] = nil }
        }
    }

    /// Several edges in one go, as between two looks: a card is inserted, `nil` is removed.
    func edges(_ name: String, _ cards: [Card?]) {
        change {
            guard let index = index(name) else { return }
            for card in cards {
                readers[index].counter = (readers[index].counter + 1) & 0xFFFF
                readers[index].card = card
            }
        }
    }

    func insert(_ card: Card = Card(), into name: String) { edges(name, [card]) }

    func remove(from name: String) { edges(name, [nil]) }

    func setCounter(_ name: String, _ counter: Int) { change { index(name).map { readers[$0].counter = counter } } }

    /// Another program resets the card.
    func reset(_ name: String) { change { index(name).map { readers[$0].resets += 1 } } }

    func setUnavailable(_ name: String, _ flag: Bool) {
        change { index(name).map { readers[$0].isUnavailable = flag } }
    }

    /// Another program connects, or lets go.
    func setInUse(_ name: String, _ flag: Bool) { change { index(name).map { readers[$0].isInUse = flag } } }

    func kill() { change { isServing = false } }

    /// The daemon runs again and knows nothing of before; the cards lie where they lay.
    func restart() {
        change {
            isServing = true
            generation += 1
            handles = handles.filter { $0.value.generation == generation }
            for index in readers.indices {
                readers[index].counter = 0
                readers[index].owner = nil
                readers[index].locks = 0
            }
        }
    }

    /// Lets the n-th call of a function from now on fail without doing anything, once or for ever after.
    func fail(_ function: Function, with code: PCSCCode, onCall number: Int = 1, forEver: Bool = false) {
        change {
            let first = counts[function, default: 0] + number
            faults[function, default: []].append(Fault(first: first, isForEver: forEver, code: code))
        }
    }

    func heal() { change { faults = [:] } }

    func loseCancels(_ number: Int) { change { cancelsToLose = number } }

    // MARK: - What can be seen of it

    func count(_ function: Function) -> Int { locked { counts[function, default: 0] } }

    var openContexts: Int { locked { contexts.count } }
    var openHandles: Int { locked { handles.count } }
    var lockedReaders: [String] { locked { readers.filter { $0.owner != nil }.map(\.name) } }
    var commands: [[UInt8]] { locked { transmitted } }
    var waiting: Int { locked { contexts.values.count { $0.isWaiting } } }
    var complaints: [String] { locked { violations } }
    /// Waits that were begun with a context of a daemon that is gone.
    var deadWaits: Int { locked { waitsOnDeadContexts } }
    /// The most exchanges that were under way at one time, over all readers.
    var mostExchangesAtOnce: Int { locked { mostExchanges } }
}

enum SampleATR {
    static let type2: [UInt8] = [
        0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0, 0, 0x03, 0x06, 0x03, 0x00, 0x03, 0, 0, 0, 0, 0x68,
    ]
}

/// A place where a thread waits until somebody lets it go on.
///
/// `@unchecked Sendable`: both variables are touched only while `condition` is locked.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false
    private var waiters = 0

    /// How many threads wait here.
    var waiting: Int {
        condition.lock()
        defer { condition.unlock() }
        return waiters
    }

    func pass() {
        condition.lock()
        defer { condition.unlock() }
        waiters += 1
        while !isOpen { condition.wait() }
        waiters -= 1
    }

    func open() {
        condition.lock()
        defer { condition.unlock() }
        isOpen = true
        condition.broadcast()
    }
}
#endif
