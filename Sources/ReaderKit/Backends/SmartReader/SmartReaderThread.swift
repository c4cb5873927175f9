import Foundation
import Synchronization

/// The thread of one line: opens it, reads it, and opens it again when it has gone.
///
/// While the line is open and silent, the thread sleeps in `poll(2)` without a time limit.
final class SmartReaderThread: Sendable {
    struct Surroundings: Sendable {
        var standardInput: Int32 = 0
        /// Takes an input device for this process alone, and returns 0 or a code of the system (`EVIOCGRAB`).
        var grab: @Sendable (Int32) -> Int32 = { descriptor in
            // `EVIOCGRAB`, `_IOW('E', 0x90, int)`, a macro that Swift does not see.
            ioctl(descriptor, UInt(0x4004_4590), 1) == 0 ? 0 : errno
        }
        var instant: @Sendable () -> ContinuousClock.Instant = { .now }
    }

    private struct Control {
        var isWanted = false
        var isEnding = false
        var isStarted = false
        var whenEnded: [@Sendable () -> Void] = []
        var counts = SmartReaderCounts()
        var wakeUps = 0
        var openPath: String?
    }

    private let source: SmartReaderSource
    /// Whether nobody named the line: it has got a name in a folder.
    private let isFound: Bool
    private let configuration: SmartReaderConfiguration
    private let surroundings: Surroundings
    private let report: @Sendable (ReaderTable.Report) -> Void
    private let control = Mutex(Control())
    private let bell: WakePipe?

    init(
        _ source: SmartReaderSource,
        isFound: Bool = false,
        _ configuration: SmartReaderConfiguration,
        _ surroundings: Surroundings,
        report: @escaping @Sendable (ReaderTable.Report) -> Void
    ) {
        self.source = source
        self.isFound = isFound
        self.configuration = configuration
        self.surroundings = surroundings
        self.report = report
        bell = WakePipe()
    }

    var counts: SmartReaderCounts { control.withLock { $0.counts } }

    var wakeUps: Int { control.withLock { $0.wakeUps } }

    var openPath: String? { control.withLock { $0.openPath } }

    func want(_ isWanted: Bool) {
        guard let bell else {
            let error = ReaderError(
                .limitExceeded,
                attempting: DeviceNode.attempt(source.name),
                detail: "this program has no file descriptors left",
                advice: "Open fewer files at a time in this program."
            )
            if isWanted { report(.trouble(error)) }
            return
        }
        let mustStart = control.withLock { control in
            control.isWanted = isWanted
            guard isWanted, !control.isStarted, !control.isEnding else { return false }
            control.isStarted = true
            return true
        }
        if mustStart { DetachedThread.start(name: "smart-reader") { self.run(bell) } }
        bell.ring()
    }

    /// Ends the thread, which closes the line first, and calls when that is done.
    func stop(then done: @escaping @Sendable () -> Void = {}) {
        let isOver = control.withLock { control in
            control.isEnding = true
            if control.isStarted { control.whenEnded.append(done) }
            return !control.isStarted
        }
        if isOver { return done() }
        bell?.ring()
    }

    private func tellEnd() {
        let whenEnded = control.withLock { control in
            control.isStarted = false
            defer { control.whenEnded = [] }
            return control.whenEnded
        }
        for done in whenEnded { done() }
    }

    // MARK: - The thread

    private struct Device {
        /// `nil` is standard input.
        var node: DeviceNode?
        var descriptor: Int32
        var framer: SmartReaderFramer
        var keyboard: SmartReaderKeyboard?
        var openedAt = ContinuousClock.now
        var heardAt = ContinuousClock.now
    }

    private struct Memory {
        var taps: SmartReaderTaps
        /// Of the lines that have gone.
        var counts = SmartReaderCounts()
        var pause: Duration
        var hasEnded = false
    }

    private func run(_ bell: WakePipe) {
        var memory = Memory(taps: SmartReaderTaps(configuration), pause: configuration.firstBackOff)
        var device: Device?
        while true {
            let (isWanted, isEnding) = control.withLock { control in
                control.wakeUps += 1
                return (control.isWanted, control.isEnding)
            }
            if isEnding {
                device = nil
                return tellEnd()
            }
            guard isWanted, !memory.hasEnded else {
                if let open = device {
                    memory.counts = memory.counts + open.framer.counts
                    device = nil
                    closed()
                }
                _ = bell.wait(for: -1, 0, until: nil)
                continue
            }
            if device == nil { device = open() }
            guard var open = device else {
                pause(&memory, bell)
                continue
            }
            let stays = serve(&open, &memory, bell)
            note(open, memory)
            device = open
            if !stays {
                memory.counts = memory.counts + open.framer.counts
                // A line that goes as soon as it is opened is not tried again and again.
                if open.openedAt.duration(to: .now) > configuration.lastBackOff {
                    memory.pause = configuration.firstBackOff
                }
                device = nil
                closed()
                if memory.hasEnded { report(.ended) } else { pause(&memory, bell) }
            }
        }
    }

