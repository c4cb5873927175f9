import Dispatch
import Foundation
import ReaderKit

/// A club: turns taps into members' visits, keeps them, and tells the application.
public final class Club: Sendable {
    /// The club of a program that needs only one.
    public static let shared = Club()

    private let configuration: ClubConfiguration

    /// A club that is not open yet.
    public init(configuration: ClubConfiguration = ClubConfiguration()) {
        self.configuration = configuration
    }

    /// Sets who is told what happens. The club holds it weakly.
    @discardableResult
    public func setDelegate(to delegate: (any ClubMiddlewareDelegate)?) -> Club { self }

    /// Sets the queue of all callbacks, `.main` by default.
    @discardableResult
    public func setDispatchQueue(_ queue: DispatchQueue) -> Club { self }

    /// Sets the class of the objects that callbacks and getters hand out.
    @discardableResult
    public func setCustomMembershipUser(classType: MembershipUser.Type) -> Club { self }

    /// Makes the cooldown 1 to 24 hours.
    @discardableResult
    public func setDayPass(hours: Int) -> Club { self }

    /// Whether the club is open.
    public var isOpen: Bool { false }

    /// Opens the member database, creating or upgrading it where necessary.
    public func open() async throws(ClubError) { throw ClubError(.notOpen, attempting: "open the club") }

    /// Closes the member database and ends the sequences of ``events``.
    public func close() async throws(ClubError) {}

    /// The one door for taps.
    public func receive(_ event: ScanEvent) async throws(ClubError) -> Receipt {
        throw ClubError(.notOpen, attempting: "receive a tap")
    }

    /// Receives every tap of a source until it ends.
    public func run(_ source: some AsyncSequence<ScanEvent, Never>) async throws(ClubError) {
        for await event in source { _ = try await receive(event) }
    }

    /// What happens in the club from now on; each call gives a sequence of its own.
    public var events: AsyncStream<ClubEvent> { AsyncStream { $0.finish() } }

    /// A member by ``MembershipUser/userId``, as a copy in the custom class.
    public func getUser(with userId: String) throws(ClubError) -> MembershipUser? {
        throw ClubError(.notOpen, attempting: "look up a member")
    }

    /// A member by ``Member/userId``.
    public func member(withUserID userID: String) async throws(ClubError) -> Member? {
        throw ClubError(.notOpen, attempting: "look up a member")
    }

    /// All members in that order.
    public func members(sortedBy order: MemberOrder = .added) async throws(ClubError) -> [Member] {
        throw ClubError(.notOpen, attempting: "list the members")
    }

    /// How many members there are.
    public func memberCount() async throws(ClubError) -> Int {
        throw ClubError(.notOpen, attempting: "count the members")
    }

    /// Looks for damage and contradictions in the store; an empty list means that all is well.
    public func check() async throws(ClubError) -> [IntegrityFinding] {
        throw ClubError(.notOpen, attempting: "check the member database")
    }

    /// The time of the latest tap that the store knows.
    public func lastEventDate() async throws(ClubError) -> Date? {
        throw ClubError(.notOpen, attempting: "find the latest tap")
    }

    /// When a replay begins, so that running it again adds its visits.
    public func replayStart(now: Date) async throws(ClubError) -> Date {
        throw ClubError(.notOpen, attempting: "find the latest tap")
    }
}
