import Foundation
import TestSupport
import Testing

/// The jobs of `Documentation/ci.md`, run as they stand there.
///
/// The lines that install packages, clone and build are not run: a test has neither a network nor twenty minutes. In
/// their place the tools of this build stand where the build would have put them. Of those lines is checked what can be:
/// that the packages are among those that `Scripts/setup` installs, and that the package has the product.
@Suite(.timeLimit(.minutes(10)))
struct CIRecipeTests {
    private static let setUp = ["apt-get ", "git clone ", "swift build "]

    /// The command lines of each job: what follows `run:`, and the items of `script:`.
    private func jobs() throws -> [[String]] {
        try Page.blocks("yaml", of: Page.text("Documentation/ci.md")).map { job in
            let isGitLab = job.contains("\n  script:\n")
            return job.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.compactMap { line in
                let item = isGitLab ? "- " : "- run: "
                return line.hasPrefix(item) ? String(line.dropFirst(item.count)) : nil
            }
        }
    }

    /// Runs a line in a folder with the captures, and with the tools where the build puts them.
    private func run(_ line: String, in scratch: ScratchFolder) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-ec", line]
        process.currentDirectoryURL = URL(fileURLWithPath: scratch.path)
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": scratch.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func folder() throws -> ScratchFolder {
        let scratch = try ScratchFolder()
        let manager = FileManager.default
        let captures = Page.root.appendingPathComponent("Examples/Tests/captures").path
        try manager.copyItem(atPath: captures, toPath: scratch.file("captures"))
        try manager.createDirectory(atPath: scratch.file(".clubkit/.build"), withIntermediateDirectories: true)
        let built = URL(fileURLWithPath: Tool.readerctl.path).deletingLastPathComponent().path
        try manager.createSymbolicLink(atPath: scratch.file(".clubkit/.build/debug"), withDestinationPath: built)
        return scratch
    }

    @Test("Both jobs pass while the taps are as expected, and fail when one differs")
    func jobsRun() throws {
        let jobs = try jobs()
        #expect(jobs.count == 2)
        for job in jobs {
            let scratch = try folder()
            let replays = job.filter { line in !Self.setUp.contains { line.hasPrefix($0) } }
            #expect(replays.count == 2)
            for line in replays { #expect(try run(line, in: scratch) == 0, "\(line)") }
            let sidecar = URL(fileURLWithPath: scratch.file("captures/member.expected.jsonl"))
            let expected = try String(contentsOf: sidecar, encoding: .utf8)
            try Data(expected.replacingOccurrences(of: "Ann", with: "Bea").utf8).write(to: sidecar)
            #expect(try replays.map { try run($0, in: scratch) } == [0, 1])
        }
    }

    @Test("What they install and build is what the package needs")
    func setUpLines() throws {
        let setup = try Page.text("Scripts/setup")
        let manifest = try Page.text("Package.swift")
        for job in try jobs() {
            let lines = job.filter { line in Self.setUp.contains { line.hasPrefix($0) } }
            #expect(lines.map { String($0.prefix(9)) } == ["apt-get u", "git clone", "swift bui"])
            let installed = try #require(lines[0].components(separatedBy: "--no-install-recommends ").last)
            for package in installed.split(separator: " ") { #expect(setup.contains(package), "\(package)") }
            #expect(lines[2].hasSuffix("--product readerctl --disable-default-traits"))
            #expect(manifest.contains(".executable(name: \"readerctl\""))
        }
    }

    @Test("What is expected of a capture is made by the command on the page")
    func sidecar() throws {
        let page = try Page.text("Documentation/ci.md")
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("    readerctl replay ") })
        let scratch = try folder()
        let sidecar = scratch.file("captures/member.expected.jsonl")
        let before = FileManager.default.contents(atPath: sidecar)
        #expect(try run("PATH=.clubkit/.build/debug:$PATH; \(line)", in: scratch) == 0)
        #expect(FileManager.default.contents(atPath: sidecar) == before)
    }
}
