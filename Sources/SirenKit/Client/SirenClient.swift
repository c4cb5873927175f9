import Foundation
import Logging
import Synchronization

/// Walks a Siren API: from its manifest along links, and by its actions.
///
/// What a server shows is kept, so that one can go on from an entity that is known by its GUID, also after a restart.
/// Trusted is what comes from the manifest's origin and ``SirenSession/furtherOrigins``. What another server shows is kept
/// only of entities of which nothing trusted is kept, and may be followed and submitted like that, wherever it leads; such
/// a request carries neither the authorization nor the session's headers, not even to the manifest's origin. Links and
/// actions that are passed to the client count as the application's own, from wherever they are.
///
/// Failures before anything was sent are ``SirenRequestError``, those after it ``SirenTransferError``; what a server refuses
/// is an answer. Each call ends when its task is cancelled.
public final class SirenClient: Sendable {
    /// Where references that stand in no document begin. It ends with a slash.
    public let baseURL: URL
    /// Where the API begins.
    public let manifestURL: URL
    /// How the client speaks to servers.
    public let session: SirenSession
    private let transport: any SirenTransport
    private let store: any SirenStore
    /// What servers want to be kept nowhere else.
    private let unstored = MemorySirenStore()
    private let authorization = Mutex<String?>(nil)

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: the API's address, of HTTP. One without a slash at its end gets one.
    ///   - manifestPath: the reference to the API's first entity; empty where the API begins at its address.
    ///   - store: where links and actions are kept. Clients of several APIs may share one: each finds its own API's alone.
    /// - Throws: ``SirenRequestError/referenceInvalid(_:)`` if the manifest has no URL of HTTP.
    public init(
        baseURL: URL,
        manifestPath: String = "",
        session: SirenSession = SirenSession(),
        transport: any SirenTransport,
        store: any SirenStore = MemorySirenStore()
    ) throws(SirenRequestError) {
        let address = baseURL.absoluteString
        let base = baseURL.path().hasSuffix("/") ? baseURL : URL(string: baseURL.appending(path: "/").absoluteString)
        guard let base, let manifest = SirenReference.resolve(manifestPath, against: base), manifest.origin != nil
        else {
            throw .referenceInvalid(manifestPath.isEmpty ? address : manifestPath)
        }
        self.baseURL = base
        manifestURL = manifest
        self.session = session
        self.transport = transport
        self.store = store
    }

    /// The value of the header `Authorization` of every later request to the manifest's origin, and to
    /// ``SirenSession/furtherOrigins``; never to another. It can be changed at any time.
    public var authorizationHeaderValue: String? {
        get { authorization.withLock { $0 } }
        set { authorization.withLock { $0 = newValue } }
    }

    /// Asks for the API's first entity.
    ///
    /// - Parameter parameters: values for the query.
    public func manifest(parameters: [String: SirenInput] = [:]) async throws -> SirenAnswer {
        try await get(manifestURL.absoluteString, parameters)
    }

    /// Follows a link, of an answer or of one's own.
    ///
    /// - Parameter parameters: values for the link's template, if it is one (RFC 6570), and for the query.
    public func follow(_ link: SirenLink, parameters: [String: SirenInput] = [:]) async throws -> SirenAnswer {
        try await get(link.href, parameters)
    }

    /// Follows a link of an entity of which something is kept: one of its links, or to an entity to which it is related.
    ///
    /// - Throws: ``SirenRequestError/linkNotFound(rel:guid:)`` if no such link is kept; no server is asked then.
    public func follow(
        rel: String,
        ofEntityWithGUID guid: String,
        parameters: [String: SirenInput] = [:]
    ) async throws -> SirenAnswer {
        let (link, record) = try await kept(rel, of: guid)
        var answer = try await get(link.href, parameters, isTrusted: isTrusted(record))
        answer.isFromStale = isStale(record)
        return answer
    }

    /// Submits an action, of an answer or of one's own.
    ///
    /// What was kept of a URL where something was changed is forgotten, also if it may have been and the answer was lost.
    ///
    /// - Parameter parameters: values for the action's fields, by name. What is not sent of them is listed in the answer.
    /// - Throws: ``SirenRequestError`` if a value does not fit its field; no server is asked then.
    public func submit(_ action: SirenAction, parameters: [String: SirenInput] = [:]) async throws -> SirenAnswer {
        try await submit(action, parameters, isTrusted: true)
    }

