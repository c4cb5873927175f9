import Foundation
import ReaderKit
import RecordsTestSupport
import TestSupport
import Testing

@testable import ClubRecords

/// Columns of what the club keeps of a member besides values, and what they contain.
@Suite struct StandingTests {
    static let names: [(StandingColumn, String)] = [
        (
            .blocked,
            "blocked|Blocked|BLOCKED|blocked?|is_blocked|isBlocked|Member blocked|locked|banned|suspended|inactive|gesperrt|"
                + "Gesperrt|Sperre|Sperrgrund|inaktiv|冻结|已冻结|是否冻结|محظور|غير نشط|Blocked (y/n)|gesperrt ja/nein|Freeze|"
                + "Sperrdatum|Sperrvermerk|Hausverbot bis|Entry denied|ausgetreten|Freeze until"
        ),
        (
            .active,
            "active|Active|is active|isActive|member_active|enabled|aktiv|Aktiv|Mitglied aktiv|有效|激活|نشط|"
                + "Access granted|Zutritt erlaubt"
        ),
        (
            .status,
            "status|Status|membership status|Membership-Status|memberStatus|Mitgliedsstatus|状态|会员状态|الحالة|حالة العضوية|"
                + "Vertragsstatus|Contract status"
        ),
        (
            .expires,
            "expires|Expires|expires at|expires_on|Expiry|expiry date|expirationDate|valid until|validUntil|valid_to|"
                + "Valid thru|end|End date|membership end|Membership end date|membership expires|member until|Paid until|"
                + "gültig bis|Gültig bis|GÜLTIG BIS|gueltig bis|Ablaufdatum|Ablauf|Ende|Ende der Mitgliedschaft|"
                + "Mitgliedschaftsende|läuft ab am|laeuft ab|Vertragsende|有效期|有效期至|到期日期|会员有效期|تاريخ الانتهاء|صالح حتى|"
                + "تاريخ انتهاء العضوية|تاريخ انتهاء الاشتراك|Gekündigt zum|Kündigung (zum)|Expires (YYYY-MM-DD)|"
                + "Expiry Date (UTC)|Aktiv bis|Laufzeit bis|Vertrag bis|Beitrag bezahlt bis|Abo läuft bis|Abo-Ende|Austritt am|"
                + "Exit date|Leave date|Date of expiry|Date of membership end|valid_until_date|Plan end date|Pass expires|"
                + "Ticket valid until|expires 2"
        ),
        (
            .visitsLeft,
            "visitsLeft|visits left|Visits remaining|remaining visits|sessions|Sessions left|remaining sessions|pack|credits|"
                + "Restbesuche|verbleibende Besuche|Zehnerkarte|übrige Besuche|uebrige Besuche|剩余次数|次卡|الزيارات المتبقية|"
                + "Number of sessions left|No. of remaining visits|Anzahl Restbesuche|10er-Karte"
        ),
        (.tags, "tags|Tags|tag|labels|Schlagwörter|Schlagwoerter|标签|وسوم|الوسوم"),
        (
            .cards,
            "cards|Cards|card|card 2|Card2|Card ID|card number|further cards|Karten|Karte|Kartennummer|weitere Karten|卡号|卡片|"
                + "بطاقات|رقم البطاقة|Card No.|Karten-Nr.|KartenNr.|Kartennr|RFID|Chipnummer|Transponder|Badge number|Card 10"
        ),
        (
            .notes,
            "notes|Notes|note|staff notes|Member notes|remarks|Notizen|Bemerkungen|备注|ملاحظات|"
                + "Internal notes|Desk notes|Notes (internal)|Interne Notizen"
        ),
    ]

