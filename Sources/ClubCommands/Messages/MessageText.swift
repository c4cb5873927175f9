import ArgumentParser
import ClubKit
import Foundation
import ToolSupport

/// Messages as a person wrote them: an object of JSON on each line.
struct MessageText {
    static let typeKey = "messageType"

    var name: String
    var source: MessageSource

    /// All messages of a text; empty lines are passed over.
    func messages(_ bytes: [UInt8]) throws -> [Message] {
        var messages: [Message] = []
        var faults: [String] = []
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            // Also one of a byte order mark alone.
            let rest = line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line
            guard !rest.allSatisfy({ [9, 13, 32].contains($0) }) else { continue }
            do {
                messages.append(try message(Array(line), line: index + 1))
            } catch let fault as Fault {
                faults += fault.lines
            }
        }
        guard faults.isEmpty else { throw Fault(lines: faults) }
        return messages
    }

    func message(_ bytes: [UInt8], line: Int) throws -> Message {
        var message: Message
        do throws(MessageError) {
            message = try Message(json: bytes, source: source)
        } catch {
            // Columns are characters, as editors count them.
            let column = String(decoding: bytes.prefix(error.offset ?? 0), as: UTF8.self).unicodeScalars.count + 1
            throw Fault(lines: ["\(name):\(line):\(column): \(error.message)"])
        }
        if case .object(let fields) = message.payload, case .string(let type) = fields[Self.typeKey] {
            message.type = type
        }
        return message
    }

    struct Fault: ExitCoded, CustomStringConvertible {
        var lines: [String]
        let exitCode = ToolExit.malformed
        let errorCode = "malformed"

        var description: String {
            lines.prefix(100).joined(separator: "\n")
                + (lines.count > 100 ? "\n\(lines.count - 100) more lines are malformed." : "")
        }
    }
}
