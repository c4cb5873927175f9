import ClubKit
import Dispatch
import Synchronization
import Testing

/// Notes every callback as a line, and checks that it comes on the queue that was set, one at a time. Sendable since
/// everything is behind a lock.
final class FamiliarRecorder: ClubMiddlewareDelegate, Sendable {
    private struct State {
        var lines: [String] = []
        var errors: [any Error] = []
        var waiters: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let running = Atomic<Int>(0)
    private let key = DispatchSpecificKey<Bool>()
    private let notesUsers: Mutex<(@Sendable (MembershipUser) -> String)?> = Mutex(nil)

    /// The queue on which the callbacks have to come.
    let queue = DispatchQueue(label: "application")

    /// Whether every tap's receipt is noted.
    private let notesReceipts: Bool

    init(_ describe: (@Sendable (MembershipUser) -> String)? = nil, notesReceipts: Bool = false) {
        self.notesReceipts = notesReceipts
        notesUsers.withLock { $0 = describe }
        queue.setSpecific(key: key, value: true)
    }

    var lines: [String] { state.withLock { $0.lines } }
    var errors: [any Error] { state.withLock { $0.errors } }

    /// The lines, once there are so many.
    func lines(_ count: Int) async -> [String] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.lines.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return lines
    }

    func note(_ line: String, error: (any Error)? = nil) {
        #expect(running.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue == 1, "one at a time")
        #expect(DispatchQueue.getSpecific(key: key) == true, "on the queue that was set")
        let ready = state.withLock { state in
            state.lines.append(line)
            if let error { state.errors.append(error) }
            let ready = state.waiters.filter { $0.count <= state.lines.count }
            state.waiters.removeAll { $0.count <= state.lines.count }
            return ready
        }
        running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        for (_, continuation) in ready { continuation.resume() }
    }

    private func text(_ user: MembershipUser) -> String {
        notesUsers.withLock { $0 }?(user) ?? "\(user.userId ?? "nil") \(user.username ?? "nil") \(user.numVisits)"
    }

    func club(_ club: Club, didReceive error: any Error) {
        let text =
            switch error {
            case let error as ClubError: "ClubError \(error.kind.rawValue)"
            case let error as CKError: "CKError " + String("\(Mirror(reflecting: error).children.first?.label ?? "")")
            default: "\(type(of: error))"
            }
        note("error \(text)", error: error)
    }

    func club(_ club: Club, didReceive receipt: Receipt) {
        if notesReceipts { note("receipt \(receipt.outcome.name) \(receipt.outcome.reason?.code.rawValue ?? "-")") }
    }

    func club(_ club: Club, didCreateNewMembership user: MembershipUser) { note("created \(text(user))") }
    func club(_ club: Club, didUpdateMembership user: MembershipUser) { note("updated \(text(user))") }
    func club(_ club: Club, didDeleteMembership user: MembershipUser) { note("deleted \(text(user))") }
    func club(_ club: Club, didReceiveImported users: [MembershipUser]) {
        note("imported " + users.map { text($0) }.joined(separator: ", "))
    }

    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {
        note("manager \(deviceManager.backend) arrived \(result)")
    }

    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalForManager deviceManager: CaptureLayerDeviceManager,
        result: CaptureLayerResult
    ) {
        note("manager \(deviceManager.backend) went \(result)")
    }

    func capture(
        _ capture: CaptureMiddleware,
        didNotifyArrivalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {
        note("device \(device.deviceInfo.name) arrived \(result)")
    }

    func capture(
        _ capture: CaptureMiddleware,
        didNotifyRemovalFor device: CaptureLayerDevice,
        result: CaptureLayerResult
    ) {
        note("device \(device.deviceInfo.name) went \(result)")
    }

    func capture(
        _ capture: CaptureMiddleware,
        batteryLevelDidChange value: Int,
        for device: CaptureLayerDevice
    ) {
        note("battery \(value)")
    }

    func capture(
        _ capture: CaptureMiddleware,
        didReceive decodedData: CaptureLayerDecodedData?,
        for device: CaptureLayerDevice,
        withResult result: CaptureLayerResult
    ) {
        note("data \(decodedData.map { $0.stringFromDecodedData() ?? "no text" } ?? "nil") \(result)")
    }
}

extension Club {
    /// This club, with a delegate that notes everything.
    func recorded(by recorder: FamiliarRecorder) -> Club {
        setDelegate(to: recorder).setDispatchQueue(recorder.queue).setCapture(instance: nil)
    }
}
