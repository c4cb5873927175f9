import Foundation
import GRDB

extension ClubError {
    /// Converts an error of SQLite, the system or a task's cancellation to one of the club.
    init(_ error: any Error, attempting attempt: String) {
        switch error {
        case let error as ClubError:
            self = error
        case is CancellationError:
            self.init(.cancelled, attempting: attempt)
        case let error as DatabaseError:
            let name = Self.names[error.resultCode.rawValue] ?? "SQLite result code"
            let code = Code(rawValue: Int(error.extendedResultCode.rawValue), name: name)
            let kind = Self.kind(of: error)
            // SQLite's message names tables and columns, never their values.
            self.init(kind, attempting: attempt, code: code, detail: kind == .other ? error.message : nil)
        default:
            self.init(.other, attempting: attempt, detail: "\(type(of: error))")
        }
    }

    /// Throws errors of any kind as those of the club.
    static func wrapping<Value>(_ attempt: String, _ body: () throws -> Value) throws(ClubError) -> Value {
        do {
            return try body()
        } catch {
            throw ClubError(error, attempting: attempt)
        }
    }

    private static func kind(of error: DatabaseError) -> Kind {
        switch error.resultCode {
        case .SQLITE_FULL: .diskFull
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_READONLY: .readOnly
        case .SQLITE_CORRUPT: .corrupt
        case .SQLITE_NOTADB: .notADatabase
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: .cannotOpen
        case .SQLITE_IOERR: .inputOutput
        case .SQLITE_INTERRUPT: .cancelled
        // GRDB answers so on a connection that was closed; the club makes no other misuse.
        case .SQLITE_MISUSE: .notOpen
        default: .other
        }
    }

    /// The names of SQLite's primary result codes.
    private static let names: [Int32: String] = [
        1: "SQLITE_ERROR", 2: "SQLITE_INTERNAL", 3: "SQLITE_PERM", 4: "SQLITE_ABORT", 5: "SQLITE_BUSY",
        6: "SQLITE_LOCKED", 7: "SQLITE_NOMEM", 8: "SQLITE_READONLY", 9: "SQLITE_INTERRUPT", 10: "SQLITE_IOERR",
        11: "SQLITE_CORRUPT", 12: "SQLITE_NOTFOUND", 13: "SQLITE_FULL", 14: "SQLITE_CANTOPEN", 15: "SQLITE_PROTOCOL",
        17: "SQLITE_SCHEMA", 18: "SQLITE_TOOBIG", 19: "SQLITE_CONSTRAINT", 20: "SQLITE_MISMATCH",
        21: "SQLITE_MISUSE", 22: "SQLITE_NOLFS", 23: "SQLITE_AUTH", 25: "SQLITE_RANGE", 26: "SQLITE_NOTADB",
    ]

    /// The longest time that something is tried again for a fault of the disk.
    private static let faultPatience = Duration.seconds(60)

    /// Whether it may pass by itself: the disk is full or at fault, or another program has the database.
    package var isWorthRetrying: Bool { [.busy, .diskFull, .inputOutput].contains(kind) }

    /// Does something, and again while what hinders it may pass by itself.
    ///
    /// - Parameters:
    ///   - patience: how long the pauses between the tries may be together; `nil` for as long as it takes.
    ///   - waiting: called before each pause, with what hinders it; whether it is to be tried again.
    package static func retrying<Value: Sendable>(
        for patience: Duration?,
        waiting: (ClubError) -> Bool = { _ in true },
        _ work: () async throws(ClubError) -> Value
    ) async throws(ClubError) -> Value {
        var pause = Duration.milliseconds(200)
        var paused = Duration.zero
        while true {
            let failure: ClubError
            do throws(ClubError) {
                return try await work()
            } catch {
                failure = error
            }
            guard failure.isWorthRetrying else { throw failure }
            let limit =
                failure.kind == .inputOutput ? min(patience ?? faultPatience, faultPatience) : patience
            paused += pause
            if let limit, paused > limit { throw failure }
            guard waiting(failure) else { throw failure }
            do {
                try await Task.sleep(for: pause)
            } catch {
                throw ClubError(error, attempting: failure.attempt)
            }
            pause = min(pause * 2, .seconds(2))
        }
    }
}
