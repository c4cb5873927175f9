import ArgumentParser
import ClubKit
import Foundation
import KioskKit
import ReaderKit
import Synchronization
import ToolSupport

struct DatabaseOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The club's database.",
            discussion: """
                By default that of the file that \(KioskFile.variable) names; $XDG_DATA_HOME/clubkit/club.sqlite, where \
                that variable is set; that of \(KioskFile.standardPath), where it is this user's; \
                ~/.local/share/clubkit/club.sqlite, where that is there; else that of \(KioskFile.standardPath).
                """,
            valueName: "path"
        ),
        completion: .file(extensions: ["sqlite"])
    )
    var database: String?

    private static let found = Mutex<ClubPlace?>(nil)

    /// Where the club is, and the kiosk's file that names it. Root works as the user to whom it belongs from then on.
    ///
    /// - Throws: ``AnothersClub`` if this user may not use it; ``KioskFileError``.
    func place() throws -> ClubPlace {
        if let database {
            try AnothersClub.check(database, mayBeNew: false)
            try OtherUser.work(withClubAt: database)
            return ClubPlace(database: .file(path: database))
        }
        // As the club's user, root may not be allowed to read the file again.
        if OtherUser.isAtWork, let place = Self.found.withLock(\.self) { return place }
        let place = try find()
        if case .file(let path) = place.database {
            if place.file != nil { try AnothersClub.check(path, mayBeNew: true) }
            try OtherUser.work(withClubAt: path)
        }
        Self.found.withLock { $0 = place }
        return place
    }

    /// Where the club is that is meant where nobody names its database.
    func find() throws -> ClubPlace {
        do throws(KioskFileError) {
            return try ClubPlace.find(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw error.forThisUser
        }
    }

    /// Where the club is.
    func location() throws -> DatabaseLocation { try place().database }

    /// A club that is not open, on a database which must exist already.
    func closedClub() throws -> Club {
        let location = try location()
        if location.isMissing {
            throw ToolFailure(
                "could not open \(location.path): there is no such database. Check --database; 'clubctl kiosk' creates "
                    + "one.",
                exit: ToolExit.noInput
            )
        }
        return Self.club(location)
    }

    /// Works with a club that is open on a database which must exist already, and closes it.
    func withClub<Result>(_ work: (Club) async throws -> Result) async throws -> Result {
        let club = try closedClub()
        try await Self.upgrade(club.configuration.database)
        try await club.open()
        return try await Self.closing(club, work)
    }

    /// Works with a club that is open on the database, which is created if it is missing, and closes it. It reports
    /// that it was created: the path may be mistyped.
    ///
    /// - Parameter leavesNone: whether a new database goes again where the work fails and has put nobody into it.
    func withNewClub<Result>(
        leavesNone: Bool = false,
        _ work: (Club) async throws -> Result
    ) async throws -> Result {
        let location = try location()
        let isMissing = location.isMissing
        let isNew = isMissing || location.emptyFile != nil
        var isUnused = false
        defer {
            let isRemoved = isUnused && DatabaseFiles.removeUnused(location.path)
            if !isRemoved, isNew, !location.isMissing {
                Output.tell("There was no database at \(location.path): a new one was made.")
            }
        }
        let club: Club
        do {
            club = try await open()
        } catch {
            // A disk with little room fails in either way.
            let isFull = [.diskFull, .inputOutput].contains((error as? ClubError)?.kind)
            isUnused = isMissing && leavesNone && isFull
            throw error
        }
        return try await Self.closing(club) { club in
            do {
                return try await work(club)
            } catch {
                if isMissing, leavesNone { isUnused = await Self.isEmpty(club) }
                throw error
            }
        }
    }

    private static func isEmpty(_ club: Club) async -> Bool {
        guard let members = try? await club.memberCount(), members == 0 else { return false }
        return (try? await club.auditLog(limit: 1))?.isEmpty == true
    }

    /// Works with a club whose database is created if it is missing, unless nothing is to be changed: then an empty club
    /// in memory stands for it.
    func withClub<Result>(dryRun: Bool, _ work: (Club) async throws -> Result) async throws -> Result {
        let location = try location()
        guard dryRun, location.isMissing else { return try await withNewClub(leavesNone: true, work) }
        Output.tell("There is no database at \(location.path): this is what would be imported into a new one.")
        let club = Self.club(.memory)
        try await club.open()
        return try await Self.closing(club, work)
    }

    private static func closing<Result>(_ club: Club, _ work: (Club) async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await work(club)
        } catch {
            try? await club.close()
            throw error
        }
        try await club.close()
        return result
    }

    /// A club that is open on the database, which is created if it is missing.
    ///
    /// - Parameter scenarios: what its taps are looked at by. The tool delivers what they are charged with.
    func open(
        scenarios: [Scenario] = [],
        configure: (inout ClubConfiguration) -> Void = { _ in }
    ) async throws -> Club {
        let location = try location()
        try await Self.upgrade(location)
        let club = Self.club(location, configure: configure)
        club.setScenarios(scenarios, delivery: .application)
        try await club.open()
        return club
    }

    /// Upgrades a database of an earlier version in a checked copy, as the package does: opening it would do so in place.
    private static func upgrade(_ location: DatabaseLocation) async throws {
        let report = try await MemberStore.upgrade(ClubConfiguration(database: location))
        guard let kept = report.keptFile else { return }
        Output.tell("Upgraded \(location.path), checked. The former one is kept in \(kept).")
    }

    private static func club(
        _ location: DatabaseLocation,
        configure: (inout ClubConfiguration) -> Void = { _ in }
    ) -> Club {
        var configuration = ClubConfiguration(database: location)
        // What happens is reported line by line already; the log is for what goes wrong.
        configuration.logger.logLevel = .warning
        configure(&configuration)
        // By itself a club takes what a killed kiosk left to be delivered for delivered when it has reported it, which
        // nobody would see here.
        return Club(configuration: configuration).setScenarios([], delivery: .application)
    }
}

