import CardCore
import Foundation
import TestSupport

@testable import ReaderKit

enum SmartReaders {
    /// Short pauses, so that tests need not wait.
    static func configuration(_ paths: [String], silence: Duration = .seconds(60)) -> SmartReaderConfiguration {
        SmartReaderConfiguration(
            sources: paths.map { SmartReaderSource($0) },
            silence: silence,
            firstBackOff: .milliseconds(2),
            lastBackOff: .milliseconds(10)
        )
    }

    static func backend(_ paths: String..., silence: Duration = .seconds(60)) -> SmartReaderBackend {
        SmartReaderBackend(
            configuration: configuration(paths, silence: silence),
            now: { Date(timeIntervalSince1970: 0) }
        )
    }

    /// Events as short texts, the lines of reports included.
    static func texts(_ events: [ReaderEvent]) -> [String] {
        events.map { event in
            switch event {
            case .readerAdded: "added"
            case .readerRemoved: "gone"
            case .readerStuck(_, let error): "stuck \(error.kind)"
            case .readerRecovered: "recovered"
            case .cardReported(let report): report.line
            default: "\(event)"
            }
        }
    }

    /// A folder of its own, and a path in it.
    static func link() throws -> (folder: URL, path: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return (folder, folder.appending(path: "reader").path)
    }
}

extension Taps {
    /// What was told of readers, as short texts.
    var texts: [String] { SmartReaders.texts(readers) }

    func untilRead(_ text: String, times: Int = 1) async throws {
        try await TestSupport.until("\(times) x \(text); \(texts)") { self.texts.count { $0 == text } >= times }
    }
}
