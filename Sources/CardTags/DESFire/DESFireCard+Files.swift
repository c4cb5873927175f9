import CardCore

// Files have numbers from 0 to 31, offsets and lengths go to FFFFFF.
extension DESFireCard {
    /// The greatest file number.
    static let lastFile: UInt8 = 0x1F

    /// How many bytes one command asks for while a whole file is read.
    private var chunk: Int { commandSet == .light ? 224 : 1024 }

    /// The files of the selected application (GET FILE IDS, `6F`).
    public mutating func fileIDs() throws(DESFireError) -> [UInt8] {
        try execute(.getFileIDs, attempt: "list the files of the application")
    }

    /// The card's description of a file (GET FILE SETTINGS, `F5`).
    public mutating func fileSettings(_ file: UInt8) throws(DESFireError) -> DESFireFileSettings {
        let attempt = "read the settings of file \(file)"
        try check(file, attempt)
        let answer = try execute(.getFileSettings, header: [file], attempt: attempt)
        guard let settings = DESFireFileSettings(answer) else {
            throw .invalidAnswer(attempt: attempt, detail: "\(answer.count) bytes that describe no file that is known")
        }
        return settings
    }

    /// Reads bytes of a standard or backup data file (READ DATA, `BD`; `AD` in the light set of commands).
    ///
    /// - Parameters:
    ///   - file: 0...31.
    ///   - offset: 0...FFFFFF.
    ///   - length: 1...FFFFFF, or 0 for all that stands behind the offset. Never more than
    ///     ``ReaderLimits/responseLength`` bytes are taken.
    ///   - communication: how the file's content travels; see ``DESFireFileSettings/readingCommunication(keyNumber:)``.
    ///     Without a session it does not matter.
    public mutating func readData(
        file: UInt8,
        offset: Int = 0,
        length: Int = 0,
        communication: DESFireCommunication = .plain
    ) throws(DESFireError) -> [UInt8] {
        let attempt = "read file \(file)"
        let header = try range(file, offset, length, attempt)
        let data = try execute(
            commandSet == .light ? .readDataLight : .readData,
            header: header,
            protection: communication,
            answer: communication,
            length: length == 0 ? nil : length,
            attempt: attempt
        )
        guard length == 0 || data.count == length else {
            session = nil
            throw .invalidAnswer(attempt: attempt, detail: "it has \(data.count) bytes of the \(length) asked for")
        }
        return data
    }

    /// Reads the whole of a standard or backup data file, in parts, as its settings require.
    ///
    /// - Throws: ``DESFireError``; a file of more than ``ReaderLimits/responseLength`` bytes is
    ///   ``DESFireError/limitExceeded(attempt:detail:)``.
    public mutating func readFile(_ file: UInt8) throws(DESFireError) -> [UInt8] {
        let attempt = "read file \(file)"
        let settings = try fileSettings(file)
        guard let size = settings.content.size else {
            throw .invalidRequest(attempt: attempt, detail: "it is a \(settings.content.name)")
        }
        try check(size: size, count: 1, attempt)
        let communication = settings.readingCommunication(keyNumber: session?.keyNumber)
        let chunk = self.chunk
        var data: [UInt8] = []
        while data.count < size {
            let length = min(size - data.count, chunk)
            data += try readData(file: file, offset: data.count, length: length, communication: communication)
        }
        return data
    }

    /// Reads records of a record file, the oldest first (READ RECORDS, `BB`).
    ///
    /// - Parameters:
    ///   - file: 0...31.
    ///   - offset: how many of the newest records to leave out.
    ///   - count: 1...FFFFFF, or 0 for all that are older.
    ///   - size: the size of a record, in bytes, 1...FFFFFF.
    ///   - communication: how the file's content travels.
    public mutating func readRecords(
        file: UInt8,
        offset: Int = 0,
        count: Int = 0,
        size: Int,
        communication: DESFireCommunication = .plain
    ) throws(DESFireError) -> [[UInt8]] {
        let attempt = "read the records of file \(file)"
        let header = try range(file, offset, count, attempt)
        guard (1...0xFF_FFFF).contains(size) else {
            throw .invalidRequest(attempt: attempt, detail: "a record of \(size) bytes")
        }
        try check(size: size, count: count, attempt)
        let data = try execute(
            .readRecords,
            header: header,
            protection: communication,
            answer: communication,
            length: count == 0 ? nil : size * count,
            attempt: attempt
        )
        guard data.count % size == 0, count == 0 || data.count == size * count else {
            session = nil
            throw .invalidAnswer(attempt: attempt, detail: "\(data.count) bytes of records of \(size) bytes")
        }
        return stride(from: 0, to: data.count, by: size).map { Array(data[$0..<$0 + size]) }
    }

    /// Reads all the records of a record file, the oldest first, in parts, as its settings require.
    ///
    /// - Throws: ``DESFireError``; more than ``ReaderLimits/responseLength`` bytes of records are
    ///   ``DESFireError/limitExceeded(attempt:detail:)``.
    public mutating func readRecords(_ file: UInt8) throws(DESFireError) -> [[UInt8]] {
        let attempt = "read the records of file \(file)"
        let settings = try fileSettings(file)
        let shape: DESFireFileSettings.Records
        switch settings.content {
        case .linearRecords(let records), .cyclicRecords(let records): shape = records
        default: throw .invalidRequest(attempt: attempt, detail: "it is a \(settings.content.name)")
        }
        guard shape.size > 0, shape.count <= shape.capacity else {
            let detail = "the file has \(shape.count) of \(shape.capacity) records of \(shape.size) bytes"
            throw .invalidAnswer(attempt: attempt, detail: detail)
        }
        try check(size: shape.size, count: shape.count, attempt)
        let communication = settings.readingCommunication(keyNumber: session?.keyNumber)
        let atOnce = max(1, chunk / shape.size)
        var records: [[UInt8]] = []
        while records.count < shape.count {
            let count = min(atOnce, shape.count - records.count)
            records += try readRecords(
                file: file,
                offset: shape.count - records.count - count,
                count: count,
                size: shape.size,
                communication: communication
            )
        }
        return records
    }

