import ArgumentParser
import Foundation
import ReaderKit

package struct ReaderOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("reader"),
        help: ArgumentHelp(
            "Use only these readers; may be given several times.",
            discussion: """
                The beginning of a name, or a serial number; 'pcsc:' or 'pcsc:NAME' for PC/SC; 'nfc:' for what libnfc \
                finds or 'nfc:pn532_uart:/dev/ttyUSB0' for one; 'smart-reader:' or 'smart-reader:/dev/ttyACM0' for a \
                line in Smart Reader mode, 'smart-reader:-' for standard input; 'replay:FILE' for a recording, which goes \
                with no live reader. A '*' stands for any part of a name ('pcsc:*PICC*'), 'not:' before it leaves readers out \
                ('not:*SAM*', 'not:nfc:'), and 'technology:' with iso14443a, iso14443b, felica or iso15693 takes only such \
                cards. Without it all readers that are there. 'readerctl list' shows them.
                """,
            valueName: "reader"
        ),
        transform: { text in
            guard let selector = ReaderSelector(text) else {
                throw ValidationError(
                    "'\(text)' names no reader. Examples: SpringCard, pcsc:*PICC*, not:*SAM*, nfc:, replay:FILE, technology:felica "
                        + "(\(Technology.allCases.map(\.rawValue).joined(separator: ", ")))."
                )
            }
            return selector
        }
    )
    package var chosen: [ReaderSelector] = []

    package init() {}

    package func validate() throws {
        do {
            _ = try ReaderSelection(chosen).recordings()
        } catch {
            throw ValidationError("\(error.detail ?? "\(error)"). \(error.hint)")
        }
    }
}

/// A command that works with readers.
///
/// Its options stand side by side and not one in the other: a debug build examines groups within groups four times for
/// each level whenever a tool starts.
package protocol ReaderCommand {
    var reader: ReaderOptions { get }
    var smartReader: SmartReaderOptions { get }
}

extension ReaderCommand {
    /// The readers that are meant.
    package var readers: ReaderSelection {
        ReaderSelection(reader.chosen, smartReaders: smartReader.configuration)
    }
}

extension ReaderSelection {
    /// Whether some readers were chosen, not just all, or all but some.
    package var isChoice: Bool { !named.isEmpty }

    package var text: String { Self.text(selectors) }

    /// The recordings that were chosen in place of readers; `nil` if there are none.
    package var replayed: [String]? { try? recordings() }

    /// Whether it is a card that is meant, on a reader that is. One whose technology is not known may be.
    package func matches(_ presence: CardPresence) -> Bool {
        matches(presence.reader)
            && (technologies.isEmpty || presence.technology.map(technologies.contains) ?? true)
    }

    /// Whether the event is one of the readers and cards that are meant, or of all.
    package func matches(_ event: ReaderEvent) -> Bool {
        switch event {
        case .cardInserted(let presence), .cardRemoved(let presence): matches(presence)
        default: event.reader.map(matches) ?? true
        }
    }

    /// How the cards that are meant are scanned.
    package func scanning(
        _ site: PassSite?,
        makeID: @escaping @Sendable () -> UUID = { UUID() }
    ) -> ScannerConfiguration {
        var configuration = ScannerConfiguration(site: site, serves: { matches($0) }, makeID: makeID)
        configuration.technologies = technologies
        return configuration
    }

    /// Does some work with the backend of the readers, which may serve more than those that are meant, and lets go of them.
    package func withBackend<Result>(_ work: (any ReaderBackend) async throws -> Result) async throws -> Result {
        let backend = try makeBackend()
        do {
            let result = try await work(backend)
            await close(backend)
            return result
        } catch {
            await close(backend)
            throw error
        }
    }

    /// Closes the readers, so that the next program finds them open; not for longer than a person waits for a prompt.
    private func close(_ backend: any ReaderBackend) async {
        await waiting(atMost: .seconds(2)) { done in
            // A task of its own, which is not cancelled with this one.
            Task.detached {
                await backend.close()
                done()
            }
        }
    }

    /// The readers that are meant and there now.
    ///
    /// - Parameter told: called with the faults of ways by which no reader was found, where others were.
    /// - Throws: ``ReaderError`` when a service cannot be reached and there is no reader without it; when one of the
    ///   chosen readers is absent, or there and cannot be used.
    package func present(
        of backend: any ReaderBackend,
        telling told: (any Error) -> Void = { _ in }
    ) async throws -> [ReaderStatus] {
        let listing = await backend.listing()
        try Task.checkCancellation()
        let present = listing.readers.filter { matches($0.reader) }
        let missing = missing(in: listing.readers)
        if !missing.isEmpty { throw listing.faults.first ?? absence(of: missing) }
        for selector in named {
            let meant = present.filter { selector.matches($0.reader) }
            if let trouble = meant.first?.unavailability, meant.allSatisfy({ $0.unavailability != nil }) {
                throw trouble
            }
        }
        if present.isEmpty, let fault = listing.faults.first { throw fault }
        if !isChoice { listing.faults.forEach(told) }
        return present
    }

    package func missing(in readers: [ReaderStatus]) -> [ReaderSelector] {
        named.filter { selector in !readers.contains { selector.matches($0.reader) } }
    }

    package func absence(of missing: [ReaderSelector]) -> ReaderError {
        ReaderError(.readerUnavailable, attempting: "use the reader \(Self.text(missing))")
    }

    package static func text(_ selectors: [ReaderSelector]) -> String {
        selectors.map { "'\($0)'" }.joined(separator: ", ")
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
