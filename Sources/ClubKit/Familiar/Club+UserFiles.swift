import Dispatch
import Foundation
import Synchronization

extension Club {
    /// Writes all members into a new file of mode 0600, on the calling thread.
    ///
    /// The file has a unique name in `$XDG_DOCUMENTS_DIR`, else in `$XDG_DATA_HOME/clubkit/exports`
    /// (`~/.local/share/clubkit/exports`), which is created with mode 0700. A variable counts only if it holds an
    /// absolute path. The file `user-dirs.dirs`, in which desktops keep the name of the documents' folder, is not read:
    /// members are not written into a folder that a desktop shows and copies elsewhere unless requested.
    ///
    /// - Parameters:
    ///   - objectType: the class whose values are written, in the order of ``MembershipUser/variableNamesAsStrings()``.
    ///   - fileType: the kind of file.
    /// - Returns: the file; `nil` if it could not be written, after ``ClubMiddlewareDelegate/club(_:didReceive:)`` was
    ///   called with a ``TransferError`` or ``ClubError``.
    public func getExportableURLForDataSource<T: MembershipUser>(
        ofType objectType: T.Type,
        fileType: IOFileType
    ) -> URL? {
        do throws(TransferError) {
            let report = try exportMembersNow(ofType: objectType, format: fileType == .csv ? .csv : .userList)
            return URL(fileURLWithPath: report.file)
        } catch {
            tell(failure: error)
            return nil
        }
    }

    /// Reads a file of members on a thread of its own. Nothing is stored, and the file is not changed.
    ///
    /// The kind of file is determined by its extension, ignoring case, or by its content.
    /// ``ClubMiddlewareDelegate/club(_:didReceiveImported:)`` is then called with the members, on the queue of
    /// ``setDispatchQueue(_:)``. If rows could not be read, ``ClubMiddlewareDelegate/club(_:didReceive:)`` is called
    /// once before, with a ``TransferError`` that reports their number and the fault of the first; if the whole file
    /// could not be read, only that is called.
    ///
    /// - Parameters:
    ///   - objectType: the class of the returned members.
    ///   - url: a file. ``merge(importedUsers:)`` stores the members.
    public func getImportedDataSource<T: MembershipUser>(ofType objectType: T.Type, from url: URL) {
        let type: MembershipUser.Type = objectType
        DispatchQueue.global(qos: .utility).async {
            do throws(TransferError) {
                guard url.isFileURL else {
                    throw TransferError(.notFound, file: url.absoluteString, detail: "the address names no file")
                }
                let imported = try ImportedUsers(url.path, type)
                if let failure = imported.failure { self.tell(failure: failure) }
                self.tell { $0.club($1, didReceiveImported: imported.users) }
            } catch {
                self.tell(failure: error)
            }
        }
    }

    /// Stores members that were read from a file: visits are added, the latest change of each value wins, and empty
    /// values replace nothing. Merging the same or older records again changes nothing; other members stay.
    ///
    /// It returns once they are on disk. ``ClubMiddlewareDelegate/club(_:didUpdateMembership:)`` is called once for
    /// each existing member that changed. If some could not be merged, ``ClubMiddlewareDelegate/club(_:didReceive:)``
    /// is called once with a ``ClubError`` that reports their number and the reason for the first.
    public func merge(importedUsers: [MembershipUser]) {
        let attempt = "merge members"
        var members: [Member] = []
        var refused: (count: Int, reason: String?) = (0, nil)
        for user in importedUsers {
            do throws(ClubError) {
                members.append(try Member(user, attempting: attempt))
            } catch {
                refused = (refused.count + 1, refused.reason ?? error.detail)
            }
        }
        do throws(ClubError) {
            _ = try openStore(attempt)
            let report = try BlockingWork.run { [members] () async throws(ClubError) in try await self.merge(members) }
            refused.count += report.skipped
            refused.reason = refused.reason ?? report.rows.first { $0.outcome == .skipped }?.reason
            if refused.count > 0 {
                let counts = "\(refused.count) of \(importedUsers.count) could not be taken"
                let detail = refused.reason.map { "\(counts); the first: \($0)" } ?? counts
                throw ClubError(.invalidValue, attempting: attempt, detail: detail)
            }
        } catch {
            report(error)
        }
    }

