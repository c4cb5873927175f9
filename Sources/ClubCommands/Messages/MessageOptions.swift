import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// Where the kiosk takes messages from, and who processes them.
struct MessageOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Take messages, one a line, from programs of this user on this Unix socket.",
            valueName: "path"
        ),
        completion: .file()
    )
    var listen: String?

    @Option(
        name: .customLong("messages"),
        help: ArgumentHelp(
            "Take messages from the .json files of this directory.",
            discussion: """
                One message a file, which is removed once the message is processed, or is moved to 'rejected' in the \
                directory if it is none. A directory that is not there is made.
                """,
            valueName: "directory"
        ),
        completion: .directory
    )
    var folder: String?

    @Option(
        name: .customLong("on"),
        help: ArgumentHelp(
            "Run a program for each message of this type; repeatable.",
            discussion: """
                It gets the payload as JSON on standard input, and CLUBKIT_MESSAGE_ID, CLUBKIT_MESSAGE_TYPE, \
                CLUBKIT_MESSAGE_SOURCE and CLUBKIT_KIOSK_STATE in its environment. Its exit status reports what became of the message: 0 there is \
                something new, 3 nothing is new, 4 it declines, which lets the next take it; anything else failed, for \
                the reason in the last line of its standard error. A program for a type that the kiosk knows by itself \
                takes the kiosk's place, which has its turn only where the program declines. If the kiosk is killed, the \
                message comes again, perhaps while the first run of the program still works on it: \
                CLUBKIT_MESSAGE_ID is the same then.
                """,
            valueName: "type=program"
        ),
        completion: .file()
    )
    var programs: [MessageProgram] = []

    @Option(
        name: .customLong("card-messages"),
        help: ArgumentHelp(
            "Take messages of this type from cards too, for a program of --on; repeatable.",
            discussion: """
                Off by default: anybody can write a card. What the kiosk does by itself it never does at a card's \
                message. Each presentation of the card brings its messages anew, whatever messageId they have.
                """,
            valueName: "type"
        )
    )
    var cardTypes: [String] = []

    @Option(help: ArgumentHelp("Seconds after which processing a message is ended.", valueName: "seconds"))
    var messageTimeout: Double = 30

    func validate() throws {
        guard messageTimeout >= 0.001, messageTimeout <= 86_400 else {
            throw ValidationError("--message-timeout takes a number of seconds from 0.001 to 86400.")
        }
    }

    /// Refuses what cannot be done.
    func check() throws {
        for type in cardTypes where !programs.contains(where: { $0.type == type }) {
            throw ValidationError(
                "--card-messages \(type) goes with --on \(type)=PROGRAM: the kiosk itself does nothing at a card's message."
            )
        }
    }

    var hasSources: Bool { listen != nil || folder != nil }

    /// The programs, with where they are.
    func located() throws -> MessageOptions {
        var options = self
        options.programs = try programs.map { try $0.located() }
        return options
    }
}

struct MessageProgram: ExpressibleByArgument, Sendable, Hashable {
    var type: String
    var path: String

    init?(argument: String) {
        guard let sign = argument.firstIndex(of: "=") else { return nil }
        type = String(argument[..<sign])
        path = String(argument[argument.index(after: sign)...])
        guard (1...200).contains(type.unicodeScalars.count), !path.isEmpty,
            !type.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
    }

    var name: String { URL(fileURLWithPath: path).lastPathComponent }

    /// With the whole path: a name alone is looked for as a shell does.
    fileprivate func located() throws -> MessageProgram {
        let folders =
            path.contains("/")
            ? [""]
            : (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
                .map { $0 + "/" }
        for folder in folders {
            let whole = folder + path
            var status = stat()
            guard stat(whole, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(whole, X_OK) == 0 else {
                continue
            }
            var program = self
            program.path = whole
            return program
        }
        let message = "there is no program \(path) that can be run. Check --on \(type)=\(path)."
        throw ToolFailure(message, exit: ToolExit.noInput)
    }
}
