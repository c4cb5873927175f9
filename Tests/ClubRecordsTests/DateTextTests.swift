import Testing

@testable import ClubRecords

@Suite("Dates as people and programs write them")
struct DateTextTests {
    /// A date as it is read: `2026-11-03 18:45:12 /1000000 +3600`, or the fault.
    private static func shown(_ text: String, _ order: DateOrder?) -> String {
        switch DateText.read(text, order: order) {
        case .failure(let fault): return "\(fault)"
        case .success(let date):
            let parts = [date.year, date.month, date.day].map { $0.map(String.init) ?? "?" }
            guard let time = date.time else { return parts.joined(separator: "-") }
            let offset = date.offset.map { " \($0)" } ?? ""
            return parts.joined(separator: "-") + " \(time / 1000) /\(date.unit)" + offset
        }
    }

    /// By what is read, the texts of which it is read.
    private static let dates: [String: [String]] = [
        "2026-11-3": [
            "2026-11-03", " 2026-11-03\u{A0}", "2026/11/03", "2026.11.3", "20261103", "46329", "3.11.2026",
            "03. 11. 2026",
            "3.11.26", "2026年11月3日", "٠٣.١١.٢٠٢٦", "۰۳.۱۱.۲۰۲۶", "२०२६-११-०३", "２０２６／１１／０３", "3 November 2026",
            "3. Nov. 2026",
            "Nov 3, 2026", "November 3rd, 2026", "3-Nov-26", "Tue, 3 Nov 2026", "Di., 3.11.2026", "٣ نوفمبر ٢٠٢٦",
            "2026 十一月 3",
        ],
        "2026-5-17": ["17/05/2026", "5/17/2026", "17-05-2026", "17. Mai 2026", "17 مايو 2026", "\u{200F}17‏/05‏/2026"],
        "2026-3-4": ["4. März 2026", "4 mrz 2026", "04.03.26"], "2024-2-29": ["29.02.2024"], "1976-2-4": ["4.2.76"],
        "?-5-17": ["05-17", "--05-17", "--0517", "17.5.", "17.05", "5/17", "17 May", "May 17", "17. Mai", "5月17日"],
        "2024-?-?": ["2024", "٢٠٢٤", "2024年"], "2024-10-?": ["2024-10", "Oct 2024", "2024年10月"],
        "2026-11-3 67500000 /60000000": [
            "2026-11-03 18:45", "2026-11-03T18:45", "3.11.2026, 18:45 Uhr", "3.11.2026 um 18:45", "202611031845",
            "20261103T1845", "2026年11月3日 18时45分", "2026年11月3日 下午6:45",
            "٣.١١.٢٠٢٦ ٦:٤٥ م", "November 3, 2026 at 6:45 PM",
            "Nov 3, 2026 6:45 p.m.",
        ],
        "2026-11-3 67512000 /1000000": ["3.11.2026 18:45:12", "20261103184512", "2026-11-03 18:45:12"],
        "2026-11-3 67512000 /1000000 0": [
            "2026-11-03T18:45:12Z", "Tue, 03 Nov 2026 18:45:12 GMT", "20261103T184512Z", "2026-11-03 18:45:12 UTC",
        ],
        "2026-11-3 67512000 /1000000 7200": [
            "2026-11-03T18:45:12+02:00", "2026-11-03 18:45:12 +0200", "2026-11-03 18:45:12 UTC+2",
            "Tue Nov 03 2026 18:45:12 GMT+0200 (Eastern European Time)",
        ],
        "2026-11-3 67512000 /1000000 -18000": ["Tue, 3 Nov 2026 18:45:12 EST", "Tue Nov  3 18:45:12 EST 2026"],
        "2026-11-3 67512918 /1000 0": ["2026-11-03T18:45:12.918Z", "2026-11-03 18:45:12,918 GMT"],
        "2026-11-3 67512096 /864000": ["46329.78139", "46329,78139"], "2026-11-3 64800000 /864000000": ["46329.75"],
        "2026-11-3 0 /60000000": ["3.11.26 12:00 AM", "3.11.2026 0:00"],
        "ambiguous": ["03/04/2026", "3-4-2026", "1/2", "11/3/2026 6:45 PM", "17/05/24", "10/11/12"],
        "noSuchDay": [
            "2026-02-29", "31.04.2026", "13/13/2026", "32 May 2026", "2026-11-03T25:00Z", "20261332", "2026-13-01",
            "00042",
            "2026-11-03 13:00 PM",
        ],
        "noDate": [
            "", " ", "x", "12", "1.000", "-5", "2026--11-03", "2026-11-", "-11-03", "10:15", "#N/A", "true", "May",
            "May May 3",
            "2026-290", "2026-W45-2", "2026-11-03T18:45:12.Z", "2026-11-03T18:45Zx", "2026-11-03T",
            "12345678901234567890",
            "Wed Oct 16 18:30:00 CST 2024", "2026-11-03 18:45 CDT", "2026-11-03 18:5", "$3.11.2026", "46329.",
            "1.5.5.5", "2026-11-03T10:00+1:5",
        ],
    ]

    @Test("A date is read as the one day that it can be, or not at all")
    func reads() {
        for (expected, texts) in Self.dates {
            for text in texts { #expect(Self.shown(text, nil) == expected, "\(text)") }
        }
    }

    @Test("An order decides what the numbers do not, and does not overrule them")
    func orders() {
        let cases: [(text: String, order: DateOrder, expected: String)] = [
            ("03/04/2026", .dayMonthYear, "2026-4-3"), ("03/04/2026", .monthDayYear, "2026-3-4"),
            ("03/04/2026", .yearMonthDay, "otherOrder"), ("03.04.2026", .monthDayYear, "2026-3-4"),
            ("17/05/24", .yearMonthDay, "2017-5-24"), ("17/05/24", .dayMonthYear, "2024-5-17"),
            ("17/05/24", .monthDayYear, "otherOrder"), ("17.05.2026", .monthDayYear, "otherOrder"),
            ("31.04.2026", .dayMonthYear, "noSuchDay"), ("2026-03-04", .monthDayYear, "2026-3-4"),
            ("03-04", .dayMonthYear, "?-3-4"), ("03-14", .dayMonthYear, "?-3-14"), ("3/4", .dayMonthYear, "?-4-3"),
            ("3 Apr 2026", .monthDayYear, "2026-4-3"),
            ("20260304", .dayMonthYear, "2026-3-4"),
        ]
        for one in cases { #expect(Self.shown(one.text, one.order) == one.expected, "\(one)") }
    }
}
