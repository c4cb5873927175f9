import CardCore

/// Asks a phone for passes of Apple Wallet, one kind after the other, and opens what it sends.
///
/// The questions have no random part, so that a recording of a tap replays by its commands; what distinguishes a fresh
/// tap from a recorded one is in the answer (``AppleVASMessage/at``, ``AppleVASMessage/digest``).
public struct AppleVASReader: Sendable {
    /// The kinds of passes, in the order in which they are asked for.
    public var merchants: [AppleVASMerchant]

    /// How passes and payment go together.
    public var mode: AppleVASRequest.Mode

    /// Whether the variant of ``AppleVASCryptogram/open(for:allowsVariant:)`` is tried too.
    public var allowsVariant: Bool

    /// A reader for some kinds of passes.
    public init(_ merchants: [AppleVASMerchant], mode: AppleVASRequest.Mode = .passOnly, allowsVariant: Bool = false) {
        self.merchants = merchants
        self.mode = mode
        self.allowsVariant = allowsVariant
    }

    /// What came of a tap.
    public struct Outcome: Sendable, Hashable {
        /// What the phone reports about itself; `nil` if that could not be read.
        public var application: AppleVASApplication?
        /// What came of each kind of pass that was asked for, in that order.
        public var findings: [Finding] = []
        /// Why nothing was asked for.
        public var error: AppleVASError?
    }

    /// What came of asking for one kind of pass.
    public struct Finding: Sendable, Hashable {
        /// The pass type identifier.
        public var passTypeIdentifier: String
        /// What the phone answered; `nil` where its answer could not be read.
        public var answer: AppleVASAnswer?
        /// The contents of the pass, if it could be opened.
        public var message: AppleVASMessage?
        /// Why the answer could not be read, or the pass not be opened.
        public var error: AppleVASError?
    }

    /// Asks the phone, on which `OSE.VAS.01` was selected.
    ///
    /// It ends with a phone that is busy with its owner, one that refuses the protocol as such, and, where nothing but
    /// passes is wanted, with the first pass: a phone provides one per tap.
    ///
    /// - Parameter template: the object 6F of the answer to SELECT.
    /// - Throws: ``ReaderError`` if the link to the phone fails.
    public func read(_ template: BERTLV, over channel: any CardChannel) throws(ReaderError) -> Outcome {
        var outcome = Outcome()
        do throws(AppleVASError) {
            outcome.application = try AppleVASApplication(template)
        } catch {
            return Outcome(error: error)
        }
        for (index, merchant) in merchants.enumerated() {
            let hasMore = index + 1 < merchants.count
            let request = AppleVASRequest(merchantID: merchant.merchantID, mode: mode, hasMore: hasMore)
            // The identifier has the length that the command asks for.
            guard let command = try? request.command() else { continue }
            // Not with GET RESPONSE: 6100 is a result of its own.
            let finding = finding(of: try channel.exchange(command), for: merchant)
            outcome.findings.append(finding)
            if isEnd(finding.answer) { break }
        }
        return outcome
    }

    /// What an answer to GET VAS DATA is worth, where it is not known which kind of pass was asked for: the first that it
    /// opens as, or else why it does not open as the last one.
    package func outcome(of response: ResponseAPDU) -> Outcome {
        var outcome = Outcome()
        for merchant in merchants {
            outcome.findings = [finding(of: response, for: merchant)]
            if outcome.findings.first?.message != nil { break }
        }
        return outcome
    }

    private func finding(of response: ResponseAPDU, for merchant: AppleVASMerchant) -> Finding {
        var finding = Finding(passTypeIdentifier: merchant.passTypeIdentifier)
        do throws(AppleVASError) {
            let answer = try AppleVASAnswer(response)
            finding.answer = answer
            if case .pass(let cryptogram) = answer {
                finding.message = try cryptogram.open(for: merchant, allowsVariant: allowsVariant)
            }
        } catch {
            finding.error = error
        }
        return finding
    }

    private func isEnd(_ answer: AppleVASAnswer?) -> Bool {
        switch answer {
        case .locked, .needsUser: true
        case .pass: mode == .passOnly
        case .refused(let status):
            status == .functionNotSupported || status == .fileNotFound || status == .securityStatusNotSatisfied
        case .noData, .noSuchPass, nil: false
        }
    }
}
