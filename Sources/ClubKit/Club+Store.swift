import Foundation

/// The store as a whole.
extension Club {
    /// Looks for damage and contradictions in the store; an empty list means that all is well. Taps go on meanwhile.
    public func check() async throws(ClubError) -> [IntegrityFinding] {
        try await openStore("check the member database").check()
    }

    /// The time of the latest tap that the store knows, counted or not; `nil` before the first one.
    public func lastEventDate() async throws(ClubError) -> Date? {
        try await openStore("find the latest tap").lastEventDate()
    }

    /// When a replay begins, so that running it again adds its visits: the later of the present and the store's latest
    /// tap plus the cooldown plus 1 s.
    public func replayStart(now: Date) async throws(ClubError) -> Date {
        guard let last = try await lastEventDate() else { return now }
        let wait = Timestamp.seconds(Timestamp.microseconds(cooldown)) + 1
        return max(now, last.addingTimeInterval(wait))
    }
}
