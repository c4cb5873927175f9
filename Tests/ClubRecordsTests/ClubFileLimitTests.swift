import Foundation
import RecordsTestSupport
import Testing

@testable import ClubRecords

@Suite("Limits of a club's file")
struct ClubFileLimitTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func read(_ lines: [String]) throws -> (taken: [Int], reasons: [String]) {
        let (taken, faults) = try directory.readRecords(lines)
        return (taken, faults.map(\.reason))
    }

    private static func member(_ parts: String) -> String {
        #"{"member":{"userId":"U9","facts":{"births":[[[1],5]],"values":{}\#(parts)}}}"#
    }

    /// So many parts, one for each number.
    private static func list(_ count: Int, _ part: (Int) -> String) -> String {
        "[" + (1...count).map(part).joined(separator: ",") + "]"
    }

    private static func device(_ number: Int) -> String { "\"\(UUIDSource.uuid(UInt64(number)).uuidString)\"" }

    /// A part of which no other tells all.
    private static func part(_ kind: String, _ number: Int) -> String {
        switch kind {
        case "births": "[[\(number)],\(number)]"
        case "claims": "[[1],1,\(number)]"
        case "packs": "[[\(number << 16),\(device(1))],1]"
        default: "[[1,\(device(number))],1,1,0,1]"
        }
    }

    @Test("A member has ten thousand parts of a kind at most", arguments: ["births", "claims", "packs", "removals"])
    func parts(kind: String) throws {
        let lines = [ClubFile.mostParts, ClubFile.mostParts + 1].map { count in
            let parts = Self.list(count) { Self.part(kind, $0) }
            return kind == "births"
                ? #"{"member":{"userId":"U9","facts":{"births":\#(parts),"values":{}}}}"#
                : Self.member(#","\#(kind)":\#(parts)"#)
        }
        let (taken, reasons) = try read(lines)
        #expect(taken == [0])
        #expect(reasons == ["expected at most 10000"])
    }

    @Test("A member has ten thousand values at most, and of one only the newest versions")
    func values() throws {
        let names = { (count: Int) in
            let values = (1...count).map { #""f\#($0)":[[[1],7]]"# }.joined(separator: ",")
            return #"{"member":{"userId":"U9","facts":{"births":[[[1],5]],"values":{\#(values)}}}}"#
        }
        let versions = Self.list(20_000) { "[[\($0),\(Self.device(1))],\($0)]" }
        let many = #"{"member":{"userId":"U9","facts":{"births":[[[1],5]],"values":{"city":\#(versions)}}}}"#
        let (taken, reasons) = try read([names(ClubFile.mostParts), names(ClubFile.mostParts + 1), many])
        #expect(taken == [0, 2])
        #expect(reasons == ["expected at most 10000"])
    }

    @Test("Values are nested as deep as elsewhere; brackets in texts do not count")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"{"member":{"userId":"U9","facts":{"births":[[[1],5]],"values":{"a":[[[1],\#(value)]]}}}}"#
        }
        let text = String(repeating: #"[{\"\\"#, count: 100)
        let harmless = #"{"member":{"userId":"U9","origin":[1],"addedAt":5,"username":"\#(text)"}}"#
        let (taken, reasons) = try read([nested(64), nested(65), nested(100_000), harmless])
        #expect(taken == [0, 3])
        #expect(reasons == [String](repeating: RowFault.tooDeep.reason, count: 2))
    }

    @Test("Erasures stand before all others, by salt, and of 64 devices at most")
    func erasures() throws {
        let hash = Data(repeating: 7, count: 32).base64EncodedString()
        func erasure(_ number: Int) -> String {
            let salt = Data([UInt8(number >> 8), UInt8(number & 0xFF)]).base64EncodedString()
            return #"{"erasure":{"salt":"\#(salt)","hash":"\#(hash)","stamp":[1]}}"#
        }
        let undo = #"{"undo":{"eventID":"\#(UUIDSource.uuid(1))","stamp":[1],"at":5}}"#
        let order = try read([erasure(1), erasure(3), erasure(3), erasure(2), erasure(4), undo, erasure(5)])
        #expect(order.taken == [0, 1, 2, 4, 5])
        #expect(
            order.reasons == [
                "expected erasures in the order of their salts", "expected erasures before all other records",
            ]
        )
        let many = try read((0...ClubFile.mostSalts).map(erasure))
        #expect(many.taken == Array(0..<ClubFile.mostSalts))
        #expect(many.reasons == ["expected the erasures of at most 64 devices"])
    }

    @Test("An entry of the audit log has a hundred particulars at most")
    func particulars() throws {
        func entry(_ count: Int) -> String {
            let detail = (1...count).map { #""p\#($0)":"x""# }.joined(separator: ",")
            return #"{"audit":{"stamp":[1],"at":5,"action":"edited","detail":{\#(detail)}}}"#
        }
        let (taken, reasons) = try read([entry(100), entry(101)])
        #expect(taken == [0])
        #expect(reasons == ["expected at most 100 particulars"])
    }
}
