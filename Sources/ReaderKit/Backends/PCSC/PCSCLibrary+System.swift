#if PCSC
import CPCSC
import Foundation

extension PCSCLibrary {
    /// libpcsclite as installed.
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
            let code = SCardReconnect(
                handle,
                DWORD(sharing.rawValue),
                DWORD(protocols),
                DWORD(initialization.rawValue),
                &active
            )
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
            let code = SCardControl(
                handle,
                DWORD(controlCode),
                data,
                DWORD(data.count),
                &answer,
                DWORD(answer.count),
                &count
            )
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
