/// What happens when an unknown card is presented.
public struct UserCreation: @unchecked Sendable {
    // The closure is not Sendable, so that it can be written where the application's state is. This is safe to send
    // since nobody outside this module can reach it and the club calls it in one place only: on the queue of
    // Club.setDispatchQueue, never two calls at a time.
    let condition: (() -> Bool)?

    /// Tells one condition from another, since closures cannot be compared.
    private final class Identity: Sendable {}
    private let identity: Identity?

    private init(condition: (() -> Bool)?) {
        self.condition = condition
        identity = condition.map { _ in Identity() }
    }

    /// An unknown card makes a member.
    public static let automaticallyOnScan = UserCreation(condition: nil)

    /// An unknown card makes a member if the condition holds; else the tap is ignored, and the club says so.
    ///
    /// The condition is asked at the tap, on the queue of ``Club/setDispatchQueue(_:)``, outside any transaction. It
    /// may call the club's getters. Where it gives no answer within ``ClubConfiguration/conditionsLimit``, that counts as no
    /// and is told as ``ClubError/Kind/noAnswer``.
    public static func withSatisfied(condition: @escaping () -> Bool) -> UserCreation {
        UserCreation(condition: condition)
    }
}

extension UserCreation: Equatable {
    /// Whether both are the same style, and with a condition, copies of one. The conditions are not called.
    public static func == (one: UserCreation, other: UserCreation) -> Bool { one.identity === other.identity }
}
