// Keeps records in a cache until it is killed, for the test that does so.
import Foundation
import SirenCache
import SirenKit

let api = URL(string: "https://a.example/") ?? URL(fileURLWithPath: "/")
let cache = try FileSirenStore(path: CommandLine.arguments[1])
for round in 0... {
    let records = (0..<20).map { number in
        let base = "https://a.example/\(number)"
        return SirenRecord(
            guid: "\(number)",
            api: api,
            url: URL(string: base) ?? URL(fileURLWithPath: "/"),
            isTrusted: true,
            extent: .document,
            entity: SirenEntity(
                links: (0..<number + 1).map { SirenLink(rel: ["x:\($0)"], href: "\(base)/\($0)/\(round)") }
            ),
            at: Date(),
            expires: Date()
        )
    }
    try await cache.keep(records)
    if round == 0 { FileHandle.standardOutput.write(Data("\n".utf8)) }
}