    @Test("Names in the languages of the product", arguments: names)
    func named(_ column: StandingColumn, _ names: String) {
        for name in names.split(separator: "|") { #expect(StandingColumn.named(String(name)) == column, "\(name)") }
    }

    @Test(
        "Names of other things",
        arguments: [
            "userId", "username", "numVisits", "$blocked", "phone", "email", "level", "town", "Town", "address",
            "state",
            "birthday", "since", "member since", "membership", "member", "visits", "block of flats", "weekend", "", "-",
            "1",
            "block", "Sessions 2025", "Sessions 25", "Restbesuche (2024)", "Credits (EUR)", "Card (deposit)",
            "Number of cards", "Number of sessions", "expires in", "(", ")(", "[]", "Active (newsletter)",
            "Valid until (passport)", "Pass active", "Ticket status", "Date of card",
            "Blocked (email)", "Expires (locker)", "有效(邮箱)", "Pass status", "User status", "passend", "تاريخ البطاقة",
            "Inactive 2025",
            "vorname", "Mitgliedsnummer", "memberId", "passId", "会员", "姓名", "اسم", "location", "tagged at", "friend",
        ]
    )
    func otherNames(_ name: String) { #expect(StandingColumn.named(name) == nil) }

    static let resembling: [(StandingColumn, String)] = [
        (.status, "Statut|Estado|Stato|Marital status"),
        (
            .expires,
            "Fin|Scadenza|Exp 2025|Ended on|Last day of membership|Paid through date|Vencimiento|Valable jusqu'au|Cancelled (on)|Terminated|Kündigung|gekündigt am|Paid until when|"
                + "10er-Karte gültig bis|cancelledOn"
        ),
        (
            .blocked,
            "Bloqué|Block|Inactive 2025|Inaktiv 2025|Disabled since|Locked by|Ban reason|Blacklist|黑名單|退会日期|Blocked (email)|Kein Zutritt|Congelado|Archived|Deleted|blocked_reason_text"
        ),
        (.active, "Actif|Pass active"),
        (
            .visitsLeft,
            "Visits remaining (of 10)|Séances restantes|Restguthaben|Visits left (10-pack)|Sessions 2025|剩余次数（次）|Number of sessions"
        ),
        (.cards, "Carte|Card (deposit)|Chip-Farbe"), (.notes, "Notizen alt|Nota"),
    ]

    @Test("Fields that only look so", arguments: resembling)
    func resembles(_ column: StandingColumn, _ names: String) {
        for name in names.split(separator: "|") {
            #expect(StandingColumn.resembled(by: String(name)) == column, "\(name)")
        }
    }

    @Test("Fields that look like nothing")
    func resemblesNothing() {
        let names = """
            userId|numVisits|timeStampOfLastVisit|memberId|passId|phone|email|level|town|address|Geburtstag|birthday|Wochenende|
            gender|Accessories|Access code|Restaurant|Restrictions|Restschuld|Invalid email|Validated by|Cancellation policy|
            Kündigungsfrist|Postcard|Scorecard|Chipmunk|Speisekarte|卡路里|Wohnblock|Blockflöte|Archive no|Freezer|禁忌|封面|Paid total|
            first name|company|weekend|interests|angelegt|Membership|expires|notes|$tags|visits|Landkreis|scholarship
            """
        for name in names.split(whereSeparator: { "|\n".contains($0) }) {
            #expect(StandingColumn.resembled(by: String(name)) == nil, "\(name)")
        }
    }

    @Test("A column that only looks like something else is said, and how it is taken")
    func notedColumns() throws {
        let header = "userId,username,Bloqué,visits,Letzter Besuch,phone,Valable jusqu'au"
        let notes = try CSVMemberReaderTests.read(Array("\(header)\nU1,Ann,oui,3,,1,x".utf8)).reader.notes
        let mapped = ["Bloqué=blocked", "visits=numVisits", "Letzter Besuch=timeStampOfLastVisit"]
        #expect(notes.count == 4)
        for (note, map) in zip(notes, mapped + ["Valable jusqu'au=expires"]) {
            #expect(
                note.contains(
                    ColumnPlan.option(String(map.split(separator: "=")[0]), String(map.split(separator: "=")[1]))
                ),
                "\(note)"
            )
        }
        let list = #"[{"userId":"U1","numVisits":2,"visits":3,"Statut":"Actif"},{"userId":"U2","Statut":"x"}]"#
        #expect(try UserListReaderTests.read(list).reader.notes.count { $0.contains("Statut=status") } == 1)
        let own = [ColumnMapping(column: "Statut", field: "Statut")]
        #expect(try UserListReaderTests.read(list, mappings: own).reader.notes == [])
        #expect(ColumnPlan.option("a\"$!`\\b'c", "d") == #"--map 'a"$!`\b'\''c=d'"#)
    }

    @Test("Each name is in one row of the table")
    func apart() {
        var known: [String: StandingColumn] = [:]
        for column in StandingColumn.allCases {
            for name in column.names.split(whereSeparator: { ",\n".contains($0) }).map({ $0.trimmingPrefix(" ") }) {
                let former = known.updateValue(column, forKey: StandingColumn.letters(String(name)))
                #expect(former == nil || former == column, "\(name)")
                #expect(StandingColumn.named(String(name)) == column, "\(name)")
            }
        }
    }

    /// What is stated; `nil` for nothing, a text for a note or fault that has it.
    enum Result: Sendable, Equatable {
        case value(FieldValue)
        case values([FieldValue])
        case nothing, note, fault
    }

    struct Value: Sendable {
        var column: StandingColumn
        var cells: [FieldValue]
        var result: Result

        init(_ column: StandingColumn, _ cells: [FieldValue], _ result: Result) {
            (self.column, self.cells, self.result) = (column, cells, result)
        }
    }

    /// In UTC; the last second of a day.
    private static func end(_ text: String) -> Result {
        .value(.int(Int((ISO8601.date(text)?.timeIntervalSince1970 ?? 0) * 1_000_000)))
    }

    static let values: [Value] = [
        Value(
            .blocked,
            ["yes", "Yes", " YES ", "y", "true", "1", "x", "ja", "Ja", "是", "نعم", "✓", .bool(true), .int(1)],
            .value("")
        ),
        Value(.blocked, ["no", "false", "0", "nein", "否", "لا", "active", "✗", .bool(false), .int(0)], .value(.null)),
        Value(.blocked, ["", " ", "-", "–", .null, "NULL", "n/a", "unknown", "\\N"], .nothing),
        Value(.blocked, ["non", "nie"], .value(.null)), Value(.blocked, ["#NV", "#REF!", "B"], .fault),
        Value(.blocked, ["unpaid", " unpaid\t"], .value("unpaid")),
        Value(.blocked, ["Beitrag offen 2025"], .value("Beitrag offen 2025")),
        Value(.blocked, ["2", "10", "2025-01-31", "31.01.2025", "?", "!", "*", "***", "+", .int(7)], .fault),
        Value(.active, ["yes", "1", "active", "ja", "aktiv", "是", "有效", "نعم", .bool(true)], .value(.null)),
        Value(.active, ["no", "0", "nein", "否", "لا", .bool(false)], .value("")),
        Value(.active, ["inactive"], .value("inactive")),
        Value(.active, ["maybe", "2025-01-31"], .note),
        Value(.status, ["active", "Active", "aktiv", "正常", "نشط", "OK"], .value(.null)),
        Value(.status, ["suspended"], .value("suspended")), Value(.status, ["Gekündigt"], .value("Gekündigt")),
        Value(.status, ["冻结"], .value("冻结")), Value(.status, ["محظور"], .value("محظور")),
        Value(.status, ["gold", "1", "student"], .note), Value(.status, [""], .nothing),
        Value(
            .expires,
            [
                "2025-01-31", "31.01.2025", "31.1.2025", "2025/01/31", "01/31/2025", "31 January 2025",
                "31. Januar 2025",
                "20250131", "45688", "2025-01-31 00:00", "２０２５-０１-３１", "٢٠٢٥/٠١/٣١", "2025年1月31日", .int(45688),
            ],
            end("2025-01-31T23:59:59Z")
        ),
        Value(
            .expires,
            [
                "2025-01-31T08:00:00Z", "2025-01-31T09:00:00+01:00", "1738310400", "1738310400000",
                .int(1_738_310_400),
            ],
            end("2025-01-31T08:00:00Z")
        ),
        Value(.expires, ["never", "Never", "unbefristet", "永久", "lifetime"], .value(.null)),
        Value(.expires, ["", "-", .null], .nothing),
        Value(
            .expires,
            [
                "0", "-1", "1e20", "soon", "2025", "05/06/2025", "2025-02-30", "1.738E+09", "2e10", "0x670FFE68",
                "123456789",
                "#NV", "yes", "5", .int(0),
                .int(-1),
                .bool(true), .double(1e300),
            ],
            .fault
        ),
        Value(.visitsLeft, ["0", "00", .int(0)], .value(0)),
        Value(.visitsLeft, ["5", " 5 ", "5.0", "٥", .int(5)], .value(5)),
        Value(.visitsLeft, ["unlimited", "∞", "unbegrenzt", "", "-"], .nothing),
        Value(.visitsLeft, ["-1", "5.5", "five", "5 left", "1e20", "2000000", .bool(true), .int(-1)], .fault),
        Value(
            .tags,
            [
                "students,gold", "students; gold", "students|gold", " students\n gold,", "students، gold",
                .array(["students", "gold"]),
            ],
            .values(["students", "gold"])
        ),
        Value(.tags, ["", ",", " ; "], .values([])),
        Value(
            .cards,
            ["04A1B2C3D4E580, 04FF", "04A1B2C3D4E580;04FF", .array(["04A1B2C3D4E580", "04FF"])],
            .values(["04A1B2C3D4E580", "04FF"])
        ),
        Value(.cards, ["04:A1:B2:C3"], .values(["04:A1:B2:C3"])), Value(.cards, ["a\u{7}b"], .note),
        Value(.cards, ["NULL", "n/a", "none", "-", ""], .values([])), Value(.cards, ["#N/A", "#NV"], .fault),
        Value(.cards, ["4,01E+12", "4.01E+12", "4.01E+12; 4.02E+12", "=A1"], .note),
        Value(.cards, [.array(["04FF", "4,01E+12"])], .value("04FF")), Value(.cards, ["12345.0"], .value("12345")),
        Value(.cards, ["04A1/04B2"], .value("04A1/04B2")),
        Value(.cards, ["04 A1 B2 C3"], .values(["04 A1 B2 C3"])),
        Value(.cards, [.array(["Smith, Ann"])], .values(["Smith, Ann"])), Value(.tags, ["NULL", "none"], .values([])),
        Value(.notes, ["NULL", "n/a"], .nothing), Value(.notes, ["!!!"], .value("!!!")),
        Value(.tags, ["*"], .values(["*"])),
        Value(.cards, ["?"], .note),
        Value(.notes, ["Likes tea"], .value("Likes tea")), Value(.notes, ["a\nb"], .value("a\nb")),
        Value(.notes, [.object(["a": 1])], .fault),
    ]

    @Test("Values", arguments: values)
    func means(_ value: Value) throws {
        for cell in value.cells {
            var standing = Standing()
            var result: Result
            do throws(RowFault) {
                let note = try standing.read(value.column, cell, name: "column", zone: .gmt)
                result = note != nil ? .note : .nothing
                let values = standing.statements.map(\.value)
                if value.column == .tags || value.column == .cards, note == nil {
                    result = .values(values)
                } else if let value = values.first {
                    result = .value(value)
                }
                #expect(note?.contains("column") ?? true)
            } catch {
                #expect(error.column == "column")
                result = .fault
            }
            #expect(result == value.result, "\(cell)")
        }
    }

    @Test(
        "Of several ends the earliest counts, also where one is none",
        arguments: [["", "2020-01-01"], ["2020-01-01", "never"], ["2030-01-01", "2020-01-01"]]
    )
    func ends(_ cells: [String]) throws {
        var standing = Standing()
        for cell in cells { _ = try standing.read(.expires, .string(cell), name: "x", zone: .gmt) }
        let end = Timestamp.microseconds(try #require(ISO8601.date("2020-01-01T23:59:59Z")))
        let found = standing.values(besides: MemberFacts())["$expires"]
        let at: Int? = if case .int(let at)? = found { at } else { nil }
        #expect(at.map { $0 / 1_000_000 } == end.map { Int($0 / 1_000_000) })
    }

    @Test("Of several columns of visits left the first with a number counts; notes all do")
    func severalColumns() throws {
        let rows = "userId,sessions left,Restbesuche,notes,Notiz\nU1,,3,,Tea\nU2,4,3,Milk,Tea"
        let result = try CSVMemberReaderTests.read(Array(rows.utf8))
        #expect(result.members.map { $0.standing?.visitsLeft } == [3, 4] && result.reader.notes.count == 1)
        let notes = result.members.map { $0.standing?.values(besides: MemberFacts())["$notes"] }
        #expect(notes == ["Tea", "Milk\nTea"])
    }

    @Test("A card that looks like several is said", arguments: ["04A1/04B2", "04A1B2C3 04A1B2C4", "04FF, 94/1"])
    func severalCards(_ cell: String) throws {
        var standing = Standing()
        #expect(try standing.read(.cards, .string(cell), name: "x")?.contains("several") == true)
    }

    @Test("Whatever keeps a member out counts, and what a field was does not")
    func together() throws {
        var standing = Standing()
        for (column, value) in [(.status, "active"), (.blocked, "no"), (.active, "no"), (.blocked, "unpaid")]
            as [(StandingColumn, FieldValue)]
        {
            _ = try standing.read(column, value, name: column == .blocked ? "blocked" : "x")
        }
        #expect(standing.values(besides: MemberFacts()) == ["$blocked": "unpaid"])
        #expect(standing.without(["blocked": "unpaid"]).values(besides: MemberFacts()) == ["$blocked": ""])
        var facts = MemberFacts()
        facts.set("$blocked", "lost", .legacy(at: 1))
        #expect(standing.without(["blocked": "unpaid"]).values(besides: facts) == [:])
    }

    private static let row = """
        userId,username,expires,visitsLeft,blocked,tags,cards,Notiz,status,birthday
        U1,Ann,2025-01-31,0,yes,"students,gold",04A1B2C3D4E580,Tea,gold,17.05.2001
        U2,Bo,soon,,,,,,,
        U3,Cy,,,,,,,,2001-02-29
        U4,Di,,,,,,,,0001-01-01
        """

    @Test("In CSV and in user lists")
    func readers() throws {
        let result = try CSVMemberReaderTests.read(Array(Self.row.utf8))
        #expect(result.faults.mapValues(\.column) == [3: "expires"])
        #expect(result.members.map(\.userId) == ["U1", "U3", "U4"] && result.members[2].fields == [:])
        #expect(result.members[0].fields == ["birthday": "2001-05-17"])
        #expect(result.members[1].fields == ["birthday": "2001-02-29"] && result.members[1].standing == nil)
        let standing = try #require(result.members[0].standing)
        #expect(
            standing.tags == ["students", "gold"] && standing.cards == ["04A1B2C3D4E580"] && standing.visitsLeft == 0
        )
        let names = Set(standing.values(besides: MemberFacts()).keys)
        #expect(names == ["$blocked", "$expires", "$notes", "$tag:students", "$tag:gold"])
        #expect(
            result.reader.columns.map(\.field) == [
                "userId", "username", "$expires", "$visitsLeft", "$blocked", "$tags", "$cards", "$notes", "$blocked",
                "birthday",
            ]
        )
        let list = """
            [{"userId":"U1","expires":"2025-01-31","visitsLeft":0,"blocked":true,"tags":["students","gold"],
            "cards":["04A1B2C3D4E580"],"notes":"Tea","birthday":37028},{"userId":"U2","expires":true}]
            """
        let other = try UserListReaderTests.read(list)
        #expect(other.faults.mapValues(\.column) == [2: "expires"])
        #expect(other.members[0].standing?.values(besides: MemberFacts()) == standing.values(besides: MemberFacts()))
        #expect(other.members[0].fields == ["birthday": "2001-05-17"])
    }
}

