/// A level that a member reaches by visits in a period, such as silver with 10 in a year.
public struct Tier: Sendable, Hashable {
    /// The name, which ends the identifier of the tier's scenario (`ID/NAME`); unique among the tiers of a reward.
    public var name: String

    /// The visits with which it is reached, at least 1.
    public var visits: Int

    /// The scenario's title; `nil` leaves it to whoever configures the scenarios.
    public var title: String?

    /// What is shown when the tier is reached; `nil` leaves it to whoever configures the scenarios.
    public var message: String?

    /// A tier.
    public init(_ name: String, visits: Int, title: String? = nil, message: String? = nil) {
        self.name = name
        self.visits = visits
        self.title = title
        self.message = message
    }
}

extension Tier {
    /// The present level of whoever has so many visits in the period: the tier with the most visits of those that they
    /// suffice for, or `nil` while they suffice for none. The tiers may stand in any order.
    public static func present(with visits: Int, of tiers: [Tier]) -> Tier? {
        tiers.filter { $0.visits <= visits }.max { $0.visits < $1.visits }
    }

    /// The next level, or `nil` if there is none above the present one.
    public static func next(with visits: Int, of tiers: [Tier]) -> Tier? {
        tiers.filter { $0.visits > visits }.min { $0.visits < $1.visits }
    }
}
