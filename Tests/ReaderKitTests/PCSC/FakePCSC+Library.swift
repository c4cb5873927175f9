import CardPasses
import CardTags
import Foundation
import TestSupport

@testable import ReaderKit

#if PCSC

extension FakePCSC {
    /// The table of functions to give to the backend.
    var library: PCSCLibrary {
        PCSCLibrary(
            establishContext: { self.establish() },
            releaseContext: { self.release($0) },
            listReaders: { self.list($0) },
            getStatusChange: { self.wait($0, $1, &$2) },
            cancel: { self.cancel($0) },
            connect: { context, reader, _, _ in self.connect(context, reader) },
            reconnect: { handle, _, _, initialization in self.reconnect(handle, initialization) },
            disconnect: { self.disconnect($0, $1) },
            beginTransaction: { self.begin($0) },
            endTransaction: { handle, _ in self.end(handle) },
            transmit: { handle, _, command, buffer in self.transmit(handle, Array(command), buffer) },
            control: { handle, _, data in self.control(handle, data) },
            getAttribute: { handle, _ in self.attribute(handle) }
        )
    }

    // All of the following take the lock themselves.

    /// Counts the call and gives the fault planned for it. Called with the lock held.
    private func enter(_ function: Function) -> PCSCCode? {
        let number = counts[function, default: 0] + 1
        counts[function] = number
        return faults[function]?.first { $0.isForEver ? $0.first <= number : $0.first == number }?.code
    }

    /// The fault of a context, or `nil` if it can be used. Called with the lock held.
    private func check(_ context: Int, _ function: Function) -> PCSCCode? {
        guard let state = contexts[context] else {
            violations.append("\(function) with a released context")
            return .invalidHandle
        }
        if pthread_equal(state.thread, pthread_self()) == 0 { violations.append("\(function) from another thread") }
        return isServing && state.generation == generation ? nil : .noService
    }

    /// The fault of a handle, or `nil` if it can be used. Called with the lock held.
    private func check(handle: Int, _ function: Function) -> PCSCCode? {
        guard isServing else { return .noService }
        guard let state = handles[handle], state.generation == generation else { return .invalidHandle }
        if let code = check(state.context, function) { return code }
        guard let index = index(state.reader) else { return .readerUnavailable }
        guard readers[index].card != nil, readers[index].counter == state.counter else { return .removedCard }
        return readers[index].resets == state.resets ? nil : .resetCard
    }

    private func establish() -> (code: PCSCCode, context: Int) {
        locked {
            if let code = enter(.establish) { return (code, 0) }
            guard isServing else { return (.noService, 0) }
            lastNumber += 1
            contextsMade += 1
            contexts[lastNumber] = ContextState(generation: generation, thread: pthread_self())
            return (.success, lastNumber)
        }
    }

    private func release(_ context: Int) -> PCSCCode {
        locked {
            if let code = enter(.release) { return code }
            let code = check(context, .release)
            guard let state = contexts[context] else { return .invalidHandle }
            if state.calls > 0 || state.isWaiting { violations.append("release during a call") }
            contexts[context] = nil
            for (handle, state) in handles where state.context == context { drop(handle) }
            condition.broadcast()
            return code ?? .success
        }
    }

    private func list(_ context: Int) -> (code: PCSCCode, names: [String]) {
        locked {
            if let code = enter(.list) ?? check(context, .list) { return (code, []) }
            return (.success, readers.map(\.name))
        }
    }

    private func cancel(_ context: Int) -> PCSCCode {
        locked {
            if let code = enter(.cancel) { return code }
            guard let state = contexts[context] else { return .invalidHandle }
            if state.calls > 0 { violations.append("cancel during a call") }
            if cancelsToLose > 0 {
                cancelsToLose -= 1
            } else if state.isWaiting {
                contexts[context]?.isCancelled = true
                condition.broadcast()
            }
            return .success
        }
    }

