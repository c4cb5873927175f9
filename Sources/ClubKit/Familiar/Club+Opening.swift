import Dispatch
import Logging
import ReaderKit

/// Opening and closing as in the original library.
extension Club {
    /// Who runs this club, and on which machine: what ``open(withAppKey:appId:developerId:completion:)`` was given, else
    /// what the configuration says.
    public var identity: KioskIdentity { configuration.identity }

    /// How many attempts to open the club failed since it was open the last time.
    public var numberOfFailedOpenCaptureAttempts: Int { familiar.withLock { $0.numberOfFailedOpenCaptureAttempts } }

    /// Opens the club, and begins to serve the readers of ``setCapture(instance:)``: by default all of
    /// this machine, as those of `ReaderSelection()`: PC/SC, libnfc and lines in Smart Reader mode. What else it works
    /// with is set by ``configure(_:)`` before.
    ///
    /// No reader and no service are no failure; ``CaptureMiddlewareDelegate`` is told when they are there. Where another
    /// program holds the database, up to three attempts are made. Without a reader to serve and in async code,
    /// ``open()`` does the rest.
    ///
    /// - Parameters:
    ///   - appKey: not used, not stored and not logged. There is no service here that asks for it.
    ///   - appId: the name of this kiosk; see ``identity``.
    ///   - developerId: the operator of the club; see ``identity``.
    ///   - completion: called once, on the queue of ``setDispatchQueue(_:)``: with `E_NOERROR` when the club is open, also
    ///     if it was before, with `E_UNABLEINITIALIZE` when it could not be opened. Then the cause was told by
    ///     ``ClubMiddlewareDelegate/club(_:didReceive:)`` before.
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

    /// Stops serving the readers that ``open(withAppKey:appId:developerId:completion:)`` began to serve, and closes the
    /// club when all that is under way has been committed.
    ///
    /// - Parameter completion: called once, on the queue of ``setDispatchQueue(_:)``: with `E_NOERROR` when the club is
    ///   closed, also if it was before, with `E_NOTINITIALIZED` when it could not be closed.
    public func close(_ completion: ((CaptureLayerResult) -> Void)?) {
        let completion = completion.map { ApplicationClosure($0) }
        Task {
            await self.endServing()
            do throws(ClubError) {
                try await self.close()
                self.complete(completion, .E_NOERROR)
            } catch {
                self.report(error)
                self.complete(completion, .E_NOTINITIALIZED)
            }
        }
    }

    /// Keeps what happens in ``DebugLogger/shared`` or not. It is off when a program starts, and the setting is not
    /// stored.
    @discardableResult
    public func setDebugMode(isActivated: Bool) -> Club {
        debugLogger.toggleDebug(isActivated: isActivated)
        return self
    }

    /// Where debug messages of this club go.
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
