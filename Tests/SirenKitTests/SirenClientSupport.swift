import Foundation
import Synchronization

@testable import SirenKit

/// A shop in process: what it answers to a method and a URL, in order; the last one again and again.
final class Shop: Sendable {
    static let address = "https://shop.example/api/"

    private let answers: Mutex<[String: [SirenResponse]]>
    let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    let pauses = Mutex<[Duration]>([])

    init(_ answers: [String: [SirenResponse]]) { self.answers = Mutex(answers) }

    var transport: InMemoryTransport {
        InMemoryTransport { request in
            let name = "\(request.method) \(request.url.absoluteString)"
            return self.answers.withLock { answers in
                let due = answers[name] ?? [SirenResponse(status: 404)]
                if due.count > 1 { answers[name]?.removeFirst() }
                return due[0]
            }
        }
    }

    /// A session whose time is the shop's: it passes while the client waits.
    var session: SirenSession {
        var session = SirenSession()
        session.surroundings.now = { self.time.withLock { $0 } }
        session.surroundings.random = { 1 }
        session.surroundings.sleep = { pause in
            self.pauses.withLock { $0.append(pause) }
            self.pass(pause)
        }
        return session
    }

    func pass(_ time: Duration) { self.time.withLock { $0 += time / .seconds(1) } }
}

extension SirenResponse {
    /// An answer with a document.
    static func siren(_ text: String, status: Int = 200, _ headers: SirenHeaders = [:])
        -> SirenResponse
    {
        var headers = headers
        headers["Content-Type"] = SirenEntity.mediaType
        return SirenResponse(status: status, headers: headers, body: Array(text.utf8))
    }

    static func redirect(_ status: Int, _ location: String) -> SirenResponse {
        SirenResponse(status: status, headers: ["Location": location])
    }
}

extension SirenClient {
    convenience init(
        _ transport: any SirenTransport,
        _ session: SirenSession = SirenSession(),
        base: String = Shop.address,
        manifest: String = "",
        store: any SirenStore = MemorySirenStore()
    ) throws {
        let url = URL(string: base) ?? URL(fileURLWithPath: "/")
        try self.init(
            baseURL: url,
            manifestPath: manifest,
            session: session,
            transport: transport,
            store: store
        )
    }
}

extension InMemoryTransport {
    /// All requests so far, as methods and URLs.
    var lines: [String] { requests.map { "\($0.method) \($0.url.absoluteString)" } }
}
