/// Conversations with the card on a reader.
extension NFCReader {
    /// What there is now: opens the reader and looks for a card, unless that is done all the time anyway.
    ///
    /// - Returns: `nil` if the reader is not there.
    func status() throws(ReaderError) -> ReaderStatus? {
        do throws(ReaderError) {
            return try statusOnce()
        } catch {
            // It may have been away since it was last used.
            guard NFCReader.meansDeviceLost(error) else { throw error }
            device.close()
            return try statusOnce()
        }
    }

    private func statusOnce() throws(ReaderError) -> ReaderStatus? {
        // Closed meanwhile: nothing is opened any more.
        guard !isRetired, try openIfNeeded() else { return nil }
        if !polling.withLock(\.isWanted) || !device.answers { try look() }
        return ReaderStatus(
            reader: info,
            card: isOver ? nil : card,
            technologies: device.technologies,
            details: try device.information()
        )
    }

    /// Begins a conversation with the card of that presentation.
    func open(_ presence: CardPresence, _ cancellation: Cancellation) throws(ReaderError) -> NFCChannel {
        let attempt = "connect to the card"
        guard !cancellation.isCancelled else { throw ReaderError(.cancelled, attempting: attempt) }
        guard let card, card.number == presence.number, card.epoch == presence.epoch, let target, !isOver else {
            throw ReaderError(.cardRemoved, attempting: attempt, detail: "that presentation is over")
        }
        if !isFresh || !device.isOpen { try selectAgain(target, attempt) }
        isFresh = false
        hasAnswered = false
        return NFCChannel(self, device, presence: card, target: self.target ?? target, cancellation)
    }

    private func selectAgain(_ target: NFCTarget, _ attempt: String) throws(ReaderError) {
        do throws(ReaderError) {
            guard try openIfNeeded() else { throw ReaderError(.readerUnavailable, attempting: attempt) }
            guard try device.reselect(target, dropsField: true) else {
                isOver = true
                throw ReaderError(.cardRemoved, attempting: attempt)
            }
        } catch {
            guard NFCReader.meansDeviceLost(error), reopen(target) else { throw error }
        }
        self.target = device.target
    }

    static func meansDeviceLost(_ error: ReaderError) -> Bool {
        guard let code = error.code.flatMap({ Int32(exactly: $0.rawValue) }) else { return false }
        return NFCCode(code).meansDeviceLost
    }

    /// Opens the device anew after it failed, and selects the card; whether both went well.
    func reopen(_ target: NFCTarget) -> Bool {
        do throws(ReaderError) {
            device.close()
            guard try openIfNeeded(), try device.reselect(target, dropsField: true) else { return false }
            self.target = device.target
            return true
        } catch {
            return false
        }
    }

    /// Notes in which state a conversation left the card.
    func conversationEnded(isOver: Bool) {
        if isOver { self.isOver = true }
        isFresh = false
        hasAnswered = false
        if let target = device.target { self.target = target }
    }
}
