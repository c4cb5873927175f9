import Foundation
import Logging

/// One request with all that follows from it: what it may carry, redirects, repetitions.
struct SirenExchange: Sendable {
    let session: SirenSession
    let transport: any SirenTransport
    let manifest: URL
    let authorization: String?
    /// Whether the API or the application leads there, so that what is the session's may be sent.
    let isTrusted: Bool

    private static let accepted = "\(SirenEntity.mediaType), application/problem+json"

    /// Sends the request and follows where the server leads: never from HTTPS to HTTP, and with a body or a key to another
    /// origin only if it is trusted. Behind one that is not, nothing of the session's is sent any more, wherever it leads.
    ///
    /// - Parameters:
    ///   - conditions: header fields of the first request alone, since they are about what is there.
    ///   - changed: gets the URLs where something may be changed, also if there is no answer.
    /// - Returns: the last answer, and the URLs that led to it.
    func perform(
        _ method: String,
        _ url: URL,
        body: SirenBody? = nil,
        conditions: SirenHeaders = [:],
        changed: inout [URL]
    ) async throws -> (SirenResponse, url: URL, redirects: [URL]) {
        guard SirenHeaders.isToken(method) else { throw SirenRequestError.methodInvalid(method) }
        guard url.origin != nil else { throw SirenRequestError.referenceInvalid(url.absoluteString) }
        var request = SirenRequest(method: method, url: url, body: body, longestAnswer: session.longestAnswer)
        let isKeyed = session.sendsIdempotencyKeys && ["POST", "PATCH"].contains(method)
        var key = isKeyed ? session.surroundings.makeUUID().uuidString : nil
        var redirects: [URL] = []
        var isTrusted = isTrusted
        while true {
            isTrusted = isTrusted && session.trusts(request.url, manifest: manifest)
            request.headers = headers(for: request, key: key, isTrusted: isTrusted)
            if redirects.isEmpty { request.headers.fields += conditions.fields }
            if let name = request.headers.unsendable { throw SirenRequestError.headerInvalid(name) }
            if !["GET", "HEAD"].contains(request.method) { changed.append(request.url.withoutFragment) }
            let response = try await attempt(request, wasSent: !redirects.isEmpty)
            guard let target = try target(of: response, from: request.url) else {
                return (response, request.url, redirects)
            }
            guard redirects.count < session.redirects else {
                throw SirenTransferError.tooManyRedirects(session.redirects)
            }
            redirects.append(request.url)
            let becomesGET = response.status == 303 || response.status < 303 && request.method == "POST"
            if becomesGET, request.method != "HEAD" { (request.method, request.body) = ("GET", nil) }
            let isExposed = request.url.scheme?.lowercased() == "https" && target.scheme?.lowercased() == "http"
            let isForeign = target.origin != request.url.origin && !session.trusts(target, manifest: manifest)
            guard !isExposed, !isForeign || request.body == nil else {
                throw SirenTransferError.redirectRefused(target)
            }
            if isForeign { key = nil }
            request.url = target
        }
    }

    /// Where the server leads to; `nil` if it does not.
    private func target(of response: SirenResponse, from url: URL) throws -> URL? {
        guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] else {
            return nil
        }
        guard let target = SirenReference.resolve(location, against: url), target.origin != nil else {
            throw SirenTransferError.redirectInvalid(location)
        }
        return target
    }

    private func headers(for request: SirenRequest, key: String?, isTrusted: Bool) -> SirenHeaders {
        var headers = SirenHeaders()
        // What is the session's goes to those alone for whom it is meant.
        if isTrusted {
            headers = session.headers
            if let authorization { headers["Authorization"] = authorization }
        }
        if headers["Accept"] == nil { headers["Accept"] = Self.accepted }
        headers["Content-Type"] = request.body?.type
        if let key, ["POST", "PATCH"].contains(request.method) { headers["Idempotency-Key"] = key }
        return headers
    }

    private static let temporary: Set<Int> = [408, 429, 502, 503, 504]

    /// Sends the request, again if it may be repeated and might have another answer then.
    private func attempt(_ request: SirenRequest, wasSent: Bool) async throws -> SirenResponse {
        let isRepeatable =
            ["GET", "HEAD", "PUT", "DELETE"].contains(request.method) || request.headers["Idempotency-Key"] != nil
        var wasSent = wasSent
        var count = 0
        while true {
            try Task.checkCancellation()
            var pause = jitter(count)
            do {
                let response = try await transport.send(request)
                log(request, "\(response.status)")
                guard Self.temporary.contains(response.status), isRepeatable, count < session.retries else {
                    return response
                }
                if let asked = response.headers["Retry-After"].flatMap(retryAfter) {
                    guard asked <= session.longestRetryPause else { return response }
                    pause = asked
                }
                wasSent = true
            } catch let error as SirenTransportError {
                log(request, error.kind.rawValue)
                wasSent = wasSent || !error.isUnsent
                let isHopeless = [.unavailable, .notTrusted, .tooLong].contains(error.kind)
                guard !isHopeless, isRepeatable || error.isUnsent, count < session.retries else {
                    throw wasSent
                        ? SirenTransferError.notAnswered(error) as any Error : SirenRequestError.notConnected(error)
                }
            }
            count += 1
            try await session.surroundings.sleep(pause)
        }
    }

    /// A pause of random length, up to one that doubles from time to time.
    private func jitter(_ count: Int) -> Duration {
        let longest = min(session.retryPause * (1 << min(count, 20)), session.longestRetryPause)
        return longest * session.surroundings.random()
    }

    /// The pause for which a server asks: in seconds, or up to a date.
    private func retryAfter(_ text: String) -> Duration? {
        if let seconds = Int(text) { return seconds < 0 ? nil : .seconds(min(seconds, 1 << 31)) }
        guard let date = HTTPDate.date(text) else { return nil }
        return .seconds(max(0, date.timeIntervalSince(session.surroundings.now())))
    }

    private func log(_ request: SirenRequest, _ result: String) {
        session.logger.debug("\(request.method) \(request.url.forLogs): \(result)")
    }
}

/// Dates of HTTP header fields (RFC 9110), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    static func date(_ text: String) -> Date? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let iso = "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z"
        return FieldFormat.number(iso, .datetime).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
