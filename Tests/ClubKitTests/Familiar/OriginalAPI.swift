/// What an original library offers, what this one does in its place, and the tests that pin it.
struct OriginalItem {
    var name: String
    var ours: String
    var tests: [String]

    init(_ name: String, _ ours: String, _ tests: String...) {
        self.name = name
        self.ours = ours
        self.tests = tests
    }

    /// An item that has nothing in its place, and why.
    init(_ name: String, declined reason: String) {
        self.name = name
        ours = "Declined: \(reason)"
        tests = []
    }

    /// Whether it has nothing in its place, and so no tests.
    var isDeclined: Bool { ours.hasPrefix("Declined: ") }
}

/// Every public item of the original libraries, part by part.
enum OriginalAPI {
    static let parts: [(title: String, items: [OriginalItem])] = [
        ("Session and readers", session), ("Set-up", setUp), ("Configuration", configuration), ("Members", members),
        ("Files", files), ("The record", record), ("The live list", list), ("Debug mode", debug),
        ("Callbacks", callbacks), ("Errors and results", errors), ("Scenarios", scenarios),
        ("Routing of messages", routing), ("Presenters and screens", presentation), ("Lists of the screen", lists),
        ("Services and utilities", utilities), ("Siren APIs", siren),
    ]

    private static let session = [
        OriginalItem(
            "`CaptureMiddleware`, `CaptureMiddlewareProtocol`",
            "`CaptureMiddleware` is another name of `Club`; the protocol describes its half",
            "FamiliarOpeningTests.opened"
        ),
        OriginalItem(
            "`capture`, `setCapture(instance:)`",
            "The `ReaderBackend` that opening serves: by default every way in of this machine, `nil` for none",
            "FamiliarOpeningTests.serving",
            "FamiliarOpeningTests.everyWayIn",
            "FamiliarOpeningTests.standardReaders"
        ),
        OriginalItem(
            "`open(withAppKey:appId:developerId:completion:)`",
            "Opens the store, then serves the readers. One completion: `E_NOERROR` also without a reader or pcscd, "
                + "`E_UNABLEINITIALIZE` after the cause was reported. `appId` names the kiosk, `developerId` the operator; "
                + "`appKey` is not used. `configure` sets the database, the passes and more before",
            "FamiliarOpeningTests.opened",
            "FamiliarOpeningTests.configured",
            "FamiliarOpeningTests.failed",
            "FamiliarOpeningTests.appKey"
        ),
        OriginalItem(
            "`numberOfFailedOpenCaptureAttempts`",
            "Failed attempts since the club was open the last time; up to three attempts on a store that is busy",
            "FamiliarOpeningTests.busy",
            "FamiliarOpeningTests.failed"
        ),
        OriginalItem(
            "`close(_:)`",
            "Ends serving, commits what is under way, closes the store; one completion",
            "FamiliarOpeningTests.opened",
            "FamiliarOpeningTests.serving"
        ),
        OriginalItem(
            "`onDecodedData(decodedData:device:)`",
            "Takes a scanned text as a tap. A tap that a callback handed out counts once, however often it is handed back",
            "FamiliarUsersTests.decodedData",
            "FamiliarUsersTests.handedBack"
        ),
        OriginalItem(
            "`DecodedDataParseFormat`, `decodedDataFormat`, `setDecodedDataParse(format:)`",
            "What decoded data holds: the membership text or key, or the NDEF message",
            "FamiliarValuesTests.decodedData",
            "FamiliarUsersTests.format"
        ),
        OriginalItem(
            "`startAutoDiscovery(numSeconds:completion:)`",
            "Clears the favourite, waits, and reports once which readers there are; none at once without a service",
            "FamiliarReaderTests.discovery",
            "FamiliarOpeningTests.beforeOpening"
        ),
        OriginalItem(
            "`setFavorite(discoveredDeviceInfo:)`, `resetFavorite()`",
            "Serves this reader alone, or all again. Not stored",
            "FamiliarReaderTests.favorite"
        ),
        OriginalItem(
            "`DiscoveredDeviceInfo`",
            "A reader; the identifier survives plugging in again",
            "FamiliarValuesTests.discoveredDevices"
        ),
        OriginalItem(
            "`assumeCaptureDelegate()`, `resignCaptureDelegate(to:)`",
            "Somebody else gets readers and taps, none of which is recorded, until the club takes over or they are gone",
            "FamiliarReaderTests.standIn"
        ),
        OriginalItem(
            "`CaptureLayerDeviceManager`, `CaptureLayerDevice`, `CaptureLayerDecodedData`",
            "The service behind readers, a reader, what was read from a card; numbers of card types as in the original "
                + "reader kit",
            "FamiliarReaderTests.managerQueue",
            "FamiliarReaderTests.everything",
            "FamiliarValuesTests.decodedData"
        ),
    ]

