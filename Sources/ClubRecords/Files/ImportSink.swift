/// What takes in the rows of a file: the store's merging.
///
/// The methods are called one at a time, from a thread that may be blocked, each with a few thousand rows. What one
/// call was given is on disk when it returns (or, of a dry run, is seen by the calls that follow and by nobody else).
package protocol ImportSink: Sendable {
    /// Merges rows of a file without logical times.
    ///
    /// - Returns: one verdict for each row, in order.
    func apply(_ batch: ImportBatch) throws(ClubError) -> [ImportVerdict]

    /// Merges records of a club's file.
    ///
    /// - Returns: one verdict for each record, in order.
    func apply(_ records: [TransferRecord]) throws(ClubError) -> [ImportVerdict]

    /// Ends the import, whether all of the file was read or not. A dry run is taken back.
    func finish() throws(ClubError)
}

/// What merging made of a row or record.
package enum ImportVerdict: Sendable, Hashable {
    case created
    /// Of a record: a visit of that member counts no more.
    case undone(String)
    /// Nothing is new.
    case kept
    /// The member was changed if there are changes; conflicts are values on which the club's stays.
    case merged(changes: [FieldDifference], conflicts: [FieldDifference])
    /// The row must not be taken; why, for a person.
    case skipped(String)
}