    private func connect(_ context: Int, _ name: String) -> (code: PCSCCode, handle: Int, protocol: UInt32) {
        locked {
            if let code = enter(.connect) ?? check(context, .connect) { return (code, 0, 0) }
            contexts[context]?.calls += 1
            defer { contexts[context]?.calls -= 1 }
            while let index = index(name), readers[index].exchanges > 0, isServing { condition.wait() }
            guard isServing else { return (.communicationError, 0, 0) }
            guard let index = index(name) else { return (.unknownReader, 0, 0) }
            guard readers[index].card != nil else { return (.noSmartcard, 0, 0) }
            lastNumber += 1
            handles[lastNumber] = HandleState(
                context: context,
                generation: generation,
                reader: name,
                counter: readers[index].counter,
                resets: readers[index].resets
            )
            condition.broadcast()
            return (.success, lastNumber, 2)
        }
    }

    private func reconnect(_ handle: Int, _ initialization: PCSCLibrary.Disposition) -> (
        code: PCSCCode, protocol: UInt32
    ) {
        locked {
            if let code = enter(.reconnect) { return (code, 0) }
            let code = check(handle: handle, .reconnect)
            guard code == nil || code == .resetCard, let name = handles[handle]?.reader, let index = index(name) else {
                return (code ?? .invalidHandle, 0)
            }
            if initialization != .leave { readers[index].resets += 1 }
            handles[handle]?.resets = readers[index].resets
            return (.success, 2)
        }
    }

    /// Forgets a handle and its locks. Called with the lock held.
    private func drop(_ handle: Int) {
        handles[handle] = nil
        for index in readers.indices where readers[index].owner == handle {
            readers[index].owner = nil
            readers[index].locks = 0
        }
        condition.broadcast()
    }

    private func disconnect(_ handle: Int, _ disposition: PCSCLibrary.Disposition) -> PCSCCode {
        locked {
            if let code = enter(.disconnect) { return code }
            guard let state = handles[handle], state.generation == generation, isServing else { return .invalidHandle }
            _ = check(state.context, .disconnect)
            if contexts[state.context]?.calls ?? 0 > 0 { violations.append("disconnect during a call") }
            if disposition != .leave, let index = index(state.reader) { readers[index].resets += 1 }
            drop(handle)
            return .success
        }
    }

    private func begin(_ handle: Int) -> PCSCCode {
        locked {
            if let code = enter(.begin) { return code }
            while true {
                if let code = check(handle: handle, .begin) { return code }
                guard let name = handles[handle]?.reader, let index = index(name) else { return .readerUnavailable }
                if readers[index].owner == nil || readers[index].owner == handle {
                    readers[index].owner = handle
                    readers[index].locks += 1
                    return .success
                }
                condition.wait()
            }
        }
    }

    private func end(_ handle: Int) -> PCSCCode {
        locked {
            if let code = enter(.end) { return code }
            let code = check(handle: handle, .end)
            if let index = readers.firstIndex(where: { $0.owner == handle }) {
                readers[index].locks -= 1
                if readers[index].locks == 0 { readers[index].owner = nil }
                condition.broadcast()
            }
            return code ?? .success
        }
    }

