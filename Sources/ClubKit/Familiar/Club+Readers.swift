import Dispatch
import Foundation
import Logging
import ReaderKit
import Synchronization

/// Readers and taps, reported as in the original library.
extension Club {
    // MARK: Serving

    /// Serves the readers of a backend: every tap is recorded, and ``CaptureMiddlewareDelegate`` is notified of changes
    /// to the readers. It returns when the backend ends (a recording), or its task is cancelled.
    ///
    /// A tap that cannot be recorded is reported to ``events`` and the delegate, and the next one is read. A tap being
    /// recorded when the task is cancelled is recorded.
    ///
    /// - Parameters:
    ///   - backend: the readers. If the same ones are served twice at a time, each tap is read twice, of which the
    ///     cooldown counts one.
    ///   - configuration: how cards are read; ``ClubConfiguration/scanner`` and ``ClubConfiguration/passes`` if `nil`.
    ///     With a favorite (``setFavorite(discoveredDeviceInfo:)``), other readers are ignored.
    /// - Throws: ``ClubError/Kind/notOpen`` if the club is not open, or is closed meanwhile;
    ///   ``ClubError/Kind/malformedFile`` for an unusable file of passes.
    public func serve(
        _ backend: some ReaderBackend,
        configuration: ScannerConfiguration? = nil
    ) async throws(ClubError) {
        _ = try openStore("serve readers")
        var scanner = if let configuration { configuration } else { try await scannerConfiguration() }
        let serves = scanner.serves
        scanner.serves = { [weak self] reader in serves(reader) && self?.isServed(reader) ?? false }
        self.configuration.application.noteActivity()
        // Each way has a service of its own, which comes and goes by itself.
        let parts = (backend as? CombinedBackend)?.parts ?? [backend]
        let result = await withTaskGroup(of: Result<Void, ClubError>.self) { [scanner] group in
            for part in parts {
                group.addTask {
                    await Result(of: { () async throws(ClubError) in try await self.serve(part: part, scanner) })
                }
            }
            for await result in group {
                guard case .failure = result else { continue }
                group.cancelAll()
                return result
            }
            return .success(())
        }
        try result.get()
    }

    /// How cards are read, with the passes that the file of the configuration names.
    func scannerConfiguration() async throws(ClubError) -> ScannerConfiguration {
        let configuration = configuration
        guard let path = configuration.passes else { return configuration.scanner }
        do throws(PassConfigurationError) {
            var scanner = configuration.scanner
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            scanner.site = try PassConfiguration(path: path).site(folder: folder, memory: passMemory)
            return scanner
        } catch {
            let attempt = "read the file of the passes"
            var failure = ClubError(.malformedFile, attempting: attempt, detail: error.message)
            failure.advice = error.hint
            throw failure
        }
    }

    private func serve(part backend: any ReaderBackend, _ configuration: ScannerConfiguration) async throws(ClubError) {
        let service = familiar.withLock { state in
            state.lastService += 1
            state.services[state.lastService] = ReaderService()
            return state.lastService
        }
        // The readers that are left are gone for the club when it serves them no more.
        defer { tell(familiar.withLock { $0.services.removeValue(forKey: service)?.end } ?? [], of: backend.kind) }
        // One that asks for batteries already has an interval of its own.
        let asking: any ReaderBackend = backend is BatteryBackend ? backend : BatteryBackend(backend)
        for await event in CardScanner(asking, configuration: configuration).events() {
            switch event {
            case .reader(let event):
                tell(familiar.withLock { $0.services[service]?.note(event) } ?? [], of: backend.kind)
            case .scan(let tap):
                if let error = await take(tap), error.kind == .notOpen { throw error }
            }
            if Task.isCancelled { break }
        }
    }

    /// Records a tap, whether or not this task is cancelled meanwhile; then it does not wait for a full disk any more.
    /// Failures were reported already.
    private func take(_ tap: ScanEvent) async -> ClubError? {
        let data = CaptureLayerDecodedData(tap, format: decodedDataFormat)
        let device = CaptureLayerDevice(ReaderInfo(name: tap.reader, backend: tap.backend))
        tellCapture { $0.capture($1, didReceive: data, for: device, withResult: .E_NOERROR) }
        guard captureReplacement == nil else { return nil }
        let serving = Serving()
        return await withTaskCancellationHandler {
            await Task { () -> ClubError? in
                do throws(ClubError) {
                    _ = try await self.receive(tap) { !serving.isCancelled.load(ordering: .relaxed) }
                    return nil
                } catch {
                    return error
                }
            }.value
        } onCancel: {
            serving.isCancelled.store(true, ordering: .relaxed)
        }
    }

    // MARK: What open(withAppKey:) serves

