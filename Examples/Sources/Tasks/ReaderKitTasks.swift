import Foundation
import ReaderKit

// The code of the articles in Sources/ReaderKit/ReaderKit.docc.

func greetEverybody() async {
    for await tap in CardScanner(PCSCBackend()).taps() {
        print(tap.memberKey ?? "nobody")
    }
}

func scanOneCard() async -> ScanEvent? {
    let backend = PCSCBackend()
    let scanner = CardScanner(backend)
    for await event in backend.events() {
        if case .cardInserted(let presence) = event {
            return await scanner.scan(presence)
        }
    }
    return nil
}

func sendCommand(to presence: CardPresence, on backend: PCSCBackend) async throws {
    let version = try await backend.withCard(presence) { channel in
        try channel.transmit([0x90, 0x60, 0x00, 0x00, 0x00])
    }
    print(version)
}

func readMessage(of presence: CardPresence, on backend: PCSCBackend) async throws {
    let content = try await backend.withCard(presence) { channel in
        try TagReader.readNDEF(over: channel)
    }
    guard let bytes = content.ndef.bytes, !bytes.isEmpty else { return }
    for record in try NDEFMessage(decoding: bytes).records {
        switch record.content {
        case .text(let text): print(text.text)
        case .uri(let uri): print(uri)
        default: print("\(record.payload.count) bytes")
        }
    }
}

func writeMessage(to presence: CardPresence, on backend: PCSCBackend) async throws {
    let message = try NDEFMessage([.text("4|U1|x|Ann", language: "en")]).encoded()
    try await backend.withCard(presence) { channel in
        guard var tag = try TagReader.open(over: channel) else { return }
        try tag.writeNDEF(message)
    }
}

func checkPasses() async throws {
    let passes = try PassConfiguration(path: "/etc/club/passes.json").site(folder: "/etc/club")
    let scanner = CardScanner(PCSCBackend(), configuration: ScannerConfiguration(site: passes))
    for await tap in scanner.taps() {
        for pass in tap.passes { print(pass.kind, pass.id, pass.assurance) }
        for problem in tap.problems { print(problem.message) }
    }
}

// What `import ReaderKit` gives: a type of each library behind it, so that no cut between them breaks a program.
private typealias Umbrella = (
    CardScanner, Capture, CommandAPDU, ResponseAPDU, ATR, CardUID, PassSite, SignedTokenVerifier, TagReader, NDEFMessage
)
