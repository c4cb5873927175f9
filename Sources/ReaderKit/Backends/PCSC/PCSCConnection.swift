#if PCSC
/// A card connected for single exchanges, from any task.
///
/// The card is locked for this connection until ``close()`` or its release. Until then other conversations with the
/// card fail with ``ReaderError/Kind/sharingViolation``.
public final class PCSCConnection: Sendable {
    /// Kept, since a backend that goes takes its readers' threads along.
    private let backend: PCSCBackend
    private let io: PCSCCardIO
    private let slot = ChannelSlot()

    init(backend: PCSCBackend, io: PCSCCardIO) {
        self.backend = backend
        self.io = io
    }

    deinit {
        let (backend, io, slot) = (backend, io, slot)
        Task {
            try? await io.run(evenIfCancelled: true) { io, _ in slot.close(io) }
            withExtendedLifetime(backend) {}
        }
    }

    func open(_ presence: CardPresence) async throws {
        let slot = slot
        try await io.run { io, cancellation in slot.open(try io.open(presence, cancellation: cancellation), io) }
    }

    /// Sends a command APDU and returns the response APDU (`SCardTransmit`), or throws ``ReaderError``.
    public func transmit(_ command: [UInt8]) async throws -> [UInt8] {
        let slot = slot
        return try await io.run { io, cancellation in
            guard !cancellation.isCancelled else { throw ReaderError(.cancelled, attempting: "exchange an APDU") }
            return try slot.channel(io).transmit(command)
        }
    }

    /// Disconnects the card, which stays powered and unchanged. Later exchanges fail.
    public func close() async {
        let slot = slot
        try? await io.run(evenIfCancelled: true) { io, _ in slot.close(io) }
    }
}

/// Holds the channel of a connection between two exchanges.
///
/// `@unchecked Sendable`: the stored channel is touched only with an isolated ``PCSCCardIO`` at hand, always that of the
/// connection, whose thread is the only one that runs these methods.
private final class ChannelSlot: @unchecked Sendable {
    private var stored: PCSCChannel?

    func open(_ channel: PCSCChannel, _ io: isolated PCSCCardIO) {
        stored = channel
        io.isHeld = true
    }

    func channel(_ io: isolated PCSCCardIO) throws -> PCSCChannel {
        guard let stored else {
            throw ReaderError(.cancelled, attempting: "exchange an APDU", detail: "the connection is closed")
        }
        return stored
    }

    func close(_ io: isolated PCSCCardIO) {
        guard let channel = stored.take() else { return }
        io.isHeld = false
        channel.close(.leave)
    }
}
#endif