    private static let setUp = [
        OriginalItem(
            "`Club.shared`",
            "One club of many: `Club(configuration:)` makes others",
            "FamiliarMigrationTests.shared"
        ),
        OriginalItem("`setDelegate(to:)`, `delegate`", "Held weakly", "CallbackTests.weak"),
        OriginalItem(
            "`setCustomMembershipUser(classType:)`, `OverridableMembershipUserClassType`",
            "The class of all objects that are handed out",
            "FamiliarUsersTests.createFromRecord",
            "MembershipUserTests.customFields"
        ),
        OriginalItem(
            "`setDispatchQueue(_:)`",
            "The queue of every callback and closure, one at a time and in order, also on a concurrent queue",
            "CallbackTests.order",
            "FamiliarReaderTests.everything"
        ),
        OriginalItem(
            "`setDebugMode(isActivated:)`",
            "Off in every new program; nothing is stored",
            "DebugLoggerTests.off",
            "DebugLoggerTests.club"
        ),
        OriginalItem(
            "`addVersionMigration(changeBlock:)`, `build()`, `MigrationChange`, `Migration`",
            "Steps that change custom values of stored records: each once, in order, all in one transaction with their "
                + "number. They run whether or not `build()` is called",
            "FamiliarMigrationTests.steps",
            "FamiliarMigrationTests.configuration",
            "FamiliarMigrationTests.failure"
        ),
        OriginalItem(
            "`setDayPass(hours:)`, `dayPassHours`",
            "1 to 24 hours in which further taps are acknowledged and not counted; anything else is reported",
            "FamiliarUsersTests.dayPass"
        ),
        OriginalItem(
            "`CaptureMembershipProtocol`, `ClubKitProtocol`, `userType`",
            "The other halves of `Club`, as protocols",
            "FamiliarUsersTests.protocols"
        ),
    ]

    private static let configuration = [
        OriginalItem(
            "`Club.Configuration`, `MembershipConfiguration`",
            "The shared club's style of creation and migrations",
            "FamiliarMigrationTests.shared",
            "FamiliarValuesTests.userCreation"
        ),
        OriginalItem(
            "`UserCreation.automaticallyOnScan`, `.withSatisfied(condition:)`",
            "The condition is asked at the tap, on the queue; a tap that it refuses is reported as ignored. Comparing two does "
                + "not call them",
            "FamiliarReaderTests.ignored",
            "FamiliarValuesTests.userCreation",
            "ReceivingTests.condition"
        ),
    ]

