import CardCore
import CardPasses
import Foundation
import ReaderKitTesting
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

/// A model of libnfc and of PN532 readers behind an ``NFCLibrary`` table, with faults that no simulated chip can show.
///
/// `@unchecked Sendable`: every stored variable is touched only while `condition` is locked.
final class FakeNFC: @unchecked Sendable {
    enum Function: String, CaseIterable, Sendable {
        case makeContext, listDevices, open, close, abort, initiatorInit, setProperty, modulations, information, select
        case deselect, isPresent, transceive, transceiveBits
    }

    struct Fault {
        var first: Int
        var isForEver: Bool
        var code: NFCCode
    }

    struct Chip {
        var isPlugged = true
        /// Whether libnfc lists it.
        var isListed = true
        var card: (any SimulatedCard)?
        var isSelected = false
        var isEasy = true
        var addsChecksum = true
    }

    let condition = NSCondition()
    var chips: [String: Chip] = [:]
    var devices: [Int: String] = [:]
    var threads: [Int: pthread_t] = [:]
    var faults: [Function: [Fault]] = [:]
    var counts: [Function: Int] = [:]
    var gates: [Function: Gate] = [:]
    private var lateness = Lateness.none
    var lastDevice = 0
    var mostDevices = 0
    /// What must never happen, and did.
    var violations: [String] = []

    init(_ names: String...) {
        for name in names { chips[name] = Chip() }
    }

    func locked<Value>(_ body: () throws -> Value) rethrows -> Value {
        condition.lock()
        defer { condition.unlock() }
        return try body()
    }

    // MARK: - What happens

    func insert(_ card: any SimulatedCard, _ name: String = "fake:A") {
        locked {
            card.powerOn()
            chips[name]?.card = card
            chips[name]?.isSelected = false
        }
    }

    func remove(_ name: String = "fake:A") {
        locked {
            chips[name]?.card?.powerOff()
            chips[name]?.card = nil
            chips[name]?.isSelected = false
        }
    }

    func unplug(_ name: String = "fake:A") { locked { chips[name]?.isPlugged = false } }

    func plug(_ name: String = "fake:A") {
        locked {
            if chips[name] == nil { chips[name] = Chip() }
            chips[name]?.isPlugged = true
        }
    }

    /// Lets the n-th call of a function from now on fail without doing anything, once or for ever after.
    func fail(_ function: Function, with code: NFCCode, onCall number: Int = 1, forEver: Bool = false) {
        locked {
            let first = counts[function, default: 0] + number
            faults[function, default: []].append(Fault(first: first, isForEver: forEver, code: code))
        }
    }

    /// Lets the answer to the next look come too late: that look times out, and the answer stands before whatever is asked
    /// next.
    func answerLate(_ target: NFCTarget) { locked { lateness = .next(target) } }

    private enum Lateness {
        case none
        case next(NFCTarget)
        case waiting(NFCTarget)
    }

    func heal() { locked { faults = [:] } }

    /// Lets the next call of a function hang until the gate is opened.
    func hang(_ function: Function, _ gate: Gate) { locked { gates[function] = gate } }

    func count(_ function: Function) -> Int { locked { counts[function, default: 0] } }
    var openDevices: Int { locked { devices.count } }
    var complaints: [String] { locked { violations } }

    // MARK: - What calls do

    /// Counts a call; its fault, if it has one.
    private func begin(_ function: Function, _ device: Int? = nil) -> NFCCode? {
        let gate = locked {
            defer { gates[function] = nil }
            return gates[function]
        }
        gate?.pass()
        return locked {
            counts[function, default: 0] += 1
            let number = counts[function, default: 0]
            if let device {
                if devices[device] == nil { violations.append("\(function) on a closed device") }
                if function != .abort {
                    if let thread = threads[device], pthread_equal(thread, pthread_self()) == 0 {
                        violations.append("\(function) on another thread")
                    }
                    threads[device] = pthread_self()
                }
            }
            let hit = faults[function]?.first { $0.isForEver ? $0.first <= number : $0.first == number }
            if let hit { return hit.code }
            guard let device, let name = devices[device] else { return nil }
            return chips[name]?.isPlugged == true || function == .close ? nil : .inputOutput
        }
    }

