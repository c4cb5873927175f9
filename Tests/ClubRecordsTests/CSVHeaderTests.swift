import Foundation
import RecordsTestSupport
import Testing

@testable import ClubRecords

/// Files as programs write them: where the names are, and what stands between them.
@Suite struct CSVHeaderTests {
    struct File: Sendable, CustomTestStringConvertible {
        var text: String
        var mappings: [String] = []
        var layout = FileLayout()
        /// The identifiers and names, as `U1=Ann`.
        var members: [String]
        var testDescription: String { text.debugDescription }

        init(_ text: String, _ mappings: [String] = [], layout: FileLayout = FileLayout(), is members: String...) {
            (self.text, self.mappings, self.layout, self.members) = (text, mappings, layout, members)
        }
    }

    static let files: [File] = [
        // A line break within the first name, in each kind of file.
        File(
            "\"Numéro\nde carte\";Nom\nA-100;Claire Petit",
            ["Numéro\nde carte=userId", "Nom=username"],
            is: "A-100=Claire Petit"
        ),
        File(
            "\"Numéro\r\nde carte\"\tNom\r\nA-100\tClaire Petit\r\n",
            ["Numéro\nde carte=userId", "Nom=username"],
            is: "A-100=Claire Petit"
        ),
        File(
            "\"Numéro\rde carte\",Nom\rA-100,Claire Petit",
            ["Numéro de carte=userId", "Nom=username"],
            is: "A-100=Claire Petit"
        ),
        File(
            "\"Nom, prénom\n(majuscules)\",userId,Ville\n\"Petit, Claire\",A-100,Annecy",
            ["Nom, prénom (majuscules)=username", "Ville="],
            is: "A-100=Petit, Claire"
        ),
        // Delimiters within names, which are found by the known and mapped ones.
        File("Nachname, Vorname;userId\nBerg, Ann;Q-1", ["Nachname, Vorname=username"], is: "Q-1=Berg, Ann"),
        File(
            "userId;Name (Nachname, Vorname, Titel)\nQ-1;Berg, Ann, Dr.",
            ["Name (Nachname, Vorname, Titel)=username"],
            is: "Q-1=Berg, Ann, Dr."
        ),
        File("userId|username|city\nS-1|Ann, the elder|Bonn", is: "S-1=Ann, the elder"),
        File("userId^username\nS-1^Ann, the elder", is: "S-1=Ann, the elder"),
        File("userId~username\nS-1~Ann; the elder", is: "S-1=Ann; the elder"),
        File("userId:username\nS-1:Ann", is: "S-1=Ann"),
        File("username\tuserId\nAnn, the elder; Dr.\tS-1", is: "S-1=Ann, the elder; Dr."),
        File(
            "Karte;Name, Vorname, Ort, Land\n7;Berg, Ann, Bonn, DE",
            ["karte=userId", "Name, Vorname, Ort, Land=username"],
            is: "7=Berg, Ann, Bonn, DE"
        ),
        File("userId\nU1\nU2", is: "U1", "U2"),
        // What a line 'sep=' says, in the forms of programs.
        File("SEP=;\r\nuserId;username\r\nS-1;Ann, the elder", is: "S-1=Ann, the elder"),
        File("\"sep=;\"\r\nuserId;username\r\nS-1;Ann, the elder", is: "S-1=Ann, the elder"),
        File("sep=;;;\r\nuserId;username;city\r\nS-1;Ann, the elder;Bonn", is: "S-1=Ann, the elder"),
        File("\u{FEFF}\"Sep=;\";;\r\nuserId;username;city\r\nS-1;Ann;Bonn", is: "S-1=Ann"),
        File("\r\nsep = ;\r\nuserId;username\r\nS-1;Ann", is: "S-1=Ann"),
        File("sep=\t\nuserId\tusername\nS-1\tAnn, the elder", is: "S-1=Ann, the elder"),
        File("sep=\\t\nuserId\tusername\nS-1\tAnn", is: "S-1=Ann"),
        File("sep=^\nuserId^username\nS-1^Ann", is: "S-1=Ann"),
        File("sep=§\nuserId;username\nS-1;Ann", is: "S-1=Ann"),
        // A program took the line for a row and wrote the file anew, with its own delimiter.
        File("sep=,;;\r\nuserId;username;city\r\nS-1;Ann;Bonn", is: "S-1=Ann"),
        File("sep=;\nKarte;Name\n7;Ann, the elder", ["Karte=userId", "Name=username"], is: "7=Ann, the elder"),
        // Lines above the names.
        File(
            "Member list,,\nPrinted 2026-11-01,,\n,,\nCard number,Full name,City\nK-1,Ann Berg,Bonn",
            ["Card number=userId", "Full name=username"],
            is: "K-1=Ann Berg"
        ),
        File("\n\n  \nuserId,username\nU1,Ann", is: "U1=Ann"),
        File("Members, all of them, of Bonn\n\nuserId;username\nU1;Ann", is: "U1=Ann"),
        File("The \"best\" club\n\"a\" b\nuserId;username\nU1;Ann", is: "U1=Ann"),
        File("username of the club\nusername,city\nuserId,username\nU1,Ann", is: "U1=Ann"),
        File(
            "a\nuserId,x\nKarte;Name\n7;Ann",
            ["Karte=userId", "Name=username"],
            layout: FileLayout(skippedLines: 2),
            is: "7=Ann"
        ),
        File(
            "userId;name,username\nU1;x,Ann",
            ["userId;name=userId"],
            layout: FileLayout(delimiter: ","),
            is: "U1;x=Ann"
        ),
        File("userId#username\nU1#Ann, the elder", layout: FileLayout(delimiter: "#"), is: "U1=Ann, the elder"),
        // The names once more, where files were put one behind another.
        File("userId,username\nU1,Ann\nuserId,username\nU2,Bo", is: "U1=Ann", "U2=Bo"),
        File("Card,Name\nU1,Ann\n\"Card\", Name\nU2,Bo", ["Card=userId", "Name=username"], is: "U1=Ann", "U2=Bo"),
        File("userId,username\nU1,Ann\nusername,userId\nBo,U2", is: "U1=Ann", "U2=Bo"),
        File("userId,username,numVisits\nU1,Ann,1\nuserId,username,numVisits\nU2,Bo,2", is: "U1=Ann", "U2=Bo"),
        File("Card,Name\nU1,Ann\nuserId,username\nU2,Bo", ["Card=userId", "Name=username"], is: "U1=Ann", "U2=Bo"),
    ]

