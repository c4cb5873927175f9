import SirenKit
import SirenTerminal

/// Requests as commands for a shell.
enum Curl {
    private struct Seen: Error { let request: SirenRequest }

    /// What the client would send, as a command. Nothing is sent.
    ///
    /// - Parameter form: what is sent as parts, if it is.
    static func command(
        _ connection: Connection,
        form: SirenForm = SirenForm([]),
        _ request: (SirenClient) async throws -> SirenAnswer
    ) async throws -> String {
        let client = connection.client
        let observed = try SirenClient(
            baseURL: client.baseURL,
            manifestPath: client.manifestURL.absoluteString,
            session: client.session,
            transport: InMemoryTransport { throw Seen(request: $0) }
        )
        // It stands for the token, where that would be sent.
        observed.authorizationHeaderValue = client.authorizationHeaderValue.map { _ in connection.shownAuthorization }
        do {
            _ = try await request(observed)
            return ""
        } catch let seen as Seen {
            return try command(seen.request, form, connection.curlOptions)
        }
    }

    private static func command(
        _ request: SirenRequest,
        _ form: SirenForm,
        _ options: [(name: String, value: String)]
    ) throws(Fault) -> String {
        let isMultipart = request.body?.type.hasPrefix("multipart/") ?? false
        var words = ["curl"] + options.flatMap { [$0.name, quoted($0.value)] }
        if request.method != "GET" { words += ["-X", quoted(request.method)] }
        words.append(quoted(request.url.absoluteString))
        for field in request.headers.fields where !(isMultipart && field.name == "Content-Type") {
            let isToken = field.name == "Authorization"
            words += ["-H", isToken ? "\"\(field.name): \(field.value)\"" : quoted("\(field.name): \(field.value)")]
        }
        if isMultipart {
            for entry in form.entries {
                // It would take a server's `x=@/etc/passwd;` for a file to send.
                guard !entry.name.contains("=") else { throw Fault("curl has no form for the field '\(entry.name)'") }
                if case .file(let file) = entry.value, case .path(let path) = file.content {
                    words += [
                        "-F", quoted("\(entry.name)=@\(part(path));filename=\(part(file.name));type=\(file.type)"),
                    ]
                } else {
                    words += ["--form-string", quoted("\(entry.name)=\(entry.value.formText ?? "")")]
                }
            }
        } else if let body = request.body {
            let bytes = body.pieces.flatMap { piece -> [UInt8] in
                if case .bytes(let bytes) = piece { bytes } else { [] }
            }
            words += ["--data-raw", quoted(String(decoding: bytes, as: UTF8.self))]
        }
        return words.joined(separator: " ")
    }

    /// Quoted for curl itself.
    private static func part(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// For a POSIX shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
