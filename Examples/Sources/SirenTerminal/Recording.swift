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
        hidden.server = secrets.hidden(inURL: server)
        hidden.manifestPath = secrets.hidden(inURL: manifestPath)
        for index in exchanges.indices {
            hidden.exchanges[index].url = secrets.hidden(inURL: exchanges[index].url)
            let isJSON = exchanges[index].headers["Content-Type"]?.contains("json") ?? false
            let hide = isJSON ? secrets.hidden(inJSON:) : secrets.hidden(in:)
            hidden.exchanges[index].text = exchanges[index].text.map(hide)
            hidden.exchanges[index].data = exchanges[index].data.map(secrets.hidden(in:))
            hidden.exchanges[index].headers = exchanges[index].headers.mapValues(secrets.hidden(in:))
            hidden.exchanges[index].headers["Location"] = exchanges[index].headers["Location"].map(
                secrets.hidden(inURL:)
            )
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

    /// Adds a text.
    package func add(_ text: String) {
        guard !text.isEmpty else { return }
        all.withLock { _ = $0.insert(text) }
    }

    /// The text without the secrets that are whole words of it, also in the forms that they have within JSON and URLs.
    func hidden(in text: String) -> String {
        // The longest first: another may be part of it.
        all.withLock { $0 }.sorted { $0.count > $1.count }.reduce(text) { text, secret in
            // The last letter of an escape is none of the word behind it.
            let start = #"(?:(?<!\w)|(?<=%[0-9A-Fa-f]{2}|\\[bfnrt]|\\u[0-9A-Fa-f]{4}))"#
            let word = start + secret.unicodeScalars.map(Self.pattern).joined() + #"(?!\w)"#
            return text.replacingOccurrences(of: word, with: "***", options: .regularExpression)
        }
    }

    /// JSON without them, which is JSON still: a number that is one becomes a text.
    func hidden(inJSON text: String) -> String {
        guard hidden(in: text) != text else { return text }
        var (result, rest) = ("", text[...])
        for string in text.matches(of: /"(?:[^"\\]|\\.)*"/) {
            result += hidden(in: String(rest[..<string.range.lowerBound])).replacing("***", with: "\"***\"")
            result += hidden(in: String(string.output))
            rest = text[string.range.upperBound...]
        }
        return result + hidden(in: String(rest)).replacing("***", with: "\"***\"")
    }

    /// The bytes of what is no text in UTF-8, without the secrets.
    func hidden(in data: Data) -> Data {
        // Each byte is a character. What stands before a secret may be its length, and look like a letter.
        guard var text = String(data: data, encoding: .isoLatin1) else { return Data() }
        for secret in all.withLock({ $0 }).sorted(by: { $0.count > $1.count }) where secret.count > 3 {
            let bytes = String(data: Data(secret.utf8), encoding: .isoLatin1) ?? secret
            for form in [bytes, secret] { text = text.replacing(form, with: "***") }
        }
        return hidden(in: text).data(using: .isoLatin1) ?? Data()
    }

    /// All forms of a character, as a regular expression.
    private static func pattern(_ scalar: Unicode.Scalar) -> String {
        let text = String(scalar)
        let quoted = String(String(decoding: SirenValue.string(text).json, as: UTF8.self).dropFirst().dropLast())
        let plain = Set([text, quoted, scalar == "/" ? "\\/" : text, scalar == " " ? "+" : text])
        let units = text.utf16.map { #"\\u"# + String(format: "%04x", Int($0)) }.joined()
        let bytes = text.utf8.map { String(format: "%%%02x", Int($0)) }.joined()
        let forms = plain.sorted().map(NSRegularExpression.escapedPattern) + ["(?i:\(units)|\(bytes))"]
        return "(?:\(forms.joined(separator: "|")))"
    }

    /// The URL without its user and without the secrets among the values of its query, which are escaped there.
    package func hidden(inURL url: String) -> String {
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
