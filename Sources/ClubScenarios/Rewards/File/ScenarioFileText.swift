import CardCore
import ClubRecords
import Foundation

/// From bytes to a text that the parser can be given. What it would refuse without a useful place, or take too long
/// for, is found here.
package enum ScenarioFileText {
    /// The bytes of a file, of an endless one no more than show that it is too long.
    package static func bytes(_ path: String) throws(ScenarioConfigurationError) -> [UInt8] {
        func failure() -> ScenarioConfigurationError {
            let finding = ScenarioConfiguration.Finding(
                line: 0,
                column: 0,
                path: "",
                message: "the file cannot be read: \(String(cString: strerror(errno)))",
                hint: "Check the path, and that this user may read it."
            )
            return ScenarioConfigurationError(path: path, findings: [finding])
        }
        // A pipe without a writer would be waited for; one with a writer is no file to be read again either.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            var error = failure()
            error.unreadable = code
            throw error
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT != S_IFIFO else {
            errno = ESPIPE
            throw failure()
        }
        do throws(FileSteps.Failure) {
            return try FileSteps.read(file, until: ScenarioConfiguration.longestFile)
        } catch {
            errno = error.code
            throw failure()
        }
    }

    /// The text without a byte order mark, or why it is none.
    static func text(_ bytes: [UInt8]) -> Result<String, ScenarioFileFindings> {
        guard bytes.count <= ScenarioConfiguration.longestFile else {
            let most = ScenarioConfiguration.longestFile
            return .failure(
                .init(0, 0, "the file is longer than \(most) bytes", "Check that it is the right one.")
            )
        }
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return .failure(.init(1, 1, "the file is written in UTF-16", "Save it as UTF-8."))
        }
        let plain = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        guard var text = String(validating: plain, as: UTF8.self) else { return .failure(notUTF8(Array(plain))) }
        text.makeContiguousUTF8()
        let found = characters(text)
        guard found.isEmpty else { return .failure(found) }
        if let alias = alias(Array(plain)) { return .failure(alias) }
        return .success(text)
    }

    /// Where the first bytes stand that are no UTF-8.
    private static func notUTF8(_ bytes: [UInt8]) -> ScenarioFileFindings {
        var position = Position()
        var codec = UTF8()
        var iterator = bytes.makeIterator()
        while case .scalarValue(let scalar) = codec.decode(&iterator) { position.pass(scalar) }
        let hint = "Save it as UTF-8, or write this character anew."
        return .init(position.line, position.column, "the file is not written in UTF-8", hint)
    }

    /// Control characters that YAML does not allow. (Of tabs the parser knows where they may stand.)
    private static func characters(_ text: String) -> ScenarioFileFindings {
        var findings = ScenarioFileFindings()
        var position = Position()
        for scalar in text.unicodeScalars {
            let isAllowed =
                switch scalar.value {
                case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0x85, 0xA0...0xFFFD, 0x10000...: true
                default: false
                }
            if !isAllowed {
                let code = "U+" + String(format: "%04X", scalar.value)
                findings.add(
                    position.line,
                    position.column,
                    "",
                    "the control character \(code) stands here",
                    "Remove it."
                )
                if findings.isFull { break }
            }
            position.pass(scalar)
        }
        return findings
    }

    /// The first alias (`*name`) of what stands before it under that name (`&name`).
    ///
    /// Some lines of aliases of aliases stand for more values than there is memory, and the parser looks at all of them
    /// to compare keys. So they are refused before; this looks only at the characters round them, hence at those in
    /// texts too, where a name with both signs is as good as never.
    private static func alias(_ bytes: [UInt8]) -> ScenarioFileFindings? {
        var names: Set<ArraySlice<UInt8>> = []
        var at = 0
        while at < bytes.count {
            let sign = bytes[at]
            guard sign == UInt8(ascii: "&") || sign == UInt8(ascii: "*"), at == 0 || !isInName(bytes[at - 1]) else {
                at += 1
                continue
            }
            var end = at + 1
            while end < bytes.count, isInName(bytes[end]) { end += 1 }
            let name = bytes[(at + 1)..<end]
            if sign == UInt8(ascii: "&") {
                names.insert(name)
            } else if !name.isEmpty, names.contains(name) {
                var position = Position()
                for scalar in String(decoding: bytes[..<at], as: UTF8.self).unicodeScalars { position.pass(scalar) }
                let text = ScenarioFileValue.quoted("*" + String(decoding: name, as: UTF8.self))
                return .init(
                    position.line,
                    position.column,
                    "\(text) repeats a value from further up, which is not done in this file",
                    "Write the value out; in a text, put a space after the '*'."
                )
            }
            at = end
        }
        return nil
    }

    private static func isInName(_ byte: UInt8) -> Bool { byte.isAlphanumeric(or: "_-") }

    /// Line and column of the next character, as the parser counts them.
    struct Position {
        var line = 1
        var column = 1
        /// Whether a line feed would belong to the end of the line before.
        private(set) var isAfterReturn = false

        mutating func pass(_ scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0x0A where isAfterReturn: column = 1
            case 0x0A, 0x0D, 0x85, 0x2028, 0x2029: (line, column) = (line + 1, 1)
            default: column += 1
            }
            isAfterReturn = scalar.value == 0x0D
        }
    }
}

