import ReaderKit
import ReaderKitTesting
import Testing

@Test(arguments: try CaptureFiles.expand(["Tests/captures"]))
func tapIsAsExpected(capture: String) async throws {
    #expect(try await CaptureExpectation(file: capture).firstDifference() == nil)
}
