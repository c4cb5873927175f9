import ReaderKit

/// Finding a reader and keeping to it, as in the original library.
extension Club {
    /// Clears the favourite, waits, and tells which readers there are, among those of the backends that the club serves.
    ///
    /// - Parameters:
    ///   - numSeconds: for how long readers may still be plugged in, 0 to 3600.
    ///   - completion: called once, on the queue of ``setDispatchQueue(_:)``; with no reader when there is none, and at once
    ///     when the service behind them is not there.
    public func startAutoDiscovery(numSeconds: Int, completion: @escaping ([DiscoveredDeviceInfo]) -> Void) {
        discover(completion) {
            try? await Task.sleep(for: .seconds(min(max(numSeconds, 0), 3600)))
        }
    }

    func discover(
        _ completion: @escaping ([DiscoveredDeviceInfo]) -> Void,
        afterWaiting wait: @escaping @Sendable () async -> Void
    ) {
        let completion = ApplicationClosure(completion)
        let isServed = familiar.withLock { state in
            let isServed = state.services.values.contains { $0.isUp == true }
            if isServed { state.favorite = nil }
            return isServed
        }
        guard isServed else { return callbacks.enqueue { completion([]) } }
        Task {
            await wait()
            let readers = self.familiar.withLock { state in
                state.services.sorted { $0.key < $1.key }.flatMap(\.value.readers)
            }
            self.callbacks.enqueue { completion(readers.map { DiscoveredDeviceInfo($0) }) }
        }
    }

    /// The only reader that is served, or `nil` when all of them are.
    public var favorite: DiscoveredDeviceInfo? { familiar.withLock { $0.favorite } }

    /// Serves this reader alone from its next card on, whether it is there or comes later. The cards on other readers are
    /// left alone. It is not stored.
    ///
    /// - Parameter discoveredDeviceInfo: the reader. An empty identifier or `*`, which stand for any reader in the original
    ///   library, do the same as ``resetFavorite()``.
    public func setFavorite(discoveredDeviceInfo: DiscoveredDeviceInfo) {
        let isAny = ["", "*"].contains(discoveredDeviceInfo.identifierUUID)
        familiar.withLock { $0.favorite = isAny ? nil : discoveredDeviceInfo }
    }

    /// Serves all readers again.
    public func resetFavorite() {
        familiar.withLock { $0.favorite = nil }
    }

    func isServed(_ reader: ReaderInfo) -> Bool {
        guard let favorite else { return true }
        return favorite == DiscoveredDeviceInfo(reader)
    }
}
