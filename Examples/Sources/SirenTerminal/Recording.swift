import Foundation
import SirenKit
import Synchronization

/// A session with a server, as a file has it: what was asked, and what the server answered.
///
/// It holds no secrets: of a request it has the method and the URL alone, of an answer no header that may carry one, and
/// what was typed as a password, or is the token, stands nowhere in it.
package struct Recording: Codable, Sendable {
    /// A request and its answer.
    package struct Exchange: Codable, Sendable {
        var method: String
        var url: String
        var status: Int
        var headers: [String: String]
        /// The body, if it is a text.
        var text: String?
        /// Any other body.
        var data: Data?
    }

    package var server: String
    package var manifestPath: String
    /// What stood for the authorization, if there was one.
    package var authorization: String?
    package var exchanges: [Exchange] = []

    package init(server: String, manifestPath: String) {
        self.server = server
        self.manifestPath = manifestPath
    }

    /// Writes the file without secrets, and for nobody but its owner: answers may be about people.
    func write(to path: String, without secrets: Secrets) throws {
        var hidden = self
        for index in exchanges.indices {
            hidden.exchanges[index].url = secrets.hidden(inURL: exchanges[index].url)
            let isJSON = exchanges[index].headers["Content-Type"]?.contains("json") ?? false
            let hide = isJSON ? secrets.hidden(inJSON:) : secrets.hidden(in:)
            hidden.exchanges[index].text = exchanges[index].text.map(hide)
            hidden.exchanges[index].headers = exchanges[index].headers.mapValues(secrets.hidden(in:))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let isWritten = FileManager.default.createFile(
            atPath: path,
            contents: try encoder.encode(hidden),
            attributes: [.posixPermissions: 0o600]
        )
        guard isWritten else { throw Fault("the recording cannot be written to \(path)") }
    }
}

/// What went wrong, in words.
package struct Fault: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// What must stand in no recording.
package final class Secrets: Sendable {
    private let all = Mutex<Set<String>>([])

    package init() {}

    /// Adds a text, also in the forms that it has within JSON and URLs.
    package func add(_ text: String) {
        guard !text.isEmpty else { return }
        let quoted = String(decoding: SirenValue.string(text).json, as: UTF8.self)
        let escaped = text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
        let inQuery = escaped.replacing("%20", with: "+")
        let inURLs = [escaped, inQuery].flatMap { [$0, $0.replacing(/%../) { $0.output.lowercased() }] }
        all.withLock { $0.formUnion([text, String(quoted.dropFirst().dropLast())] + inURLs) }
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    /// The text without the secrets that are whole words of it.
    func hidden(in text: String) -> String {
        // The longest first: another may be part of it.
        all.withLock { $0 }.sorted { $0.count > $1.count }.reduce(text) { text, secret in
            let word = "(?<!\\w)\(NSRegularExpression.escapedPattern(for: secret))(?!\\w)"
            return text.replacingOccurrences(of: word, with: "***", options: .regularExpression)
        }
    }

    /// JSON without them, which is JSON still: a number that is one becomes a text.
    func hidden(inJSON text: String) -> String {
        guard all.withLock({ $0.contains(where: text.contains) }) else { return text }
        var (result, rest) = ("", text[...])
        for string in text.matches(of: /"(?:[^"\\]|\\.)*"/) {
            result += hidden(in: String(rest[..<string.range.lowerBound])).replacing("***", with: "\"***\"")
            result += hidden(in: String(string.output))
            rest = text[string.range.upperBound...]
        }
        return result + hidden(in: String(rest)).replacing("***", with: "\"***\"")
    }

    /// The URL without its user and without the secrets among the values of its query, which are escaped there.
    func hidden(inURL url: String) -> String {
        guard var parts = URLComponents(string: url) else { return "" }
        (parts.user, parts.password) = (nil, nil)
        let secrets = all.withLock { $0 }
        parts.percentEncodedQueryItems = parts.percentEncodedQueryItems?.map { item in
            let value = item.value?.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
            return secrets.contains(value ?? "") ? URLQueryItem(name: item.name, value: "***") : item
        }
        return hidden(in: parts.string ?? "")
    }
}

/// Sends over another transport and records what is answered.
final class RecordingTransport: SirenTransport {
    private let transport: any SirenTransport
    private let secrets: Secrets
    private let path: String
    private let recording: Mutex<Recording>

    init(_ transport: any SirenTransport, _ recording: Recording, to path: String, secrets: Secrets) throws {
        try recording.write(to: path, without: secrets)
        self.transport = transport
        self.secrets = secrets
        self.path = path
        self.recording = Mutex(recording)
    }

    func send(_ request: SirenRequest) async throws -> SirenResponse {
        let response = try await transport.send(request)
        let text = String(validating: response.body, as: UTF8.self)
        let exchange = Recording.Exchange(
            method: request.method,
            url: request.url.absoluteString,
            status: response.status,
            headers: ["Content-Type", "Location"].reduce(into: [:]) { $0[$1] = response.headers[$1] },
            text: text,
            data: text == nil ? Data(response.body) : nil
        )
        try recording.withLock { recording in
            recording.exchanges.append(exchange)
            // At once: the program may be ended at any time. All of it: a secret may have been typed since.
            try recording.write(to: path, without: secrets)
        }
        return response
    }
}

/// Answers as a recording has it: the same requests in their order, and the last answer to one again and again.
final class ReplayTransport: SirenTransport {
    private let exchanges: Mutex<[Recording.Exchange]>
    private let secrets: Secrets

    init(_ recording: Recording, secrets: Secrets) {
        exchanges = Mutex(recording.exchanges)
        self.secrets = secrets
    }

    func send(_ request: SirenRequest) async throws -> SirenResponse {
        let url = secrets.hidden(inURL: request.url.absoluteString)
        let exchange = exchanges.withLock { exchanges -> Recording.Exchange? in
            let fitting = exchanges.indices.filter {
                exchanges[$0].method == request.method && exchanges[$0].url == url
            }
            guard let first = fitting.first else { return nil }
            return fitting.count > 1 ? exchanges.remove(at: first) : exchanges[first]
        }
        guard let exchange else { throw Fault("the recording has no answer to \(request.method) \(url)") }
        return SirenResponse(
            status: exchange.status,
            headers: SirenHeaders(exchange.headers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }),
            body: exchange.text.map { Array($0.utf8) } ?? exchange.data.map(Array.init) ?? []
        )
    }
}