    static func read(_ file: File, piece: Int = .max) throws -> (members: [String], faults: [Int: RowFault]) {
        let mappings = file.mappings.compactMap { ColumnMapping($0) }
        var reader = try CSVMemberReader(
            MemorySource(Array(file.text.utf8), piece: piece),
            mappings: mappings,
            layout: file.layout
        )
        var batch = RowBatch(isUntyped: true)
        while try reader.read(into: &batch) {}
        let members = batch.batch.rows.map { row in
            let member = batch.batch.member(row)
            return member.userId + (member.username?.cellText.map { "=" + $0 } ?? "")
        }
        return (members, Dictionary(batch.faults.map { ($0.row, $0.fault) }) { $1 })
    }

    @Test(arguments: files) func isRead(_ file: File) throws {
        for piece in CSVReaderTests.pieces {
            let (members, faults) = try Self.read(file, piece: piece)
            #expect(members == file.members)
            let broken = faults.filter { !$0.value.isSkipped }
            #expect(broken == [:])
        }
    }

    /// What is said of files that cannot be read, by what they are.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var text: String
        var mappings: [String] = []
        var kind: TransferError.Kind
        var line: Int?
        var says: [String] = []
        var testDescription: String { text.debugDescription }
    }

    static let refusals: [Refusal] = [
        Refusal(
            text: "Member list,,\nPrinted,,\nCard number,Full name,City\nK-1,Ann,Bonn",
            kind: .noIdentifierColumn,
            line: 3,
            says: ["'Card number', 'Full name', 'City'"]
        ),
        Refusal(
            text: "Card number,Full name\nK-1,Ann",
            mappings: ["Cardnumber=userId", "Full name=username"],
            kind: .badMapping,
            line: 1,
            says: ["'Cardnumber', mapped to 'userId'", "'Card number', 'Full name'"]
        ),
        Refusal(
            text: "userId,x\nK-1,Ann",
            mappings: ["Name=username", "Remarks="],
            kind: .badMapping,
            line: 1,
            says: ["'Name', mapped to 'username'", "'Remarks', mapped to 'nothing'", "'userId', 'x'"]
        ),
        Refusal(text: "userId,a\nU,1", mappings: ["a=x", "a=y"], kind: .badMapping, says: ["'a' is mapped twice"]),
        Refusal(text: "userId,a,b\nU,1", mappings: ["a=x", "b=x"], kind: .badMapping, says: ["'x'", "'b'"]),
        Refusal(text: "userId,a\nU,1", mappings: ["a=$x"], kind: .badMapping, says: ["'a' is mapped to '$x'"]),
        Refusal(text: "sep=;\n", kind: .noHeader), Refusal(text: "\n \n", kind: .noIdentifierColumn),
        Refusal(text: "sep=;\na,userId;b\n1;2", kind: .noIdentifierColumn, says: ["'a,userId', 'b'"]),
    ]

    @Test(arguments: refusals) func isRefused(_ refusal: Refusal) {
        #expect {
            _ = try CSVMemberReader(
                MemorySource(Array(refusal.text.utf8)),
                mappings: refusal.mappings.compactMap { ColumnMapping($0) }
            )
        } throws: { error in
            let error = error as? TransferError
            return error?.kind == refusal.kind && (refusal.line == nil || error?.line == refusal.line)
                && refusal.says.allSatisfy { error?.detail?.contains($0) == true }
        }
    }

    /// A column that is left out keeps nobody out, whatever is in it.
    @Test(arguments: [90_000, 900_000, 5_000_000]) func leavesOutWhatIsTooLong(_ count: Int) throws {
        var text = Array("userId,username,photo\nU1,Ann,".utf8) + [UInt8](repeating: 0x41, count: count)
        text += Array("\nU2,Bo,\"".utf8) + [0xFF, 0x00, 0xD8] + Array("\"\nU3,Cy,x".utf8)
        let mappings = [ColumnMapping(column: "photo", field: nil)]
        let result = try CSVMemberReaderTests.read(text, piece: 100_000, mappings: mappings)
        #expect(result.members.map(\.userId) == ["U1", "U2", "U3"])
        #expect(result.faults == [:])
        let taken = try CSVMemberReaderTests.read(text, piece: 100_000)
        #expect(taken.members.map(\.userId) == ["U3"])
        #expect(taken.faults.values.map(\.column) == ["photo", "photo"] || count > 1_000_000)
    }

    @Test func readsMoreColumnsThanAny() throws {
        let names = (1...1000).map { "c\($0)" }
        let text = "userId,\(names.joined(separator: ","))\nU1,\(names.joined(separator: ","))\nU2"
        let members = try CSVMemberReaderTests.read(text)
        #expect(members.map(\.userId) == ["U1", "U2"])
        #expect(members.first?.fields.count == 1000)
    }

    struct Foreign: Sendable {
        var bytes: [UInt8]
        var says: String?

        init(_ bytes: [UInt8], _ says: String?) { (self.bytes, self.says) = (bytes, says) }
        init(_ text: String, _ says: String?) { self.init(Array(text.utf8), says) }
    }

    static let foreign: [Foreign] = [
        Foreign("PK\u{3}\u{4}....[Content_Types].xml", "Excel (.xlsx)"),
        Foreign("PK\u{3}\u{4}..xl/workbook", "Excel (.xlsx)"),
        Foreign("PK\u{3}\u{4}..[Content_Types].xml..word/document.xml", "Word"),
        Foreign("PK\u{3}\u{4}..mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "LibreOffice (.ods)"),
        Foreign("PK\u{3}\u{4}..Index/Document.iwa", "Numbers"), Foreign("PK\u{3}\u{4}..members.csv", "archive (.zip)"),
        Foreign([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "Excel (.xls)"), Foreign("%PDF-1.7", "PDF"),
        Foreign("\u{FEFF}\r\n<html xmlns:x=\"urn\"><table>", "HTML"), Foreign("<!DOCTYPE html>", "HTML"),
        Foreign("<table><tr><td>userId</td>", "HTML"),
        Foreign(
            "<?xml version=\"1.0\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">",
            "XML spreadsheet"
        ),
        Foreign("<?xml version=\"1.0\"?><members/>", "XML"), Foreign([0x1F, 0x8B, 8], ".gz"),
        Foreign("SQLite format 3\u{0}", "database"), Foreign("{\\rtf1", "RTF"), Foreign("BEGIN:VCARD\r\n", "vCard"),
        Foreign("ID;PWXL;N;E\r\n", "SYLK"), Foreign("MIME-Version: 1.0", "MHTML"),
        Foreign("userId,username", nil), Foreign("[{}]", nil), Foreign("", nil), Foreign("PK,Name\n1,Ann", nil),
        Foreign("ID;Name", nil), Foreign("<null>,x", nil),
    ]

    @Test(arguments: foreign) func namesFilesOfOtherPrograms(_ file: Foreign) {
        let name = ForeignFile.name(file.bytes)
        #expect((name == nil) == (file.says == nil), "\(name ?? "nothing")")
        #expect(file.says.map { name?.contains($0) == true } ?? true, "\(name ?? "nothing")")
    }

    static let encodings: [(String, [UInt8], String)] = [
        ("windows-1252", [0x5A, 0x6F, 0xEB, 0x80], "Zoë€"), ("cp1252", [0xEB], "ë"), ("ANSI", [0xEB], "ë"),
        ("windows-1250", [0xB9], "ą"), ("cp1251", [0xC6], "Ж"), ("latin1", [0xEB], "ë"), ("ISO-8859-1", [0xEB], "ë"),
        ("iso-8859-2", [0xB1], "ą"), ("iso_8859-15", [0xA4], "€"), ("ISO8859-9", [0xF0], "ğ"),
        ("iso-8859-7", [0xE1], "α"),
        ("macintosh", [0x91], "ë"), ("MacRoman", [0x91], "ë"), ("cp850", [0x89], "ë"), ("cp437", [0x89], "ë"),
        ("cp852", [0xA5], "ą"), ("koi8-r", [0xF6], "Ж"), ("shift_jis", [0x88, 0xC0, 0x82, 0xA0], "安あ"),
        ("cp932", [0x88, 0xC0], "安"), ("gb18030", [0xB0, 0xB2], "安"), ("GBK", [0xB0, 0xB2], "安"),
        ("big5", [0xA6, 0x77], "安"),
        ("euc-kr", [0xB0, 0xA1], "가"), ("windows-1254", [0xF0], "ğ"),
        ("windows-1257", [0xE0], "ą"), ("utf-8", [0xC3, 0xAB], "ë"), ("cp866", [0x86], "Ж"),
        ("windows-1256", [0xC7], "ا"),
        ("tis-620", [0xA1], "ก"), ("euc-jp", [0xB0, 0xC2, 0xA4, 0xA2], "安あ"), ("windows-1253", [0xE1], "α"),
    ]

    @Test(arguments: encodings) func readsEncodings(_ name: String, _ bytes: [UInt8], _ text: String) throws {
        let encoding = try #require(TextEncoding(name))
        let file = Array("userId,username\nU1,".utf8) + bytes + Array("\nU2,Bo\n".utf8)
        for piece in [1, 7, Int.max] {
            var source: any ByteSource = MemorySource(file, piece: piece)
            if !encoding.isUTF8 { source = DecodedSource(source, encoding) }
            var reader = try CSVMemberReader(source)
            var batch = RowBatch(isUntyped: true)
            while try reader.read(into: &batch) {}
            #expect(batch.batch.rows.map { batch.batch.member($0).username } == [.string(text), .string("Bo")])
        }
    }

    @Test(arguments: ["utf-16", "UTF-16LE", "utf-16be"]) func readsUTF16(_ name: String) throws {
        let text = "userId,username\r\nU1,Zoë 😀 Ċ\r\nU2,Bo"
        let isBig = name == "utf-16be"
        for mark in ["", "\u{FEFF}"] where !(mark.isEmpty && name == "utf-16") {
            let bytes = (mark + text).utf16.flatMap {
                isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
            }
            for piece in [1, 3, Int.max] {
                let source = DecodedSource(MemorySource(bytes, piece: piece), try #require(TextEncoding(name)))
                var reader = try CSVMemberReader(source)
                var batch = RowBatch(isUntyped: true)
                while try reader.read(into: &batch) {}
                #expect(
                    batch.batch.rows.map { batch.batch.member($0).username } == [.string("Zoë 😀 Ċ"), .string("Bo")]
                )
            }
        }
    }

    @Test func whatIsNotInTheEncodingIsRefusedByRow() throws {
        let bytes = Array("userId,username\nU1,".utf8) + [0xC3, 0x81] + Array("\nU2,".utf8) + [0xEB, 0x0A]
        var reader = try CSVMemberReader(DecodedSource(MemorySource(bytes), try #require(TextEncoding("windows-1252"))))
        var batch = RowBatch(isUntyped: true)
        while try reader.read(into: &batch) {}
        #expect(batch.faults.map(\.row) == [2])
        #expect(batch.batch.rows.map { batch.batch.member($0).username } == [.string("ë")])
        #expect(TextEncoding("klingon") == nil && TextEncoding("") == nil && TextEncoding("utf") == nil)
    }
}
