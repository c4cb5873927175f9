import Foundation
import Testing

/// A presenter and a view that do not fit are found by the compiler.
@Suite(.timeLimit(.minutes(10))) struct PresenterCompileTests {
    private static let program = """
        @MainActor protocol GreetingView: PresentableView { func show(_ text: String) }
        final class GreetingPresenter: ScreenPresenter { weak var view: (any GreetingView)? }
        final class Greeting: GreetingView { func show(_ text: String) {} }
        final class Other: PresentableView {}
        final class GreetingRow: RowView {
            var presenter: GreetingPresenter?
            var presented: any GreetingView { Greeting() }
        }
        @MainActor func make() {
            STATEMENT
        }
        """

    private func compile(_ statement: String) throws -> (status: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).swift")
        try Self.program.replacing("STATEMENT", with: statement).write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let sources = ["Presenter", "Rows"].map {
            root.appendingPathComponent("Sources/KioskKit/Presentation/\($0).swift").path
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swiftc", "-typecheck", "-swift-version", "6"] + sources + [file.path]
        let pipe = Pipe()
        process.standardError = pipe
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    @Test("A view that fits compiles, and one that does not is an error at its place")
    func mismatch() throws {
        let fitting = try compile("let view = Greeting(); _ = Screen(GreetingPresenter(), view: view, shownAs: view)")
        #expect(fitting.status == 0, "\(fitting.output)")
        let other = try compile("let view = Other(); _ = Screen(GreetingPresenter(), view: view, shownAs: view)")
        #expect(
            other.status != 0 && other.output.contains("does not conform to expected type 'GreetingView'"),
            "\(other.output)"
        )
    }

    @Test("So it is with a row and its presenter")
    func rowMismatch() throws {
        let fitting = try compile("GreetingRow().configure(with: GreetingPresenter())")
        #expect(fitting.status == 0, "\(fitting.output)")
        let other = try compile("GreetingRow().configure(with: VoidPresenter())")
        #expect(
            other.status != 0 && other.output.contains("cannot convert value of type 'VoidPresenter'"),
            "\(other.output)"
        )
    }
}
