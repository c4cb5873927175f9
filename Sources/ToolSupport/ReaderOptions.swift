import ArgumentParser
import ReaderKit

/// Which readers a command uses.
package struct ReaderOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("reader"),
        help: ArgumentHelp(
            "Use only these readers; may be given several times.",
            discussion: """
                The beginning of a name, or a serial number; 'pcsc:' or 'pcsc:NAME' for PC/SC; 'nfc:' for what libnfc \
                finds or 'nfc:pn532_uart:/dev/ttyUSB0' for one; 'smart-reader:' or 'smart-reader:/dev/ttyACM0' for a \
                line in Smart Reader mode; 'replay:FILE' for a recording. Without it all readers that are there. \
                'readerctl list' shows them.
                """,
            valueName: "reader"
        ),
        transform: { text in
            guard let selector = ReaderSelector(text) else {
                throw ValidationError("'\(text)' names no reader. Examples: SpringCard, pcsc:, nfc:, replay:FILE.")
            }
            return selector
        }
    )
    package var chosen: [ReaderSelector] = []

    package init() {}

    package func validate() throws {
        do {
            _ = try selection.recordings()
        } catch {
            throw ValidationError("\(error.detail ?? "\(error)"). \(error.hint)")
        }
    }

    /// The readers that are meant.
    package var selection: ReaderSelection { ReaderSelection(chosen) }

    /// Whether some readers were chosen, not just all.
    package var isChoice: Bool { !chosen.isEmpty }

    /// The choice as it was written.
    package var text: String { chosen.map { "'\($0)'" }.joined(separator: ", ") }

    /// The recordings that were chosen in place of readers; `nil` if there are none.
    package var recordings: [String]? { try? selection.recordings() }

    /// Whether the reader is one that is meant. Without a choice every reader is.
    package func matches(_ info: ReaderInfo) -> Bool { selection.matches(info) }

    /// The backend that a command uses. It may serve more than the readers that are meant.
    package func backend() throws -> any ReaderBackend { try selection.makeBackend() }

    /// The readers that are meant and there now.
    ///
    /// - Throws: ``ReaderError`` when the service cannot be reached, or the chosen readers are absent.
    package func present(of backend: any ReaderBackend) async throws -> [ReaderStatus] {
        let present = try await backend.readers().filter { matches($0.reader) }
        if present.isEmpty, isChoice { throw absence }
        return present
    }

    /// The error for chosen readers that are not there.
    package var absence: ReaderError {
        ReaderError(.readerUnavailable, attempting: "use the reader \(text)")
    }
}

extension ReaderInfo {
    /// The reader for people: its name, and the way by which it is reached where that is not PC/SC.
    package var label: String {
        switch backend {
        case .nfc: "\(name) (libnfc)"
        case .smartReader: "\(name) (Smart Reader)"
        case .pcsc, .replay, .simulated: name
        }
    }
}
