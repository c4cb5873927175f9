import Foundation
import ReaderKit

/// What a club remembers of the passes that were presented, in its database: a recorded tap is refused after a restart too.
///
/// ```swift
/// let site = try await configuration.site(folder: "/etc/club", memory: club.passMemory)
/// ```
///
/// While the club is closed nothing can be remembered, and passes that need it are not accepted.
public struct ClubPassMemory: PassMemory {
    let club: Club

    /// Takes something that may be presented once. Blocks until it is on disk.
    ///
    /// - Throws: ``ClubError``.
    public func takeOnce(_ digest: [UInt8], until end: Date, now: Date) throws -> Bool {
        try club.openStore("remember a pass").takeOnce(digest, until: end, now: now)
    }

    /// Takes a counter that has to grow. Blocks until it is on disk.
    ///
    /// - Throws: ``ClubError``.
    public func takeCounter(_ value: UInt32, of name: [UInt8]) throws -> Bool {
        try club.openStore("remember a pass").takeCounter(value, of: name)
    }
}

extension Club {
    /// What the club remembers of passes, for ``ReaderKit/PassSite/memory``.
    public var passMemory: ClubPassMemory { ClubPassMemory(club: self) }
}
