import CardCore

/// Locks the message of a DESFire or NTAG 424, step by step. Whatever it has to refuse, it refuses before it writes.
struct DESFireNDEFLocker {
    var card: DESFireCard
    let channel: any CardChannel

    private static let attempt = "lock the tag"

    mutating func lock(_ uid: CardUID?, key: SecretKey?) throws(TagError) {
        let isNamed = try uid.map { (uid) throws(TagError) in try readerShows(uid) } ?? true
        try card.step { (card) throws(DESFireError) in _ = try card.version() }
        do {
            try card.select(name: DESFireNDEF.name)
        } catch {
            guard case .refused(_, .fileNotFound) = error else { throw error.tagError }
            throw .notFormatted(.type4)
        }
        let container = try settings(of: DESFireNDEF.containerFile)
        let message = try settings(of: DESFireNDEF.messageFile)
        let saysSo = try checkLayout(message)
        if isNamed, isLocked(container), isLocked(message) { return }
        let number = try keyNumber(container, message)
        guard saysSo || isWritable(container, by: number) else {
            throw guarded("its capability container takes another key")
        }
        if let number {
            guard let key else { throw guarded("it takes the key \(number) of its NDEF application") }
            try authenticate(key, number)
        }
        if !isNamed, let uid { try checkFixedIdentifier(uid) }
        // A tag that states that it is locked cannot be repaired any more: its lock is finished.
        if !saysSo { try checkWhole(message, number) }

        let communication = container.writingCommunication(keyNumber: number)
        let last = DESFireNDEF.writeAccessOffset
        if !saysSo {
            try card.step { (card) throws(DESFireError) in
                try card.writeData([0xFF], file: DESFireNDEF.containerFile, offset: last, communication: communication)
            }
        }
        for (file, settings) in [(DESFireNDEF.messageFile, message), (DESFireNDEF.containerFile, container)]
        where !isLocked(settings) {
            let rights = DESFireAccessRights(
                read: settings.isFreeToRead ? .free : settings.accessRights.read,
                write: .never,
                readWrite: .never,
                change: .never
            )
            try card.step { (card) throws(DESFireError) in try card.changeRights(rights, of: file, with: settings) }
        }
        card.endSession()
    }

    private func guarded(_ reason: String) -> TagError { .guarded(attempt: Self.attempt, reason: reason) }

    // MARK: Which card

    /// Whether the card shows that identifier in anticollision; another may be a random one.
    private func readerShows(_ uid: CardUID) throws(TagError) -> Bool {
        let shown = try PermanentLock.identifier(over: channel)
        if shown?.bytes == uid.bytes { return true }
        // Only a random identifier leaves open which card it is; the card itself then tells, to who knows the key.
        guard shown?.kind == .random else { throw .wrongCard(expected: uid) }
        return false
    }

    private mutating func checkFixedIdentifier(_ uid: CardUID) throws(TagError) {
        guard card.session != nil else { throw .wrongCard(expected: uid) }
        let fixed = try card.step { (card) throws(DESFireError) in try card.cardUID() }
        guard fixed.bytes == uid.bytes else { throw .wrongCard(expected: uid) }
    }

    // MARK: What may be locked

    private mutating func settings(of file: UInt8) throws(TagError) -> DESFireFileSettings {
        try card.step { (card) throws(DESFireError) in try card.fileSettings(file) }
    }

    /// The container must describe the very file that is to be locked. Returns whether it states already that nobody
    /// may write.
    private mutating func checkLayout(_ message: DESFireFileSettings) throws(TagError) -> Bool {
        let unknown = guarded("its files are not laid out as this library knows it")
        let container = try card.step { (card) throws(DESFireError) in
            try card.readData(file: DESFireNDEF.containerFile, length: 15)
        }
        guard container.count == 15, container[7] == 0x04, container[8] == 0x06,
            container[9..<11].elementsEqual([0xE1, 0x04]),
            case .standard(let size) = message.content, size == Int(container[11]) << 8 | Int(container[12])
        else { throw unknown }
        return container[DESFireNDEF.writeAccessOffset] == 0xFF
    }

    /// An empty message whose writing was interrupted must not stay so for ever. A file that is read with another key
    /// than the one for locking cannot be looked into, and is its owner's to look after.
    private mutating func checkWhole(_ message: DESFireFileSettings, _ number: UInt8?) throws(TagError) {
        let isReadable = number.map { message.accessRights.readingKeys.contains($0) } ?? false
        guard message.isFreeToRead || isReadable else { return }
        let start = try card.step { (card) throws(DESFireError) in
            try card.readData(
                file: DESFireNDEF.messageFile,
                length: 3,
                communication: message.readingCommunication(keyNumber: number)
            )
        }
        guard start.count == 3 else { throw guarded("its message cannot be read") }
        if start[0] == 0, start[1] == 0, start[2] != 0 {
            throw guarded("writing it was interrupted: write or repair it first")
        }
    }

    private func isLocked(_ settings: DESFireFileSettings) -> Bool {
        settings.allRights.allSatisfy { $0.write == .never && $0.readWrite == .never && $0.change == .never }
    }

    private func isWritable(_ settings: DESFireFileSettings, by number: UInt8?) -> Bool {
        settings.accessRights.isFreeToWrite
            || number.map { settings.accessRights.writingKeys.contains($0) } ?? false
    }

    /// The one key that locking takes, or `nil` if it takes none.
    private func keyNumber(
        _ container: DESFireFileSettings,
        _ message: DESFireFileSettings
    ) throws(TagError) -> UInt8? {
        var numbers: Set<UInt8> = []
        for settings in [container, message] where !isLocked(settings) {
            guard settings.additionalRights.isEmpty else { throw guarded("its files have further access rights") }
            // The right to read and write is taken away; where nobody has another to read, nobody could read any more.
            guard settings.isFreeToRead || settings.accessRights.read != .never else {
                throw guarded("its files can be read only by whoever may write them, and locked by nobody")
            }
            switch settings.accessRights.change {
            case .key(let number): numbers.insert(number)
            case .free: break
            case .never: throw guarded("nobody may change the access rights of its files")
            }
        }
        guard numbers.count <= 1 else { throw guarded("its files take different keys") }
        return numbers.first
    }

    private mutating func authenticate(_ key: SecretKey, _ number: UInt8) throws(TagError) {
        try card.step { (card) throws(DESFireError) in
            switch card.commandSet {
            case .desfire: try card.authenticateAES(key: key, number: number)
            case .light: try card.authenticateEV2First(key: key, number: number)
            }
        }
    }
}
