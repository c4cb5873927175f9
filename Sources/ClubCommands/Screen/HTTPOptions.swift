import ArgumentParser
import ClubKit
import Foundation
import KioskKit
import KioskWeb
import ToolSupport

/// The screen in a browser.
struct HTTPOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("http"),
        help: ArgumentHelp(
            "Serve the screen to browsers, and events to programs: 127.0.0.1:8080, or 8080 for short.",
            valueName: "address"
        )
    )
    var address: String?

    @Option(
        name: .customLong("http-token"),
        help: ArgumentHelp(
            "The file of the secret that other machines need, which is made if it is missing.",
            valueName: "file"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        name: .customLong("http-name"),
        help: ArgumentHelp(
            "A name by which browsers reach the kiosk, besides its own and addresses. May be given several times.",
            valueName: "host"
        )
    )
    var names: [String] = []

    @Option(
        name: .customLong("http-proxy-header"),
        help: ArgumentHelp(
            "The header in which a proxy on this machine names whom it has let in, such as X-Remote-User.",
            valueName: "header"
        )
    )
    var proxyHeader: String?

    /// Refuses what cannot be served.
    func check() throws {
        guard let address else {
            guard tokenFile == nil, names.isEmpty, proxyHeader == nil else {
                throw ValidationError("--http-token, --http-name and --http-proxy-header go with --http.")
            }
            return
        }
        guard let place = ListenAddress(address) else {
            throw ValidationError("--http takes an address and a port, such as 127.0.0.1:8080, or the port alone.")
        }
        guard names.allSatisfy(ListenAddress.isHost) else {
            throw ValidationError("--http-name takes the name alone, without a port, such as screen.club.example.")
        }
        guard proxyHeader.map(ListenAddress.isHeader) ?? true else {
            throw ValidationError("--http-proxy-header takes the name of a header, such as X-Remote-User.")
        }
        #if NETWORK
        guard place.isLoopback || tokenFile != nil else {
            throw ValidationError(
                """
                \(place.host) is reached by other machines, so --http needs a secret: add --http-token FILE. \
                127.0.0.1:\(place.port) needs none; a proxy on this machine can let others in (--http-proxy-header).
                """
            )
        }
        #else
        _ = place
        throw ValidationError(
            "This clubctl was built without the network: 'Scripts/kiosk --http ADDRESS' builds one with it."
        )
        #endif
    }
}

#if NETWORK
extension HTTPOptions {
    /// Who may look; `nil` where nothing is served.
    func access(_ output: Output) throws -> WebAccess? {
        guard address != nil else { return nil }
        var access = WebAccess()
        access.names = Set(names.map { $0.lowercased() })
        access.proxyHeader = proxyHeader
        if let tokenFile { access.token = try Self.token(tokenFile, output) }
        return access
    }

    /// Begins to serve.
    func start(_ server: KioskServer?, _ club: Club, showsNames: Bool, _ output: Output) async throws {
        guard let server, let place = address.flatMap({ ListenAddress($0) }) else { return }
        let port = try await server.start(host: place.host, port: place.port, club: club, showsNames: showsNames)
        let enter = tokenFile.map { ", after /enter?token=… with the token in \($0)" } ?? ""
        output.message("The screen is at http://\(place.hostInURL):\(port)/, the desk's at /desk\(enter).")
    }

    /// Reads the token, or makes one.
    private static func token(_ path: String, _ output: Output) throws -> String {
        let new = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if new >= 0 {
            let token = (0..<32).map { _ in String(UInt8.random(in: 0..<32), radix: 32) }.joined()
            let handle = FileHandle(fileDescriptor: new, closeOnDealloc: true)
            guard (try? handle.write(contentsOf: Data((token + "\n").utf8))) != nil else {
                let reason = String(cString: strerror(errno))
                unlink(path)
                throw ToolFailure("could not write a token to \(path): \(reason).", exit: ToolExit.inputOutput)
            }
            output.message("A new token is in \(path).")
            return token
        }
        guard errno == EEXIST else {
            let reason = String(cString: strerror(errno))
            throw ToolFailure("could not make the token \(path): \(reason).", exit: ToolExit.inputOutput)
        }
        return try existingToken(path)
    }

    /// Reads a token that somebody made.
    static func existingToken(_ path: String) throws(ToolFailure) -> String {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= 4096,
            let text = try? String(contentsOfFile: path, encoding: .utf8)
        else { throw ToolFailure("could not read the token \(path).", exit: ToolExit.noInput) }
        guard status.st_mode & 0o077 == 0 else {
            throw ToolFailure(
                "others may read the token \(path): chmod 600 \(path.shellQuoted).",
                exit: ToolExit.malformed
            )
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard token.count >= WebAccess.shortestToken else {
            throw ToolFailure(
                "the token in \(path) is too short to be a secret: write at least \(WebAccess.shortestToken) characters.",
                exit: ToolExit.malformed
            )
        }
        guard token.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }) else {
            throw ToolFailure(
                "the token in \(path) has characters that cannot stand in an address: use letters, digits and - . _ ~.",
                exit: ToolExit.malformed
            )
        }
        return token
    }
}

extension KioskServerError: ExitCoded {
    package var exitCode: ExitCode { ToolExit.unavailable }
    package var errorCode: String { "unavailable" }
}
#endif