    private func submit(
        _ action: SirenAction,
        _ parameters: [String: SirenInput],
        isTrusted: Bool
    ) async throws -> SirenAnswer {
        let form = try action.form(parameters)
        var reference = action.href
        var body: SirenBody?
        let method = action.httpMethod
        if ["GET", "HEAD", "DELETE"].contains(method) {
            reference = try Self.replacing(form, in: reference)
        } else if let type = action.encoding {
            body = try session.encodings.body(form, type: type)
        }
        var answer = try await send(method, try url(reference), body: body, isTrusted: isTrusted)
        answer.dropped = form.dropped
        return answer
    }

    /// Submits an action of an entity of which something is kept.
    ///
    /// - Throws: ``SirenRequestError/actionNotFound(name:guid:)`` if no such action is kept; no server is asked then.
    public func submit(
        actionNamed name: String,
        onEntityWithGUID guid: String,
        parameters: [String: SirenInput] = [:]
    ) async throws -> SirenAnswer {
        let (action, record) = try await kept(actionNamed: name, of: guid)
        var answer = try await submit(action, parameters, isTrusted: isTrusted(record))
        answer.isFromStale = isStale(record)
        return answer
    }

    /// What is kept of a link of an entity: one of its own, or to an entity to which it is related. No server is asked.
    ///
    /// It does not identify who showed it: if it leads to the API, ``follow(_:parameters:)`` sends the authorization,
    /// unlike ``follow(rel:ofEntityWithGUID:parameters:)`` if another server did.
    ///
    /// - Throws: ``SirenRequestError/linkNotFound(rel:guid:)`` if no such link is kept.
    public func link(rel: String, ofEntityWithGUID guid: String) async throws -> SirenLink {
        try await kept(rel, of: guid).0
    }

    /// What is kept of an action of an entity. No server is asked.
    ///
    /// It does not identify who showed it: if it leads to the API, ``submit(_:parameters:)`` sends the authorization,
    /// unlike ``submit(actionNamed:onEntityWithGUID:parameters:)`` if another server did.
    ///
    /// - Throws: ``SirenRequestError/actionNotFound(name:guid:)`` if no such action is kept.
    public func action(named name: String, onEntityWithGUID guid: String) async throws -> SirenAction {
        try await kept(actionNamed: name, of: guid).0
    }

    /// Asks whether an answer still holds: if so, the new one is ``SirenAnswer/Outcome/unchanged``, and what is kept of it
    /// is fresh again.
    public func refresh(_ answer: SirenAnswer) async throws -> SirenAnswer {
        try await refresh(answer.url, answer.headers["ETag"], answer.headers["Last-Modified"])
    }

    /// Asks whether what is kept of an entity still holds: if so, the answer is ``SirenAnswer/Outcome/unchanged``, and what
    /// is kept is fresh again.
    ///
    /// - Throws: ``SirenRequestError/linkNotFound(rel:guid:)`` if nothing is kept of it; no server is asked then.
    public func refresh(entityWithGUID guid: String) async throws -> SirenAnswer {
        guard let record = try await record(guid) else {
            throw SirenRequestError.linkNotFound(rel: "self", guid: guid)
        }
        return try await refresh(record.url, record.entityTag, record.lastModified)
    }

    /// Forgets all links and actions of this API, or all of them from one origin. What clients of other APIs keep in the
    /// same store stays.
    ///
    /// - Parameter origin: a URL of which only scheme, host and port count.
    public func wipe(origin: URL? = nil) async throws {
        unstored.wipe(origin: origin)
        try await store.wipe(origin: origin, api: manifestURL)
    }

    // MARK: - How