    private func transmit(
        _ handle: Int,
        _ command: [UInt8],
        _ buffer: UnsafeMutableRawBufferPointer
    ) -> (code: PCSCCode, count: Int) {
        let name: String
        let context: Int
        let card: Card
        condition.lock()
        guard let state = handles[handle], let index = index(state.reader), let present = readers[index].card else {
            defer { condition.unlock() }
            return (enter(.transmit) ?? check(handle: handle, .transmit) ?? .removedCard, 0)
        }
        if let code = enter(.transmit) ?? check(handle: handle, .transmit) {
            condition.unlock()
            return (code, 0)
        }
        if readers[index].owner != handle { violations.append("transmit without a transaction") }
        transmitted.append(command)
        (name, context, card) = (state.reader, state.context, present)
        readers[index].exchanges += 1
        contexts[context]?.calls += 1
        mostExchanges = max(mostExchanges, readers.map(\.exchanges).reduce(0, +))
        let daemon = generation
        condition.unlock()

        // Unlocked, so that the card may take its time, or take the reader along.
        let answer = card.answer(command)
        if case .hang(let gate) = answer { gate.pass() }

        return locked {
            if let index = self.index(name) { readers[index].exchanges = max(0, readers[index].exchanges - 1) }
            contexts[context]?.calls -= 1
            condition.broadcast()
            guard isServing, generation == daemon else { return (.communicationError, 0) }
            guard self.index(name) != nil else { return (.readerUnavailable, 0) }
            switch answer {
            case .bytes(let bytes):
                buffer.copyBytes(from: bytes.prefix(buffer.count))
                return (.success, min(bytes.count, buffer.count))
            case .code(let code): return (code, 0)
            case .hang:
                buffer.copyBytes(from: [0x90, 0x00])
                return (.success, 2)
            }
        }
    }

    private func control(_ handle: Int, _ data: [UInt8]) -> (code: PCSCCode, answer: [UInt8]) {
        locked {
            if let code = enter(.control) ?? check(handle: handle, .control) { return (code, []) }
            return (.success, data.reversed())
        }
    }

    private func attribute(_ handle: Int) -> (code: PCSCCode, value: [UInt8]) {
        locked {
            if let code = enter(.attribute) ?? check(handle: handle, .attribute) { return (code, []) }
            return (.unsupportedFeature, [])
        }
    }

    // MARK: - The wait

    /// The state of a reader as `SCardGetStatusChange` gives it; `nil` for one that is not there. With the lock held.
    private func state(of name: String) -> UInt32? {
        if name == PCSCLibrary.plugAndPlay { return UInt32(readers.count) << 16 }
        guard let index = index(name) else { return nil }
        let reader = readers[index]
        if reader.isUnavailable { return UInt32(reader.counter) << 16 | PCSCState.unavailable }
        let isInUse = reader.isInUse || handles.values.contains { $0.reader == name }
        return UInt32(reader.counter) << 16 | (reader.card == nil ? 0x10 : PCSCState.present | (isInUse ? 0x100 : 0))
    }

    private func wait(_ context: Int, _ milliseconds: UInt32, _ states: inout [PCSCLibrary.ReaderState]) -> PCSCCode {
        condition.lock()
        defer { condition.unlock() }
        if let code = enter(.wait) { return code }
        if let code = check(context, .wait) {
            waitsOnDeadContexts += 1
            return code
        }
        guard states.count <= 16 else { return .invalidParameter }
        guard states.allSatisfy({ state(of: $0.name) != nil }) else { return .unknownReader }
        let end = milliseconds == PCSCLibrary.infinite ? nil : Date(timeIntervalSinceNow: Double(milliseconds) / 1000)
        let daemon = generation
        contexts[context]?.isWaiting = true
        contexts[context]?.isCancelled = false
        defer { contexts[context]?.isWaiting = false }
        while true {
            guard isServing, generation == daemon else { return .communicationError }
            var hasChanged = false
            for index in states.indices {
                let now = state(of: states[index].name)
                states[index].event = now ?? (PCSCState.unknown | PCSCState.unavailable)
                states[index].atr = self.index(states[index].name).flatMap { readers[$0].card?.atr } ?? []
                if states[index].event != states[index].current {
                    states[index].event |= PCSCState.changed
                    hasChanged = true
                }
            }
            if hasChanged { return .success }
            if contexts[context]?.isCancelled == true { return .cancelled }
            if let end {
                guard milliseconds > 0, condition.wait(until: end) else { return .timeout }
            } else {
                condition.wait()
            }
        }
    }
}
#endif
