/// Native commands of the DESFire family by their names in the makers' data sheets, bare or as INS of class 90.
package enum DESFireInstruction: UInt8, Sendable {
    // AES and LRP share the bytes of EV2.
    case authenticateDES = 0x0A
    case authenticateISO = 0x1A
    case authenticateAES = 0xAA
    case authenticateEV2First = 0x71
    case authenticateEV2NonFirst = 0x77

    // Of MIFARE Plus.
    case plusAuthenticateFirst = 0x70
    case plusAuthenticateContinue = 0x72
    case plusAuthenticateFollowing = 0x76

    case changeKey = 0xC4
    case changeKeyEV2 = 0xC6
    case rollKeySet = 0xC9
    case changeKeySettings = 0x54
    case setConfiguration = 0x5C
    case getKeySettings = 0x45
    case getKeyVersion = 0x64
    case getVersion = 0x60
    case getCardUID = 0x51
    case freeMemory = 0x6E
    case readSignature = 0x3C
    case format = 0xFC

    case getApplicationIDs = 0x6A
    case selectApplication = 0x5A
    case createApplication = 0xCA
    case deleteApplication = 0xDA
    case getDFNames = 0x6D

    case getFileIDs = 0x6F
    case getISOFileIDs = 0x61
    case getFileSettings = 0xF5
    case changeFileSettings = 0x5F
    case getFileCounters = 0xF6
    case createStandardFile = 0xCD
    case createBackupFile = 0xCB
    case createValueFile = 0xCC
    case createLinearRecordFile = 0xC1
    case createCyclicRecordFile = 0xC0
    case createTransactionMACFile = 0xCE
    case deleteFile = 0xDF

    // The form of DESFire Light and NTAG 424 stands behind that of the others.
    case readData = 0xBD
    case readDataLight = 0xAD
    case writeData = 0x3D
    case writeDataLight = 0x8D
    case readRecords = 0xBB
    case readRecordsLight = 0xAB
    case writeRecord = 0x3B
    case writeRecordLight = 0x8B
    case clearRecords = 0xEB
    case getValue = 0x6C
    case credit = 0x0C
    case debit = 0xDC
    case limitedCredit = 0x1C

    case commitTransaction = 0xC7
    case abortTransaction = 0xA7
    case commitReaderID = 0xC8
    case additionalFrame = 0xAF
}
