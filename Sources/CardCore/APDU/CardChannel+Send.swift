extension CardChannel {
    /// Sends a command and returns the card's answer as it is, whatever its status word.
    ///
    /// - Throws: ``ReaderError``; an answer that is no response APDU is ``ReaderError/Kind/invalidAnswer``.
    public func exchange(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        try APDUTransport(self).process(command)
    }

    /// Sends a command and returns the whole answer: a status word `6Cxx` repeats the command with the length that the
    /// card names, and `61xx` fetches the rest with GET RESPONSE (ISO/IEC 7816-4).
    ///
    /// Protocols in which `61xx` has a meaning of its own use ``exchange(_:)``, and commands that may be longer than the
    /// reader or the card takes an ``APDUPipeline``.
    ///
    /// - Returns: the data of all parts, and the last status word.
    /// - Throws: ``ReaderError``; more rounds or more data than ``ReaderLimits`` allows is
    ///   ``ReaderError/Kind/limitExceeded``, and more time ``ReaderError/Kind/timeout``.
    public func send(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let transport = APDUTransport(self, limit: ReaderLimits.commandDuration)
        transport.begin()
        return try ResponseChaining(before: LengthCorrection(before: transport)).process(command)
    }
}
