#if NETWORK
import ClubKit
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
public import KioskKit
import Logging
import NIOCore
import NIOPosix
import Synchronization

/// Why a server could not be started.
public struct KioskServerError: Error, Sendable, CustomStringConvertible {
    /// The host and the port.
    public var address: String
    /// The reason of the system.
    public var reason: String

    /// What went wrong and what to do.
    public var description: String {
        "could not serve the screen at \(address): \(reason). Choose another address or port, or end the program that has it."
    }
}

/// Serves the visitor's screen, the desk's and a stream of events to browsers and programs.
///
/// ```swift
/// let server = KioskServer(model, theme: theme)
/// let port = try await server.start(host: "127.0.0.1", port: 8080)
/// ```
///
/// The pages are at `/` and `/desk`, the stream at `/v1/events`. A client that is gone is let go at once, one that reads
/// nothing after half a minute.
public final class KioskServer: Sendable {
    /// What a server does with requests and streams.
    struct Settings: Sendable {
        /// How often a stream shows a sign of life.
        var pingInterval = Duration.seconds(10)
        /// How long a client may take nothing.
        var patience = Duration.seconds(30)
        /// How long a request may take to arrive.
        var requestSeconds: Int64 = 15
        /// The number of connections at once.
        var connections = 2000
    }

    private struct State {
        var access: WebAccess
        var theme: Theme
        var serving: Task<Void, any Error>?
        var pinging: Task<Void, Never>?
        var screens: Screens?
    }

    /// What is presented, on the main actor.
    private final class Screens: Sendable {
        let visitor: Screen<WebView>, desk: Screen<WebView>
        let presenters: (VisitorPresenter, DeskPresenter)

        @MainActor
        init(visitor: VisitorPresenter, desk: DeskPresenter, view: WebView) {
            self.visitor = Screen(visitor, view: view, shownAs: view)
            self.desk = Screen(desk, view: view, shownAs: view)
            presenters = (visitor, desk)
        }
    }

    let settings: Settings
    let screen = StateFeed(event: "screen"), desk = StateFeed(event: "desk")
    let events = EventFeed()
    let connections = Connections()
    private let state: Mutex<State>
    private let model: KioskModel

    init(_ model: KioskModel, theme: Theme, access: WebAccess, settings: Settings) {
        self.model = model
        self.settings = settings
        state = Mutex(State(access: access, theme: theme))
    }

    /// Creates a server of a model's screens.
    ///
    /// - Parameters:
    ///   - theme: how they look and speak.
    ///   - access: who may look.
    public convenience init(_ model: KioskModel, theme: Theme = Theme(), access: WebAccess = WebAccess()) {
        self.init(model, theme: theme, access: access, settings: Settings())
    }

    // MARK: Running

