import Foundation

#if PCSC
import CPCSC
#endif

/// The functions of libpcsclite that this package uses, as a replaceable table.
///
/// Each entry is one C call in Swift's types, named after it. Tests put faults here that no virtual reader can show;
/// ``system`` is the library itself. Every function may block.
package struct PCSCLibrary: Sendable {
    /// `SCARDCONTEXT`
    package typealias Context = Int
    /// `SCARDHANDLE`
    package typealias Handle = Int

    /// One entry of `SCARD_READERSTATE`.
    package struct ReaderState: Sendable, Hashable {
        package var name: String
        package var current: UInt32
        package var event: UInt32
        package var atr: [UInt8]

        package init(name: String, current: UInt32 = 0, event: UInt32 = 0, atr: [UInt8] = []) {
            self.name = name
            self.current = current
            self.event = event
            self.atr = atr
        }
    }

    package enum ShareMode: UInt32, Sendable {
        case exclusive = 1
        case shared = 2
        case direct = 3
    }

    /// `dwDisposition` and `dwInitialization`: what becomes of the card.
    package enum Disposition: UInt32, Sendable {
        case leave = 0
        case reset = 1
        case unpower = 2
    }

    /// `INFINITE`
    package static let infinite: UInt32 = 0xFFFF_FFFF
    /// The pseudo-reader whose state changes when readers come and go.
    package static let plugAndPlay = #"\\?PnP?\Notification"#

    package var establishContext: @Sendable () -> (code: PCSCCode, context: Context)
    package var releaseContext: @Sendable (Context) -> PCSCCode
    package var listReaders: @Sendable (Context) -> (code: PCSCCode, names: [String])
    package var getStatusChange: @Sendable (Context, _ milliseconds: UInt32, inout [ReaderState]) -> PCSCCode
    package var cancel: @Sendable (Context) -> PCSCCode
    package var connect:
        @Sendable (Context, _ reader: String, ShareMode, _ protocols: UInt32) -> (
            code: PCSCCode, handle: Handle, protocol: UInt32
        )
    package var reconnect:
        @Sendable (Handle, ShareMode, _ protocols: UInt32, Disposition) -> (code: PCSCCode, protocol: UInt32)
    package var disconnect: @Sendable (Handle, Disposition) -> PCSCCode
    package var beginTransaction: @Sendable (Handle) -> PCSCCode
    package var endTransaction: @Sendable (Handle, Disposition) -> PCSCCode
    package var transmit:
        @Sendable (Handle, _ protocol: UInt32, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> (
            code: PCSCCode, count: Int
        )
    package var control: @Sendable (Handle, _ code: UInt32, [UInt8]) -> (code: PCSCCode, answer: [UInt8])
    package var getAttribute: @Sendable (Handle, _ id: UInt32) -> (code: PCSCCode, value: [UInt8])
}

extension PCSCLibrary {
    /// A machine without pcscd, for tables that have other functions in some places.
    package static let absent = PCSCLibrary(
        establishContext: { (.noService, 0) },
        releaseContext: { _ in .invalidHandle },
        listReaders: { _ in (.noService, []) },
        getStatusChange: { _, _, _ in .noService },
        cancel: { _ in .invalidHandle },
        connect: { _, _, _, _ in (.noService, 0, 0) },
        reconnect: { _, _, _, _ in (.noService, 0) },
        disconnect: { _, _ in .invalidHandle },
        beginTransaction: { _ in .invalidHandle },
        endTransaction: { _, _ in .invalidHandle },
        transmit: { _, _, _, _ in (.noService, 0) },
        control: { _, _, _ in (.noService, []) },
        getAttribute: { _, _ in (.noService, []) }
    )
}

/// The bits of `dwEventState`; its upper half counts insertions and removals.
enum PCSCState {
    static let changed: UInt32 = 0x0002
    static let unknown: UInt32 = 0x0004
    static let unavailable: UInt32 = 0x0008
    static let present: UInt32 = 0x0020
    static let mute: UInt32 = 0x0200

    static func counter(_ state: UInt32) -> Int { Int(state >> 16) }
}

#if PCSC
extension PCSCLibrary {
    package static let system = PCSCLibrary(
        establishContext: {
            var context = SCARDCONTEXT()
            let code = SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &context)
            return (PCSCCode(code), context)
        },
        releaseContext: { PCSCCode(SCardReleaseContext($0)) },
        listReaders: listReaders,
        getStatusChange: getStatusChange,
        cancel: { PCSCCode(SCardCancel($0)) },
        connect: { context, reader, sharing, protocols in
            var handle = SCARDHANDLE()
            var active = DWORD()
            let code = SCardConnect(context, reader, DWORD(sharing.rawValue), DWORD(protocols), &handle, &active)
            return (PCSCCode(code), handle, UInt32(truncatingIfNeeded: active))
        },
        reconnect: { handle, sharing, protocols, initialization in
            var active = DWORD()
            let (sharing, initialization) = (DWORD(sharing.rawValue), DWORD(initialization.rawValue))
            let code = SCardReconnect(handle, sharing, DWORD(protocols), initialization, &active)
            return (PCSCCode(code), UInt32(truncatingIfNeeded: active))
        },
        disconnect: { PCSCCode(SCardDisconnect($0, DWORD($1.rawValue))) },
        beginTransaction: { PCSCCode(SCardBeginTransaction($0)) },
        endTransaction: { PCSCCode(SCardEndTransaction($0, DWORD($1.rawValue))) },
        transmit: { handle, activeProtocol, command, buffer in
            // SCARD_PCI_T0 and _T1 are macros over exported structures, which Swift does not see.
            var request = SCARD_IO_REQUEST(
                dwProtocol: UInt(activeProtocol),
                cbPciLength: UInt(MemoryLayout<SCARD_IO_REQUEST>.size)
            )
            var count = DWORD(buffer.count)
            let code = SCardTransmit(
                handle,
                &request,
                command.bindMemory(to: UInt8.self).baseAddress,
                DWORD(command.count),
                nil,
                buffer.bindMemory(to: UInt8.self).baseAddress,
                &count
            )
            return (PCSCCode(code), min(Int(clamping: count), buffer.count))
        },
        control: { handle, controlCode, data in
            var answer = [UInt8](repeating: 0, count: ReaderLimits.responseLength)
            var count = DWORD()
            let (sent, room) = (DWORD(data.count), DWORD(answer.count))
            let code = SCardControl(handle, DWORD(controlCode), data, sent, &answer, room, &count)
            return (PCSCCode(code), code == 0 ? Array(answer.prefix(Int(clamping: count))) : [])
        },
        getAttribute: { handle, id in
            var value = [UInt8](repeating: 0, count: Int(MAX_BUFFER_SIZE))
            var count = DWORD(value.count)
            let code = SCardGetAttrib(handle, DWORD(id), &value, &count)
            return (PCSCCode(code), code == 0 ? Array(value.prefix(Int(clamping: count))) : [])
        }
    )

    private static let listReaders: @Sendable (Context) -> (code: PCSCCode, names: [String]) = { context in
        // A reader may be added between asking for the length and for the names: ask again, a few times.
        for _ in 0..<8 {
            var length = DWORD()
            var code = PCSCCode(SCardListReaders(context, nil, nil, &length))
            if code == .noReadersAvailable { return (.success, []) }
            guard code.isSuccess else { return (code, []) }
            var characters = [CChar](repeating: 0, count: Int(length))
            code = PCSCCode(SCardListReaders(context, nil, &characters, &length))
            if code == .insufficientBuffer { continue }
            if code == .noReadersAvailable { return (.success, []) }
            guard code.isSuccess else { return (code, []) }
            let names = characters.prefix(Int(clamping: length)).split(separator: 0).map { part in
                String(decoding: part.map(UInt8.init(bitPattern:)), as: UTF8.self)
            }
            return (.success, names)
        }
        return (.insufficientBuffer, [])
    }

    private static let getStatusChange: @Sendable (Context, UInt32, inout [ReaderState]) -> PCSCCode = {
        context,
        milliseconds,
        states in
        var names: [UnsafeMutablePointer<CChar>?] = []
        defer { names.forEach { free($0) } }
        var raw: [SCARD_READERSTATE] = []
        for state in states {
            let name = strdup(state.name)
            names.append(name)
            var entry = SCARD_READERSTATE()
            entry.szReader = UnsafePointer(name)
            entry.dwCurrentState = DWORD(state.current)
            raw.append(entry)
        }
        let code = PCSCCode(SCardGetStatusChange(context, DWORD(milliseconds), &raw, DWORD(raw.count)))
        guard code.isSuccess else { return code }
        for index in states.indices {
            states[index].event = UInt32(truncatingIfNeeded: raw[index].dwEventState)
            states[index].atr = withUnsafeBytes(of: raw[index].rgbAtr) {
                Array($0.prefix(Int(clamping: raw[index].cbAtr)))
            }
        }
        return code
    }
}