/// Birthdays as others write them.
@Suite struct BirthdayTextTests {
    static let read: [(String, [String])] = [
        (
            "2001-05-17",
            [
                "2001-05-17", "2001-05-17 00:00:00", "2001-05-17T00:00:00Z", "2001-05-17T00:00:00.000+02:00",
                " 2001-05-17 ",
                "\u{A0}2001-05-17\t", "2001/05/17", "2001.05.17", "20010517", "2001-5-17", "17.05.2001", "17.5.2001",
                "17. 5. 2001", "05/17/2001", "5/17/2001", "17/05/2001", "17-05-2001", "37028", "37028.0",
                "May 17, 2001",
                "17 May 2001", "17. Mai 2001", "Thursday, May 17, 2001", "2001年5月17日", "٢٠٠١-٠٥-١٧", "２００１／０５／１７",
                "2001-05-17T14:30:00", "2001-05-17 12:00:00Z", "17 مايو 2001",
            ]
        ),
        (
            "05-17",
            [
                "05-17", "--05-17", "--0517", "0001-05-17", "0000-05-17", "1604-05-17", "17/05", "5/17", "17.05.",
                "17.5.",
                "May 17", "17 May", "17. Mai", "5月17日", "17-05",
            ]
        ),
        ("02-29", ["02-29", "--02-29", "1604-02-29", "0001-02-29", "29.02.", "29 February"]),
        ("2000-02-29", ["2000-02-29", "29.02.2000"]),
        ("1930-05-17", ["1930-05-17", "17.05.1930", "17.05.30", "17 May 30"]),
        ("1968-05-17", ["17/05/68", "17.05.68 00:00"]), ("2020-05-17", ["17.05.20"]), ("1927-05-17", ["17.05.27"]),
        ("2026-05-17", ["17.05.26", "2026-05-17"]),
    ]

