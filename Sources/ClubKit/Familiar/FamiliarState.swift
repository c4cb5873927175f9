import ReaderKit

/// What a club remembers for the names of the original library: nothing of it is stored.
struct FamiliarState: Sendable {
    /// What ``Club/open(withAppKey:appId:developerId:completion:)`` was given.
    var identity: KioskIdentity?
    var numberOfFailedOpenCaptureAttempts = 0
    var decodedDataFormat = Club.DecodedDataParseFormat.defaultRFID
}
