import ReaderKit
import ReaderKitTesting
import Testing

/// The ASCII mirror of NTAGs: identifier and counter in place of what is in memory.
@Suite struct NTAGMirrorTests {
    /// A tag of an NTAG213 whose user memory is full of spaces, with that CFG0 and ACCESS byte.
    private func tag(_ cfg0: String, access: String = "00", model: SimulatedNTAG.Model = .ntag213) throws
        -> SimulatedNTAG
    {
        let tag = SimulatedNTAG(model, uid: [0x04, 0xE1, 0x41, 0x12, 0x4C, 0x28, 0x80])
        let user = (model.lastUserPage - 3) * 4
        tag.overwrite(page: 4, with: [UInt8](repeating: 0x20, count: user))
        let page = try #require(model.configurationPage)
        tag.overwrite(page: page, with: try Hex.decode(cfg0 + access))
        tag.powerOn()
        return tag
    }

    /// What is read from there on, as text.
    private func text(_ tag: SimulatedNTAG, _ first: Int, _ last: Int) -> String {
        let frame = RawFrame([0x3A, UInt8(first), UInt8(last)])
        return String(decoding: tag.receive(frame: frame)?.bytes ?? [], as: UTF8.self)
    }

    private static let uid = "04E141124C2880"

    @Test(arguments: [
        // The data sheet's example: page 0C, byte 1.
        ("5000" + "0CFF", "00", " " + uid + "         "),
        // Both, with an x between them; the counter counts this reading.
        ("D000" + "0CFF", "10", " " + uid + "x000001  "), ("9000" + "0CFF", "10", " 000001                 "),
        // A counter that is off, or that only an authenticated reader may see, is not shown.
        ("D000" + "0CFF", "00", " " + uid + "         "), ("9000" + "0CFF", "18", String(repeating: " ", count: 24)),
        // No mirror where the page is none of user memory, or nothing is chosen.
        ("1000" + "0CFF", "10", String(repeating: " ", count: 24)),
        ("5000" + "03FF", "10", String(repeating: " ", count: 24)),
    ])
    func shown(_ cfg0: String, _ access: String, _ expected: String) throws {
        let tag = try tag(cfg0, access: access)
        #expect(text(tag, 0x0C, 0x11) == expected)
        // Memory itself stays as it was.
        #expect(tag.memory[0x0C * 4..<0x12 * 4].allSatisfy { $0 == 0x20 })
    }

    /// The last places at which a mirror still ends within user memory, and the first at which it does not.
    @Test(arguments: [
        ("60002400", true), ("70002400", false), ("A0002600", true), ("B0002600", false), ("F0002200", true),
        ("C0002300", false),
    ])
    func places(_ cfg0: String, _ isShown: Bool) throws {
        let tag = try tag(cfg0.prefix(6) + "FF", access: "10")
        #expect((text(tag, 0x20, 0x27) != String(repeating: " ", count: 32)) == isShown)
    }

    @Test func counterBehindPassword() throws {
        let tag = try tag("90000CFF", access: "18")
        #expect(answer(tag, "1BFFFFFFFF") == "0000")
        #expect(text(tag, 0x0C, 0x0D) == " 000001 ")
        #expect(answer(tag, "300C").hasPrefix("20303030303031"))
        tag.counters = [0, 0, 0x00_3F30]
        tag.powerOn()
        #expect(answer(tag, "1BFFFFFFFF") == "0000")
        #expect(text(tag, 0x0C, 0x0D) == " 003F31 ")
    }

    @Test func chipsWithoutCounter() throws {
        // An NTAG210 shows the identifier wherever a page is named.
        let tag = try tag("10000AFF", access: "00", model: .ntag210)
        #expect(text(tag, 0x0A, 0x0D) == " " + Self.uid + " ")
        // The configuration of an Ultralight EV1 has no mirror at all.
        let other = try self.tag("50000AFF", access: "10", model: .ultralightEV1Small)
        #expect(text(other, 0x0A, 0x0D) == String(repeating: " ", count: 16))
    }
}
