import ArgumentParser
import ClubKit
import Diagnosis
import Foundation
import KioskKit
import KioskTerminal
import KioskWeb
import ReaderKit
import Synchronization
import ToolSupport

struct Kiosk: ToolCommand, ReaderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves taps: a card on a reader becomes a member's visit.",
        discussion: """
            Serves every reader that is there or comes later, until it is interrupted. A recording is replayed only \
            when asked for.

            JSON: each tap is a line with event "scan", followed by what became of it: created, visit, repeat (inside \
            the cooldown: acknowledged, not counted), ignored or rejected, each with at, id, reader and, where there \
            is one, member (userId, username, timeStampAdded, numVisits, timeStampOfLastVisit, custom fields); reason \
            and reasonCode state why a tap was ignored or rejected; notices (words) what the member should know besides, \
            such as that the membership ends soon; duplicate \
            (true) of a tap that was received before, and not counted again; error has code and message (clockNotSet where \
            the clock shows a day before this version was released, or more than a day before the visit that the kiosk \
            recorded last). What this process changes otherwise is \
            reported too: created, updated and visit (update has the reason: manualVisit, undo, edit, merge), deleted, imported \
            and merged (report). With --scenarios, what a visit brings follows it as event "scenario": id (to redeem \
            it by), scenario (its identifier), number (how many times it counts by then), state, visit (the id of the tap), \
            subject (if it is no member), title, message. Each message that was taken is event "routed": id, type, \
            source, outcome (newData, noData, failed, unhandled, expired, duplicate, timedOut), processor, reason.

            A message is an object of JSON with its type in messageType; messageId (the same is taken once) and \
            expires (a time) may stand there too. The kiosk knows by itself: \(MessageDesk.ownTypes). All others are \
            for the programs of --on. What nobody could process is kept: 'clubctl inbox' lists and replays it. A \
            replay takes no messages but those of its cards.

            While the kiosk is in maintenance (--maintenance, or the message "state") cards are read and shown, and \
            each tap is reported as ignored with the reasonCode maintenance: nothing is counted, and nobody becomes a \
            member.

            Once a day a snapshot of the database is made, checked and kept beside it, the latest seven \
            of them: 'clubctl check --repair' offers the latest good one should the database be damaged. Taps do not wait \
            for it. A full disk, and whatever else hinders it, is a warning (with --json an error line). A replay makes \
            none, nor does a club without members.

            On a terminal the kiosk shows the visitor's screen: each tap is answered in words, and the latest taps are \
            listed below, without names after some seconds unless --desk is given. --plain prints a line for each event \
            instead, as in a pipe, with --json, with --once and in a replay. 'clubctl screen preview' shows all that \
            visitors may see. What was written to standard error meanwhile is repeated when the kiosk ends.

            EXAMPLES
              clubctl kiosk --config \(KioskFile.standardPath)
              clubctl kiosk --scenarios scenarios.yaml
              clubctl kiosk --listen /run/clubkit/messages --on print=/usr/local/bin/print-voucher
              clubctl kiosk --replay day.capture --once --json --scenarios scenarios.yaml
            """
    )

    @OptionGroup var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "Take the options from this file; those that are given here win.",
            discussion: "'clubctl config example' prints one, and 'clubctl config check' checks it.",
            valueName: "file"
        ),
        completion: .file()
    )
    var config: String?

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @OptionGroup var options: ReplayOptions
    @OptionGroup var passes: PassOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup var snapshots: SnapshotOptions
    @OptionGroup var snapshotFolder: SnapshotFolderOption
    @OptionGroup var theme: ThemeOptions
    @OptionGroup var screen: ScreenOptions
    @OptionGroup var http: HTTPOptions

    @Option(
        name: .customLong("scenarios"),
        help: ArgumentHelp(
            "Let visits bring what this file lists: YAML or JSON; 'clubctl scenarios' checks and explains it.",
            valueName: "file"
        ),
        completion: .file(extensions: ["yaml", "yml", "json"])
    )
    var scenarios: String?

    @Option(
        name: .customLong("replay"),
        help: ArgumentHelp(
            "Replay a capture file, or the captures of a directory, instead of serving readers.",
            valueName: "path"
        ),
        completion: .file(extensions: ["capture"])
    )
    var recording: String?

    @Flag(help: "End after the replay, or after the first tap on a reader.")
    var once = false

    @Option(help: .hidden)
    var doctorAfter = 10.0

    @Flag(help: "Begin in maintenance: read and show cards, and count nothing.")
    var maintenance = false

    @Option(help: ArgumentHelp("Seconds within which further taps of a member are not counted.", valueName: "seconds"))
    var cooldown: Double = 30

    @Option(
        help: ArgumentHelp(
            "Whose light and sound answer a tap at the reader: reader, both or kiosk.",
            discussion: """
                'reader': the reader's own; the kiosk sends it nothing. 'both': the kiosk answers each tap besides, \
                once it is recorded. 'kiosk': only the kiosk does; for that a setting is written into SpringCard's \
                readers (register 02D0), which stays there.
                """,
            valueName: "whose"
        )
    )
    var readerLights = ReaderLightsChoice.reader

    @Option(
        help: ArgumentHelp(
            "From how many days before the end of a membership a tap announces it; 0 for never.",
            valueName: "days"
        )
    )
    var expiryWarning = 14

    @Option(help: ArgumentHelp("From how few visits that are left a tap announces it.", valueName: "visits"))
    var visitsWarning = 2

    @Option(
        help: ArgumentHelp(
            "Remove visits that are older than so many days; members keep their totals.",
            valueName: "days"
        )
    )
    var retention: Int?

    func validate() throws {
        guard cooldown >= 0, cooldown <= 366 * 86_400 else {
            throw ValidationError("--cooldown takes a number of seconds from 0 to \(366 * 86_400).")
        }
        guard (0...3660).contains(expiryWarning) else {
            throw ValidationError("--expiry-warning takes a number of days from 0 to 3660.")
        }
        guard visitsWarning >= 0 else { throw ValidationError("--visits-warning takes a number from 0 on.") }
        guard (1...36_500).contains(retention ?? 1) else {
            throw ValidationError("--retention takes a number of days from 1 to 36500.")
        }
        // What goes together is seen when the file has been read.
        guard config == nil else { return }
        try http.check()
        try messages.check()
        if recordings == nil, options.start != nil || options.seed != nil || options.strict || options.realtime {
            throw ValidationError("--start, --seed, --strict and --realtime go with --replay.")
        }
        if recording != nil, readers.replayed != nil {
            throw ValidationError("--replay and --reader replay: have the same meaning; give one of them.")
        }
        if recording != nil, let live = readers.selectors.first(where: \.isLive) {
            throw ValidationError("--reader \(live) means live readers; with --replay, name a reader of the recording.")
        }
        if recordings != nil, messages.hasSources {
            throw ValidationError("A replay takes no messages from outside; leave out --listen and --messages.")
        }
    }

    /// What is replayed; `nil` if readers are served.
    private var recordings: [String]? { recording.map { [$0] } ?? readers.replayed }

    private struct Prepared {
        var captures: [Capture]?
        var site: PassSite?
        var messages: MessageOptions
        /// How the screen looks, if one is shown.
        var theme: Theme?
        var club: Club
        #if NETWORK
        /// Who may look at the screen in a browser, if it is served.
        var access: WebAccess?
        #endif
    }

    private var isScreenShown: Bool {
        recordings == nil && !once && !screen.plain && !output.json
            && TerminalSession.isPossible(environment: ProcessInfo.processInfo.environment)
    }

    private var scenarioFile: ScenarioFile? { scenarios.map { ScenarioFile(path: $0) } }

    func perform() async throws {
        guard let config else {
            if database.database == nil, let file = (try? database.find())?.file?.path {
                Output.tell("This is the club of \(file). Its other settings do not count without --config \(file).")
            }
            return try await serveTaps()
        }
        var kiosk = self
        try await output.output.tellingErrors { kiosk = try Self.merged(config) }
        try await kiosk.serveTaps()
    }

    /// The kiosk of a file and of the options that were given besides.
    private static func merged(_ path: String) throws -> Kiosk {
        let file: KioskFile
        do throws(KioskFileError) {
            file = try KioskFile.ofKiosk(path)
        } catch {
            // A service calls no sudo, and starting it again would help nobody.
            throw ServiceManager() == nil ? error.forThisUser : error
        }
        var given: [String] = []
        var words = CommandLine.arguments.drop { $0 != configuration.commandName ?? "kiosk" }.dropFirst().makeIterator()
        while let word = words.next() {
            if word == "--config" { _ = words.next() } else if !word.hasPrefix("--config=") { given.append(word) }
        }
        var arguments = file.arguments(besides: given) + given
        // Another file's club is none of this kiosk's.
        if !arguments.contains(where: { $0 == "--database" || $0.hasPrefix("--database=") }) {
            guard path != KioskFile.standardPath else {
                throw KioskFileError(path: path, findings: [KioskFile.missingDatabase])
            }
            arguments.append("--database=\(DatabaseLocation.standard().path)")
        }
        do {
            return try Kiosk.parse(arguments)
        } catch {
            let reason = Kiosk.message(for: error)
            throw ToolFailure("\(path) and the other options do not go together: \(reason)", exit: ToolExit.usage)
        }
    }

    private func serveTaps() async throws {
        var prepared: Prepared?
        // What goes wrong later is reported as an event.
        try await output.output.tellingErrors { prepared = try await prepare() }
        guard let prepared else { return }
        let (captures, club) = (prepared.captures, prepared.club)
        // A screen that hangs keeps no tap waiting; a replay, which nobody waits for, loses no line to it.
        let lines = captures == nil ? LineQueue() : nil
        let model = await KioskModel()
        #if NETWORK
        let server = prepared.access.map { KioskServer(model, theme: prepared.theme ?? Theme(), access: $0) }
        let copy = server.map { server in { @Sendable (line: String) in server.publish(line) } }
        let show = server.map { server in { @MainActor @Sendable (theme: Theme) in server.show(theme) } }
        #else
        let copy: (@Sendable (String) -> Void)? = nil
        let show: (@MainActor @Sendable (Theme) -> Void)? = nil
        #endif
        let out = Output(json: output.json, queue: lines, isWhole: captures != nil, copy: copy)
        let messages = MessageDesk(
            club,
            out,
            prepared.messages,
            scenarios: scenarioFile,
            isReplay: captures != nil,
            model: model
        )
        let desk = FrontDesk(club: club, output: out, messages: messages, hasScenarios: scenarios != nil)
        let application = club.configuration.application
        if maintenance {
            application.applicationState = .maintenance
            out.message(MessageDesk.words(.maintenance))
        }
        application.noteActivity()
        do {
            try await KioskScreen.showing(
                theme,
                prepared.theme,
                showsNames: screen.desk,
                isInTerminal: isScreenShown,
                model,
                application,
                instead: lines,
                changing: show,
                reportingTo: { out.message($0) }
            ) {
                try await out.tellingErrors {
                    for result in try await desk.open() where screen.desk { await model.announce(result.words) }
                    #if NETWORK
                    try await http.start(server, club, showsNames: screen.desk, out)
                    #endif
                }
                if let captures {
                    try await replay(captures, prepared.site, desk, model)
                } else {
                    try await readers.withBackend { try await serve(prepared.site, desk, model, $0) }
                }
            }
            // A replay has printed its own, before it waits for the end.
            if captures == nil { try desk.printAccount() }
        } catch {
            #if NETWORK
            await server?.stop()
            #endif
            await desk.close()
            // The events of a club that stays open have no end.
            if (try? await club.close()) != nil { await desk.leave() }
            try? await out.finish()
            throw error
        }
        #if NETWORK
        await server?.stop()
        #endif
        await desk.close()
        try await club.close()
        await desk.leave()
        try await out.finish()
    }

    private func prepare() async throws -> Prepared {
        // Before the database is touched: a recording that cannot be read must not leave an empty club behind.
        var site = try passes.site()
        let configuration = try scenarioFile?.load(output.output)
        let messages = try messages.located()
        let captures = try recordings.map { try CaptureFiles.load($0) }
        let isShown = isScreenShown || http.address != nil
        let theme = isShown || self.theme.path != nil ? try self.theme.load(output.output) : nil
        #if NETWORK
        let access = try http.access(output.output)
        #endif
        if readers.isChoice, let captures { _ = try await readers.present(of: ReplayBackend(captures)) }
        _ = try database.place()
        try OtherUser.stay()
        let club = try await database.open(scenarios: configuration?.scenarios ?? []) { configuration in
            configuration.cooldown = .seconds(cooldown)
            configuration.expiryWarningDays = expiryWarning
            configuration.visitsLeftWarning = visitsWarning
            configuration.visitRetention = retention.map { .seconds($0 * 86_400) }
            configuration.identity.operatorName = self.theme.clubName ?? ""
        }
        // Recorded taps are refused after a restart too. A replay is of recorded taps.
        if captures == nil { site?.memory = club.passMemory }
        var prepared = Prepared(
            captures: captures,
            site: site,
            messages: messages,
            theme: isShown ? theme : nil,
            club: club
        )
        #if NETWORK
        prepared.access = access
        #endif
        return prepared
    }

    /// How long a tap waits for a store that is full or in use where nobody stays to put it right.
    private static let patience = Duration.seconds(4)

    private func replay(_ captures: [Capture], _ site: PassSite?, _ desk: FrontDesk, _ model: KioskModel) async throws {
        let club = desk.club
        desk.output.message("Replaying into \(club.configuration.database.path).")
        // Which moment a replay begins at is asked by code that cannot throw.
        let failure = Mutex<(any Error)?>(nil)
        let backend = try options.backend(captures) { capture in
            if let started = capture.started { return started }
            do {
                return try await club.replayStart(now: Date())
            } catch {
                failure.withLock { $0 = $0 ?? error }
                return Date()
            }
        }
        let scanner = CardScanner(
            backend,
            configuration: readers.scanning(site, makeID: options.makeID(for: captures))
        )
        let following = http.address.map { _ in Task { try? await model.follow(club) } }
        defer { following?.cancel() }
        let taps = scanner.events().compactMap { event -> ScanEvent? in
            // A replay that is over is no reader in trouble.
            if case .reader(.readerRemoved) = event { return nil }
            await model.note(event)
            guard case .scan(let tap) = event else { return nil }
            if let error = failure.withLock(\.self) { throw error }
            return tap
        }
        // An interruption ends the replay between two taps, never in the middle of one.
        try await desk.take(taps, patience: Self.patience)
        for difference in backend.differences { desk.output.message("\(difference)") }
        try desk.printAccount()
        try Task.checkCancellation()
        if !once {
            desk.output.message("The replay is over; press Control-C to end.")
            while !Task.isCancelled { try await Task.sleep(for: .seconds(3600)) }
        }
        if !backend.differences.isEmpty { throw ToolExit.failure }
    }

    /// Reports which readers are not there to be served, and after some seconds what the doctor finds.
    private func reportReaders(
        of backend: any ReaderBackend,
        _ model: KioskModel,
        _ database: DatabaseLocation,
        _ output: Output
    ) async {
        // A library that has just been started finds its readers one by one.
        guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
        let all = await backend.listing().readers
        let missing = readers.missing(in: all)
        if !missing.isEmpty {
            let others = all.isEmpty ? "" : " (there are: \(all.map(\.reader.name).joined(separator: ", ")))"
            let names = ReaderSelection.text(missing)
            output.message("No reader \(names) yet\(others); it is served as soon as it is there.")
        } else if !readers.isChoice, all.isEmpty {
            output.message("There is no reader yet; it is served as soon as it is plugged in.")
        } else {
            return
        }
        await diagnose(backend, model, database, output)
    }

    /// Reports what the doctor finds if there is still no reader to be served after some seconds.
    private func diagnose(
        _ backend: any ReaderBackend,
        _ model: KioskModel,
        _ database: DatabaseLocation,
        _ output: Output
    ) async {
        guard (try? await Task.sleep(for: .seconds(doctorAfter))) != nil else { return }
        let now = await backend.listing().readers
        guard readers.isChoice ? !readers.missing(in: now).isEmpty : now.isEmpty else { return }
        let club = MachineDiagnosis.clubChecks(database: database, passes: passes.file, scenarios: scenarios)
        let report = await MachineDiagnosis(checks: MachineDiagnosis.readerChecks + club).run(
            on: Machine(probe: .ownExecutable)
        )
        // A reader may have come in the meantime.
        guard !Task.isCancelled, let first = report.first else { return }
        await model.noteDiagnosis(first.finding.sentence)
        output.message("\(first.finding.sentence) 'readerctl doctor' shows what to do.")
    }

    private func serve(
        _ site: PassSite?,
        _ desk: FrontDesk,
        _ model: KioskModel,
        _ backend: any ReaderBackend
    ) async throws {
        let scanner = CardScanner(backend, configuration: readers.scanning(site))
        let present = Mutex<Set<ReaderInfo>>([])
        let database = desk.club.configuration.database
        desk.output.message("The kiosk is open, on \(database.path).")
        // Beside the work, since a service that hangs must not keep the kiosk closed.
        let examination = Mutex(
            Task { [output = desk.output] in await reportReaders(of: backend, model, database, output) }
        )
        @Sendable func diagnoseLater() {
            examination.withLock { task in
                task.cancel()
                task = Task { [output = desk.output] in await diagnose(backend, model, database, output) }
            }
        }
        let keeping = snapshots.keep(of: desk.club, in: snapshotFolder, desk.output)
        let hasClockFault = Mutex(false)
        await model.observe { model, _ in
            let day = model.status.wrongDay
            guard hasClockFault.withLock({ $0 != (day != nil) }) else { return }
            hasClockFault.withLock { $0 = day != nil }
            desk.tell(wrongDay: day)
        }
        let following = Task { [club = desk.club, folder = snapshotFolder.folder(of: database)] in
            try? await model.follow(club, backups: folder)
        }
        defer {
            examination.withLock { $0.cancel() }
            keeping?.cancel()
            following.cancel()
        }
        let service = ServiceManager()
        @Sendable func tellService(_ state: String) {
            let readers = Count.text(present.withLock(\.count), "reader")
            service?.tell("READY=1", "WATCHDOG=1", "STATUS=\(state): \(readers), \(Count.text(desk.taps, "tap"))")
        }
        defer { service?.tell("STOPPING=1") }
        // The service manager is notified that the kiosk works by what goes the way of a tap, so that it ends a kiosk
        // in which taps are stuck.
        let events = ServiceManager.pulsing(scanner.events(), every: service?.interval)
        let taps = events.compactMap { event -> ScanEvent? in
            guard let event else {
                try? await desk.club.pulse()
                tellService("Open")
                return nil
            }
            // What other readers do is no concern of this kiosk.
            if case .reader(let event) = event, !readers.matches(event) { return nil }
            await model.note(event)
            switch event {
            case .scan(let tap):
                return tap
            case .reader(.readerAdded(let reader)) where readers.matches(reader):
                present.withLock { _ = $0.insert(reader) }
                examination.withLock { $0.cancel() }
                desk.output.message("Serving \(reader.label)")
            case .reader(.readerRemoved(let reader)):
                let isLast: Bool? = present.withLock { $0.remove(reader) == nil ? nil : $0.isEmpty }
                guard let isLast else { break }
                desk.output.message("Reader unplugged: \(reader.label)")
                if isLast {
                    desk.output.message("There is no reader; waiting for one.")
                    diagnoseLater()
                }
            case .reader(.serviceLost(let error)):
                try desk.tell(error)
                diagnoseLater()
            case .reader(.serviceBack):
                desk.output.message("The reader service is back.")
            case .reader(.readerStuck(let reader, let error)) where readers.matches(reader):
                try desk.tell(error, of: reader)
            case .reader(.failed(let error)):
                // Where it cannot be written the end is the same.
                try? desk.tell(error, isEnd: true)
                throw error
            case .reader:
                break
            }
            return nil
        }
        desk.club.setFeedback(to: readerLights.feedback(on: backend, desk))
        // Whoever waits for a single tap learns what hinders it; a kiosk stays open until it can go on.
        try await desk.take(taps.prefix(once ? 1 : .max), patience: once ? Self.patience : nil) {
            tellService("A tap waits to be recorded")
        }
        await desk.club.feedback.finish()
    }
}

extension ReaderLightsChoice: ExpressibleByArgument {
    func feedback(on backend: any ReaderBackend, _ desk: FrontDesk) -> ReaderLights? {
        guard self != .reader else { return nil }
        let (output, logger) = (desk.output, desk.club.configuration.logger)
        return ReaderLights(backend, owner: self == .kiosk ? .computer : .reader) { reader in
            output.message("\(reader.label) leaves its lights and sounds to the kiosk from now on (register 02D0).")
        } failed: { reader, error in
            logger.debug("A signal at \(reader.name) was not given: \(error)")
        }
    }
}
