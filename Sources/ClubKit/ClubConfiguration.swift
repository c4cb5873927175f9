import Foundation
import Logging
import ReaderKit

/// The configuration of a club, set before it opens.
public struct ClubConfiguration: Sendable {
    /// The location of the database; by default ``DatabaseLocation/standard(environment:)``.
    public var database: DatabaseLocation

    /// The operator and the machine, which are logged when the club opens.
    public var identity: KioskIdentity

    /// The time after a counted tap in which further taps of the same member are acknowledged but not counted. 30 s by
    /// default; zero counts every presentation. A tap exactly at its end counts.
    public var cooldown: Duration

    /// What happens when an unknown card is presented.
    public var userCreationStyle: UserCreation

    /// The number of days before the end of a membership from which taps warn of it. 14 by default; 0 for no warning.
    public var expiryWarningDays = 14

    /// The number of bought visits left from which taps warn of it. 2 by default.
    public var visitsLeftWarning = 2

    /// The time for which visits are kept. Older ones are removed when the club opens and once a day after that;
    /// members keep their totals (see ``Club/pruneVisits(before:by:)``). For a week after the clock leapt by more than a
    /// year none are. `nil`, the default, keeps them for ever.
    public var visitRetention: Duration?

    /// The key that hides the identifiers of members and cards in the store, if set when the store is created. Such a
    /// store opens only with the same key (``ClubError/Kind/wrongIdentifierKey``).
    public var identifierKey: IdentifierKey?

    /// The maximum time that a tap waits for ``Scenario/customConditions`` and the condition of
    /// ``UserCreation/withSatisfied(condition:)``, which then count as `false`. 10 s by default.
    public var conditionsLimit: Duration = .seconds(10)

    /// The maximum time that the club waits for another program that is writing to the database. 5 s by default.
    public var busyTimeout: Duration

    /// How the club's readers read cards.
    public var scanner = ScannerConfiguration()

    /// The path of the file that configures which passes are read and accepted (`PassConfiguration` of ReaderKit), in
    /// place of ``scanner``'s `site`; its keys are read from the same folder. It is read when the club begins to serve
    /// readers, and presented passes are remembered in the club's database. `nil`, the default, for no file.
    public var passes: String?

    /// The state of the kiosk; by default that of the program. In ``KioskState/maintenance``, taps are acknowledged as
    /// ignored and not counted.
    public var application = KioskApplication.shared

    /// The club's clock, for the logical clock of its records and for errors. Taps carry their own time.
    public var clock: @Sendable () -> Date

    /// Makes the identifiers of new records.
    public var makeUUID: @Sendable () -> UUID

    /// The club's logger. It never receives full identifiers or names.
    public var logger: Logger

    /// Creates a configuration.
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

/// The operator and the machine of a club, for screens and the log; never used for access control.
public struct KioskIdentity: Sendable, Hashable {
    /// The name of the kiosk ("Front desk").
    public var kiosk: String

    /// The operator of the club ("Riverside Gym").
    public var operatorName: String

    /// Creates an identity; both parts may be empty.
    public init(kiosk: String = "", operatorName: String = "") {
        self.kiosk = kiosk
        self.operatorName = operatorName
    }
}