/// Lengths of time as people write them.
enum DurationText {
    /// A hundred years, so that nothing overflows where it is added to a time.
    static let longest: TimeInterval = 36_525 * 86_400

    enum Fault: Error, Hashable {
        case malformed, negative, tooLong, monthOrYear, ambiguousUnit, comma

        var hint: String {
            switch self {
            case .malformed: "Write a number and s, min, h, days or weeks; a number alone is in seconds."
            case .negative: "It cannot be negative."
            case .tooLong: "It is at most 100 years, which is 36525 days."
            case .monthOrYear: "Months and years differ in length: write days, or 'month' or 'year' for a window."
            case .ambiguousUnit: "Write 'min' for minutes."
            case .comma: "Write a decimal point, as 1.5 h."
            }
        }
    }

    /// The seconds of `90 s`, `10 min`, `1.5 h`, `1 day 12 h`, `2 weeks`, or of a number alone.
    static func seconds(_ text: String) -> Result<TimeInterval, Fault> {
        guard text.utf8.count <= 64 else { return .failure(.malformed) }
        var rest = text[...]
        var sum: TimeInterval = 0
        var isFirst = true
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard !rest.isEmpty else { return isFirst ? .failure(.malformed) : .success(sum) }
            if rest.first == "-" { return .failure(.negative) }
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            rest = rest.dropFirst(number.count)
            if rest.first == "," { return .failure(.comma) }
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count)
            guard let value = value(number), rest.isEmpty || rest.first == " " else { return .failure(.malformed) }
            // Seconds without a unit stand alone.
            guard !unit.isEmpty || isFirst && rest.isEmpty else { return .failure(.malformed) }
            switch length(of: unit) {
            case .success(let length): sum += value * length
            case .failure(let fault): return .failure(fault)
            }
            guard sum <= longest else { return .failure(.tooLong) }
            isFirst = false
        }
    }

    private static func value(_ digits: Substring) -> Double? {
        guard digits.first?.isNumber == true, digits.last?.isNumber == true, digits.filter({ $0 == "." }).count <= 1
        else { return nil }
        return Double(digits)
    }

    private static func length(of unit: Substring) -> Result<TimeInterval, Fault> {
        switch unit.lowercased() {
        case "", "s", "sec", "secs", "second", "seconds": .success(1)
        case "min", "mins", "minute", "minutes": .success(60)
        case "h", "hr", "hrs", "hour", "hours": .success(3600)
        case "d", "day", "days": .success(86_400)
        case "w", "week", "weeks": .success(604_800)
        case "m": .failure(.ambiguousUnit)
        case "mo", "month", "months", "y", "yr", "year", "years": .failure(.monthOrYear)
        default: .failure(.malformed)
        }
    }
}

/// A day or a time as people write it.
struct MomentText {
    /// The time, or the beginning of the day.
    var start: Date
    /// The time, or the end of the day, which is the beginning of the next.
    var end: Date

