import CardCore

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
        _ = try execute(0xCA, header: header + iso, attempt: "make the application \(application)")
    }

    /// Makes a standard data file in the selected application (CREATE STANDARD DATA FILE, `CD`).
    mutating func createStandardFile(
        _ file: UInt8,
        isoFile: UInt16,
        communication: DESFireCommunication,
        rights: DESFireAccessRights,
        size: Int
    ) throws(DESFireError) {
        let attempt = "make file \(file)"
        try check(file, attempt)
        guard (1...0xFF_FFFF).contains(size) else {
            throw .invalidRequest(attempt: attempt, detail: "a file of \(size) bytes")
        }
        let header =
            [file] + [UInt8].littleEndian(Int(isoFile), count: 2) + [communication.fileOption]
            + [UInt8].littleEndian(Int(rights.number), count: 2) + [UInt8].littleEndian(size, count: 3)
        _ = try execute(0xCD, header: header, attempt: attempt)
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
            commandSet == .light ? 0x8D : 0x3D,
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
            0x5F,
            header: [file],
            data: data,
            protection: isFree ? .plain : .encrypted,
            answer: isFree ? .plain : .authenticated,
            attempt: attempt
        )
    }
}
