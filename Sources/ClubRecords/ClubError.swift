import Foundation

/// An error of the club or its store.
///
/// It describes what was attempted, what happened (with SQLite's or the system's code, if any) and the remedy. It never
/// contains identifiers, names or keys.
public struct ClubError: Error, Sendable, Hashable {
    /// What happened.
    public var kind: Kind

    /// The attempted operation, to be read after "could not": "open the member database".
    public var attempt: String

    /// The code of SQLite or of the system, with its name.
    public var code: Code?

    /// Details in addition to the kind, if any.
    public var detail: String?

    /// A code of SQLite or of the operating system.
    public struct Code: Sendable, Hashable {
        /// The number: SQLite's extended result code, or `errno`.
        public var rawValue: Int
        /// The name, such as `SQLITE_BUSY` or `EACCES`.
        public var name: String

        /// A code and its name.
        public init(rawValue: Int, name: String) {
            self.rawValue = rawValue
            self.name = name
        }
    }

    /// The kinds of errors of the club and its store.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The club is not open (yet, or any more).
        case notOpen
        /// The database or its directory could not be created.
        case cannotCreate
        /// The database exists and could not be opened.
        case cannotOpen
        /// The database, its directory or its file system cannot be written.
        case readOnly
        /// The file system is full.
        case diskFull
        /// Another program holds the database for longer than the permitted time.
        case busy
        /// The database is damaged.
        case corrupt
        /// The file is no database of a club.
        case notADatabase
        /// The database was written by a newer version of this software.
        case newerSchema
        /// The database was created with another ``IdentifierKey``, or with one where none was set, or the reverse.
        case wrongIdentifierKey
        /// The system could not read or write.
        case inputOutput
        /// A member with that identifier or card exists already.
        case memberExists
        /// No member has that identifier or card.
        case noSuchMember
        /// The visit does not exist, or was undone before.
        case noSuchVisit
        /// A scenario is invalid, or has no stable identifier.
        case invalidScenario
        /// No execution has that identifier.
        case noSuchExecution
        /// The execution was redeemed or refunded before.
        case alreadySettled
        /// No message has that identifier.
        case noSuchMessage
        /// The application's own code did not return in time.
        case noAnswer
        /// A value is invalid.
        case invalidValue
        /// A file does not have the expected content.
        case malformedFile
        /// The file to write exists already, and was not changed.
        case fileExists
        /// A setting is out of its range; the former value stays.
        case invalidSetting
        /// The club is open, or is being opened, and the setting can only be made before; the former value stays.
        case alreadyOpen
        /// The custom member class could not be created from the record.
        case unreadableRecord
        /// The task was cancelled before the work was committed.
        case cancelled
        /// Any other error; see ``ClubError/code``.
        case other
    }

    /// Creates an error of that kind; `attempt` is read after "could not".
    public init(_ kind: Kind, attempting attempt: String, code: Code? = nil, detail: String? = nil) {
        self.kind = kind
        self.attempt = attempt
        self.code = code
        self.detail = detail
    }

    /// The advice of what caused it, in place of that of the kind.
    package var advice: String?

    /// The remedy.
    public var hint: String { advice ?? kindHint }

    private var kindHint: String {
        switch kind {
        case .notOpen: "Open the club first."
        case .cannotCreate: "Choose a place in which this user may create files, or create the directory for this user."
        case .cannotOpen: "Check that the path names a file and that this user may read and write it and its directory."
        case .readOnly: "Allow this user to write the database and its directory, or mount the file system writable."
        case .diskFull: "Make room on the file system; nothing that was acknowledged is lost."
        case .busy: "Close the other program that uses the database, or try again when it has finished."
        case .corrupt: "Stop using the file, keep a copy of it, and restore the latest backup."
        case .notADatabase where code?.name == "SQLITE_NOTADB":
            "Check the path. If this was the club's database, its beginning is damaged: repair it, which keeps a copy."
        case .notADatabase: "Check the path; to begin a new database, choose a file that does not exist yet."
        case .newerSchema: "Update this software; the database was not changed."
        case .wrongIdentifierKey:
            "Give the key with which the database was made. To hide or show identifiers, begin a new database and merge a club file of this one into it."
        case .inputOutput: "Check the disk and its connection ('dmesg' shows errors of the disk)."
        case .memberExists: "Choose another identifier, or change the member who is there."
        case .noSuchMember: "Check the identifier; a list of the members shows all."
        case .noSuchVisit: "Check the visit's identifier in the member's history."
        case .invalidScenario: "Correct the scenario; those that were set before stay in force."
        case .noSuchExecution: "Check the identifier; a list of what was charged shows all."
        case .alreadySettled: "Give nothing for it; what was charged is good for once."
        case .noSuchMessage: "Check the identifier; the list of the inbox shows all."
        case .noAnswer: "Keep the queue of the callbacks free, and let conditions answer at once."
        case .invalidValue: "Correct the value and try again; nothing was changed."
        case .malformedFile: "Check the file, or take another copy of it; it was left as it is."
        case .fileExists: "Choose another name, or move the file away."
        case .invalidSetting: "Choose a value inside the range."
        case .alreadyOpen: "Set it before the club is opened, or close the club first; the former value stays."
        case .unreadableRecord: "Check 'init(from:)' of the custom class against the fields of the record."
        case .cancelled: "Try again if it is still wanted."
        case .other: "Look the code up in SQLite's documentation."
        }
    }
}