    /// Begins to present and to serve, until ``stop()``.
    ///
    /// - Parameters:
    ///   - host: the address to listen at.
    ///   - port: the port; 0 for any.
    ///   - club: where the desk's page finds the taps of before.
    ///   - showsNames: whether the desk's page has names.
    /// - Returns: the port.
    /// - Throws: ``KioskServerError`` if the address cannot be used.
    @discardableResult
    public func start(
        host: String,
        port: Int,
        club: Club? = nil,
        showsNames: Bool = false
    ) async throws -> Int {
        Self.raiseLimit()
        await present(club, showsNames: showsNames)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "kiosk-web")
        logger.logLevel = .critical
        let application = Application(
            responder: WebResponder(server: self),
            server: .http1(
                configuration: .init(
                    idleTimeout: .seconds(settings.requestSeconds),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 << 10,
                        maxHeaderListSize: 32 << 10,
                        maxHeaderFieldCount: 100
                    )
                )
            ),
            configuration: .init(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(settings.connections, logger: logger)
            ),
            onServerRunning: { channel in
                continuation.yield(channel.localAddress?.port ?? port)
                continuation.finish()
            },
            logger: logger
        )
        let serving = Task {
            defer { continuation.finish() }
            try await application.run()
        }
        let pinging = Task { [self] in
            while (try? await Task.sleep(for: settings.pingInterval)) != nil {
                screen.ping()
                desk.ping()
                events.ping()
                connections.closeStuck(settings.patience)
            }
        }
        state.withLock { ($0.serving, $0.pinging) = (serving, pinging) }
        for await port in ports { return port }
        let result = await serving.result
        await stop()
        guard case .failure(let error) = result else { return port }
        throw KioskServerError(address: "\(host):\(port)", reason: Self.reason(error))
    }

    /// Ends all streams and the server.
    public func stop() async {
        let (serving, pinging, screens) = state.withLock { state in
            defer { (state.serving, state.pinging, state.screens) = (nil, nil, nil) }
            return (state.serving, state.pinging, state.screens)
        }
        pinging?.cancel()
        if let screens {
            await MainActor.run {
                screens.visitor.destroy()
                screens.desk.destroy()
            }
        }
        screen.finish()
        desk.finish()
        events.finish()
        serving?.cancel()
        connections.closeAll()
        _ = await serving?.result
    }

    private static func reason(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        if let error = error as? NIOConnectionError { return "there is no such host '\(error.host)'" }
        return "\(error)"
    }

    /// Each stream has a descriptor; the usual limit of a process is 1024.
    private static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 8192))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    // MARK: What is shown

    @MainActor
    private func present(_ club: Club?, showsNames: Bool) {
        let theme = theme
        let visitor = VisitorPresenter(model, theme: theme)
        let desk = DeskPresenter(model, club: club, theme: theme, showsNames: showsNames)
        let screens = Screens(visitor: visitor, desk: desk, view: WebView(self))
        state.withLock { $0.screens = screens }
        screens.visitor.appear()
        screens.desk.appear()
    }

    /// How the screens look and speak; a change is shown at once.
    public var theme: Theme { state.withLock(\.theme) }

    /// Shows the screens in another theme.
    @MainActor
    public func show(_ theme: Theme) {
        let screens = state.withLock {
            $0.theme = theme
            return $0.screens
        }
        screens?.presenters.0.theme = theme
        screens?.presenters.1.theme = theme
    }

    /// Who may look.
    public var access: WebAccess {
        get { state.withLock(\.access) }
        set { state.withLock { $0.access = newValue } }
    }

    /// Sends a line of JSON to those who follow `/v1/events`.
    public func publish(_ line: String) { events.publish(line) }

    @MainActor
    func snapshot() -> String { json(Snapshot(model.status)) }
}

/// Writes scenes as messages.
@MainActor
final class WebView: VisitorView, DeskView {
    private weak var server: KioskServer?
    private var look: (theme: Theme, message: ThemeMessage)?
    private var versions = 0

    init(_ server: KioskServer) { self.server = server }

    func show(_ scene: VisitorScene, taps: [TapRow], theme: Theme) {
        server?.screen.publish(json(VisitorMessage(scene, taps: taps, theme: theme, look: message(theme))))
    }

    func show(_ scene: DeskScene, theme: Theme) {
        server?.desk.publish(json(DeskMessage(scene, theme: theme, look: message(theme))))
    }

    private func message(_ theme: Theme) -> ThemeMessage {
        if let look, look.theme == theme { return look.message }
        versions += 1
        // A page that was loaded from the server of before has its files.
        let message = ThemeMessage(theme, version: Int(Date().timeIntervalSince1970) &+ versions)
        look = (theme, message)
        return message
    }
}

/// The connections that streams are written to.
final class Connections: Sendable {
    private struct Connection {
        var channel: any Channel
        /// When the write began that is not over.
        var writingSince: ContinuousClock.Instant?
    }

    private let state = Mutex<(next: Int, all: [Int: Connection])>((0, [:]))

    var count: Int { state.withLock { $0.all.count } }

    func add(_ channel: any Channel) -> Int {
        state.withLock { state in
            state.next += 1
            state.all[state.next] = Connection(channel: channel)
            return state.next
        }
    }

    func remove(_ number: Int) { state.withLock { _ = $0.all.removeValue(forKey: number) } }

    func note(_ number: Int, isWriting: Bool) {
        state.withLock { $0.all[number]?.writingSince = isWriting ? .now : nil }
    }

    /// Closes connections whose other end takes nothing.
    func closeStuck(_ patience: Duration) {
        let limit = ContinuousClock.now - patience
        let stuck = state.withLock { $0.all.values.filter { $0.writingSince.map { $0 < limit } ?? false } }
        for connection in stuck { connection.channel.close(promise: nil) }
    }

    func closeAll() {
        for connection in state.withLock({ Array($0.all.values) }) { connection.channel.close(promise: nil) }
    }
}
#endif
