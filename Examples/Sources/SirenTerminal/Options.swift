import Foundation
import SirenKit

#if NETWORK
import SirenHTTP
#endif

/// The options that programs for Siren APIs have in common.
package struct Options {
    /// What is no option.
    package var arguments: [String] = []
    private var record: String?
    private var replay: String?
    private var token: String?
    private var session = SirenSession()

    /// Whether there are no more arguments to come: a recording knows its server.
    package var knowsServer: Bool { replay != nil }

    package static let help = """
          --replay FILE      answers from a recording; no server is asked
          --record FILE      records the answers, without secrets
          --token-file FILE  the token that the server wants; else that of the variable SIREN_TOKEN
          --authority FILE   a certificate authority (PEM) that is trusted beside the system's; may be given several times
          --proxy URL        http://host:port or socks5://host:port
        """

    package init(
        _ arguments: some Sequence<String>,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        token = environment["SIREN_TOKEN"]
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            func value() throws -> String {
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                    throw Fault("\(parts[0]) needs a value")
                }
                return value
            }
            switch parts.first {
            case "--replay": replay = try value()
            case "--record": record = try value()
            case "--token-file": token = String(decoding: try Self.contents(ofFile: value()), as: UTF8.self)
            case "--authority": session.certificateAuthorities.append(try value())
            case "--proxy":
                let text = try value()
                guard let url = URL(string: text) else { throw Fault("--proxy needs the URL of a proxy") }
                session.proxy = url
            case "--token":
                throw Fault("a token among arguments can be read by everybody here; use --token-file or SIREN_TOKEN")
            case let option? where option.hasPrefix("-"): throw Fault("there is no option \(option)")
            default: self.arguments.append(argument)
            }
        }
        token = token?.trimmingCharacters(in: .whitespacesAndNewlines)
        if token == "" { token = nil }
    }

    /// Makes a client of the server, or of the recording.
    package func connect(to server: String = "", manifestPath: String = "") throws -> Connection {
        let secrets = Secrets()
        // A scheme before it is no secret.
        token.map { secrets.add($0.split(separator: " ").last.map(String.init) ?? "") }
        var recording = Recording(server: Self.address(server), manifestPath: manifestPath)
        if let replay {
            do {
                recording = try JSONDecoder().decode(Recording.self, from: Self.contents(ofFile: replay))
            } catch is DecodingError {
                throw Fault("\(replay) is no recording; --record makes one")
            }
        }
        guard let url = URL(string: recording.server), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false, url.user() == nil
        else {
            let shown = server.contains("@") ? "that" : "'\(server)'"
            throw Fault("\(shown) is no address of a server, such as https://club.example/api")
        }
        // Where the variable has a scheme, that is part of it.
        if let token { recording.authorization = (token.contains(" ") ? "" : "Bearer ") + "$SIREN_TOKEN" }
        var transport: any SirenTransport =
            replay == nil ? try network() : ReplayTransport(recording, secrets: secrets)
        if let record {
            recording.exchanges = []
            transport = try RecordingTransport(transport, recording, to: record, secrets: secrets)
        }
        let client = try SirenClient(baseURL: url, manifestPath: recording.manifestPath, transport: transport)
        // A recording asks nobody, so that what stands for the token will do.
        let authorization = token.map { $0.contains(" ") ? $0 : "Bearer \($0)" }
        client.authorizationHeaderValue = replay == nil ? authorization : authorization ?? recording.authorization
        return Connection(
            client: client,
            secrets: secrets,
            shownAuthorization: recording.authorization,
            curlOptions: replay == nil ? curlOptions : []
        )
    }

    /// How curl reaches the server as this program does; a proxy's password is left out.
    private var curlOptions: [(name: String, value: String)] {
        var proxy = session.proxy.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false) }
        proxy?.user = nil
        proxy?.password = nil
        return (proxy?.string.map { [("--proxy", $0)] } ?? [])
            + session.certificateAuthorities.map { ("--cacert", $0) }
    }

    private static func contents(ofFile path: String) throws -> Data {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { throw Fault("\(path) cannot be read") }
        return data
    }

    /// The address with its scheme.
    static func address(_ server: String) -> String {
        guard !server.isEmpty, !server.contains("://") else { return server }
        let isHere = server.wholeMatch(of: /(localhost|127\.0\.0\.1|\[::1\])([:\/].*)?/) != nil
        return (isHere ? "http://" : "https://") + server
    }

    private func network() throws -> any SirenTransport {
        #if NETWORK
        try HTTPTransport(session)
        #else
        throw Fault("this program was built without the trait Network and can only --replay recordings")
        #endif
    }
}

/// A server, or the recording of one.
package struct Connection: Sendable {
    package let client: SirenClient
    package let secrets: Secrets
    /// What stands for the authorization where people see it.
    package let shownAuthorization: String
    /// What a command for curl needs besides the request.
    package let curlOptions: [(name: String, value: String)]

    package init(
        client: SirenClient,
        secrets: Secrets,
        shownAuthorization: String? = nil,
        curlOptions: [(name: String, value: String)] = []
    ) {
        self.curlOptions = curlOptions
        self.client = client
        self.secrets = secrets
        self.shownAuthorization = shownAuthorization ?? "Bearer $SIREN_TOKEN"
    }
}
