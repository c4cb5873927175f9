import Foundation
import Logging
import ReaderKit

/// What a club needs to know before it opens.
public struct ClubConfiguration: Sendable {
    /// Where the members are kept. By default ``DatabaseLocation/standard(environment:)``.
    public var database: DatabaseLocation

    /// Who runs the club, and on which machine. The log has it where the club is opened.
    public var identity: KioskIdentity

    /// How long after a counted tap further taps of the same member are acknowledged but not counted. 30 s by default;
    /// zero counts every presentation. A tap exactly that much later counts.
    public var cooldown: Duration

    /// What happens when an unknown card is presented.
    public var userCreationStyle: UserCreation

    /// How many days before the end of a membership a tap states that it ends soon. 14 by default; 0 states nothing.
    public var expiryWarningDays = 14

    /// From how few bought visits that are left a tap says so. 2 by default.
    public var visitsLeftWarning = 2

    /// How long visits are kept. Older ones are removed when the club is opened and once a day after that; members keep
    /// their totals (see ``Club/pruneVisits(before:by:)``). `nil`, the default, keeps them for ever.
    public var visitRetention: Duration?

    /// Hides the identifiers of members and cards in the store, if it is set when the store is made. A store that was
    /// made with a key opens with that key only (``ClubError/Kind/wrongIdentifierKey``).
    public var identifierKey: IdentifierKey?

    /// How long a tap waits for the answer of ``Scenario/customConditions``, and of the condition of
    /// ``UserCreation/withSatisfied(condition:)``, which is no after that. 10 s by default.
    public var conditionsLimit: Duration = .seconds(10)

    /// How long the club waits for another program that is writing to the database. 5 s by default.
    public var busyTimeout: Duration

    /// How the readers that the club serves read cards.
    public var scanner = ScannerConfiguration()

    /// The path of the file that names which passes are read and accepted (`PassConfiguration` of ReaderKit), in place
    /// of ``scanner``'s `site`; its keys are looked for beside it. It is read when the club begins to serve readers,
    /// and what was presented is remembered in the club's database. `nil`, the default, for no file.
    public var passes: String?

    /// Reports what the kiosk is doing; that of the program by default. While it is ``KioskState/maintenance``, taps
    /// are acknowledged as ignored and not counted.
    public var application = KioskApplication.shared

    /// The club's time: for its records' logical clock and for errors. Taps carry their own time.
    public var clock: @Sendable () -> Date

    /// Makes the identifiers that the club needs.
    public var makeUUID: @Sendable () -> UUID

    /// Where the club writes what happens. It writes no full identifiers and no names.
    public var logger: Logger

    /// A configuration.
    public init(
        database: DatabaseLocation = .standard(),
        identity: KioskIdentity = KioskIdentity(),
        cooldown: Duration = .seconds(30),
        userCreationStyle: UserCreation = .automaticallyOnScan,
        busyTimeout: Duration = .seconds(5),
        clock: @escaping @Sendable () -> Date = { Date() },
        makeUUID: @escaping @Sendable () -> UUID = { UUID() },
        logger: Logger = Logger(label: "club")
    ) {
        self.database = database
        self.identity = identity
        self.cooldown = cooldown
        self.userCreationStyle = userCreationStyle
        self.busyTimeout = busyTimeout
        self.clock = clock
        self.makeUUID = makeUUID
        self.logger = logger
    }
}

/// Who runs this club, and on which machine: for the application's screens and the log, never used to let anybody in.
public struct KioskIdentity: Sendable, Hashable {
    /// The name of the kiosk ("Front desk").
    public var kiosk: String

    /// The operator of the club ("Riverside Gym").
    public var operatorName: String

    /// An identity; both parts may be empty.
    public init(kiosk: String = "", operatorName: String = "") {
        self.kiosk = kiosk
        self.operatorName = operatorName
    }
}