extension ClubError {
    /// The error of a system call on the database's files.
    package init(errno number: Int32, attempting attempt: String) {
        let kind: Kind =
            switch number {
            case EROFS: .readOnly
            case ENOSPC, EDQUOT: .diskFull
            case EIO: .inputOutput
            default: .cannotCreate
            }
        let names = [
            EACCES: "EACCES", EPERM: "EPERM", EROFS: "EROFS", ENOSPC: "ENOSPC", EDQUOT: "EDQUOT", EIO: "EIO",
            ENOENT: "ENOENT", ENOTDIR: "ENOTDIR", EISDIR: "EISDIR", ENAMETOOLONG: "ENAMETOOLONG", ELOOP: "ELOOP",
        ]
        self.init(
            kind,
            attempting: attempt,
            code: Code(rawValue: Int(number), name: names[number] ?? "errno"),
            detail: String(cString: strerror(number)).lowercased()
        )
    }
}

extension ClubError: CustomStringConvertible {
    /// One line: what was attempted, what happened, and the remedy.
    public var description: String {
        var text = "could not \(attempt): \(kind.meaning)"
        if let detail { text += ", \(detail)" }
        if let code { text += " (\(code.name) \(code.rawValue))" }
        return text + ". " + hint
    }
}

extension ClubError.Kind {
    /// What happened, in words.
    public var meaning: String {
        switch self {
        case .notOpen: "the club is not open"
        case .cannotCreate: "it could not be created"
        case .cannotOpen: "it could not be opened"
        case .readOnly: "it cannot be written"
        case .diskFull: "the disk is full"
        case .busy: "another program holds the database"
        case .corrupt: "the database is damaged"
        case .notADatabase: "the file is no database of a club"
        case .newerSchema: "a newer version of this software has written the database"
        case .wrongIdentifierKey: "it was made with another identifier key, or without one"
        case .inputOutput: "reading or writing failed"
        case .memberExists: "there is such a member already"
        case .noSuchMember: "there is no such member"
        case .noSuchVisit: "there is no such visit that counts"
        case .invalidScenario: "the scenario cannot be used"
        case .noSuchExecution: "nothing was charged under that identifier"
        case .alreadySettled: "it was redeemed or refunded before"
        case .noSuchMessage: "there is no such message"
        case .noAnswer: "the application's own code gave no answer in time"
        case .invalidValue: "the value cannot be used"
        case .malformedFile: "the file cannot be read as what it should be"
        case .fileExists: "the file is there already"
        case .invalidSetting: "the value is out of its range"
        case .alreadyOpen: "the club is open already"
        case .unreadableRecord: "the custom member class does not accept the record"
        case .cancelled: "it was cancelled"
        case .other: "an unexpected failure"
        }
    }
}