    /// `2026-12-01`, `2026-12-01 16:00` or `2026-12-01T16:00:30` by the calendar, or with a zone of its own: `Z` or
    /// `+01:00`. Years 1970 to 2999. A time that is left out when clocks are set forward is the next that there is; of
    /// one that comes twice it is the first.
    init?(_ text: String, _ calendar: ZoneCalendar) {
        let form = /(\d{4})-(\d\d)-(\d\d)(?:(?:[Tt]| +)(\d\d?):(\d\d)(?::(\d\d))?(?: ?(Z|[-+]\d\d:?\d\d))?)?/
        guard text.utf8.count <= 40, let match = text.wholeMatch(of: form.asciiOnlyDigits()),
            let year = Int(match.1), let month = Int(match.2), let day = Int(match.3), (1970...2999).contains(year)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        guard date.exists else { return nil }
        guard let hour = match.4.flatMap({ Int($0) }), let minute = match.5.flatMap({ Int($0) }) else {
            let period = calendar.period(.day, ofDay: date.number)
            (start, end) = (Timestamp.date(max(period.start, 0)), Timestamp.date(max(period.end, 0)))
            return
        }
        let second = match.6.flatMap { Int($0) } ?? 0
        guard hour < 24, minute < 60, second < 60 else { return nil }
        var time = ZoneCalendar.midnight(date.number) + Int64(hour * 3600 + minute * 60 + second) * Timestamp.second
        if let zone = match.7 {
            guard let offset = Self.offset(zone) else { return nil }
            time -= offset * Timestamp.second
        } else {
            time = calendar.stretches(from: time, until: time + 2 * CivilDate.day).first?.start ?? time
        }
        guard time >= 0 else { return nil }
        start = Timestamp.date(time)
        end = start
    }

    private static func offset(_ zone: Substring) -> Int64? {
        guard zone != "Z" else { return 0 }
        let digits = zone.utf8.dropFirst().filter { $0 != UInt8(ascii: ":") }
        guard let hours = ISO8601.number(digits[..<2]), let minutes = ISO8601.number(digits[2...]), hours <= 18,
            minutes < 60
        else { return nil }
        return Int64((zone.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60))
    }
}

enum TimeZoneName {
    /// The zone of an IANA name, in its own spelling; `nil` for offsets and abbreviations, which know no summer time or
    /// stand for several zones.
    static func zone(_ name: String) -> TimeZone? {
        guard name == "UTC" || name == "GMT" || name.contains("/"), name.utf8.count <= 64,
            name.utf8.allSatisfy({ $0.isAlphanumeric(or: "/_-+") }), !name.contains("..")
        else { return nil }
        return TimeZone(identifier: name)
    }

    /// The name that is meant by one with a slip in it, or by the name of the city alone.
    static func nearest(_ name: String) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        let name = name.split(separator: " ").joined(separator: "_")
        let all = TimeZone.knownTimeZoneIdentifiers.filter { $0.contains("/") }.sorted()
        if let nearest = NearestName.of(name, among: all) { return nearest }
        var cities: [String: String] = [:]
        for zone in all { if let city = zone.split(separator: "/").last { cities[String(city)] = zone } }
        let city = name.split(separator: "/").last.map(String.init) ?? name
        return NearestName.of(city, among: cities.keys.sorted()).flatMap { cities[$0] }
    }
}

extension UInt8 {
    fileprivate func isAlphanumeric(or others: String) -> Bool {
        Unicode.Scalar(self).properties.isAlphabetic && self < 0x80 || (0x30...0x39).contains(self)
            || others.utf8.contains(self)
    }
}

/// Which of the known names somebody may have meant.
package enum NearestName {
    /// No longer name is compared, since that takes the product of the lengths.
    private static let longest = 64

    /// The name that takes the fewest changes of a letter, at most one for three letters; `nil` if absent.
    package static func of(_ name: String, among names: some Sequence<String>) -> String? {
        guard name.unicodeScalars.count <= longest else { return nil }
        let letters = Array(name.lowercased().unicodeScalars)
        var best: (name: String, changes: Int)?
        for candidate in names {
            let other = Array(candidate.lowercased().unicodeScalars)
            let most = max(1, min(letters.count, other.count) / 3)
            guard abs(letters.count - other.count) <= most, other.count <= longest else { continue }
            let changes = changes(from: letters, to: other)
            if changes <= most, changes < best?.changes ?? .max { best = (candidate, changes) }
        }
        return best?.name
    }

    /// The least number of letters to insert, remove, replace, or swap with their neighbour.
    static func changes(from first: [Unicode.Scalar], to second: [Unicode.Scalar]) -> Int {
        var beforeLast = [Int]()
        var last = Array(0...second.count)
        for (i, letter) in first.enumerated() {
            var row = [i + 1]
            row.reserveCapacity(second.count + 1)
            for (j, other) in second.enumerated() {
                var value = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter == other ? 0 : 1))
                if i > 0, j > 0, letter == second[j - 1], first[i - 1] == other {
                    value = min(value, beforeLast[j - 1] + 1)
                }
                row.append(value)
            }
            (beforeLast, last) = (last, row)
        }
        return last[second.count]
    }

    /// "Did you mean X?", or another hint.
    package static func hint(_ name: String?, among names: [String], else other: String) -> String {
        name.flatMap { of($0, among: names) }.map { "Did you mean '\($0)'?" } ?? other
    }
}
