extension Type4Tag {
    /// Writes a message in place of the one that is there; see ``NDEFTag/writeNDEF(_:)``.
    ///
    /// The length is set to 0, the message is written and read back, and the length comes last, in one command. Behind an
    /// empty message follows a zero, by which it is told from an interrupted one.
    ///
    /// - Throws: ``TagError``.
    public mutating func writeNDEF(_ message: [UInt8]) throws(TagError) {
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        try write(message, to: file)
    }

    /// Makes a tag whose writing was interrupted a clean empty one.
    ///
    /// - Throws: ``TagError``.
    public mutating func repairNDEF() throws(TagError) -> TagRepair {
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        guard try readLength(of: file) == 0, try isInterrupted(file) else { return .notNeeded }
        try write([], to: file)
        return .repaired
    }

    /// Makes the NDEF application with an empty message on a card that has none, where its maker's commands are known.
    ///
    /// A card that has the application is left as it is, with its message; only a length that cannot be is set to 0.
    ///
    /// - Throws: ``TagError``.
    public mutating func formatNDEF() throws(TagError) {
        guard let file = try openFile() else {
            for formatter in Type4Tag.formatters where try formatter.createApplication(over: channel) { return }
            throw .cannotFormat(.type4, reason: "it has no NDEF application, and its kind is not known to make one on")
        }
        let length: Int
        do {
            length = try readLength(of: file)
        } catch .protected {
            // Whatever it holds is somebody's.
            return
        }
        if length > file.area.capacity { try write([], to: file) }
    }

    /// Makes the message unchangeable for ever: the capability container says from then on that it may not be written
    /// (NFC Forum, Type 4 Tag: read-only state), or, where the container cannot be written, the card's own command takes
    /// the right away.
    ///
    /// Whoever keeps to the standard does not write the message from then on. A card that goes on taking writes to its
    /// container can be unlocked by a program that does not; ``keepsLock()`` tells.
    ///
    /// - Throws: ``TagError``; ``TagError/wrongCard(expected:)`` before anything was written.
    public mutating func lock(_ confirmation: PermanentLock) throws(TagError) {
        try confirmation.check(over: channel, type: .type4)
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        guard file.area.writeAccess != .never else { return }
        if try readLength(of: file) == 0, try isInterrupted(file) {
            throw .guarded(attempt: "lock the tag", reason: "writing it was interrupted: write or repair it first")
        }
        guard try files.select(Type4Tag.containerFile) else { throw .notFormatted(.type4) }
        do {
            try files.write([0xFF], at: file.writeAccessOffset, of: Type4Tag.containerFile)
        } catch .link(let error) {
            throw .link(error)
        } catch {
            for formatter in Type4Tag.formatters where try formatter.lock(file: file.id, over: channel) { return }
            throw .unsupported(.type4, attempt: "lock the tag")
        }
        guard try openFile()?.area.writeAccess == .never else { throw .notWritten(offset: file.writeAccessOffset) }
    }

    /// Whether the card itself keeps a locked tag locked, and not the word of its capability container alone.
    ///
    /// The byte that says that nobody may write is written once more as it is: a card that takes it would take another
    /// one too.
    ///
    /// - Returns: `false` for a card that takes the byte, and for a tag that is not locked; nothing is written to that.
    /// - Throws: ``TagError``.
    public mutating func keepsLock() throws(TagError) -> Bool {
        guard let file = try openFile() else { throw .notFormatted(.type4) }
        guard file.area.writeAccess == .never else { return false }
        guard try files.select(Type4Tag.containerFile) else { throw .notFormatted(.type4) }
        do {
            try files.write([0xFF], at: file.writeAccessOffset, of: Type4Tag.containerFile)
            return false
        } catch .link(let error) {
            throw .link(error)
        } catch {
            return true
        }
    }

    private mutating func write(_ message: [UInt8], to file: MessageFile) throws(TagError) {
        guard message.count <= file.area.capacity else {
            throw .tooLarge(length: message.count, capacity: file.area.capacity)
        }
        guard file.area.writeAccess == .free else { throw .readOnly(.type4) }
        func length(_ count: Int) -> [UInt8] {
            (0..<file.lengthSize).map { UInt8(truncatingIfNeeded: count >> (8 * (file.lengthSize - 1 - $0))) }
        }
        let start = file.lengthSize
        if try files.read(start, at: 0, of: file.id) != length(0) {
            try files.write(length(0), at: 0, of: file.id, inOneCommand: true)
        }
        let content = message.isEmpty ? [0x00] : message
        try files.write(content, at: start, of: file.id)
        let found: [UInt8]
        do {
            found = try files.read(content.count, at: start, of: file.id)
        } catch .protected where file.area.readAccess != .free {
            // Whoever may write but not read has the card's word alone.
            found = content
        }
        guard found == content else {
            throw .notWritten(offset: zip(found, content).enumerated().first { $1.0 != $1.1 }?.offset ?? 0)
        }
        guard !message.isEmpty else { return }
        try files.write(length(message.count), at: 0, of: file.id, inOneCommand: true)
        guard try readLength(of: file) == message.count else { throw .notWritten(offset: 0) }
    }
}