    private func get(
        _ reference: String,
        _ parameters: [String: SirenInput],
        isTrusted: Bool = true
    ) async throws -> SirenAnswer {
        let texts = parameters.compactMapValues(\.formText)
        guard let (expanded, used) = URITemplate.expand(reference, texts) else {
            throw SirenRequestError.referenceInvalid(reference)
        }
        let entries = parameters.sorted { $0.key < $1.key }.filter { !used.contains($0.key) }.flatMap { name, input in
            input.each.map { SirenForm.Entry(name, $0) }
        }
        let reference = try Self.replacing(SirenForm(entries), in: expanded)
        return try await send("GET", try url(reference), isTrusted: isTrusted)
    }

    /// The reference with a form in its query, where the form's fields take the place of those of the same names.
    ///
    /// Siren leaves open what becomes of the query that a reference has. HTML replaces all of it, which would lose what the
    /// server put there for itself; two of one name leave it to the server which of them counts.
    private static func replacing(_ form: SirenForm, in reference: String) throws(SirenRequestError) -> String {
        guard !form.entries.isEmpty else { return reference }
        let fragment = reference.firstIndex(of: "#") ?? reference.endIndex
        let start = reference[..<fragment].firstIndex(of: "?") ?? fragment
        // Bytes, since letters that Swift takes as equal are two names to a server.
        let names = Set(form.entries.map { Array($0.name.utf8) })
        let kept = reference[start..<fragment].dropFirst().split(separator: "&").filter { pair in
            let name = pair.prefix { $0 != "=" }.replacing("+", with: " ")
            return !names.contains(Array((name.removingPercentEncoding ?? String(name)).utf8))
        }
        let all = kept.map(String.init) + [try SirenEncodings.query(form)]
        let query = all.filter { !$0.isEmpty }.joined(separator: "&")
        return "\(reference[..<start])\(query.isEmpty ? "" : "?" + query)\(reference[fragment...])"
    }

    private func url(_ reference: String) throws(SirenRequestError) -> URL {
        guard let url = SirenReference.resolve(reference, against: baseURL) else { throw .referenceInvalid(reference) }
        return url
    }

    private func record(_ guid: String) async throws -> SirenRecord? {
        let (stored, other) = (
            try await store.record(guid: guid, api: manifestURL), unstored.record(guid: guid, api: manifestURL)
        )
        guard let stored, let other else { return stored ?? other }
        let (older, newer) = stored.at > other.at ? (other, stored) : (stored, other)
        return newer.replaces(older) ? newer : older
    }

    private func kept(_ rel: String, of guid: String) async throws -> (SirenLink, SirenRecord) {
        guard let record = try await record(guid),
            let link = record.entity.links.first(rel: rel) ?? record.entity.entities.first(rel: rel)?.link
        else { throw SirenRequestError.linkNotFound(rel: rel, guid: guid) }
        return (link, record)
    }

    private func kept(actionNamed name: String, of guid: String) async throws -> (SirenAction, SirenRecord) {
        guard let record = try await record(guid), let action = record.entity.actions.first(name: name) else {
            throw SirenRequestError.actionNotFound(name: name, guid: guid)
        }
        return (action, record)
    }

    private func isStale(_ record: SirenRecord) -> Bool { record.expires < session.surroundings.now() }

    /// Whether it came from where what is secret may still go.
    private func isTrusted(_ record: SirenRecord) -> Bool {
        record.isTrusted && session.trusts(record.url, manifest: manifestURL)
    }

    private func refresh(_ url: URL, _ tag: String?, _ modified: String?) async throws -> SirenAnswer {
        var conditions = SirenHeaders()
        conditions["If-None-Match"] = tag
        if tag == nil { conditions["If-Modified-Since"] = modified }
        return try await send("GET", url, conditions: conditions)
    }

    private func send(
        _ method: String,
        _ url: URL,
        body: SirenBody? = nil,
        conditions: SirenHeaders = [:],
        isTrusted: Bool = true
    ) async throws -> SirenAnswer {
        let exchange = SirenExchange(
            session: session,
            transport: transport,
            manifest: manifestURL,
            authorization: authorizationHeaderValue,
            isTrusted: isTrusted
        )
        var changed: [URL] = []
        do {
            let (response, last, redirects) = try await exchange.perform(
                method,
                url,
                body: body,
                conditions: conditions,
                changed: &changed
            )
            var answer = try SirenAnswer(response, from: last, redirects: redirects, mode: session.mode)
            let isOfChange = changed.count > redirects.count
            // What leads on to something else did not fail itself, and behind a gateway's answer it may have been done.
            if answer.outcome != .failed || !isOfChange || answer.status >= 500 { await forget(changed) }
            await keep(&answer, isOfChange: isOfChange)
            return answer
        } catch {
            if !(error is SirenRequestError) { await forget(changed) }
            throw error
        }
    }

