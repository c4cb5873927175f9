import CardCore
import CardPasses
import CardTags
import Testing

/// The documentation's table of questions is the one by which cards are asked.
@Suite struct MessageQuestionTests {
    @Test func tableOfQuestions() throws {
        let rows = MessageQuestion.allCases.flatMap { question in
            question.answers.enumerated().map { index, answer in
                // Of one question the cards and the question stand in its first row.
                let (cards, asked) = index == 0 ? question.text : ("", "")
                let meaning = Self.text(of: answer.meaning)
                return "| \(cards) | \(asked) | \(Self.text(of: answer)) | \(meaning) |"
            }
        }
        try Page.expect(
            rows,
            between: "<!-- questions: begin -->",
            and: "<!-- questions: end -->",
            of: "Documentation/cards.md"
        )
    }

    private static func text(of answer: MessageQuestion.Answer) -> String {
        func digits(_ status: UInt16) -> String { "`\(Hex.encode([UInt8(status >> 8), UInt8(status & 0xFF)]))`" }
        // What is all that is left is told in words.
        let statuses = answer.statuses.filter { $0.count < 0x10000 }.map { range in
            range.count == 1
                ? digits(range.lowerBound) : "\(digits(range.lowerBound)) to \(digits(range.upperBound))"
        }
        let list = statuses.joined(separator: ", ")
        return [list, answer.words].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    private static func text(of meaning: MessageQuestion.Meaning) -> String {
        switch (meaning, meaning.problem) {
        case (.present, _): "it is asked further"
        case (.absent, _): "no message: the card's own identifier counts"
        case (.notAsked, let problem?): "could not ask: nobody, `\(problem.rawValue)`"
        case (_, let problem): "nobody, `\(problem?.rawValue ?? "")`"
        }
    }
}
