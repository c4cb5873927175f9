import ArgumentParser
import ReaderKit

/// Which reader a command uses.
package struct ReaderOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "Use only the readers whose name begins so, or that have this serial number.",
            discussion: "'readerctl list' shows the readers that are there.",
            valueName: "name"
        )
    )
    package var reader: String?

    package init() {}

    /// Whether the reader is one that is meant. Without a choice every reader is.
    package func matches(_ info: ReaderInfo) -> Bool {
        guard let reader else { return true }
        return info.serial == reader || info.name.lowercased().hasPrefix(reader.lowercased())
    }

    /// The error for a chosen reader that is not there.
    package var absence: ReaderError {
        ReaderError(.readerUnavailable, attempting: "use the reader '\(reader ?? "")'")
    }
}

/// The readers of this machine.
package enum LiveReaders {
    #if PCSC
    /// The backend that a live command uses.
    package static func backend() throws -> PCSCBackend { PCSCBackend() }

    /// The readers that are there now, each with its card.
    ///
    /// - Throws: ``ReaderError`` when the service cannot be reached.
    package static func list(_ backend: PCSCBackend) async throws -> [(reader: ReaderInfo, card: CardPresence?)] {
        try await backend.readers().map { ($0.reader, $0.card) }
    }
    #else
    /// This build was made without PC/SC.
    package static func backend() throws -> ReplayBackend {
        throw ReaderError(
            .unsupported,
            attempting: "use a reader",
            detail: "this build was made without PC/SC",
            advice: "Build with the package trait PCSC."
        )
    }

    /// This build was made without PC/SC.
    package static func list(_ backend: ReplayBackend) async throws -> [(reader: ReaderInfo, card: CardPresence?)] {
        []
    }
    #endif
}