    /// Reports to the delegate that a file could not be read or written; the club's own failures to ``events`` too.
    private func tell(failure error: TransferError) {
        if let cause = error.cause { report(cause) } else { tell(error) }
    }
}

/// The members of a file, as objects.
private struct ImportedUsers: @unchecked Sendable {
    // MembershipUser is not Sendable. This is safe to send since the objects are made here and handed over to one
    // callback, after which nobody here has them.
    let users: [MembershipUser]
    let failure: TransferError?

    init(_ path: String, _ type: MembershipUser.Type) throws(TransferError) {
        var reader = try MemberFileReader(path)
        var users: [MembershipUser] = []
        var (total, faults) = (0, 0)
        var first: (row: Int, reason: String)?
        func note(_ row: Int, _ reason: String) {
            faults += 1
            if row < first?.row ?? .max { first = (row, reason) }
        }
        while let (members, malformed) = try reader.next() {
            total += members.count + malformed.count
            for row in malformed {
                let column = row.column.map { "column '\(PlainText.line($0))': " } ?? ""
                note(row.row, column + (row.reason ?? "it cannot be read"))
            }
            for member in members {
                do {
                    users.append(try type.init(from: RecordDecoder(member.record)))
                } catch {
                    note(member.row, "the custom class does not accept it, \(RecordDecoder.summary(error))")
                }
            }
        }
        self.users = users
        failure = first.map { first in
            TransferError(
                .malformed,
                file: path,
                line: first.row,
                detail: "\(faults) of \(total) rows could not be read; the first: \(first.reason)"
            )
        }
    }
}

extension ImportedMember {
    fileprivate var record: [String: FieldValue] {
        var record = fields
        record[FieldKey.userId.stringValue] = .string(userId)
        record[FieldKey.username.stringValue] = username
        record[FieldKey.timeStampAdded.stringValue] = addedAt.map { .double(Timestamp.seconds($0.at)) }
        record[FieldKey.numVisits.stringValue] = numVisits.map { .int($0) }
        record[FieldKey.timeStampOfLastVisit.stringValue] = lastVisitAt.map { .double(Timestamp.seconds($0.at)) }
        return record
    }
}

extension Member {
    fileprivate init(_ user: MembershipUser, attempting attempt: String) throws(ClubError) {
        let record = try user.record(attempting: attempt)
        do {
            try self.init(from: RecordDecoder(record))
        } catch {
            throw ClubError(.unreadableRecord, attempting: attempt, detail: RecordDecoder.summary(error))
        }
        guard !userId.isEmpty else { throw ClubError(.invalidValue, attempting: attempt, detail: "it has no 'userId'") }
    }
}

/// The kinds of files for members.
public enum IOFileType: String, Sendable, Hashable, CaseIterable {
    /// A list of records in JSON.
    case userList
    /// Comma-separated values, for spreadsheets.
    case csv

    /// The extension of the file's name, without the dot: `musrl` or `mucsv`.
    public var fileExtension: String {
        switch self {
        case .userList: "musrl"
        case .csv: "mucsv"
        }
    }
}

/// Runs async work while the calling thread waits, for methods that the original library has without `async`.
enum BlockingWork {
    /// So that the work ends even when every thread of Swift's pool waits like this.
    private static let executor = ConcurrentExecutor("club.blocking")

    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async throws(ClubError) -> Value
    ) throws(ClubError) -> Value {
        let done = DispatchSemaphore(value: 0)
        let box = ResultBox<Value>()
        Task(executorPreference: executor) {
            let result = await Result(of: work)
            box.result.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return try box.result.withLock(\.self).get()
    }

    private final class ResultBox<Value: Sendable>: Sendable {
        let result = Mutex(Result<Value, ClubError>.failure(ClubError(.other, attempting: "wait for the store")))
    }
}

/// A closure of the application's that need not be `Sendable`.
struct ApplicationClosure<Value>: @unchecked Sendable {
    // This is safe to send since the club calls it in one place only: on the queue of Club.setDispatchQueue, on which the
    // application states that its state may be touched, never two calls at a time.
    private let closure: (Value) -> Void

    init(_ closure: @escaping (Value) -> Void) {
        self.closure = closure
    }

    func callAsFunction(_ value: Value) {
        closure(value)
    }
}
