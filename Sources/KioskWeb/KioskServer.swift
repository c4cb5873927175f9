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
/// The pages are at `/` and `/desk`, the stream at `/v1/events`. A client that disconnects is dropped at once; one that
/// reads nothing is dropped after 30 seconds. A server is started once, and lives until ``stop()``.
public final class KioskServer: Sendable {
    /// What a server does with requests and streams.
    struct Settings: Sendable {
        /// How often a stream shows a sign of life.
        var pingInterval = Duration.seconds(10)
        /// How long a client may take nothing.
        var patience = Duration.seconds(30)
        /// How long a connection may be silent between and within requests.
        var idleTimeout = Duration.seconds(15)
        /// The number of connections at once, if the process may have as many files open.
        var connections = 2000
        /// How many of them one address may have, other than this machine's, from which a proxy brings everybody.
        var connectionsPerAddress = 64
        /// Whether that holds for this machine's addresses too.
        var countsOwnAddresses = false
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
        let visitor: Screen<WebScreenView>, desk: Screen<WebScreenView>
        let presenters: (VisitorPresenter, DeskPresenter)

        @MainActor
        init(visitor: VisitorPresenter, desk: DeskPresenter, view: WebScreenView) {
            self.visitor = Screen(visitor, view: view, shownAs: view)
            self.desk = Screen(desk, view: view, shownAs: view)
            presenters = (visitor, desk)
        }
    }

    let settings: Settings
    let visitorFeed = StateFeed(event: "screen"), deskFeed = StateFeed(event: "desk")
    let events = EventFeed()
    let connections = Connections()
    let themeFiles = ThemeFiles()
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
        let limit = Self.raiseLimit()
        await present(club, showsNames: showsNames)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "kiosk-web")
        logger.logLevel = .critical
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [Doorkeeper(settings: self.settings, connections: self.connections)],
            idleTimeout: .init(settings.idleTimeout),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10,
                maxHeaderListSize: 32 << 10,
                maxHeaderFieldCount: 100
            )
        )
        connections.begin()
        let application = Application(
            responder: WebResponder(server: self),
            server: HTTPServerBuilder { HeldChannel(http: HTTP1Channel(responder: $0, configuration: http)) },
            configuration: .init(
                address: .hostname(host, port: port),
                availableConnectionsDelegate: MaximumAvailableConnections(
                    min(settings.connections, limit),
                    logger: logger
                )
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
                visitorFeed.ping()
                deskFeed.ping()
                events.ping()
                connections.closeStuck(settings.patience)
            }
        }
        state.withLock { ($0.serving, $0.pinging) = (serving, pinging) }
        let bound = await withTaskCancellationHandler {
            for await port in ports { return Int?.some(port) }
            return nil
        } onCancel: {
            serving.cancel()
        }
        if let bound, !Task.isCancelled { return bound }
        await stop()
        try Task.checkCancellation()
        var reason = "it ended"
        if case .failure(let error) = await serving.result { reason = Self.reason(error) }
        let name = host.contains(":") ? "[\(host)]" : host
        throw KioskServerError(address: "\(name):\(port)", reason: reason)
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
        visitorFeed.finish()
        deskFeed.finish()
        events.finish()
        serving?.cancel()
        connections.end()
        _ = await serving?.result
    }

    private static func reason(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)) }
        if case .unknown(let name, _)? = error as? SocketAddressError { return "there is no such host '\(name)'" }
        if let error = error as? NIOConnectionError { return "there is no such host '\(error.host)'" }
        return "\(error)"
    }

    /// Raises this process's limit of open files: each stream has one, and the usual limit is 1024.
    ///
    /// - Returns: how many of them streams may have, so that some are left for the club and its readers.
    private static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 512 }
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 8192))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(8, Int(clamping: limit.rlim_cur) - 128)
    }

    // MARK: What is shown

    @MainActor
    private func present(_ club: Club?, showsNames: Bool) {
        let theme = theme
        let visitor = VisitorPresenter(model, theme: theme)
        let desk = DeskPresenter(model, club: club, theme: theme, showsNames: showsNames)
        let screens = Screens(visitor: visitor, desk: desk, view: WebScreenView(self))
        state.withLock { $0.screens = screens }
        screens.visitor.appear()
        screens.desk.appear()
    }

    /// How the screens look and speak.
    public var theme: Theme { state.withLock(\.theme) }

    /// Shows the screens in another theme, at once.
    @MainActor
    public func show(_ theme: Theme) {
        let screens = state.withLock {
            $0.theme = theme
            return $0.screens
        }
        themeFiles.forget()
        screens?.presenters.0.theme = theme
        screens?.presenters.1.theme = theme
    }

    /// Who may look. A change ends all streams; who still may look comes back.
    public var access: WebAccess {
        get { state.withLock(\.access) }
        set {
            state.withLock { $0.access = newValue }
            connections.closeAll()
        }
    }

    /// Sends a line of JSON to those who follow `/v1/events`.
    public func publish(_ line: String) { events.publish(line) }

    @MainActor
    func snapshot() -> String { json(KioskSnapshot(model.status)) }
}