    /// The readers that ``open(withAppKey:appId:developerId:completion:)`` serves; `nil` for none.
    public var capture: (any ReaderBackend)? {
        familiar.withLock { state in
            // The standard one is made once. Only what was chosen can be missing or unreadable, and nothing was.
            let backend = state.capture ?? (try? ReaderSelection().makeBackend())
            state.capture = .some(backend)
            return backend
        }
    }

    /// Sets the readers that the next ``open(withAppKey:appId:developerId:completion:)`` serves: `nil` for none, by
    /// default all of this machine.
    @discardableResult
    public func setCapture(instance: (any ReaderBackend)?) -> Club {
        familiar.withLock { $0.capture = .some(instance) }
        return self
    }

    /// - Parameter scanner: read anew if `nil`.
    func beginServing(_ scanner: ScannerConfiguration? = nil) {
        guard let backend = capture else { return }
        familiar.withLock { state in
            guard state.serving == nil else { return }
            state.serving = Task { [weak self] in
                do throws(ClubError) {
                    try await self?.serve(backend, configuration: scanner)
                } catch {
                    if error.kind != .notOpen { self?.report(error) }
                }
                // Whoever cancels it has taken it away, and another may be in its place.
                self?.familiar.withLock { state in
                    if !Task.isCancelled { state.serving = nil }
                }
            }
        }
    }

    /// Lets the readers go, without waiting for it: a tap that is under way may wait for the very callback that closes the
    /// club.
    @discardableResult
    func stopServing() -> Task<Void, Never>? {
        // Inside the lock, so that the task cannot take another away in between.
        familiar.withLock { state in
            let serving = state.serving.take()
            serving?.cancel()
            return serving
        }
    }

    var isServing: Bool { familiar.withLock { $0.serving != nil } }

    // MARK: Reporting

    private func tell(_ steps: [ReaderService.Step], of kind: BackendKind) {
        let manager = CaptureLayerDeviceManager(kind, of: self)
        for step in steps {
            switch step {
            case .serviceCame:
                tellCapture { $0.capture($1, didNotifyArrivalForManager: manager, result: .E_NOERROR) }
            case .serviceWent(let result):
                tellCapture { $0.capture($1, didNotifyRemovalForManager: manager, result: result) }
            case .readerCame(let device):
                tellCapture { $0.capture($1, didNotifyArrivalFor: device, result: .E_NOERROR) }
            case .readerWent(let device):
                tellCapture { $0.capture($1, didNotifyRemovalFor: device, result: .E_NOERROR) }
            case .nothingRead(let device):
                tellCapture { $0.capture($1, didReceive: nil, for: device, withResult: .E_NOERROR) }
                tell(CKError.nullDecodedData("The card left before it could be read. Hold it to the reader longer."))
            case .battery(let device, let level):
                tellCapture { $0.capture($1, batteryLevelDidChange: level, for: device) }
            case .failed(let error):
                tell(error)
            }
        }
    }

    /// Reports to the delegate a failure on the readers' side, for which the club has no event.
    func tell(_ error: any Error) {
        configuration.logger.warning("\(error)")
        debugLogger.addDebugMessage("Club - \(error)")
        tell { $0.club($1, didReceive: error) }
    }

    private func tellCapture(_ method: @escaping @Sendable (any CaptureMiddlewareDelegate, Club) -> Void) {
        // Without a delegate nothing waits for a queue that may never run.
        guard captureReplacement != nil || delegate != nil else { return }
        callbacks.enqueue {
            if let target = self.captureReplacement ?? self.delegate { method(target, self) }
        }
    }

    // MARK: Standing in

    /// Who stands in for the club, and is still there.
    private var captureReplacement: (any CaptureMiddlewareDelegate)? {
        familiar.withLock { $0.captureDelegate }?.delegate
    }

    /// Ends the effect of ``resignCaptureDelegate(to:)``: the club's delegate is notified again, and taps are recorded
    /// again.
    public func assumeCaptureDelegate() {
        familiar.withLock { $0.captureDelegate = nil }
    }

    /// Notifies another delegate of readers and taps in place of the club's, for instance while cards are written. No
    /// tap of the club's readers is recorded until ``assumeCaptureDelegate()``.
    ///
    /// - Parameter replacement: held weakly; once it is gone, the club takes over again.
    public func resignCaptureDelegate(to replacement: any CaptureMiddlewareDelegate) {
        let reference = CaptureDelegateReference(replacement)
        familiar.withLock { $0.captureDelegate = reference }
    }
}

extension ReaderService {
    enum Step: Sendable {
        case serviceCame
        case serviceWent(CaptureLayerResult)
        case readerCame(CaptureLayerDevice)
        case readerWent(CaptureLayerDevice)
        case nothingRead(CaptureLayerDevice)
        case battery(CaptureLayerDevice, Int)
        case failed(ReaderError)
    }