    private static let members = [
        OriginalItem(
            "`createUser(with:)`, `CaptureDataInformation`, `CaptureDataUserInformationProtocol`",
            "A member with one visit, or `userExistsAlready`. The text has exactly four fields and an id. A record can be "
                + "given too",
            "FamiliarUsersTests.create",
            "FamiliarUsersTests.createFromRecord",
            "FamiliarValuesTests.membershipText"
        ),
        OriginalItem(
            "`getUser(withMemberId:)`, `getUser(withPassId:)`, `getUser(with:)`",
            "A copy of the record by any of the member's passes or ids; `nil` for none. They throw before opening",
            "FamiliarUsersTests.lookUpByPass",
            "FamiliarUsersTests.lookUpByMemberID",
            "FamiliarOpeningTests.beforeOpening"
        ),
        OriginalItem(
            "`update(user:withChanges:)`",
            "Stores what the closure changed. More visits are visits by hand, fewer undo the latest; what cannot be changed "
                + "is refused as a whole. `didUpdateMembership` follows",
            "FamiliarUsersTests.update",
            "FamiliarUsersTests.updateVisits",
            "FamiliarUsersTests.refused"
        ),
        OriginalItem(
            "`deleteUser(withMemberId:)`, `deleteUser(withPassId:)`, `deleteUser(with:)`, `deleteUser(_:)`",
            "Deletes for good: an older file cannot bring the member back. A valid copy is passed, or `nonexistentUser`",
            "FamiliarUsersTests.delete",
            "FamiliarUsersTests.absent"
        ),
        OriginalItem(
            "`merge(importedUsers:)`",
            "Adds up and rolls nothing back; one `didUpdateMembership` for each member who was changed",
            "FamiliarFileTests.merge",
            "FamiliarFileTests.mergeOfUnusable"
        ),
    ]

    private static let files = [
        OriginalItem(
            "`getExportableURLForDataSource(ofType:fileType:)`",
            "A file of mode 0600 with a name of its own in `$XDG_DOCUMENTS_DIR`, else `$XDG_DATA_HOME/clubkit/exports`; "
                + "`nil` after the reason was reported",
            "FamiliarFileTests.export",
            "FamiliarOpeningTests.beforeOpening"
        ),
        OriginalItem(
            "`getImportedDataSource(ofType:from:)`",
            "Reads on a thread of its own, hands out on the queue that was set, leaves the file as it is, and reports every "
                + "failure",
            "FamiliarFileTests.generations",
            "FamiliarFileTests.failures",
            "FamiliarFileTests.badRows"
        ),
        OriginalItem("`IOFileType`", "`musrl` and `mucsv`", "FamiliarValuesTests.fileTypes"),
    ]

    private static let record = [
        OriginalItem(
            "`MembershipUser`, `IdentifiableUserProtocol`",
            "Five base values; `passId` is `userId`, `memberId` that of a later file or else `userId`. Times are seconds",
            "MembershipUserTests.generations",
            "MembershipUserTests.empty"
        ),
        OriginalItem(
            "`init()`, `init(from:)`, `encode(to:)`",
            "`init(from:)` is the only designated initialiser. Absent and null are empty values where they cannot be nil",
            "MembershipUserTests.empty",
            "RecordDecoderTests.absent",
            "RecordDecoderTests.null"
        ),
        OriginalItem(
            "`variableNamesAsStrings()`",
            "The order of the columns; what it leaves out follows in the order of the coding keys",
            "RecordEncoderTests.columns"
        ),
        OriginalItem(
            "`primaryKey()`, `className()`",
            "`userId`, and the class's name for migrations",
            "MembershipUserTests.generations"
        ),
        OriginalItem(
            "Subclasses with `@objcMembers`",
            "Compile without that word, in Swift 6, with and without isolation to the main actor by default (Examples)",
            "MembershipUserTests.customFields",
            "RecordEncoderTests.subclass"
        ),
        OriginalItem(
            "`Identifiable`",
            "`id` is `userId`; a subclass may have an `id` of its own",
            "MembershipUserTests.ownID"
        ),
    ]