/// Writes scenes as messages.
@MainActor
final class WebScreenView: VisitorView, DeskView {
    private weak var server: KioskServer?
    private var look: (theme: Theme, message: ThemeMessage)?
    private var versions = 0

    init(_ server: KioskServer) { self.server = server }

    func show(_ scene: VisitorScene, taps: [TapRow], theme: Theme) {
        let look = message(theme)
        server?.visitorFeed.publish { json(VisitorMessage(scene, taps: taps, theme: theme, look: look)) }
    }

    func show(_ scene: DeskScene, theme: Theme) {
        let look = message(theme)
        server?.deskFeed.publish { json(DeskMessage(scene, theme: theme, look: look)) }
    }

    private func message(_ theme: Theme) -> ThemeMessage {
        if let look, look.theme == theme { return look.message }
        versions += 1
        // A page from an earlier run must not reuse the files that it cached.
        let message = ThemeMessage(theme, version: Int(Date().timeIntervalSince1970) &+ versions)
        look = (theme, message)
        return message
    }
}

/// Speaks HTTP/1.1, and holds each connection until it is closed. One that is accepted while the server ends is handled by
/// nobody, and NIO ends the process where such a one is let go of while it is open (swift-nio 2637).
private struct HeldChannel: ServerChildChannel {
    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).map { value in
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}

/// Notes what is opened, and closes at once what an address opens beyond its share, so that others find room.
private final class Doorkeeper: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Never

    private let settings: KioskServer.Settings
    private let connections: Connections

    init(settings: KioskServer.Settings, connections: Connections) {
        (self.settings, self.connections) = (settings, connections)
    }

    func channelActive(context: ChannelHandlerContext) {
        let isOwn = context.remoteAddress.map(WebResponder.isLoopback) ?? false
        let limit = isOwn && !settings.countsOwnAddresses ? Int.max : settings.connectionsPerAddress
        if !connections.admit(context.channel, limit: limit) { context.close(promise: nil) }
        context.fireChannelActive()
    }
}

/// The open connections.
final class Connections: Sendable {
    private struct Connection {
        var channel: any Channel
        /// The other end's; `nil` if it is gone already.
        var address: String?
        /// When the write began that is not over.
        var writingSince: ContinuousClock.Instant?
    }

    /// `nil` while nothing is served.
    private let all = Mutex<[ObjectIdentifier: Connection]?>(nil)

    var count: Int { all.withLock { $0?.count ?? 0 } }

    func begin() { all.withLock { $0 = [:] } }

    /// Closes all, and those that come later.
    func end() {
        all.withLock { $0.take() }?.values.forEach { $0.channel.close(promise: nil) }
    }

    /// Notes a connection until it is closed, and returns whether its address may have so many.
    func admit(_ channel: any Channel, limit: Int) -> Bool {
        let (id, address) = (ObjectIdentifier(channel), channel.remoteAddress?.ipAddress)
        let isAdmitted = all.withLock { all in
            guard let open = all, open.values.count(where: { $0.address == address }) < limit else { return false }
            all?[id] = Connection(channel: channel, address: address)
            return true
        }
        if isAdmitted { channel.closeFuture.whenComplete { _ in self.all.withLock { $0?[id] = nil } } }
        return isAdmitted
    }

    /// Notes that a write begins, or is over.
    func note(_ channel: any Channel, isWriting: Bool) {
        all.withLock { $0?[ObjectIdentifier(channel)]?.writingSince = isWriting ? .now : nil }
    }

    /// Closes connections whose other end takes nothing.
    func closeStuck(_ patience: Duration) {
        let limit = ContinuousClock.now - patience
        close { $0.writingSince.map { $0 < limit } ?? false }
    }

    func closeAll() { close { _ in true } }

    private func close(_ isChosen: (Connection) -> Bool) {
        for connection in all.withLock({ $0?.values.filter(isChosen) }) ?? [] { connection.channel.close(promise: nil) }
    }
}
#endif
