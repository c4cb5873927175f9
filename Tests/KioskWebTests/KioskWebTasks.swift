#if NETWORK
import ClubKit
import KioskKit
import KioskWeb

// The code of Sources/KioskWeb/KioskWeb.docc and of Documentation/browser.md. It stands here, since the package of the
// examples has no network.

@MainActor
func serveScreens(of model: KioskModel, _ club: Club, theme: Theme) async throws -> Int {
    let server = KioskServer(model, theme: theme)
    let port = try await server.start(host: "127.0.0.1", port: 8080, club: club)
    return port
}

@MainActor
func serveOthers(_ model: KioskModel, theme: Theme, token: String) async throws {
    var access = WebAccess()
    access.token = token
    access.names = ["screen.club.example"]
    let server = KioskServer(model, theme: theme, access: access)
    try await server.start(host: "0.0.0.0", port: 8080)
}
#endif