    private func closed() {
        control.withLock { $0.openPath = nil }
        report(.absent)
    }

    private func pause(_ memory: inout Memory, _ bell: WakePipe) {
        _ = bell.wait(for: -1, 0, until: .now + memory.pause)
        memory.pause = min(memory.pause * 2, max(configuration.lastBackOff, configuration.firstBackOff))
    }

    private func note(_ device: Device, _ memory: Memory) {
        let counts = memory.counts + device.framer.counts + memory.taps.counts
        control.withLock { $0.counts = counts }
    }

    // MARK: Opening

    private func open() -> Device? {
        let framer = SmartReaderFramer(configuration.rules(for: source))
        do throws(ReaderError) {
            let device: Device
            switch source {
            case .serial(let path):
                let node = try DeviceNode(path)
                guard node.isTerminal, node.makeRaw(speed: configuration.speed) else {
                    throw Self.wrongDevice(path, "it is no serial line")
                }
                node.makeExclusive()
                device = Device(node: node, descriptor: node.descriptor, framer: framer)
            case .keyboard(let path):
                let node = try DeviceNode(path, mode: O_RDONLY)
                switch surroundings.grab(node.descriptor) {
                case 0: break
                case EBUSY: throw DeviceNode.sharing(DeviceNode.attempt(path), DeviceNode.holders(of: node.path))
                default: throw Self.wrongDevice(path, "it is no input device")
                }
                let keyboard = SmartReaderKeyboard()
                device = Device(node: node, descriptor: node.descriptor, framer: framer, keyboard: keyboard)
            case .standardInput: device = Device(descriptor: surroundings.standardInput, framer: framer)
            }
            control.withLock { $0.openPath = device.node?.path }
            report(.opened)
            return device
        } catch {
            // A name that has passed on to a line that is served under another one is no trouble.
            let isElsewhere = isFound && DeviceNode.isHeldHere(source.name)
            report(error.kind == .readerUnavailable || isElsewhere ? .absent : .trouble(error))
            return nil
        }
    }

    private static func wrongDevice(_ path: String, _ detail: String) -> ReaderError {
        ReaderError(
            .unsupported,
            attempting: DeviceNode.attempt(path),
            detail: detail,
            advice: "Name the reader's serial line, such as /dev/ttyACM0, or its input device."
        )
    }

    // MARK: Reading

    /// Waits for something to happen on the line, and takes it; whether the line is still there.
    private func serve(_ device: inout Device, _ memory: inout Memory, _ bell: WakePipe) -> Bool {
        let end = device.framer.isWithinLine ? device.heardAt + configuration.silence : nil
        let found = bell.wait(for: device.descriptor, Int(POLLIN), until: end)
        if found & Int(POLLIN) != 0 { return read(&device, &memory) }
        if found != 0 {
            lose(&device, &memory)
            return false
        }
        if let end, ContinuousClock.now >= end { tell(device.framer.hearSilence(), &memory) }
        return true
    }

    private func read(_ device: inout Device, _ memory: inout Memory) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(device.descriptor, &bytes, bytes.count)
        let fault = errno
        guard count > 0 else {
            if count < 0, fault == EAGAIN || fault == EINTR { return true }
            lose(&device, &memory)
            return false
        }
        device.heardAt = .now
        memory.pause = configuration.firstBackOff
        let text = device.keyboard?.append(bytes.prefix(count)) ?? Array(bytes.prefix(count))
        tell(device.framer.append(text), &memory)
        return true
    }

    private func lose(_ device: inout Device, _ memory: inout Memory) {
        if case .standardInput = source {
            // The last line may have no end, and there will never be another.
            tell(device.framer.finish(), &memory)
            memory.hasEnded = true
        } else {
            tell(device.framer.hangUp(), &memory)
        }
    }

    private func tell(_ lines: [String], _ memory: inout Memory) {
        for line in lines {
            if let line = memory.taps.take(line, at: surroundings.instant()) { report(.line(line)) }
        }
    }
}
