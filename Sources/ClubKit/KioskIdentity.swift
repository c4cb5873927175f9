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