extension PCSCCode {
    /// `LONG` is 64 bits wide on Linux; the codes are 32-bit numbers.
    fileprivate init(_ code: LONG) {
        self.init(UInt32(truncatingIfNeeded: code))
    }
}
#endif

extension PCSCLibrary {
    /// The most readers that one `SCardGetStatusChange` takes, the pseudo-reader included
    /// (`PCSCLITE_MAX_READERS_CONTEXTS`). With one more it refuses them all: 16 readers and the pseudo-reader are too many.
    static let mostStates = 16

    /// The share of each portion while several are waited for in turn.
    private static let share: UInt32 = 50

    /// `SCardGetStatusChange` for any number of readers. More than ``mostStates`` are asked for in portions, each of them
    /// in every call, so that readers where much happens do not hide the others.
    ///
    /// - Parameter isCancelled: asked between two calls of a wait in portions, which ends when it holds.
    func getStatusChange(
        _ context: Context,
        _ milliseconds: UInt32,
        ofAll states: inout [ReaderState],
        isCancelled: () -> Bool = { false }
    ) -> PCSCCode {
        guard states.count > Self.mostStates else { return getStatusChange(context, milliseconds, &states) }
        // What is not reported stays as it was.
        for index in states.indices { states[index].event = states[index].current }
        let now = portions(context, 0, &states, isCancelled, stopsAtFirst: false)
        guard now == .timeout, milliseconds > 0 else { return now }
        var left = milliseconds
        while true {
            let code = portions(context, min(Self.share, left), &states, isCancelled, stopsAtFirst: true)
            guard code == .timeout else { return code }
            if milliseconds == Self.infinite { continue }
            let taken = Self.share * UInt32((states.count - 1) / Self.mostStates + 1)
            guard left > taken else { return .timeout }
            left -= taken
        }
    }

    private func portions(
        _ context: Context,
        _ milliseconds: UInt32,
        _ states: inout [ReaderState],
        _ isCancelled: () -> Bool,
        stopsAtFirst: Bool
    ) -> PCSCCode {
        var hasChanged = false
        for start in stride(from: 0, to: states.count, by: Self.mostStates) {
            if isCancelled() { return .cancelled }
            let range = start..<min(start + Self.mostStates, states.count)
            var portion = Array(states[range])
            let code = getStatusChange(context, milliseconds, &portion)
            guard code != .timeout else { continue }
            guard code.isSuccess else { return code }
            states.replaceSubrange(range, with: portion)
            hasChanged = true
            if stopsAtFirst { break }
        }
        return hasChanged ? .success : .timeout
    }
}
