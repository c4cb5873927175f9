// Prints what cards say.
//
//   swift run ReadACard                                          the readers of this machine, until Control-C
//   swift run ReadACard ../Fixtures/cards/ntag213-uri.capture    a recording, without a reader

import ReaderKit

func read(_ backend: some ReaderBackend) async {
    for await tap in CardScanner(backend).taps() {
        print("\(tap.card) on \(tap.reader)")
        if let uid = tap.uid { print("  identifier \(uid.hex), \(uid.kind)") }
        for record in tap.ndef ?? [] {
            switch record.content {
            case .text(let text): print("  text \(text.text)")
            case .uri(let uri): print("  link \(uri)")
            default: print("  another record, \(record.payload.count) bytes")
            }
        }
        for problem in tap.problems { print("  \(problem.message)") }
        print("  member \(tap.memberKey ?? "nobody")")
    }
}

if let file = CommandLine.arguments.dropFirst().first {
    await read(ReplayBackend([try Capture(contentsOf: file)]))
} else {
    await read(PCSCBackend())
}
