import ArgumentParser
import Foundation
import ReaderKit
import ReaderKitTesting
import ToolSupport

enum EmulationWay: String, ExpressibleByArgument, CaseIterable, Encodable, Sendable, CustomStringConvertible {
    case pcscd, pn532
    case smartReader = "smart-reader"

    var description: String { rawValue }

    /// Why that card cannot be presented so; `nil` if it can.
    func obstacle(to card: any SimulatedCard) -> String? {
        switch self {
        case .pcscd, .smartReader: nil
        case .pn532: PN532Terminal.obstacle(to: card)
        }
    }
}

struct EmulationOptions: ParsableArguments, Sendable {
    @Option(help: "The way by which programs reach the card.")
    var via: EmulationWay = .pcscd
    @Option(help: "The slot of pcscd's virtual reader, 1 or 2.")
    var slot: Int?
    @Option(
        help: ArgumentHelp("A name for the terminal, which stays the same: a symbolic link.", valueName: "path"),
        completion: .file()
    )
    var link: String?

    @Option(
        help: ArgumentHelp(
            "The form of a Smart Reader's lines: \(SmartReaderFormat.allCases.map(\.rawValue).joined(separator: ", ")).",
            discussion: "Lines of mk1 and plain do not show that a card left: the same one within 4 s is one tap.",
            valueName: "format"
        )
    )
    var lineFormat: SmartReaderFormat?

    /// Not in validate(), which would hide a slip in an option's name.
    func check() throws {
        if lineFormat != nil, via != .smartReader {
            throw ValidationError("--line-format is for --via smart-reader: no other way has lines.")
        }
        if let slot {
            guard via == .pcscd else { throw ValidationError("--slot is one of pcscd's: leave it out.") }
            guard (1...2).contains(slot) else { throw ValidationError("--slot is 1 or 2.") }
        }
        guard let link else { return }
        if via == .pcscd { throw ValidationError("--link is for a terminal: pcscd has none.") }
        var status = stat()
        guard lstat(link, &status) != 0 || status.st_mode & S_IFMT == S_IFLNK else {
            throw ToolFailure(
                "could not make the link \(link): something else has that name. Remove it, or choose another name.",
                exit: ToolExit.inputOutput
            )
        }
    }

    func stage() throws(ReaderError) -> any EmulationStage {
        switch via {
        case .pcscd: VirtualReaderStage(slot: slot ?? 1)
        case .pn532: PN532Stage(try PN532Terminal(link: link))
        case .smartReader: SmartReaderStage(try SmartReaderTerminal(link: link, format: lineFormat ?? .scrdr))
        }
    }
}

struct EmulationTapOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Take the card away after so long, and present it again.", valueName: "seconds"))
    var present: Double?
    @Option(help: ArgumentHelp("How long it is away.", valueName: "seconds"))
    var absent: Double?
    @Option(help: ArgumentHelp("Present it so often, and end.", valueName: "count"))
    var times: Int?
    @Option(help: ArgumentHelp("End after so long.", valueName: "seconds"))
    var timeout: Double?

    /// Not in validate(), which would hide a slip in an option's name.
    func check(_ way: EmulationWay) throws {
        if let times, times < 1 { throw ValidationError("--times takes a number greater than 0.") }
        for (name, value) in [("present", present), ("absent", absent), ("timeout", timeout)] {
            guard let value else { continue }
            guard value > 0, value <= 86_400 * 365 else {
                throw ValidationError("--\(name) takes a number of seconds greater than 0.")
            }
            if way == .pcscd, name != "timeout", value < VirtualCardReader.settlingTime / .seconds(1) {
                throw ValidationError("--\(name) takes 0.5 seconds at least: pcscd looks for cards every 0.4 seconds.")
            }
        }
    }

    /// How long the card stays, and how long it is away then; `nil` if it stays to the end.
    func rhythm(_ way: EmulationWay) -> (present: Duration, absent: Duration)? {
        // What a Smart Reader does with a card that stays is to report it once, for whoever listens then.
        guard present != nil || absent != nil || times != nil || way == .smartReader else { return nil }
        return (.seconds(present ?? 1), .seconds(absent ?? 1))
    }
}