extension DatabaseLocation {
    /// The path of the file, for people.
    var path: String { if case .file(let path) = self { path } else { "memory" } }

    /// The path of a database of no bytes.
    var emptyFile: String? {
        var status = stat()
        guard case .file(let path) = self, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size == 0, !FileManager.default.fileExists(atPath: path + "-wal")
        else { return nil }
        return path
    }

    var isMissing: Bool {
        if case .file(let path) = self { !FileManager.default.fileExists(atPath: path) } else { false }
    }
}

extension ClubError: ExitCoded {
    package var exitCode: ExitCode {
        switch kind {
        case .cannotCreate, .cannotOpen, .readOnly, .diskFull, .inputOutput, .busy, .fileExists: ToolExit.inputOutput
        case .corrupt, .notADatabase, .newerSchema, .unreadableRecord, .malformedFile, .invalidScenario:
            ToolExit.malformed
        case .invalidSetting, .invalidValue: ToolExit.usage
        case .cancelled: ToolExit.interrupted
        default: ToolExit.failure
        }
    }

    package var errorCode: String { kind.rawValue }
}

extension TransferError: ExitCoded {
    package var exitCode: ExitCode {
        switch kind {
        case .notFound: ToolExit.noInput
        case .badMapping: ToolExit.usage
        case .exists, .notReadable, .notWritable, .notRepeatable, .diskFull, .inputOutput: ToolExit.inputOutput
        case .cancelled: ToolExit.interrupted
        case .club: cause?.exitCode ?? ToolExit.failure
        default: ToolExit.malformed
        }
    }

    package var errorCode: String { cause?.kind.rawValue ?? kind.rawValue }
}

/// A command that works with a club's database.
protocol DatabaseCommand: ReportingCommand {
    var database: DatabaseOptions { get }
}

/// A command that works with a club that is open on a database which must exist already.
protocol ClubCommand: DatabaseCommand {
    func perform(_ club: Club, _ out: Output) async throws
}

extension ClubCommand {
    func perform(_ out: Output) async throws {
        try await database.withClub { try await perform($0, out) }
    }
}

struct ActionOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Who does it, for the log.",
            discussion: "By default the name of the user who runs the tool, also by sudo.",
            valueName: "name"
        )
    )
    var by: String?

    @Option(help: ArgumentHelp("Why, for the log.", valueName: "text"))
    var reason: String?

    var context: ActionContext { ActionContext(actor: by ?? Self.user, reason: reason) }

    func contextWithReason() throws -> ActionContext {
        guard let reason, !reason.allSatisfy(\.isWhitespace) else {
            throw ValidationError("Say why: --reason 'TEXT'. It is kept with the change.")
        }
        return context
    }

    /// Whoever called `sudo`, since the service's user is nobody who decides.
    static let user: String? =
        ProcessInfo.processInfo.environment["SUDO_USER"]
        ?? getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) }
}

struct ConfirmationOptions: ParsableArguments, Sendable {
    @Flag(name: .shortAndLong, help: "Do it without asking. Without a terminal to ask on, it is necessary.")
    var yes = false

    /// Asks whether to go on.
    func ask(_ question: String, _ out: Output) async throws {
        guard !yes else { return }
        guard Terminal.canAsk else {
            let message = "\(question) There is no terminal to ask on: add --yes. Nothing was changed."
            throw ToolFailure(message, exit: ToolExit.usage)
        }
        guard try await Terminal.agrees(to: question, out) else { throw ToolFailure("Nothing was changed.") }
    }
}

struct LimitOption: ParsableArguments {
    @Option(help: "How many of the latest at most.")
    var limit = 1000

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
    }
}

struct MissingMember: ExitCoded, CustomStringConvertible {
    var key: String
    let exitCode = ToolExit.failure
    let errorCode = ClubError.Kind.noSuchMember.rawValue

    var description: String {
        "there is no member with the userId or card '\(key)'; 'clubctl members search' finds members."
    }
}

extension Club {
    func known(_ key: String) async throws -> Member {
        guard let member = try await member(withUserID: key) else { throw MissingMember(key: key) }
        return member
    }

    /// The same, also of one who was deleted and of whom something is held.
    func held(_ key: String) async throws -> Member {
        guard let member = try await heldMember(withUserID: key) else { throw MissingMember(key: key) }
        return member
    }
}
