import CLinux
import CardCore
import Foundation
import Synchronization

/// The presenter of a screen that depends on the network: it is notified while the screen is shown, for the first time
/// when it appears.
@MainActor
public protocol NetworkObservingPresenter: ScreenPresenter {
    /// Called when the machine has an address in a network.
    func networkDidBecomeAvailable()
    /// Called when it has none.
    func networkDidBecomeUnavailable()
}

extension NetworkObservingPresenter {
    /// Returns a task that notifies the presenter.
    public func taskWhileShown() -> Task<Void, Never>? {
        Task { [weak self] in
            for await isAvailable in NetworkMonitor.changes() {
                if isAvailable { self?.networkDidBecomeAvailable() } else { self?.networkDidBecomeUnavailable() }
            }
        }
    }
}

/// Whether the machine is in a network: has an interface that is up, other than the loopback, with an address that is
/// not only valid on its link.
///
/// Nothing is sent to anybody: the kernel reports changes of interfaces and addresses (rtnetlink(7)).
public enum NetworkMonitor {
    /// Whether the machine is in a network now (getifaddrs(3)).
    public static var isAvailable: Bool {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return false }
        defer { freeifaddrs(first) }
        return sequence(first: first, next: { $0?.pointee.ifa_next }).contains { $0.map(isUsable) ?? false }
    }

    private static func isUsable(_ interface: UnsafeMutablePointer<ifaddrs>) -> Bool {
        let flags = interface.pointee.ifa_flags
        let needed = UInt32(IFF_UP | IFF_RUNNING)
        guard flags & needed == needed, flags & UInt32(IFF_LOOPBACK) == 0,
            let address = interface.pointee.ifa_addr
        else { return false }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            // 169.254.0.0/16 is of the link only.
            let number = UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr)
            return number >> 16 != 0xA9FE
        case AF_INET6:
            // fe80::/10 is of the link only.
            let start = raw.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
            return UInt16(bigEndian: start) & 0xFFC0 != 0xFE80
        default:
            return false
        }
    }

    /// Returns a sequence of whether the machine is in a network: now, and after each change. It ends only where the
    /// kernel reports nothing, and then has the present state alone.
    ///
    /// Each call watches by itself, on a thread that sleeps in poll(2), until the consumer stops.
    public static func changes() -> AsyncStream<Bool> {
        AsyncStream { continuation in
            // Before the first look, so that no change comes unseen in between.
            let socket = NetlinkSocket()
            let first = isAvailable
            continuation.yield(first)
            guard let socket else { return continuation.finish() }
            continuation.onTermination = { _ in socket.stop() }
            Thread.detachNewThread {
                var last = first
                while socket.wait() {
                    let now = isAvailable
                    if now != last { continuation.yield(now) }
                    last = now
                }
                continuation.finish()
            }
        }
    }
}

/// A socket on which the kernel reports changes of interfaces and addresses.
private final class NetlinkSocket: Sendable {
    private let descriptor: Int32
    private let bell: WakePipe
    private let isStopped = Atomic(false)

    init?() {
        guard let bell = WakePipe() else { return nil }
        self.bell = bell
        descriptor = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), NETLINK_ROUTE)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0
            }
        }
        // One that could not be opened could not be bound either; a failed initializer runs deinit.
        guard isBound else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sleeps until something was reported, and takes it away.
    ///
    /// - Returns: whether to go on.
    func wait() -> Bool {
        let found = bell.wait(for: descriptor, Int(POLLIN), until: nil)
        guard !isStopped.load(ordering: .acquiring) else { return false }
        var bytes = [UInt8](repeating: 0, count: 8192)
        // Reports that did not fit (ENOBUFS) are as good as any: the state is looked at as a whole.
        return found == 0 || recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) >= 0 || errno != EBADF
    }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        bell.ring()
    }
}
