/// The windows that ``Club/members(in:lookEvery:)`` gives, one for each state of the club that shows another one.
public struct MemberWindows: AsyncSequence, Sendable {
    /// A window.
    public typealias Element = MemberWindow
    /// Why there are no more windows.
    public typealias Failure = ClubError

    /// Follows the window.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The window as it is now, when it is another than the last one.
        public mutating func next() async throws(ClubError) -> MemberWindow? { nil }
    }

    /// Begins to follow the window.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
}