    mutating func note(_ event: ReaderEvent) -> [Step] {
        let wasUp = isUp
        switch event {
        case .serviceLost(let error):
            // Its readers were reported as removed before; those that are left, behind a backend that wraps several, have
            // another service.
            isUp = false
            return (wasUp == false ? [] : [.serviceWent(.E_NOTINITIALIZED)]) + [.failed(error)]
        case .failed(let error): return [.failed(error)]
        default: break
        }
        // Some backends, such as a recording, have no service that could come and go.
        isUp = true
        var steps: [Step] = wasUp == true ? [] : [.serviceCame]
        switch event {
        case .readerAdded(let reader) where !readers.contains(reader):
            readers.append(reader)
            steps.append(.readerCame(CaptureLayerDevice(reader)))
        case .readerRemoved(let reader) where readers.contains(reader):
            readers.removeAll { $0 == reader }
            steps.append(.readerWent(CaptureLayerDevice(reader)))
        case .batteryLevel(let reader, let percent): steps.append(.battery(CaptureLayerDevice(reader), percent))
        case .cardMissed(let presence): steps.append(.nothingRead(CaptureLayerDevice(presence.reader)))
        case .readerStuck(_, let error): steps.append(.failed(error))
        default: break
        }
        return steps
    }

    /// What to report once the service is not watched any more.
    var end: [Step] {
        readers.map { .readerWent(CaptureLayerDevice($0)) } + (isUp == true ? [.serviceWent(.E_NOERROR)] : [])
    }
}

private final class Serving: Sendable {
    let isCancelled = Atomic(false)
}

/// Opening and closing as in the original library.
extension Club {
    /// The operator and the machine: the values passed to ``open(withAppKey:appId:developerId:completion:)``, else
    /// those of the configuration.
    public var identity: KioskIdentity { configuration.identity }

    /// The number of failed attempts to open the club since it was last open.
    public var numberOfFailedOpenCaptureAttempts: Int { familiar.withLock { $0.numberOfFailedOpenCaptureAttempts } }

    /// Opens the club, and begins to serve the readers of ``setCapture(instance:)``: by default all of this machine, as
    /// with `ReaderSelection()`: PC/SC, libnfc and lines in Smart Reader mode. Use ``configure(_:)`` before for other
    /// settings.
    ///
    /// A missing reader or service is no failure; ``CaptureMiddlewareDelegate`` is notified when it is available. If
    /// another program holds the database, up to three attempts are made. In async code without a reader to serve, use
    /// ``open()``.
    ///
    /// - Parameters:
    ///   - appKey: not used, not stored and not logged. No service requires it.
    ///   - appId: the name of this kiosk; see ``identity``.
    ///   - developerId: the operator of the club; see ``identity``.
    ///   - completion: called once, on the queue of ``setDispatchQueue(_:)``: with `E_NOERROR` when the club is open,
    ///     also if it was before; with `E_UNABLEINITIALIZE` if it could not be opened, after the cause was reported by
    ///     ``ClubMiddlewareDelegate/club(_:didReceive:)``.
    public func open(
        withAppKey appKey: String,
        appId: String,
        developerId: String,
        completion: ((CaptureLayerResult) -> Void)? = nil
    ) {
        let identity = KioskIdentity(kiosk: PlainText.line(appId), operatorName: PlainText.line(developerId))
        state.withLock { state in
            state.configuration.identity = identity
            state.isOpening = true
        }
        let completion = completion.map { ApplicationClosure($0) }
        Task {
            let result = await self.openForApplication()
            self.complete(completion, result)
        }
    }

    /// Stops serving the readers of ``open(withAppKey:appId:developerId:completion:)``, and closes the club when all
    /// work under way has been committed.
    ///
    /// - Parameter completion: called once, on the queue of ``setDispatchQueue(_:)``: with `E_NOERROR` when the club is
    ///   closed, also if it was before; with `E_NOTINITIALIZED` if it could not be closed.
    public func close(_ completion: ((CaptureLayerResult) -> Void)?) {
        let completion = completion.map { ApplicationClosure($0) }
        Task {
            await self.stopServing()?.value
            do throws(ClubError) {
                try await self.close()
                self.complete(completion, .E_NOERROR)
            } catch {
                self.report(error)
                self.complete(completion, .E_NOTINITIALIZED)
            }
        }
    }

    /// Sets whether ``DebugLogger/shared`` keeps messages. Off at the start of a program; the setting is not stored.
    @discardableResult
    public func setDebugMode(isActivated: Bool) -> Club {
        debugLogger.toggleDebug(isActivated: isActivated)
        return self
    }

    var debugLogger: DebugLogger { familiar.withLock { $0.debugLogger } }

