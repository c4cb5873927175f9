/// The reader itself, beside its cards. Lives and dies on the thread of its ``PCSCCardIO``.
final class PCSCReaderChannel: ReaderChannel {
    private let io: PCSCCardIO
    private let library: PCSCLibrary
    private let watch: CallWatch
    private let cancellation: Cancellation
    private var connection: (sharing: PCSCLibrary.ShareMode, handle: PCSCLibrary.Handle, protocol: UInt32)?
    private var isLocked = false

    init(_ io: PCSCCardIO, _ cancellation: Cancellation) {
        self.io = io
        library = io.library
        watch = io.watch
        self.cancellation = cancellation
    }

    func reportsEscape() throws(ReaderError) -> Bool {
        let attempt = "ask what the driver passes to the reader"
        let handle = try connect(.direct, attempt).handle
        let (code, features) = try watch.call(attempt) { library.control(handle, PCSCFeatures.request, []) }
        return code.isSuccess && PCSCFeatures.controlCode(of: PCSCFeatures.escape, in: features) != nil
    }

    func escape(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "send a command to the reader"
        let handle = try connect(.direct, attempt).handle
        let (code, answer) = try watch.call(attempt) { library.control(handle, PCSCFeatures.escapeCode, command) }
        guard code.isSuccess else { throw fault(code.controlError(attempting: attempt)) }
        return answer
    }

    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        let attempt = "send a command to the reader through its card"
        let (handle, activeProtocol) = try connect(.shared, attempt)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: ReaderLimits.responseLength,
            alignment: MemoryLayout<UInt>.alignment
        )
        defer { buffer.deallocate() }
        let (code, count) = try watch.call(attempt) {
            command.withUnsafeBytes { library.transmit(handle, activeProtocol, $0, buffer) }
        }
        guard code.isSuccess else { throw fault(code.error(attempting: attempt)) }
        guard count >= 2 else {
            throw ReaderError(.invalidAnswer, attempting: attempt, detail: "\(count) bytes are no response APDU")
        }
        return Array(buffer[..<count])
    }

    /// Ends the connection. Never fails: what cannot be ended is gone already.
    func close() {
        guard let connection = connection.take(), !watch.isAbandoned else { return }
        do throws(ReaderError) {
            if isLocked { _ = try watch.call("unlock the card") { library.endTransaction(connection.handle, .leave) } }
            isLocked = false
            let code = try watch.call("let the reader go") { library.disconnect(connection.handle, .leave) }
            if !code.isSuccess { io.assumeIsolated { $0.dropContext() } }
        } catch {
            // Abandoned in the middle: nothing may be called any more.
        }
    }

    /// What failed once is connected anew the next time.
    private func fault(_ error: ReaderError) -> ReaderError {
        close()
        return error
    }

    private func connect(
        _ sharing: PCSCLibrary.ShareMode,
        _ attempt: String
    ) throws(ReaderError) -> (handle: PCSCLibrary.Handle, protocol: UInt32) {
        guard !cancellation.isCancelled else { throw ReaderError(.cancelled, attempting: attempt) }
        if let connection, connection.sharing == sharing { return (connection.handle, connection.protocol) }
        close()
        let new = try io.onThread { [cancellation] (io) throws(ReaderError) in
            try io.connecting(attempt, toCard: sharing == .shared) { () throws(ReaderError) in
                try io.connect(sharing, attempt, cancellation)
            }
        }
        connection = (sharing, new.handle, new.protocol)
        guard sharing == .shared else { return new }
        let code = try watch.call("lock the card") { library.beginTransaction(new.handle) }
        guard code.isSuccess else { throw fault(code.error(attempting: "lock the card")) }
        isLocked = true
        return new
    }
}
