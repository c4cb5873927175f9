import ClubRecords

/// How what a scenario was charged with gets to the person.
///
/// A charge is recorded in one transaction with the visit. With ``effect(_:)`` and ``application`` what was charged is
/// delivered or refunded, also when the program is killed at any moment in between: then it is delivered when the club is
/// open again. A program that is killed between delivering and saying so delivers the same (by ``ScenarioExecution/id``)
/// a second time. With ``telling`` it is told at most once.
public enum ScenarioDelivery: Sendable {
    /// To tell the delegate and `Club.events` is to deliver: for what is only shown. Charged and delivered are one
    /// transaction, so what a program that is killed right after it has not told is not told later.
    case telling

    /// Calls this code, one execution at a time, in the order of the charges. When it returns, the execution is delivered;
    /// when it throws, it is refunded and does not count. The delegate and `Club.events` are told after that.
    case effect(@Sendable (ScenarioResult) async throws -> Void)

    /// The application delivers what receipts and `Club.takeUndeliveredExecutions()` tell of, and says so by
    /// `Club.settle(_:_:by:)`.
    case application
}