    private func chip(_ device: Int, _ body: (inout Chip) -> Void) {
        locked {
            guard let name = devices[device], var chip = chips[name] else { return }
            body(&chip)
            chips[name] = chip
        }
    }

    private func ask<Answer>(_ device: Int, _ body: (inout Chip) -> Answer, or other: Answer) -> Answer {
        var answer = other
        chip(device) { answer = body(&$0) }
        return answer
    }

    var library: NFCLibrary {
        NFCLibrary(
            version: { "fake" },
            makeContext: { [self] _ in begin(.makeContext) == nil ? 1 : nil },
            listDevices: { [self] _ in
                guard begin(.listDevices) == nil else { return [] }
                return locked { chips.filter { $0.value.isPlugged && $0.value.isListed }.keys.sorted() }
            },
            open: { [self] _, name in
                guard begin(.open) == nil else { return nil }
                return locked {
                    guard chips[name]?.isPlugged == true else { return nil }
                    // Somebody has it: this program too, after a call that hangs.
                    guard !devices.values.contains(name) else { return nil }
                    lastDevice += 1
                    devices[lastDevice] = name
                    mostDevices = max(mostDevices, devices.count)
                    chips[name]?.isSelected = false
                    chips[name]?.isEasy = true
                    chips[name]?.addsChecksum = true
                    return lastDevice
                }
            },
            close: { [self] device in
                _ = begin(.close, device)
                locked { devices[device] = nil }
            },
            abort: { [self] in begin(.abort, $0) ?? .success },
            initiatorInit: { [self] in begin(.initiatorInit, $0) ?? .success },
            setProperty: { [self] device, property, value in
                if let code = begin(.setProperty, device) { return code }
                let isWaiting = locked {
                    guard case .waiting = lateness, property == .activateField else { return false }
                    lateness = .none
                    return true
                }
                // It is the answer to another command.
                if isWaiting { return .inputOutput }
                chip(device) { chip in
                    switch property {
                    case .easyFraming: chip.isEasy = value
                    case .handleCRC: chip.addsChecksum = value
                    case .activateField:
                        chip.isSelected = false
                        if value { chip.card?.powerOn() } else { chip.card?.powerOff() }
                    case .infiniteSelect: break
                    }
                }
                return .success
            },
            modulations: { [self] in
                begin(.modulations, $0).map { ($0, []) } ?? (.success, NFCModulation.allCases)
            },
            information: { [self] in
                begin(.information, $0).map { ($0, "") } ?? (.success, "chip: fake")
            },
            select: { [self] device, modulation, data in
                if let code = begin(.select, device) { return (code, nil) }
                let late: (NFCCode, NFCTarget?)? = locked {
                    switch lateness {
                    case .none: return nil
                    case .next(let target):
                        lateness = .waiting(target)
                        return (.timeout, nil)
                    case .waiting(let target):
                        lateness = .none
                        return (NFCCode(rawValue: 1), target)
                    }
                }
                if let late { return late }
                let target = ask(device, { $0.select(modulation, data) }, or: nil)
                return (NFCCode(rawValue: target == nil ? 0 : 1), target)
            },
            deselect: { [self] device in
                if let code = begin(.deselect, device) { return code }
                chip(device) { $0.isSelected = false }
                return .success
            },
            isPresent: { [self] device in
                if let code = begin(.isPresent, device) { return code }
                return ask(device, { $0.ping() }, or: .inputOutput)
            },
            transceive: { [self] device, frame, _ in
                if let code = begin(.transceive, device) { return (code, []) }
                return ask(device, { $0.transceive(frame) }, or: (.inputOutput, []))
            },
            transceiveBits: { [self] device, _, _ in
                (begin(.transceiveBits, device) ?? .radio, [], 0)
            }
        )
    }
}
#endif
