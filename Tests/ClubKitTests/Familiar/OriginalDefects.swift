/// The defects of the original libraries, what is so here, and the tests that pin it.
enum OriginalDefects {
    static let parts: [(title: String, items: [OriginalItem])] = [
        ("Defects", members), ("Defects of the scenarios", scenarios), ("Defects of the routing", routing),
        ("Defects of presenters and lists", presentation), ("Weak points of the Siren client", siren),
    ]

    static let members = [
        OriginalItem(
            "1. The look-up by pass ignores the pass: every scan credits the first member",
            "Each pass finds its own member, and deletes nobody else",
            "FamiliarUsersTests.lookUpByPass",
            "FamiliarUsersTests.delete"
        ),
        OriginalItem(
            "2. Merging loses visits and blanks fields",
            "Visits are a ledger and totals are claims; an older or emptier file takes nothing away",
            "FamiliarFileTests.merge",
            "MergeConvergenceTests.converges"
        ),
        OriginalItem(
            "3. Merging doubles people who were seen on two kiosks",
            "A member is known by the card, may have several, and two members can be joined",
            "FamiliarFileTests.memberID",
            "FamiliarUsersTests.lookUpByPass"
        ),
        OriginalItem(
            "4. No protection against double taps",
            "A cooldown for each member, day passes, and one presentation never counts twice",
            "FamiliarUsersTests.dayPass",
            "ReceivingTests.exactBorder",
            "ReceivingTests.sameID"
        ),
        OriginalItem(
            "5. Only a counter, no history",
            "Every visit is in the ledger with its reader and source, and can be undone",
            "FamiliarUsersTests.updateVisits",
            "FamiliarUsersTests.create"
        ),
        OriginalItem(
            "6. Callbacks inside the write transaction; a deleted object is invalid",
            "Callbacks come after the commit and may call the club; a deleted user is a valid copy",
            "FamiliarUsersTests.callingBack",
            "FamiliarUsersTests.delete"
        ),
        OriginalItem(
            "7. The completion of `open` is lost after the first failure",
            "Exactly one completion, whatever happens; the counter of failures is reset",
            "FamiliarOpeningTests.failed",
            "FamiliarOpeningTests.busy"
        ),
        OriginalItem(
            "8. Using the club before `open` traps",
            "Getters throw, everything else notifies the delegate",
            "FamiliarOpeningTests.beforeOpening",
            "ReceivingTests.notOpen"
        ),
        OriginalItem(
            "9. The store belongs to one thread, and imports ignore the queue that was set",
            "The club may be used from any thread; every callback comes on the queue that was set",
            "FamiliarUsersTests.manyWaiting",
            "FamiliarFileTests.generations",
            "CallbackTests.parallelOrder"
        ),
        OriginalItem(
            "10. Errors of readers and unsatisfied conditions are swallowed",
            "Both are reported: as errors, and as an event with a reason for the person at the reader",
            "FamiliarReaderTests.failures",
            "FamiliarReaderTests.ignored"
        ),
        OriginalItem(
            "11. Imports fail silently, on one bad row, on CRLF, on nil; the file may be gone",
            "Rows are judged one by one, failures are reported, the file stays; null and `<null>` are nil",
            "FamiliarFileTests.badRows",
            "FamiliarFileTests.generations",
            "FamiliarFileTests.nulls"
        ),
        OriginalItem(
            "12. CSV without quoting, with formula injection, and without numbers in custom fields",
            "RFC 4180; formulas are neutralised on export and read back; numbers may stand as text",
            "FamiliarFileTests.export",
            "FamiliarFileTests.nulls",
            "RecordDecoderTests.text"
        ),
        OriginalItem(
            "13. Exports overwrite each other and can be read by everybody",
            "Names with seconds and 24 hours, a number where one is taken, mode 0600",
            "FamiliarFileTests.export"
        ),
        OriginalItem(
            "14. Files have no version, origin or checksum, and are told by their extension alone",
            "The club's own form has all of them; the content decides where the extension does not",
            "ClubFileTests.isRefusedWhenAnyByteWasChanged",
            "TransferRoundTripTests.aClubsFileMovesEverything",
            "MemberImportTests.findsTheForm"
        ),
        OriginalItem(
            "15. Migrations are numbered before they succeed, and run only if the application assigns them",
            "The number is stored with what the steps changed, in one transaction; registering is enough",
            "FamiliarMigrationTests.failure",
            "FamiliarMigrationTests.steps"
        ),
        OriginalItem(
            "16. Lists cannot be sorted, filtered or paged, trap out of range, and are silent without a store",
            "All of that, and an error where the list cannot be followed",
            "MembershipUserCollectionTests.empty",
            "MembershipUserCollectionTests.opening",
            "MembershipUserCollectionTests.long"
        ),
        OriginalItem(
            "17. `decodedDataFormat` and `dayPassHours` do nothing; a tap handed back counts twice",
            "Both work; a tap counts once",
            "FamiliarUsersTests.dayPass",
            "FamiliarValuesTests.decodedData",
            "FamiliarUsersTests.handedBack"
        ),
        OriginalItem(
            "18. A custom class needs four lists in step, and loses columns silently",
            "Columns that a class does not name follow those that it names; fields that it does not know stay",
            "RecordEncoderTests.columns",
            "MembershipUserTests.customFields"
        ),
        OriginalItem(
            "19. The debug log is unbounded, unsynchronised, stays on and holds raw cards",
            "Bounded, thread-safe, off in a new program, redacted",
            "DebugLoggerTests.bounded",
            "DebugLoggerTests.threads",
            "DebugLoggerTests.off",
            "DebugLoggerTests.redacted"
        ),
        OriginalItem(
            "20. A singleton of concrete types without a clock: untestable",
            "Any number of clubs; store, clock, identifiers, readers and queue are given",
            "FamiliarUsersTests.create",
            "CallbackTests.order"
        ),
    ]
}
