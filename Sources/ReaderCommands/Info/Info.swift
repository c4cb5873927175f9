import ArgumentParser
import Foundation
import ReaderKit
import ToolSupport

struct Info: ReportingCommand, OneCardCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows everything that is known of the card on a reader.",
        discussion: """
            Each part stands for itself: one that cannot be read states why, and the others come all the same. Nothing \
            is written, no key is tried but the public ones of MIFARE Classic, and payment cards and identity documents \
            are recognised and left alone. No answer of a card proves what it is.

            EXAMPLES
              readerctl info
              readerctl info --json --timeout 60
              readerctl info --replay card.capture

            JSON: one object with event ("info"), at, and the parts that apply:
              reader     name, backend, serial, longestCommand, longestResponse, extendedLength, readerCommands,
                         missingTechnologies (of libnfc)
              phonePasses  annotations (supported, notSupported, unknown: whether the reader can announce to phones that passes
                         are wanted), and findings (code, what, consequence, advice)
              atr        bytes, card, technology, protocols, historicalBytes, tckValid, warnings
              facts      what else the reader reported, name to hexadecimal
              uid        as 'readerctl uid' prints it
              product    name, family, memory, certainty (certain, likely, possible), use, technology, tagType, and
                         evidence (source, finding)
              ndef       as 'readerctl ndef read' prints it
              chip       version, product, counter, signature, signatureVerified
              desfire    product, hardware, software, productionWeek, productionYear, freeMemory, keyCount, keyType,
                         listsFreely, and applications (id, keyCount, keyType, listsFreely, error, and files: number,
                         kind, size, freeToRead, communication, error)
              directory  version, publisherSector, and sectors (sector, application, name)
              errors     the parts that could not be read, each with code and message
            Where there was no card to ask it is {"error":{"code":...,"message":...}}, or {"event":"timeout"}.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var reader: ReaderOptions
    @OptionGroup(title: SmartReaderOptions.title) var smartReader: SmartReaderOptions
    @OptionGroup var card: CardOptions
    @OptionGroup var source: CardReplayOptions

    func perform(_ out: Output) async throws {
        let report = try await cards.withCard(out, replaying: source.replay) { try InfoReport(of: $0) }
        try out.result(report, text: report.text)
    }
}
