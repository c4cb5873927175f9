import ArgumentParser
import ReaderKit
import ReaderKitTesting
import ToolSupport

struct EmulatedPhoneOptions: ParsableArguments, Sendable {
    enum Wallet: String, ExpressibleByArgument, CaseIterable, Sendable {
        case apple, google
    }

    @Option(help: ArgumentHelp("A phone with a pass of this wallet: apple or google.", valueName: "wallet"))
    var phone: Wallet?
    @Option(
        help: ArgumentHelp("The configuration of passes for which the phone's pass is made.", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    var passes: String?
    @Option(help: ArgumentHelp("Whom the phone's pass names.", valueName: "text"))
    var message: String?
    @Flag(help: "The phone is locked.")
    var locked = false

    /// The phone; `nil` if none is wanted.
    func card() async throws -> EmulatedCard? {
        guard let phone else {
            guard passes == nil, message == nil, !locked else {
                throw ValidationError("--passes, --message and --locked go with --phone.")
            }
            return nil
        }
        guard let passes, let message else {
            throw ValidationError(
                "--phone needs --passes, for whose keys its pass is made, and --message, whom it names."
            )
        }
        let site = try PassConfiguration(path: passes).site(besides: passes)
        // Another phone at each start.
        let seed = UInt64.random(in: 0...UInt64.max)
        switch phone {
        case .apple:
            guard let merchant = site.appleVAS?.merchants.first, let key = merchant.keys.first else {
                throw ValidationError("\(passes) has no pass of Apple Wallet with a key.")
            }
            let pass = SimulatedApplePhone.Pass(
                passTypeIdentifier: merchant.passTypeIdentifier,
                message: message,
                readerKey: key.publicKey
            )
            let card = SimulatedApplePhone([pass], seed: seed)
            card.isLocked = locked
            return EmulatedCard(name: "iPhone with a pass") { card }
        case .google:
            guard case .key(let key) = site.smartTap?.credential else {
                throw ValidationError("\(passes) has no key for passes of Google Wallet.")
            }
            let pass = SimulatedAndroidPhone.Pass(value: message)
            let card = SimulatedAndroidPhone([pass], collector: .init(key), seed: seed)
            card.isLocked = locked
            return EmulatedCard(name: "Android phone with a pass") { card }
        }
    }
}
