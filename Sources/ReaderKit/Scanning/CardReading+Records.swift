import Foundation

/// What the records of a card say of the member, by what the place takes.
extension CardReading {
    /// The names under which a parameter of an address or a JSON object holds a signed token, where no rule says it.
    static let tokenNames = ["token", "jwt"]

    /// Judges records without a card.
    ///
    /// - Parameter uid: the identifier of the card that they would be on, for tokens that name it. It is no pass here.
    package init(records: [NDEFRecord], uid: CardUID?, site: PassSite, at now: Date) {
        self.init(facts: CardFacts())
        self.uid = uid
        ndef = records
        readRecords(records, site, at: now)
        judge(site)
    }

    /// Reads the records of a card.
    ///
    /// - Parameter now: the moment of the tap.
    mutating func readRecords(_ records: [NDEFRecord], _ site: PassSite?, at now: Date) {
        guard let site else { return take(NDEFPassReader.read(records)) }
        let known = problems.count
        let open = readSigned(records, site)
        if !site.cards.isEmpty {
            readByRules(open, site, now)
        } else if let tokens = site.tokens {
            take(
                NDEFPassReader.read(
                    open.filter { record in
                        guard let token = Self.token(in: record) else { return true }
                        take(token, tokens, now)
                        return false
                    }
                )
            )
        } else {
            take(NDEFPassReader.read(open))
        }
        // What stands beside a proof that failed does not take its place.
        let failures: Set<ScanEvent.Problem.Code> = [.passNotAccepted, .passReplayed, .passExpired]
        if problems[known...].contains(where: { failures.contains($0.code) }) {
            passes.removeAll { $0.assurance <= .identifier }
        }
    }

    private mutating func take(_ finding: NDEFPassReader.Finding) {
        passes += finding.passes
        if finding.passes.isEmpty { problems += finding.problems }
    }

    private mutating func readByRules(_ records: [NDEFRecord], _ site: PassSite, _ now: Date) {
        var reasons: [String] = []
        for record in records {
            // The first rule that is for a record decides.
            for case let reading? in site.cards.lazy.map({ $0.read(record) }) {
                switch reading {
                case .id(let id, let name, let kind): add(id, kind, .identifier, name: name)
                case .token(let token):
                    if let tokens = site.tokens {
                        take(token, tokens, now)
                    } else {
                        problems.append(ScanEvent.Problem(.passNotAccepted, "\(SignedTokenError.noVerifier)"))
                    }
                case .nobody(let reason): reasons.append(reason)
                }
                break
            }
        }
        if passes.isEmpty { problems += reasons.map { ScanEvent.Problem(.invalidPass, $0) } }
    }

    private mutating func take(_ token: String, _ tokens: SignedTokenVerifier, _ now: Date) {
        do throws(SignedTokenError) {
            let token = try tokens.verify(token, at: now, on: isReported ? nil : uid)
            add(token.id, .ndef, .cryptographic, name: token.name)
        } catch {
            problems.append(ScanEvent.Problem(error.isOfTime ? .passExpired : .passNotAccepted, "\(error)"))
        }
    }

    /// A signed token in a record, where one is expected by its form or its name.
    private static func token(in record: NDEFRecord) -> String? {
        switch record.content {
        case .text(let text):
            let text = text.text.trimmed
            if SignedTokenVerifier.isToken(text) { return text }
            return text.first == "{" ? token(inJSON: Array(text.utf8)) : nil
        case .uri(let uri), .absoluteURI(let uri, _): return token(in: uri)
        case .smartPoster(let poster): return token(in: poster.uri)
        case .mime(let type, let payload):
            let type = type.prefix { $0 != ";" }.trimmed.lowercased()
            if type == "application/jwt" { return String(decoding: payload, as: UTF8.self).trimmed }
            return type == "application/json" || type.hasSuffix("+json") ? token(inJSON: payload) : nil
        case .empty, .external, .androidApplication, .unknown, .handover, .handoverCarrier, .signature, .other,
            .malformed:
            return nil
        }
    }

    private static func token(in uri: String) -> String? {
        let items = URLComponents(string: uri)?.queryItems ?? []
        return items.first { tokenNames.contains($0.name.lowercased()) && $0.value?.isEmpty == false }?.value
    }

    private static func token(inJSON bytes: [UInt8]) -> String? {
        guard let object = JSONValue.object(in: bytes) else { return nil }
        for name in tokenNames {
            if case .text(let token) = object[name] { return token }
        }
        return nil
    }
}
