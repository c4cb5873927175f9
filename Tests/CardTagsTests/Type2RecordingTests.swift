import ReaderKit
import Testing

@testable import CardTags

/// Programs read the pages of a Type 2 tag in different strides. A recording holds only the blocks that its program
/// asked for, and gives the same message all the same.
@Suite struct Type2RecordingTests {
    private static let memory: [UInt8] =
        [0x04, 0xA1, 0xB2, 0x9F, 0xC3, 0xD4, 0xE5, 0x80, 0x72, 0x48, 0x00, 0x00, 0xE1, 0x10, 0x12, 0x00]
        + [0x03, UInt8(message.count)] + message + [0xFE]
        + [UInt8](repeating: 0, count: 180 - 19 - message.count)
    private static let message: [UInt8] =
        [0xD1, 0x01, 0x1B, 0x55, 0x04] + Array("club.example/member/000042".utf8)

    private func capture(blocks: [Int], length: Int) throws -> Capture {
        var text = "capture 1\nreader: R\ncard at 0.000 atr 3B8F8001804F0CA0000003060300030000000068\n"
        for page in blocks {
            let block = Self.memory[(4 * page)..<(4 * page + length)]
            text += "> FF B0 00 \(page < 16 ? "0" : "")\(String(page, radix: 16)) \(length == 4 ? "04" : "10")\n"
            text += "< \(block.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()) 90 00\n"
        }
        return try Capture(parsing: text)
    }

    @Test(arguments: [
        (Array(0..<16), 16),
        (Array(0..<16), 4),
        (Array(stride(from: 0, to: 16, by: 4)), 16),
        (Array(stride(from: 3, to: 16, by: 4)), 16),
        ([3] + Array(stride(from: 4, to: 16, by: 4)), 16),
        ([3] + Array(stride(from: 6, to: 18, by: 3)), 16),
    ])
    func strides(blocks: [Int], length: Int) throws {
        let presentation = try #require(try capture(blocks: blocks, length: length).presentations.first)
        let content = try TagReader.readNDEF(over: ReplayChannel(presentation))
        #expect(content.ndef == .message(Self.message))
    }

    @Test func rawFramesInAnotherStride() throws {
        var text = "capture 1\nreader: R\ncard at 0.000 iso14443a atqa 0044 sak 00 uid 04A1B2C3D4E580\n"
        for page in stride(from: 3, to: 16, by: 4) {
            let block = Self.memory[(4 * page)..<(4 * page + 16)]
            text += ">> 30 0\(String(page, radix: 16))\n"
            text += "<< \(block.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())\n"
        }
        let presentation = try #require(try Capture(parsing: text).presentations.first)
        #expect(try TagReader.readNDEF(over: ReplayChannel(presentation)).ndef == .message(Self.message))
    }

    @Test func missingBlockIsToldAndNotMadeUp() throws {
        let presentation = try #require(try capture(blocks: [0, 4, 12], length: 16).presentations.first)
        #expect(throws: TagError.self) { try TagReader.readNDEF(over: ReplayChannel(presentation)) }
    }
}
