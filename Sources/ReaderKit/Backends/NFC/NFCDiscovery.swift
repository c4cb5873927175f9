import Foundation
import Synchronization

/// Finds readers that are plugged in: a thread of its own, since libnfc may take long to look.
///
/// libnfc talks to a reader to list it, so it is asked only when something was plugged in or out, and now and then.
actor NFCDiscovery: CallThread {
    nonisolated let watch: CallWatch
    nonisolated let executor = ThreadExecutor(name: "nfc-discovery")
    private nonisolated let surroundings: NFCReader.Surroundings
    private nonisolated let found: @Sendable ([String]) -> Void
    private nonisolated let report: @Sendable (ReaderTable.Report) -> Void
    private nonisolated let isStopped = Mutex(false)
    /// Whether to ask although nothing was plugged in or out.
    private nonisolated let mustAsk = Mutex(true)
    private var devices: [String] = []
    private var quietRounds = 0

    /// After so many rounds without a change libnfc is asked all the same.
    private static let mostQuietRounds = 15

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        surroundings: NFCReader.Surroundings,
        found: @escaping @Sendable ([String]) -> Void,
        report: @escaping @Sendable (ReaderTable.Report) -> Void,
        onStuck: @escaping CallWatch.Fail
    ) {
        self.surroundings = surroundings
        self.found = found
        self.report = report
        watch = surroundings.callWatch(onExpiry: onStuck)
    }

    nonisolated func start() { schedule(after: .zero) }

    nonisolated func stop() {
        isStopped.withLock { $0 = true }
        submit { _ in }
    }

    /// Asks libnfc in the next round: a reader that was found before is gone.
    nonisolated func askAgain() { mustAsk.withLock { $0 = true } }

    private nonisolated func schedule(after pause: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + pause.seconds) { [weak self] in
            guard let self, !isStopped.withLock(\.self) else { return }
            submitWatched { me in
                guard !me.watch.isAbandoned, !me.isRetired else { return }
                me.round()
                me.schedule(after: me.surroundings.configuration.discoveryInterval)
            }
        }
    }

    var isRetired: Bool { isStopped.withLock(\.self) }

    func cleanUp() {}

    private func round() {
        let now = Self.plugged(surroundings.configuration.scansSerialPorts)
        quietRounds += 1
        let isAsked = mustAsk.withLock { mustAsk in
            defer { mustAsk = false }
            return mustAsk
        }
        guard isAsked || now != devices || quietRounds >= Self.mostQuietRounds else { return }
        do throws(ReaderError) {
            found(try list())
            devices = now
            quietRounds = 0
        } catch {
            askAgain()
            if error.kind == .serviceUnavailable { report(.service(error)) }
        }
    }

    func list() throws(ReaderError) -> [String] {
        let (library, configuration) = (surroundings.library, surroundings.configuration)
        let context = try watch.call("begin with libnfc") { library.makeContext(configuration.scansSerialPorts) }
        guard let context else { throw NFCReader.noContext }
        report(.service(nil))
        return try watch.call("look for readers") { library.listDevices(context) }
    }

    private static func plugged(_ withSerialPorts: Bool) -> [String] {
        var names = (try? FileManager.default.contentsOfDirectory(atPath: "/sys/bus/usb/devices")) ?? []
        if withSerialPorts {
            let nodes = (try? FileManager.default.contentsOfDirectory(atPath: "/dev")) ?? []
            names += nodes.filter { $0.hasPrefix("tty") }
        }
        return names.sorted()
    }
}
