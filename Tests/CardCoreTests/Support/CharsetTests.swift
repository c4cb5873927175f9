import Testing
import TestSupport

@testable import CardCore

@Suite("Character sets") struct CharsetTests {
    struct Row: Sendable {
        var name: String?
        var bytes: [UInt8]
        var text: String?

        init(_ name: String?, _ hex: String, _ text: String?) {
            (self.name, bytes, self.text) = (name, TestSupport.bytes(hex), text)
        }
    }

    static let rows: [Row] = [
        // Unicode, with and without a mark or a name.
        Row(nil, "4AC3B6", "Jö"), Row("UTF-8", "4AC3B6", "Jö"), Row("utf8", "EFBBBF41", "A"), Row("", "41", "A"),
        Row(nil, "4AF6", nil), Row("UTF-8", "4AF6", nil), Row("US-ASCII", "4AC3B6", "Jö"), Row("us-ascii", "4AF6", nil),
        Row("UTF-16", "FFFE4100", "A"), Row("utf-16", "FEFF0041", "A"), Row("UTF-16", "0041", "A"),
        Row("UTF-16", "41004200", "AB"), Row("UTF-16LE", "4100", "A"), Row("UTF-16BE", "0041", "A"),
        Row("UTF-16", "4100F6", nil), Row("UTF-16", "D8000041", nil), Row("UTF-32", "00000041", "A"),
        Row("UTF-32LE", "41000000", "A"), Row("UCS-2", "4E2D", "中"),
        Row(nil, "FFFEF600", "ö"), Row(nil, "41004200", "AB"), Row(nil, "00410042", "AB"),
        Row("ISO-8859-1", "EFBBBFC3B6", "ö"),
        // ISO 8859 and its names; what it leaves out is as in Windows' larger sets, or nothing.
        Row("ISO-8859-1", "4AF6", "Jö"), Row("iso8859-1", "F6", "ö"), Row("ISO_8859-1:1987", "F6", "ö"),
        Row("latin1", "F6", "ö"), Row("csISOLatin1", "F6", "ö"), Row("csShiftJIS", "93FA", "日"), Row("l1", "F6", "ö"),
        Row("ISO-8859-1", "80", "€"), Row("ISO-8859-1", "81", nil),
        Row("ISO-8859-2", "B9", "š"), Row("ISO-8859-3", "A1", "Ħ"), Row("ISO-8859-3", "E3", nil),
        Row("ISO-8859-4", "A9", "Š"), Row("ISO-8859-5", "B0", "А"), Row("ISO-8859-6", "C7", "ا"),
        Row("ISO-8859-7", "C1", "Α"), Row("ISO-8859-8", "E0", "א"), Row("ISO-8859-8-I", "E0", "א"),
        Row("ISO-8859-9", "FE", "ş"), Row("ISO-8859-10", "A1", "Ą"), Row("ISO-8859-11", "A1", "ก"),
        Row("ISO-8859-12", "C0", nil), Row("ISO-8859-13", "D0", "Š"), Row("ISO-8859-14", "D0", "Ŵ"),
        Row("ISO-8859-15", "A4", "€"), Row("ISO-8859-16", "AA", "Ș"),
        // Windows, DOS, Macintosh, Russia.
        Row("windows-1250", "9A", "š"), Row("windows-1251", "C0", "А"), Row("CP1251", "98", nil),
        Row("x-cp1252", "8A", "Š"), Row("WINDOWS_1252", "80", "€"), Row("windows-1253", "C1", "Α"),
        Row("1254", "F0", "ğ"), Row("windows-1255", "E0", "א"), Row("windows-1256", "C7", "ا"),
        Row("windows-1257", "D0", "Š"), Row("windows-1258", "D0", "Đ"), Row("windows-874", "A1", "ก"),
        Row("TIS-620", "A1", "ก"), Row("IBM850", "84", "ä"), Row("cp437", "84", "ä"), Row("cp866", "80", "А"),
        Row("macintosh", "8A", "ä"), Row("KOI8-R", "C1", "а"), Row("KOI8-U", "A4", "є"),
        Row("KOI8-RU", "A4", "є"),
        // East Asia: second bytes that are signs of ASCII, cut characters, half-width letters.
        Row("Shift_JIS", "93FA8E71", "日子"), Row("x-sjis", "835C", "ソ"), Row("windows-31j", "B1", "ｱ"),
        Row("Shift_JIS", "93", nil), Row("EUC-JP", "C6FCBBD28EB1", "日子ｱ"), Row("EUC-JP", "C6", nil),
        Row("EUC-JP", "8FB0A1", nil), Row("ISO-2022-JP", "1B2442467C1B2842", "日"), Row("EUC-KR", "C0CF", "일"),
        Row("ks_c_5601-1987", "C0CF", "일"), Row("cp949", "C0CF", "일"), Row("GB2312", "C8D5", "日"),
        Row("GBK", "C8D5", "日"), Row("gb18030", "81308436", "¥"), Row("HZ-GB-2312", "7E7B48557E7D", "日"),
        Row("Big5", "A4E9", "日"), Row("Big5", "B35C", "許"), Row("Big5-HKSCS", "FF80", nil),
        // Not read: its plain letters may stand for others.
        Row("UTF-7", "4A2B4150592D7267", nil), Row("utf7", "41", nil), Row("csUTF7", "41", nil),
        Row("UNICODE-1-1-UTF-7", "41", nil), Row("UTF-7-IMAP", "41", nil), Row("UTF-7", "EFBBBF41", "A"),
        // Nobody's; plain letters are the same in all.
        Row("x-nobodys", "41", "A"), Row("x-nobodys", "C3B6", nil), Row(String(repeating: "x", count: 300), "F6", nil),
    ]

    @Test("bytes and their texts", arguments: rows.indices) func decodes(_ index: Int) {
        let row = Self.rows[index]
        #expect(Charset.decode(row.bytes, as: row.name) == row.text, "\(row.name ?? "none") \(row.bytes.hex)")
    }

    /// What is cut or has bytes that stand for nothing is no text, and never has a sign of what was lost. Seed 40.
    @Test("random bytes are text or nothing") func random() {
        var random = SeededNumbers(seed: 40)
        let names = Set(Self.rows.compactMap(\.name)).sorted()
        for _ in rounds(1000) {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let name = names.randomElement(using: &random)
            #expect(Charset.decode(bytes, as: name)?.contains("\u{FFFD}") != true)
        }
    }
}
