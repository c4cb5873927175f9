import ReaderKit
import Synchronization

extension SimulatedS550 {
    /// libpcsclite and pcscd with this reader alone, as the table of functions that ``PCSCBackend`` uses: direct
    /// connections, features and escape commands included, which the virtual reader of vsmartcard cannot carry.
    ///
    /// - Parameters:
    ///   - name: the reader's name, as pcscd would give it.
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
        return PCSCLibrary(
            establishContext: { (PCSCCode(rawValue: 0), 1) },
            releaseContext: { _ in PCSCCode(rawValue: 0) },
            listReaders: { _ in (PCSCCode(rawValue: 0), isThere() ? [name] : []) },
            getStatusChange: { _, milliseconds, states in
                var hasChanged = false
                for index in states.indices {
                    let now: UInt32 =
                        states[index].name == name && isThere()
                        ? state : states[index].name == PCSCLibrary.plugAndPlay ? 0x0001_0000 : 0x0000_000C
                    hasChanged = hasChanged || now != states[index].current & ~2
                    states[index].event = now
                    states[index].atr = now & 0x20 == 0 ? [] : card?.atr ?? []
                }
                return PCSCCode(rawValue: hasChanged || milliseconds == 0 ? 0 : Self.timeout)
            },
            cancel: { _ in PCSCCode(rawValue: 0) },
            connect: { _, wanted, sharing, _ in
                guard wanted == name, isThere() else { return (PCSCCode(rawValue: Self.unknownReader), 0, 0) }
                guard sharing == .direct || card != nil else { return (PCSCCode(rawValue: Self.noCard), 0, 0) }
                return (PCSCCode(rawValue: 0), table.add(sharing), sharing == .direct ? 0 : 2)
            },
            reconnect: { _, _, _, _ in (PCSCCode(rawValue: 0), 2) },
            disconnect: { handle, _ in PCSCCode(rawValue: table.remove(handle) ? 0 : Self.invalidHandle) },
            beginTransaction: { PCSCCode(rawValue: table[$0] == .shared ? 0 : Self.invalidHandle) },
            endTransaction: { handle, _ in PCSCCode(rawValue: table[handle] == .shared ? 0 : Self.invalidHandle) },
            transmit: { handle, _, command, buffer in
                guard table[handle] == .shared, let card else { return (PCSCCode(rawValue: Self.invalidHandle), 0) }
                guard isThere() else { return (PCSCCode(rawValue: Self.unavailable), 0) }
                let answer = reader.transmit(Array(command), to: card)
                guard let answer else { return (PCSCCode(rawValue: isThere() ? Self.mute : Self.unavailable), 0) }
                buffer.copyBytes(from: answer)
                return (PCSCCode(rawValue: 0), answer.count)
            },
            control: { handle, code, data in
                guard table[handle] != nil else { return (PCSCCode(rawValue: Self.invalidHandle), []) }
                guard isThere() else { return (PCSCCode(rawValue: Self.unavailable), []) }
                switch code {
                // CM_IOCTL_GET_FEATURE_REQUEST: the properties, and the escape command if it is passed.
                case 0x4200_0D48:
                    return (
                        PCSCCode(rawValue: 0),
                        [0x12, 0x04, 0x42, 0x00, 0x00, 0x12]
                            + (self.passesEscape ? [0x13, 0x04, 0x42, 0x00, 0x00, 0x01] : [])
                    )
                // The USB numbers of vendor and product, the last byte first.
                case 0x4200_0012: return (PCSCCode(rawValue: 0), [0x0B, 0x02, 0x34, 0x1C, 0x0C, 0x02, 0x22, 0x61])
                case 0x4200_0001 where self.passesEscape:
                    guard let answer = self.receive(escape: data) else {
                        return (PCSCCode(rawValue: Self.unavailable), [])
                    }
                    return (PCSCCode(rawValue: 0), answer)
                default: return (PCSCCode(rawValue: Self.notTransacted), [])
                }
            },
            getAttribute: { _, _ in (PCSCCode(rawValue: Self.notTransacted), []) }
        )
    }

    private static let invalidHandle: UInt32 = 0x8010_0003
    private static let unknownReader: UInt32 = 0x8010_0009
    private static let timeout: UInt32 = 0x8010_000A
    private static let noCard: UInt32 = 0x8010_000C
    private static let notTransacted: UInt32 = 0x8010_0016
    private static let unavailable: UInt32 = 0x8010_0017
    private static let mute: UInt32 = 0x8010_0066
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