    private static let list = [
        OriginalItem(
            "`MembershipUserCollection<T>`, `users`",
            "Sorted, filtered and live with a million members; made with a club, or for the shared one",
            "MembershipUserCollectionTests.updates",
            "MembershipUserCollectionTests.classes"
        ),
        OriginalItem(
            "`observeAllRecords(_:)`, `stopObserving()`",
            "`initial` once, also for an empty store; an error before opening, and the list when it is open",
            "MembershipUserCollectionTests.initial",
            "MembershipUserCollectionTests.opening",
            "MembershipUserCollectionTests.stoppedInTime"
        ),
        OriginalItem(
            "`count`, `user(at:)`",
            "Those of the last callback; out of range is nil",
            "MembershipUserCollectionTests.snapshot",
            "MembershipUserCollectionTests.empty"
        ),
        OriginalItem(
            "`MembershipUserChanges<T>`",
            "`initial`, `update` and `error`; deletions and modifications index the list before, insertions the list after",
            "MembershipUserCollectionTests.property"
        ),
    ]

    private static let debug = [
        OriginalItem(
            "`DebugLogger`: `shared`, `toggleDebug(isActivated:)`, `addDebugMessage(_:)`, `getAllMessages()`, `clear()`",
            "The latest 1000 messages, from any thread, without what identifies people and cards",
            "DebugLoggerTests.bounded",
            "DebugLoggerTests.threads",
            "DebugLoggerTests.redacted"
        )
    ]

    private static let callbacks = [
        OriginalItem(
            "`capture(_:didNotifyArrivalForManager:result:)`, `capture(_:didNotifyRemovalForManager:result:)`",
            "The service behind readers (pcscd) is there, or not; its error is reported besides",
            "FamiliarReaderTests.everything",
            "FamiliarReaderTests.noService"
        ),
        OriginalItem(
            "`capture(_:didNotifyArrivalFor:result:)`, `capture(_:didNotifyRemovalFor:result:)`",
            "A reader is there, or gone",
            "FamiliarReaderTests.everything",
            "FamiliarReaderTests.recording"
        ),
        OriginalItem(
            "`capture(_:batteryLevelDidChange:for:)`",
            "For SpringCard's readers with a battery, such as the S550, if the driver passes escape commands",
            "FamiliarReaderTests.battery"
        ),
        OriginalItem(
            "`capture(_:didReceive:for:withResult:)`",
            "Every tap, before what the club makes of it; `nil` for a card that was too quick",
            "FamiliarReaderTests.everything",
            "FamiliarReaderTests.failures"
        ),
        OriginalItem(
            "`club(_:didReceive:)` error",
            "Every failure of the store, of readers, of files and of the custom class; at a tap what is wrong with its text. "
                + "`club(_:didReceive:)` receipt states what became of every tap",
            "FamiliarReaderTests.failures",
            "FamiliarReaderTests.receipts",
            "FamiliarReaderTests.errorsOfCards",
            "FamiliarFileTests.failures",
            "CallbackTests.refusedRecord"
        ),
        OriginalItem(
            "`club(_:didCreateNewMembership:)`",
            "Once, with one visit, after the commit",
            "CallbackTests.order",
            "FamiliarUsersTests.create"
        ),
        OriginalItem(
            "`club(_:didUpdateMembership:)`",
            "A visit, a visit by hand, an undoing, an edit or a merge; the event in `events` has the reason",
            "FamiliarUsersTests.update",
            "FamiliarUsersTests.updateVisits",
            "FamiliarFileTests.merge"
        ),
        OriginalItem(
            "`club(_:didDeleteMembership:)`",
            "With a valid copy of the record",
            "FamiliarUsersTests.delete"
        ),
        OriginalItem(
            "`club(_:didReceiveImported:)`",
            "With members of the class that was asked for; nothing is stored yet",
            "FamiliarFileTests.generations"
        ),
    ]

    private static let errors = [
        OriginalItem(
            "`CKError`",
            "The six cases, each with a message; failures of the store are `ClubError`, of files `TransferError`",
            "FamiliarValuesTests.errors",
            "FamiliarUsersTests.decodedData"
        ),
        OriginalItem(
            "`CaptureLayerResult`",
            "`Int` with the original spelling and numbers",
            "FamiliarValuesTests.results"
        ),
    ]
}
