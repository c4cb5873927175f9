import Foundation

/// Files of members, as in the original library.
extension Club {
    /// Writes all members into a new file.
    ///
    /// - Returns: the file, or `nil` if it could not be written; then ``ClubMiddlewareDelegate/club(_:didReceive:)`` is
    ///   called.
    public func getExportableURLForDataSource<T: MembershipUser>(
        ofType objectType: T.Type,
        fileType: IOFileType
    ) -> URL? {
        nil
    }

    /// Reads a file of members.
    public func getImportedDataSource<T: MembershipUser>(ofType objectType: T.Type, from url: URL) {}

    /// Merges records into the club.
    public func merge(importedUsers: [MembershipUser]) {}
}
