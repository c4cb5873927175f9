import Foundation
import ReaderKit
import Synchronization

extension SimulatedS550 {
    /// libpcsclite and pcscd with this reader alone, as the table of functions that ``PCSCBackend`` uses: direct
    /// connections, features, attributes and escape commands included, which the virtual reader of vsmartcard cannot carry.
    ///
    /// - Parameters:
    ///   - name: the reader's name, as pcscd would report it.
    ///   - card: the card on the reader.
    package func library(
        named name: String = "SpringCard H518 [CCID] (000A1B2C) 00 00",
        card: (any SimulatedCard)? = nil
    ) -> PCSCLibrary {
        let reader = SimulatedReader(control: self)
        let isThere: @Sendable () -> Bool = { !self.isOff }
        let table = HandleTable()
        card?.powerOn()
        // Present, or empty.
        let state: UInt32 = card == nil ? 0x0000_0010 : 0x0001_0020
        var library = PCSCLibrary.absent
        library.establishContext = { (.success, 1) }
        library.releaseContext = { _ in .success }
        library.cancel = { _ in .success }
        library.listReaders = { _ in (.success, isThere() ? [name] : []) }
        library.getStatusChange = { _, milliseconds, states in
            var hasChanged = false
            for index in states.indices {
                let now: UInt32 =
                    switch states[index].name {
                    case name where isThere(): state
                    case PCSCLibrary.plugAndPlay: 0x0001_0000
                    default: 0x0000_000C
                    }
                hasChanged = hasChanged || now != states[index].current & ~2
                states[index].event = now
                states[index].atr = now & 0x20 == 0 ? [] : card?.atr ?? []
            }
            if hasChanged || milliseconds == 0 { return .success }
            // Nothing ever comes; whoever waits looks again.
            Thread.sleep(forTimeInterval: min(Double(milliseconds) / 1000, 0.01))
            return .timeout
        }
        library.connect = { _, wanted, sharing, _ in
            guard wanted == name, isThere() else { return (.unknownReader, 0, 0) }
            guard sharing == .direct || card != nil else { return (.noSmartcard, 0, 0) }
            return (.success, table.add(sharing), sharing == .direct ? 0 : 2)
        }
        library.reconnect = { _, _, _, _ in (.success, 2) }
        library.disconnect = { handle, _ in table.remove(handle) ? .success : .invalidHandle }
        library.beginTransaction = { table[$0] == .shared ? .success : .invalidHandle }
        library.endTransaction = { handle, _ in table[handle] == .shared ? .success : .invalidHandle }
        library.transmit = { handle, _, command, buffer in
            guard table[handle] == .shared, let card else { return (.invalidHandle, 0) }
            guard isThere() else { return (.readerUnavailable, 0) }
            guard let answer = reader.transmit(Array(command), to: card) else {
                return (isThere() ? .unresponsiveCard : .readerUnavailable, 0)
            }
            buffer.copyBytes(from: answer)
            return (.success, answer.count)
        }
        library.control = { handle, code, data in
            guard table[handle] != nil else { return (.invalidHandle, []) }
            guard isThere() else { return (.readerUnavailable, []) }
            switch code {
            // CM_IOCTL_GET_FEATURE_REQUEST: the properties, and the escape command if it is passed.
            case 0x4200_0D48:
                let escape: [UInt8] = self.passesEscape ? [0x13, 0x04, 0x42, 0x00, 0x00, 0x01] : []
                return (.success, [0x12, 0x04, 0x42, 0x00, 0x00, 0x12] + escape)
            // The USB numbers of vendor and product, the last byte first.
            case 0x4200_0012: return (.success, [0x0B, 0x02, 0x34, 0x1C, 0x0C, 0x02, 0x22, 0x61])
            case 0x4200_0001 where self.passesEscape:
                return self.receive(escape: data).map { (.success, $0) } ?? (.readerUnavailable, [])
            default: return (.notTransacted, [])
            }
        }
        library.getAttribute = { handle, attribute in
            guard table[handle] != nil else { return (.invalidHandle, []) }
            guard isThere() else { return (.readerUnavailable, []) }
            switch attribute {
            // SCARD_ATTR_VENDOR_NAME, as libccid's list has it; VENDOR_IFD_SERIAL_NO; MAXINPUT, the last byte first.
            case 0x0001_0100: return (.success, Array("SpringCard".utf8))
            case 0x0001_0103: return (.success, self.item(.serial) ?? [])
            case 0x0007_A007: return (.success, [0x08, 0x00, 0x01, 0x00])
            default: return (.unsupportedFeature, [])
            }
        }
        return library
    }
}

/// The connections that are open, which the functions of a table share.
private final class HandleTable: Sendable {
    private let state = Mutex<(last: Int, open: [Int: PCSCLibrary.ShareMode])>((0, [:]))

    subscript(handle: Int) -> PCSCLibrary.ShareMode? { state.withLock { $0.open[handle] } }

    func add(_ sharing: PCSCLibrary.ShareMode) -> Int {
        state.withLock { state in
            state.last += 1
            state.open[state.last] = sharing
            return state.last
        }
    }

    func remove(_ handle: Int) -> Bool { state.withLock { $0.open.removeValue(forKey: handle) != nil } }
}
