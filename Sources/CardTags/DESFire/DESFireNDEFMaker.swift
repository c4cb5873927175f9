import CardCore

/// Makes the NDEF application, step by step, and goes on where making it was interrupted.
struct DESFireNDEFMaker {
    var card: DESFireCard
    /// The size of the message's file, with its length field.
    let size: Int

    private static let applicationElementaryFile: UInt16 = 0xE110
    /// What an application and its two files take beside their content, generously.
    private static let overhead = 256

    mutating func make(masterKey: SecretKey?, applicationKey: SecretKey) throws(TagError) {
        try checkProduct()
        let key: SecretKey
        var files: Set<UInt8> = []
        if try selectExisting() {
            files = try checkUnfinished()
            key = applicationKey
        } else {
            try makeApplication(masterKey: masterKey)
            key = .factory
        }
        try card.step { (card) throws(DESFireError) in try card.authenticateAES(key: key, number: 0) }
        try makeFiles(besides: files)
    }

    private func refuse(_ reason: String) -> TagError { .cannotFormat(.type4, reason: reason) }

    private mutating func checkProduct() throws(TagError) {
        let version: DESFireVersion
        do {
            version = try card.version()
        } catch {
            guard case .refused = error else { throw error.tagError }
            throw refuse("it is no DESFire card, and others are formatted by their makers")
        }
        switch version.product {
        case .ev1, .ev2, .ev3: break
        case .light, .ntag424, .ntag413: throw refuse("its files are the factory's, and cannot be made anew")
        default: throw refuse("it is not known how this card is formatted (\(version))")
        }
    }

    /// Selects the NDEF application; `false` if there is none.
    private mutating func selectExisting() throws(TagError) -> Bool {
        do {
            try card.select(name: DESFireNDEF.name)
            return true
        } catch {
            guard case .refused(_, let status) = error else { throw error.tagError }
            guard status == .fileNotFound || status == StatusWord(0x91A0) else { throw error.tagError }
            return false
        }
    }

    /// The files that an unfinished NDEF application has. Anything but one that this code began is refused.
    private mutating func checkUnfinished() throws(TagError) -> Set<UInt8> {
        let foreign = refuse("it has an NDEF application already")
        let settings = try card.step { (card) throws(DESFireError) in try card.keySettings() }
        guard settings.options == DESFireNDEF.keyOptions, settings.keyType == .aes, settings.keyCount == 1 else {
            throw foreign
        }
        let files = Set(try card.step { (card) throws(DESFireError) in try card.fileIDs() })
        guard files.isSubset(of: [DESFireNDEF.containerFile, DESFireNDEF.messageFile]) else { throw foreign }
        if files.contains(DESFireNDEF.containerFile) {
            let container = try card.step { (card) throws(DESFireError) in try card.readFile(DESFireNDEF.containerFile)
            }
            guard container.allSatisfy({ $0 == 0 }) else { throw foreign }
        }
        if files.contains(DESFireNDEF.messageFile) {
            // Anything but the beginnings of an empty file is somebody's.
            let settings = try card.step { (card) throws(DESFireError) in try card.fileSettings(DESFireNDEF.messageFile)
            }
            guard settings.content == .standard(size: size) else {
                throw refuse("an interrupted formatting made room for another size")
            }
        }
        return files
    }

    private mutating func makeApplication(masterKey: SecretKey?) throws(TagError) {
        try card.step { (card) throws(DESFireError) in try card.select(.card) }
        if let masterKey {
            try card.step { (card) throws(DESFireError) in try card.authenticateAES(key: masterKey, number: 0) }
        } else {
            try checkFreedom()
        }
        let taken = Set(try card.step { (card) throws(DESFireError) in try card.applicationIDs() })
        let free = (UInt32(1)...UInt32(0xFF)).lazy.compactMap { DESFireApplicationID($0) }.first { !taken.contains($0) }
        guard let application = free else { throw refuse("it has no room for another application") }
        let room = try card.step { (card) throws(DESFireError) in try card.freeMemory() }
        guard room >= size + Self.overhead else {
            throw refuse("\(room) bytes are free on it, \(size + Self.overhead) are needed")
        }
        try card.step { (card) throws(DESFireError) in
            try card.createApplication(
                application,
                options: DESFireNDEF.keyOptions,
                keyCount: 1,
                isoFile: Self.applicationElementaryFile,
                name: DESFireNDEF.name
            )
            try card.select(application)
        }
    }

    /// Whether applications are listed and made without a key.
    private mutating func checkFreedom() throws(TagError) {
        let locked = refuse("making an application on it takes the card's master key")
        let settings: DESFireKeySettings
        do {
            settings = try card.keySettings()
        } catch {
            guard error.status == .authenticationError || error.status == .permissionDenied else {
                throw error.tagError
            }
            throw locked
        }
        guard settings.createsFreely, settings.listsFreely else { throw locked }
    }

    /// The message's file and its length first: until the container is written, the card is no tag.
    private mutating func makeFiles(besides files: Set<UInt8>) throws(TagError) {
        let size = self.size
        try card.step { (card) throws(DESFireError) in
            if !files.contains(DESFireNDEF.messageFile) {
                try card.createStandardFile(
                    DESFireNDEF.messageFile,
                    isoFile: DESFireNDEF.messageElementaryFile,
                    rights: DESFireAccessRights(read: .free, write: .free, readWrite: .free, change: .key(0)),
                    size: size
                )
            }
            // An empty message, and the zero behind it by which it is told from an interrupted one.
            try card.writeData([0, 0, 0], file: DESFireNDEF.messageFile)
            if !files.contains(DESFireNDEF.containerFile) {
                try card.createStandardFile(
                    DESFireNDEF.containerFile,
                    isoFile: Type4Tag.containerFile,
                    rights: DESFireAccessRights(read: .free, write: .key(0), readWrite: .key(0), change: .key(0)),
                    size: Type4Tag.containerLength
                )
            }
            try card.writeData(Self.container(size: size), file: DESFireNDEF.containerFile)
        }
        card.endSession()
    }

    /// The capability container: mapping 2.0, answers of 59 and commands of 52 bytes, the file, free for all.
    static func container(size: Int) -> [UInt8] {
        let file = DESFireNDEF.messageElementaryFile
        let place = [UInt8(file >> 8), UInt8(file & 0xFF), UInt8(truncatingIfNeeded: size >> 8)]
        return [0x00, 0x0F, 0x20, 0x00, 0x3B, 0x00, 0x34, 0x04, 0x06] + place
            + [UInt8(truncatingIfNeeded: size), 0x00, 0x00]
    }
}
