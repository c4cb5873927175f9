import CardCore
import CardTags

/// Asks a phone for the passes of Google Wallet (Smart Tap 2.1).
public struct SmartTapReader: Sendable {
    /// By what the terminal shows whose it is.
    public var credential: SmartTapCredential

    /// What is asked for.
    public var request: SmartTapRequest

    /// Makes up what each tap needs.
    public var makeEntropy: @Sendable () -> SmartTapEntropy

    /// A reader with the terminal's key.
    public init(
        key: SmartTapKey,
        request: SmartTapRequest = SmartTapRequest(),
        makeEntropy: @escaping @Sendable () -> SmartTapEntropy = { SmartTapEntropy() }
    ) {
        credential = .key(key)
        self.request = request
        self.makeEntropy = makeEntropy
    }

    /// A reader with a signature that was made in advance.
    public init(preSigned signature: SmartTapPreSignature, request: SmartTapRequest = SmartTapRequest()) {
        credential = .preSigned(signature)
        self.request = request
        makeEntropy = { SmartTapEntropy() }
    }

    /// What came of a tap.
    public struct Finding: Sendable, Hashable {
        /// What the phone sent.
        public var objects: [SmartTapObject] = []

        /// How far the objects may be trusted: proven to come from this tap, proven to come from a phone that knows whom it
        /// talks to, or not proven at all.
        public var assurance = Pass.Assurance.identifier

        /// The last status word's meaning, if the phone sent nothing or not everything.
        public var status: SmartTapStatus?

        /// Why nothing could be read.
        public var error: SmartTapError?

        /// Whether the phone sent a pass of any kind; every phone reports who the customer is.
        package var hasPasses: Bool { objects.contains { $0.kind != .customer } }
    }

    /// Asks the phone, on which `OSE.VAS.01` was selected.
    ///
    /// - Parameter template: the object 6F of the answer to SELECT.
    /// - Throws: ``ReaderError`` if the link to the phone fails.
    public func read(_ template: BERTLV, over channel: any CardChannel) throws(ReaderError) -> Finding {
        var finding = Finding()
        do {
            var session = try session(try SmartTapApplication(template), channel)
            let negotiation = try answer(&session, channel) { session throws(APDUError) in try session.negotiate() }
            try session.take(negotiation: negotiation.data)
            let answer = try answer(&session, channel) { session throws(APDUError) in try session.getData(request) }
            let data = try whole(answer, channel)
            finding.status = SmartTapStatus(data.statusWord)
            if !data.data.isEmpty {
                let (objects, isProven) = try session.take(data: data.data)
                finding.objects = objects
                if isProven { finding.assurance = session.isLive ? .cryptographicWithReplayProtection : .cryptographic }
            }
        } catch let error as ReaderError {
            throw error
        } catch let error as SmartTapError {
            finding.error = error
            if case .refused(let status) = error { finding.status = SmartTapStatus(status) }
        } catch {
            // Only the library's own signing fails otherwise, and it does not for a key that was read.
            finding.error = .malformed(.data)
        }
        return finding
    }

    private func session(_ application: SmartTapApplication, _ channel: any CardChannel) throws -> SmartTapSession {
        switch credential {
        case .key(let key):
            let nonce = try phoneNonce(application, channel)
            return try SmartTapSession(key, phoneNonce: nonce, entropy: makeEntropy())
        case .preSigned(let signature):
            if !application.allowsSkippingSelect { _ = try phoneNonce(application, channel) }
            return SmartTapSession(signature, entropy: makeEntropy())
        }
    }

    private func phoneNonce(_ application: SmartTapApplication, _ channel: any CardChannel) throws -> [UInt8] {
        if application.allowsSkippingSelect, let nonce = application.nonce { return nonce }
        let response = try channel.exchange(SmartTapApplication.select)
        guard response.isSuccess else { throw SmartTapError.refused(response.statusWord) }
        return try SmartTapApplication.nonce(selected: response.data)
    }

    /// Sends a command, and again after a failure that may pass.
    private func answer(
        _ session: inout SmartTapSession,
        _ channel: any CardChannel,
        _ command: (SmartTapSession) throws(APDUError) -> CommandAPDU
    ) throws -> ResponseAPDU {
        var retries = SmartTapLimits.retries
        while true {
            let response = try channel.exchange(try command(session))
            switch SmartTapStatus(response.statusWord) {
            case .passing where retries > 0:
                retries -= 1
                session.countUp()
            case .done, .moreData, .noPasses, .doneWithoutPayment: return response
            default: throw SmartTapError.refused(response.statusWord)
            }
        }
    }

    /// Fetches the parts of an answer that did not come at once.
    private func whole(_ first: ResponseAPDU, _ channel: any CardChannel) throws -> ResponseAPDU {
        var (data, response) = (first.data, first)
        var rounds = 0
        while SmartTapStatus(response.statusWord) == .moreData {
            rounds += 1
            guard rounds <= SmartTapLimits.rounds, data.count <= SmartTapLimits.data else {
                throw SmartTapError.tooLong
            }
            response = try channel.exchange(SmartTapSession.getMore)
            data += response.data
        }
        switch SmartTapStatus(response.statusWord) {
        case .done, .noPasses, .doneWithoutPayment, .noMoreData:
            return ResponseAPDU(data: data, statusWord: response.statusWord)
        default: throw SmartTapError.refused(response.statusWord)
        }
    }
}