    /// Forgets what was kept of URLs where something was changed, also in a task that is cancelled.
    private func forget(_ changed: [URL]) async {
        guard !changed.isEmpty else { return }
        await Task {
            // A DELETE has its form in the query.
            for url in Set(changed + changed.map(\.withoutQuery)) {
                unstored.forget(url: url, api: manifestURL)
                do {
                    try await store.forget(url: url, api: manifestURL)
                } catch {
                    session.logger.warning("links and actions could not be forgotten: \(error)")
                }
            }
        }.value
    }

    /// Keeps what the answer shows. Where that fails, the answer is as good.
    ///
    /// - Parameter isOfChange: whether it answers a change, and not what was asked for behind one (303).
    private func keep(_ answer: inout SirenAnswer, isOfChange: Bool) async {
        let now = session.surroundings.now()
        let (expires, isStored) = freshness(answer.headers, now)
        do {
            if answer.outcome == .unchanged {
                unstored.renew(url: answer.url, api: manifestURL, at: now, expires: expires)
                return try await store.renew(url: answer.url, api: manifestURL, at: now, expires: expires)
            }
            guard answer.outcome != .failed, let entity = answer.entity else { return }
            let identities = session.mapping.identities(in: entity, base: answer.url)
            answer.identityProblems = identities.problems
            // What answers a change stands for the entity, not for where the change was sent.
            let own = isOfChange ? entity.selfReference.flatMap { SirenReference.resolve($0, against: nil) } : nil
            let source = own?.origin == answer.url.origin ? own ?? answer.url : answer.url
            let record = SirenRecord(
                guid: "",
                api: manifestURL,
                url: source,
                isTrusted: session.trusts(answer.url, manifest: manifestURL),
                extent: .document,
                entity: SirenEntity(),
                entityTag: isOfChange ? nil : answer.headers["ETag"],
                lastModified: isOfChange ? nil : answer.headers["Last-Modified"],
                at: now,
                expires: expires
            )
            let records = SirenEntity.records(identities, like: record, storesValues: session.storesValues)
            if isStored { try await store.keep(records) } else { unstored.keep(records) }
        } catch {
            session.logger.warning("links and actions could not be kept: \(error)")
        }
    }

    /// Until when an answer is fresh, and whether it may be stored.
    private func freshness(_ headers: SirenHeaders, _ now: Date) -> (Date, isStored: Bool) {
        let directives = headers.fields.filter { SirenRelation.isSame($0.name, "Cache-Control") }
            .flatMap { $0.value.lowercased().split(separator: ",").map { String($0.trimmingSpaces) } }
        let age = headers["Age"].flatMap { Self.seconds($0[...]) } ?? 0
        let fresh = directives.first { $0.hasPrefix("max-age=") }.flatMap { Self.seconds($0.dropFirst(8)) }
        let expires = headers["Expires"].map { HTTPDate.date($0)?.timeIntervalSince(now) ?? 0 }
        let claimed = (fresh.map { $0 - age } ?? expires).map { min($0, session.longestFreshness / .seconds(1)) }
        let until = now.addingTimeInterval(claimed ?? session.freshness / .seconds(1))
        return (directives.contains("no-cache") ? now : until, !directives.contains("no-store"))
    }

    /// A number of seconds; one that is too large is 2³¹ (RFC 9111, 1.2.2).
    private static func seconds(_ text: Substring) -> Double? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 ^ 0x30 < 10 }) else { return nil }
        return min(Double(text) ?? .infinity, 2_147_483_648)
    }
}

extension URL {
    fileprivate var withoutQuery: URL { URL(string: String(absoluteString.prefix { $0 != "?" && $0 != "#" })) ?? self }
}
