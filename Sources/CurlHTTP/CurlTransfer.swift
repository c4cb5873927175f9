#if NETWORK
import CCurl
import Foundation

/// One request under way.
///
/// `@unchecked Sendable`: once it was handed to the loop everything of it is touched on the loop's thread alone. A task that was
/// cancelled beforehand hands it over to be cancelled first: of that nothing is touched but ``isCancelled``, and ``easy``, which
/// is not there yet.
final class CurlTransfer: @unchecked Sendable {
    private let request: CurlRequest
    private var continuation: CheckedContinuation<CurlResponse, any Error>?
    private var response = CurlResponse()
    /// The bytes of all heads so far, those before the last too.
    private var headLength = 0
    /// Why a callback ended the transfer.
    private var failure: CurlError?
    /// Whether the head is whole, and nothing else is waited for.
    private var isAnswered = false
    private var wasSent = false
    var isCancelled = false
    private let begun = ContinuousClock.now
    private var lastSign = ContinuousClock.now
    private(set) var easy: UnsafeMutableRawPointer?
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let words = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// Whether libcurl knows that the answer has none.
    private var hasNoBody: Bool { request.method == "HEAD" && request.body == nil }

    /// No honest server's heads are longer together, in bytes.
    private static let longestHead = 1 << 18

    init(_ request: CurlRequest) {
        self.request = request
        words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit { words.deallocate() }

    func begin(_ continuation: CheckedContinuation<CurlResponse, any Error>) { self.continuation = continuation }

    func finish(_ result: Result<CurlResponse, CurlError>) { continuation.take()?.resume(with: result) }

    // MARK: What libcurl is told

    /// A handle for the request, which ``clean(_:)`` frees; `nil` where libcurl refuses something of it.
    func prepare(_ library: CurlLibrary, _ options: CurlOptions) -> UnsafeMutableRawPointer? {
        guard let handle = library.makeEasy() else { return nil }
        easy = handle
        var isTaken = true
        func set(_ option: CURLoption, _ number: Int) {
            isTaken = clubkit_set_long(library.set, handle, option, number) == CURLE_OK && isTaken
        }
        func set(_ option: CURLoption, _ text: String) {
            isTaken = clubkit_set_text(library.set, handle, option, text) == CURLE_OK && isTaken
        }
        func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
            isTaken = clubkit_set_pointer(library.set, handle, option, pointer) == CURLE_OK && isTaken
        }
        set(CURLOPT_URL, request.url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        set(CURLOPT_ACCEPT_ENCODING, "gzip, deflate")
        set(CURLOPT_NOSIGNAL, 1)
        // A name server that says nothing holds nobody up.
        set(CURLOPT_QUICK_EXIT, 1)
        // The loop has the time-outs too, to the millisecond. Of this one libcurl gives each address of a server a part.
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, min(Int(Int32.max), Int(options.connectTimeout / .milliseconds(1)))))
        set(CURLOPT_ERRORBUFFER, pointer: words)
        // Without these the environment's would be used.
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_PROXY, options.proxy?.url ?? "")
        if let proxy = options.proxy {
            set(CURLOPT_HTTPPROXYTUNNEL, 1)
            set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            if let user = proxy.user {
                // Basic; the macro has a cast, which Swift does not see.
                set(CURLOPT_PROXYAUTH, 1)
                set(CURLOPT_PROXYUSERNAME, user)
                set(CURLOPT_PROXYPASSWORD, proxy.password)
            }
        }
        if !options.authorities.isEmpty {
            isTaken =
                options.authorities.withUnsafeBytes { bytes in
                    // libcurl copies it, and does not write to it.
                    var blob = curl_blob(
                        data: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                        len: bytes.count,
                        flags: UInt32(CURL_BLOB_COPY)
                    )
                    return clubkit_set_pointer(library.set, handle, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK
                } && isTaken
        }
        set(CURLOPT_CUSTOMREQUEST, request.method)
        // Its connection is kept.
        if hasNoBody { set(CURLOPT_NOBODY, 1) }
        if let body = request.body {
            set(CURLOPT_UPLOAD, 1)
            let size = curl_off_t(body.length)
            isTaken = clubkit_set_offset(library.set, handle, CURLOPT_INFILESIZE_LARGE, size) == CURLE_OK && isTaken
        }
        // What libcurl would say of its own accord is left out, where the request does not say it.
        var lines = ["Expect:"]
        let names = Set(request.headers.map { $0.name.lowercased() })
        lines += ["Accept", "User-Agent"].filter { !names.contains($0.lowercased()) }.map { $0 + ":" }
        lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in lines {
            guard let list = library.append(headers, line) else {
                isTaken = false
                break
            }
            headers = list
        }
        set(CURLOPT_HTTPHEADER, pointer: headers)
        let own = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_PREREQDATA] {
            set(option, pointer: own)
        }
        isTaken =
            clubkit_set_data(library.set, handle, CURLOPT_HEADERFUNCTION) { start, size, count, data in
                CurlTransfer.of(data).takeHead(UnsafeRawBufferPointer(start: start, count: size * count))
            } == CURLE_OK && isTaken
        isTaken =
            clubkit_set_data(library.set, handle, CURLOPT_WRITEFUNCTION) { start, size, count, data in
                CurlTransfer.of(data).takeBody(UnsafeRawBufferPointer(start: start, count: size * count))
            } == CURLE_OK && isTaken
        isTaken =
            clubkit_set_source(library.set, handle, CURLOPT_READFUNCTION) { start, size, count, data in
                CurlTransfer.of(data).giveBody(UnsafeMutableRawBufferPointer(start: start, count: size * count))
            } == CURLE_OK && isTaken
        isTaken =
            clubkit_set_start(library.set, handle, CURLOPT_PREREQFUNCTION) { data, _, _, _, _ in
                CurlTransfer.of(data).mayStart() ? Int32(CURL_PREREQFUNC_OK) : Int32(CURL_PREREQFUNC_ABORT)
            } == CURLE_OK && isTaken
        if isTaken { return handle }
        clean(library)
        return nil
    }

    func clean(_ library: CurlLibrary) {
        library.cleanEasy(easy.take())
        library.freeList(headers.take())
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> CurlTransfer {
        // The loop keeps the transfer as long as its handle.
        Unmanaged<CurlTransfer>.fromOpaque(data.unsafelyUnwrapped).takeUnretainedValue()
    }

    // MARK: What libcurl tells

    /// A connection is there, and the request is about to be sent. libcurl would send it again on another connection where one
    /// that it had kept ends without an answer, a POST too: whether to repeat is up to the caller, who is told that it was sent.
    private func mayStart() -> Bool {
        lastSign = .now
        defer { wasSent = true }
        return !wasSent
    }

    /// One line of a head.
    private func takeHead(_ line: UnsafeRawBufferPointer) -> Int {
        lastSign = .now
        headLength += line.count
        guard headLength <= Self.longestHead else { return stop(CurlError(.lost, "the answer's head does not end")) }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.isEmpty, line.first == 0x20 || line.first == 0x09, let last = response.headers.indices.last {
            // A value that goes on (RFC 9112, 5.2).
            response.headers[last].value += " " + text
        } else if text.hasPrefix("HTTP/") {
            let status = text.split(separator: " ", maxSplits: 2).dropFirst().first.flatMap { Int($0) }
            response = CurlResponse(status: status ?? 0)
            // One that says that it goes on does not count to its length, so that a slow server may say so for long.
            if let status, status < 200 { headLength = 0 }
        } else if text.isEmpty {
            // Of one that has no body, nothing more is waited for.
            if response.status >= 200, ["CONNECT", "HEAD"].contains(request.method), !hasNoBody {
                isAnswered = true
                return 0
            }
        } else if let colon = text.firstIndex(of: ":") {
            let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            response.headers.append((String(text[..<colon]), value))
        }
        return line.count
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        lastSign = .now
        guard response.body.count + bytes.count <= request.longestAnswer else { return stop(CurlError(.tooLong)) }
        response.body.append(contentsOf: bytes)
        return bytes.count
    }

    private func giveBody(_ place: UnsafeMutableRawBufferPointer) -> Int {
        lastSign = .now
        do {
            return try request.body?.read(place) ?? 0
        } catch {
            failure = CurlError(.lost, underlying: error)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Ends the transfer, which libcurl understands by a count that is none.
    private func stop(_ error: CurlError) -> Int {
        failure = error
        return 0
    }

    // MARK: What becomes of it

    func result(of code: CURLcode, _ library: CurlLibrary) -> Result<CurlResponse, CurlError> {
        if code == CURLE_OK || isAnswered { return .success(response) }
        if let failure { return .failure(failure) }
        var text = String(cString: words)
        if text.isEmpty { text = library.describe(code).map { String(cString: $0) } ?? "" }
        let kind: CurlError.Kind
        switch code {
        case CURLE_SSL_CONNECT_ERROR where !wasSent:
            // A connection that ended in the middle is no word of the server's.
            kind = text.contains("SYSCALL") || text.contains("unexpected eof") ? .notConnected : .notTrusted
        case CURLE_PEER_FAILED_VERIFICATION where !wasSent: kind = .notTrusted
        case _ where !wasSent: kind = .notConnected
        case CURLE_OPERATION_TIMEDOUT: kind = .timedOut
        default: kind = .lost
        }
        return .failure(CurlError(kind, text))
    }

    func timedOut() -> Result<CurlResponse, CurlError> {
        .failure(CurlError(wasSent ? .timedOut : .notConnected, "no answer in time"))
    }

    /// Until when something has to happen.
    func limit(_ options: CurlOptions) -> ContinuousClock.Instant {
        let sign = wasSent ? lastSign + options.readTimeout : begun + options.connectTimeout
        return min(sign, begun + options.wholeTimeout)
    }
}
#endif
