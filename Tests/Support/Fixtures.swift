import Foundation

/// The files of `Fixtures/`.
package enum Fixtures {
    package static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures").path

    /// The captures of a folder, as `cards/NAME.capture`.
    package static func captures(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/" + folder)) ?? []
        return names.filter { $0.hasSuffix(".capture") }.sorted().map { folder + "/" + $0 }
    }
}