    private func complete(_ completion: ApplicationClosure<CaptureLayerResult>?, _ result: CaptureLayerResult) {
        guard let completion else { return }
        callbacks.enqueue { completion(result) }
    }

    private func openForApplication() async -> CaptureLayerResult {
        // Waiting for another program is the only thing that an attempt later can mend; each waits by itself.
        for attempt in 1...3 {
            let wasOpen = isOpen
            do throws(ClubError) {
                try await open()
                let scanner = try await prepareOrClose(wasOpen: wasOpen)
                familiar.withLock { $0.numberOfFailedOpenCaptureAttempts = 0 }
                beginServing(scanner)
                return .E_NOERROR
            } catch {
                familiar.withLock { $0.numberOfFailedOpenCaptureAttempts += 1 }
                if error.kind != .busy || attempt == 3 {
                    report(error)
                    return .E_UNABLEINITIALIZE
                }
            }
        }
        return .E_UNABLEINITIALIZE
    }

    /// A club whose records could not be brought up to date, or whose file of passes cannot be used, is not open, unless
    /// it was before.
    private func prepareOrClose(wasOpen: Bool) async throws(ClubError) -> ScannerConfiguration {
        do throws(ClubError) {
            try await migrate()
            return try await scannerConfiguration()
        } catch {
            if !wasOpen { try? await close() }
            throw error
        }
    }
}

/// Finding a reader and keeping to it, as in the original library.
extension Club {
    /// Clears the favorite, waits, and reports the readers of the backends that the club serves.
    ///
    /// - Parameters:
    ///   - numSeconds: the time in which readers may still be connected, 0 to 3600.
    ///   - completion: called once, on the queue of ``setDispatchQueue(_:)``; with an empty list if there is no reader,
    ///     and at once if the service behind them is unavailable.
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

    /// The only reader that is served; `nil` for all.
    public var favorite: DiscoveredDeviceInfo? { familiar.withLock { $0.favorite } }

    /// Serves only this reader from its next card on, whether it is connected or comes later. Cards on other readers
    /// are ignored. The setting is not stored.
    ///
    /// - Parameter discoveredDeviceInfo: the reader. An empty identifier or `*`, which mean any reader in the original
    ///   library, have the effect of ``resetFavorite()``.
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

/// Scanned texts, taken as in the original library.
extension Club {
    /// The content of ``CaptureLayerDecodedData/decodedData``.
    public var decodedDataFormat: DecodedDataParseFormat { familiar.withLock { $0.decodedDataFormat } }

    /// Sets the content of ``CaptureLayerDecodedData/decodedData``. It does not affect which member is recognized.
    public func setDecodedDataParse(format: DecodedDataParseFormat) {
        familiar.withLock { $0.decodedDataFormat = format }
    }

    /// Records a scanned text as a tap: from an application's own scanner, or from
    /// ``CaptureMiddlewareDelegate/capture(_:didReceive:for:withResult:)-swift.method``, which the club counts only
    /// once.
    ///
    /// Taps are recorded in the order of the calls. Their receipts are reported to ``events`` and the delegate.
    ///
    /// - Returns: the reason why the text is no tap: a ``CKError``, or ``ClubError/Kind/notOpen``; `nil` if it is being
    ///   recorded.
    @discardableResult
    public func onDecodedData(decodedData: CaptureLayerDecodedData?, device: CaptureLayerDevice) -> (any Error)? {
        do {
            let tap = try tap(of: decodedData, on: device)
            _ = try openStore("record a tap")
            familiar.withLock { state in
                let before = state.lastDecoded
                state.lastDecoded = Task {
                    await before?.value
                    // What fails is reported to events and the delegate.
                    _ = try? await self.receive(tap)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    private func tap(of data: CaptureLayerDecodedData?, on device: CaptureLayerDevice) throws(CKError) -> ScanEvent {
        if let tap = data?.scan { return tap }
        guard let data, data.decodedData != nil else {
            throw .nullDecodedData("Nothing was read from the card. Present it again.")
        }
        guard let text = data.stringFromDecodedData() else {
            throw .nonExistentUTF8DecodedDataString(
                "What was read is no text in UTF-8. Check how the card was written."
            )
        }
        guard let information = CaptureDataInformation(captureDataString: text) else {
            throw .invalidPassInformation(
                "What was read is no membership text of four fields, number|id|payload|name. Write the card anew."
            )
        }
        let name = information.username.isEmpty ? nil : information.username
        return ScanEvent(
            id: configuration.makeUUID(),
            at: configuration.clock(),
            reader: device.reader.name,
            backend: device.reader.backend,
            card: data.dataSourceName ?? "unknown",
            passes: [Pass(kind: .text, id: information.passId, assurance: .identifier, name: name)],
            memberKey: information.passId,
            memberName: name
        )
    }
}