    /// Reads the number in a value file (GET VALUE, `6C`).
    public mutating func value(
        file: UInt8,
        communication: DESFireCommunication = .plain
    ) throws(DESFireError) -> Int32 {
        let attempt = "read the value of file \(file)"
        try check(file, attempt)
        let data = try execute(
            .getValue,
            header: [file],
            protection: communication,
            answer: communication,
            length: 4,
            attempt: attempt
        )
        var reader = ByteReader(data)
        guard let value = reader.signed(), reader.left == 0 else {
            session = nil
            throw wrongLength(data, attempt)
        }
        return value
    }

    // MARK: Checks before anything is sent

    func check(_ file: UInt8, _ attempt: String) throws(DESFireError) {
        guard file <= Self.lastFile else {
            throw .invalidRequest(attempt: attempt, detail: "file numbers end at \(Self.lastFile)")
        }
    }

    private func check(size: Int, count: Int, _ attempt: String) throws(DESFireError) {
        let limit = ReaderLimits.responseLength - 2
        guard count == 0 || size <= limit / count else {
            let times = count == 1 ? "" : "\(count) times "
            throw .limitExceeded(attempt: attempt, detail: "\(times)\(size) bytes, the limit is \(limit)")
        }
    }

    /// File number, offset and length, as the commands that read and write take them.
    func range(_ file: UInt8, _ offset: Int, _ length: Int, _ attempt: String) throws(DESFireError) -> [UInt8] {
        try check(file, attempt)
        guard (0...0xFF_FFFF).contains(offset), (0...0xFF_FFFF).contains(length) else {
            throw .invalidRequest(attempt: attempt, detail: "offsets and lengths end at 16777215")
        }
        return [file] + [UInt8].littleEndian(offset, count: 3) + [UInt8].littleEndian(length, count: 3)
    }
}

// What formatting and locking need. Not public: nothing here is for everyday use, and some of it cannot be undone.
extension DESFireCard {
    /// Makes an application with AES keys that are all zeros (CREATE APPLICATION, `CA`).
    mutating func createApplication(
        _ application: DESFireApplicationID,
        options: UInt8,
        keyCount: UInt8,
        isoFile: UInt16,
        name: [UInt8]
    ) throws(DESFireError) {
        // 80: AES keys; 20: its files have ISO identifiers too.
        let header = application.wire + [options, 0x80 | 0x20 | keyCount & 0x0F]
        let iso = [UInt8].littleEndian(Int(isoFile), count: 2) + name
        _ = try execute(.createApplication, header: header + iso, attempt: "make the application \(application)")
    }

    /// Makes a standard data file in the selected application (CREATE STANDARD DATA FILE, `CD`).
    mutating func createStandardFile(
        _ file: UInt8,
        isoFile: UInt16,
        rights: DESFireAccessRights,
        size: Int
    ) throws(DESFireError) {
        let attempt = "make file \(file)"
        try check(file, attempt)
        guard (1...0xFF_FFFF).contains(size) else {
            throw .invalidRequest(attempt: attempt, detail: "a file of \(size) bytes")
        }
        let header =
            [file] + [UInt8].littleEndian(Int(isoFile), count: 2) + [DESFireCommunication.plain.fileOption]
            + [UInt8].littleEndian(Int(rights.number), count: 2) + [UInt8].littleEndian(size, count: 3)
        _ = try execute(.createStandardFile, header: header, attempt: attempt)
    }

    /// Writes bytes of a standard or backup data file (WRITE DATA, `3D`; `8D` in the light set of commands).
    mutating func writeData(
        _ data: [UInt8],
        file: UInt8,
        offset: Int = 0,
        communication: DESFireCommunication = .plain
    ) throws(DESFireError) {
        let attempt = "write file \(file)"
        guard !data.isEmpty else { return }
        let header = try range(file, offset, data.count, attempt)
        _ = try execute(
            commandSet == .light ? .writeDataLight : .writeData,
            header: header,
            data: data,
            protection: communication,
            answer: communication == .plain ? .plain : .authenticated,
            attempt: attempt
        )
    }

    /// Gives a file other rights (CHANGE FILE SETTINGS, `5F`). How its content travels, and its secure dynamic
    /// messaging, stay as they are.
    mutating func changeRights(
        _ rights: DESFireAccessRights,
        of file: UInt8,
        with settings: DESFireFileSettings
    ) throws(DESFireError) {
        let attempt = "change the access rights of file \(file)"
        try check(file, attempt)
        var options = settings.communication.fileOption
        if settings.sdm != nil { options |= 0x40 }
        let data = [options] + [UInt8].littleEndian(Int(rights.number), count: 2) + (settings.sdm?.encoded ?? [])
        // Where anybody may change them, the command travels in clear even in a session.
        let isFree = settings.accessRights.change == .free
        _ = try execute(
            .changeFileSettings,
            header: [file],
            data: data,
            protection: isFree ? .plain : .encrypted,
            answer: isFree ? .plain : .authenticated,
            attempt: attempt
        )
    }
}
