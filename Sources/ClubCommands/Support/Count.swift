enum Count {
    /// `1 visit`, `12 345 visits`.
    static func text(_ number: Int, _ noun: String, _ nouns: String? = nil) -> String {
        "\(grouped(number)) \(number == 1 ? noun : nouns ?? noun + "s")"
    }

    static func grouped(_ number: Int) -> String {
        let digits = String(number.magnitude)
        guard digits.count > 4 else { return String(number) }
        var text = number < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += " " }
            text.append(digit)
        }
        return text
    }
}

extension String {
    var onOneLine: String { String(map { $0.isNewline ? " " : $0 }) }
}