    @Test("One day only", arguments: read)
    func reads(_ kept: String, _ texts: [String]) {
        for text in texts { #expect((try? BirthdayText.normalised(text, thisYear: 2026).get()) == kept, "\(text)") }
    }

    @Test(
        "Two days, or none",
        arguments: [
            "2001-02-29", "02-30", "05/06/2001", "5/6", "2001", "05-2001", "May 2001", "soon", "17", "0", "-1", "517",
            "2001-13-01",
            "2001-05-16T22:00:00Z", "990057600", "99999", "unknown", "2001-05-17 x", "32.01.2001", "true", "[]",
            "2027-05-17", "17.05.2027", "20270517", "47620", "17.05.1753", "0001-01-01", "0001-01-01T00:00:00",
            "01.01.0001", "1/1/0001 12:00:00 AM", "31.12.1899", "1899-12-30", "1900-01-01", "1753-01-01",
        ]
    )
    func refuses(_ text: String) { #expect((try? BirthdayText.normalised(text, thisYear: 2026).get()) == nil) }

    @Test("What a file has stays, but for a program's none; each is said")
    func kept() {
        for (text, kept, isNoted) in [
            ("17.05.2001", "2001-05-17", false), ("0001-01-01", nil, true), ("01.01.1900", nil, true),
            ("soon", "soon", true), ("-", nil, true), ("0000-00-00", nil, true), ("13-05", "05-13", true),
            ("05-13", "05-13", false),
            ("2999-05-17", "2999-05-17", true),
        ] {
            let result = BirthdayText.kept(.string(text), in: "born", order: nil)
            #expect(result.value == kept.map(FieldValue.string) && (result.note != nil) == isNoted, "\(text)")
        }
    }

    @Test("The club's own form stays what it is, whatever the order, and is said where days come first")
    func ownForm() {
        for (text, order, isNoted) in [
            ("05-06", DateOrder.dayMonthYear, true), ("05-06", .monthDayYear, false), ("05-13", .dayMonthYear, false),
            ("2001-05-06", .dayMonthYear, false), ("05-06", nil, false),
        ] {
            let result = BirthdayText.kept(.string(text), in: "born", order: order)
            #expect(
                result.value == .string(text) && (result.note != nil) == isNoted,
                "\(text) \(String(describing: order))"
            )
        }
    }

    @Test("The order decides between two days")
    func ordered() {
        #expect((try? BirthdayText.normalised("05/06/2001", order: .dayMonthYear).get()) == "2001-06-05")
        #expect((try? BirthdayText.normalised("05/06/2001", order: .monthDayYear).get()) == "2001-05-06")
        for (text, kept) in [("05-06", "05-06"), ("13-05", "05-13"), ("05-13", "05-13"), ("0001-05-06", "05-06")] {
            #expect((try? BirthdayText.normalised(text, order: .dayMonthYear).get()) == kept, "\(text)")
        }
    }

    @Test("Names of birthdays")
    func names() {
        for name in [
            "birthday", "Birthday", "Date of birth", "dob", "Geburtstag", "Geburtsdatum", "生日", "تاريخ الميلاد",
        ] {
            #expect(BirthdayText.isName(name), "\(name)")
        }
        for name in ["born in", "place of birth", "birthdayParty2", "name", "day"] {
            #expect(!BirthdayText.isName(name), "\(name)")
        }
    }
}
