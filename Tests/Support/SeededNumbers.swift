@_exported public import CardCore

extension SeededNumbers {
    package mutating func bytes(_ range: ClosedRange<Int>) -> [UInt8] {
        bytes(Int.random(in: range, using: &self))
    }

    package mutating func text(_ range: ClosedRange<Int>) -> String {
        let alphabets = ["abc xyz", "äöüß€", "漢字かな", "👩🏽‍🚀🎟\u{FEFF}\u{FFFE}"]
        var text = ""
        for _ in 0..<Int.random(in: range, using: &self) {
            let alphabet = alphabets[Int.random(in: 0..<alphabets.count, using: &self)].unicodeScalars
            text.unicodeScalars.append(alphabet.randomElement(using: &self) ?? "a")
        }
        return text
    }
}
