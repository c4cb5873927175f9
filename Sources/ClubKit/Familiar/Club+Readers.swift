import Foundation
import Logging
import ReaderKit
import Synchronization

/// Readers and taps, told as in the original library.
extension Club {
    // MARK: Serving

    /// Serves the readers of a backend: every tap is recorded, and ``CaptureMiddlewareDelegate`` is told what happens to
    /// the readers. It returns when the backend has no more to tell (a recording), or its task is cancelled.
    ///
    /// A tap that cannot be recorded is told to ``events`` and the delegate, and the next one is taken. A tap that is being
    /// recorded when the task is cancelled is recorded to its end.
    ///
    /// - Parameters:
    ///   - backend: the readers. Serving the same ones twice at a time means that each tap is read twice, of which the
    ///     cooldown counts one.
    ///   - configuration: how cards are read; as ``ClubConfiguration/scanner`` and ``ClubConfiguration/passes`` say if
    ///     `nil`. Readers other than that of ``setFavorite(discoveredDeviceInfo:)`` are left
    ///     alone besides.
    /// - Throws: ``ClubError/Kind/notOpen`` if the club is not open, or is closed meanwhile;
    ///   ``ClubError/Kind/malformedFile`` for a file of passes that cannot be used.
    public func serve(
        _ backend: some ReaderBackend,
        configuration: ScannerConfiguration? = nil
    ) async throws(ClubError) {
        _ = try openStore("serve readers")
        var scanner: ScannerConfiguration
        if let configuration { scanner = configuration } else { scanner = try await scannerConfiguration() }
        let serves = scanner.serves
        scanner.serves = { [weak self] reader in serves(reader) && self?.isServed(reader) ?? false }
        self.configuration.application.noteActivity()
        // Each way has a service of its own, which comes and goes by itself.
        let parts = (backend as? CombinedBackend)?.parts ?? [backend]
        let result = await withTaskGroup(of: Result<Void, ClubError>.self) { [scanner] group in
            for part in parts {
                group.addTask {
                    do throws(ClubError) { return .success(try await self.serve(part: part, scanner)) } catch {
                        return .failure(error)
                    }
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
            scanner.site = try await PassConfiguration(path: path).site(folder: folder, memory: passMemory)
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
            state.services[state.lastService] = ReaderService(kind: backend.kind)
            return state.lastService
        }
        defer { retire(service) }
        for await event in CardScanner(backend, configuration: configuration).events() {
            switch event {
            case .reader(let event): note(event, of: service)
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
            // The standard one is made once.
            let backend = state.capture.backend
            state.capture = .instance(backend)
            return backend
        }
    }

    /// Sets the readers that ``open(withAppKey:appId:developerId:completion:)`` serves from the next time on: `nil` for
    /// none, by default all of this machine.
    @discardableResult
    public func setCapture(instance: (any ReaderBackend)?) -> Club {
        familiar.withLock { $0.capture = .instance(instance) }
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

    func endServing() async {
        await stopServing()?.value
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

    // MARK: Telling

    private func note(_ event: ReaderEvent, of number: Int) {
        guard var service = familiar.withLock({ $0.services[number] }) else { return }
        var steps: [ReaderService.Step] = []
        service.note(event, &steps)
        familiar.withLock { [service] in $0.services[number] = service }
        tell(steps, of: service.kind)
    }

    /// The readers that are left are gone for the club when it serves them no more.
    private func retire(_ number: Int) {
        guard var service = familiar.withLock({ $0.services.removeValue(forKey: number) }) else { return }
        var steps: [ReaderService.Step] = []
        service.end(&steps)
        tell(steps, of: service.kind)
    }

    private func tell(_ steps: [ReaderService.Step], of kind: BackendKind) {
        let manager = CaptureLayerDeviceManager(kind, of: self)
        for step in steps {
            switch step {
            case .serviceCame:
                tellCapture { $0.capture($1, didNotifyArrivalForManager: manager, result: .E_NOERROR) }
            case .serviceWent(let result):
                tellCapture { $0.capture($1, didNotifyRemovalForManager: manager, result: result) }
            case .readerCame(let reader):
                let device = CaptureLayerDevice(reader)
                tellCapture { $0.capture($1, didNotifyArrivalFor: device, result: .E_NOERROR) }
            case .readerWent(let reader):
                let device = CaptureLayerDevice(reader)
                tellCapture { $0.capture($1, didNotifyRemovalFor: device, result: .E_NOERROR) }
            case .nothingRead(let reader):
                let device = CaptureLayerDevice(reader)
                tellCapture { $0.capture($1, didReceive: nil, for: device, withResult: .E_NOERROR) }
                tell(CKError.nullDecodedData("The card left before it could be read. Hold it to the reader longer."))
            case .failed(let error):
                tell(error)
            }
        }
    }

    /// Tells the delegate of something that failed on the readers' side, which no event of the club stands for.
    func tell(_ error: any Error) {
        configuration.logger.warning("\(error)")
        debugLogger.addDebugMessage("Club - \(error)")
        guard delegate != nil else { return }
        callbacks.enqueue { self.delegate?.club(self, didReceive: error) }
    }

    private func tellCapture(
        _ method: @escaping @Sendable (any CaptureMiddlewareDelegate, Club) -> Void
    ) {
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

    /// Takes the readers back from whom ``resignCaptureDelegate(to:)`` gave them to: the club is told again, and taps are
    /// recorded again.
    public func assumeCaptureDelegate() {
        familiar.withLock { $0.captureDelegate = nil }
    }

    /// Lets somebody else be told of readers and taps in place of the club's delegate. Until ``assumeCaptureDelegate()``
    /// no tap of the readers that the club serves is recorded, such as while cards are written.
    ///
    /// - Parameter replacement: held weakly; when it is gone, the club takes over again.
    public func resignCaptureDelegate(to replacement: any CaptureMiddlewareDelegate) {
        let reference = CaptureDelegateReference(replacement)
        familiar.withLock { $0.captureDelegate = reference }
    }
}

extension ReaderService {
    /// What a delegate is told.
    enum Step: Sendable {
        case serviceCame
        case serviceWent(CaptureLayerResult)
        case readerCame(ReaderInfo)
        case readerWent(ReaderInfo)
        case nothingRead(ReaderInfo)
        case failed(ReaderError)
    }

    /// Takes note of an event, and says what to tell.
    mutating func note(_ event: ReaderEvent, _ steps: inout [Step]) {
        switch event {
        case .serviceLost(let error):
            // Its readers were reported as removed before; those that are left, behind a backend that wraps several, have
            // another service.
            if isUp != false { steps.append(.serviceWent(.E_NOTINITIALIZED)) }
            isUp = false
            steps.append(.failed(error))
            return
        case .serviceBack:
            if isUp != true { steps.append(.serviceCame) }
            isUp = true
            return
        case .failed(let error):
            return steps.append(.failed(error))
        case .readerAdded, .readerRemoved, .cardInserted, .cardRemoved, .cardMissed, .cardReported, .readerStuck,
            .readerRecovered:
            break
        }
        // Some backends, such as a recording, have no service that could come and go.
        if isUp != true {
            isUp = true
            steps.append(.serviceCame)
        }
        switch event {
        case .readerAdded(let reader) where !readers.contains(reader):
            readers.append(reader)
            steps.append(.readerCame(reader))
        case .readerRemoved(let reader) where readers.contains(reader):
            readers.removeAll { $0 == reader }
            steps.append(.readerWent(reader))
        case .cardMissed(let presence): steps.append(.nothingRead(presence.reader))
        case .readerStuck(_, let error): steps.append(.failed(error))
        default: break
        }
    }

    /// Takes note that the service is not watched any more, and says what to tell.
    mutating func end(_ steps: inout [Step]) {
        leave(&steps)
        if isUp == true { steps.append(.serviceWent(.E_NOERROR)) }
        isUp = nil
    }

    private mutating func leave(_ steps: inout [Step]) {
        steps += readers.map { .readerWent($0) }
        readers = []
    }
}

private final class Serving: Sendable {
    let isCancelled = Atomic(false)
}
