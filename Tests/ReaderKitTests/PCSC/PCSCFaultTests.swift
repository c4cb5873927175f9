import CardCore
import Foundation
import Testing
import TestSupport

@testable import ReaderKit

#if PCSC

/// Each code at each call, once and for ever: nothing hangs, nothing is left behind, every error is typed.
@Suite struct PCSCFaultTests {
    private static let codes = PCSCCode.all.filter { !$0.isSuccess } + [PCSCCode(0x8010_0070), PCSCCode(1)]
    private static let functions: [FakePCSC.Function] = [
        .establish, .connect, .begin, .wait, .transmit, .control, .reconnect, .end, .disconnect, .release,
    ]

    private static func converse(_ backend: PCSCBackend, _ fake: FakePCSC) async -> ReaderError? {
        await readerError {
            try await backend.withCard(fake.presence("A")) { channel in
                _ = try channel.transmit([0x00, 0xA4, 0x04, 0x00])
                _ = try channel.control(1, [])
                try channel.reset()
                _ = try channel.transmit([0x00, 0xB0, 0x00, 0x00])
            }
        }
    }

    @Test(arguments: functions, [false, true]) func everyCode(in function: FakePCSC.Function, forEver: Bool)
        async throws
    {
        var configuration = FakePCSC.configuration
        configuration.removalGrace = .milliseconds(1)
        configuration.sharingRetries = 1
        for code in Self.codes {
            for number in 1...2 {
                let what = "\(code) in call \(number) of \(function)\(forEver ? " and after" : "")"
                let fake = FakePCSC(readers: ["A"])
                fake.insert(into: "A")
                do {
                    let backend = fake.backend(configuration)
                    fake.fail(function, with: code, onCall: number, forEver: forEver)
                    let error = await Self.converse(backend, fake)
                    if let error {
                        #expect(!error.hint.isEmpty && !error.attempt.isEmpty, "\(what)")
                    }
                    switch (function, number, forEver) {
                    case (.establish, 1, _), (.transmit, _, _), (.control, 1, _), (.reconnect, 1, _):
                        // Nothing hides these; a service that comes back at once is not noticed.
                        let isRetried = function == .establish && !forEver && code.isServiceGone
                        #expect((error != nil) != isRetried, "\(what)")
                    case (.end, _, _), (.disconnect, _, _), (.release, _, _):
                        // The conversation itself went well.
                        #expect(error == nil, "\(what)")
                    default: break
                    }
                    // A handle that could not be given back goes with its context.
                    if function != .release {
                        #expect(fake.openHandles == 0 && fake.lockedReaders == [], "\(what)")
                    }
                    fake.heal()
                    // Whatever happened, the next conversation works.
                    #expect(await Self.converse(backend, fake) == nil, "\(what)")
                }
                guard function != .release else { continue }
                await fake.expectClean(what)
            }
        }
    }

    /// The same with the service restarted underneath at each single call of a conversation.
    @Test(arguments: 1...14) func restartAtEachCall(_ number: Int) async throws {
        let fake = FakePCSC(readers: ["A"])
        fake.insert(into: "A")
        let calls = Counter()
        var library = fake.library
        let (connect, begin, transmit) = (library.connect, library.beginTransaction, library.transmit)
        @Sendable func strike() { if calls.next() == number { fake.kill(); fake.restart() } }
        library.connect = {
            strike(); return connect($0, $1, $2, $3)
        }
        library.beginTransaction = {
            strike(); return begin($0)
        }
        library.transmit = {
            strike(); return transmit($0, $1, $2, $3)
        }
        do {
            let backend = PCSCBackend(library: library, configuration: FakePCSC.configuration)
            for _ in 0..<4 { _ = await Self.converse(backend, fake) }
            #expect(await Self.converse(backend, fake) == nil)
        }
        await fake.expectClean("call \(number)")
    }
}

extension PCSCCode {
    /// Whether a conversation is begun once more after this code.
    fileprivate var isServiceGone: Bool {
        let kind = error(attempting: "").kind
        return kind == .serviceStopped || kind == .serviceUnavailable
    }
}
#endif
