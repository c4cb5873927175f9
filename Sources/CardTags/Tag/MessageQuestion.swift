import CardCore

/// A question by which the message of a card is looked for, and what the answers to it mean.
///
/// That there is no message, and that it could not be asked whether there is one, are never the same: a card of the first
/// kind is known by its identifier, one of the second is nobody. This is the one table for it, and Documentation/cards.md
/// shows it: every question that decides is in it. Its status words are looked up here, but for those of ``pages`` and of
/// what comes after a tag was seen, which are told by the kind of error (``TagError/outcome``), and those after which
/// ``Type4Files`` takes the next form of SELECT. Outside of it is what decides
/// nothing when it is refused: the identifier (`FF CA`), SpringCard's word on the kind of tag (`FF CA F1 01`), the size of
/// blocks; and what a phone's wallet is asked.
package enum MessageQuestion: CaseIterable, Sendable {
    case kind, application, container, pages, block, frames, key, directory, message

    /// The kinds of cards that are asked so, by which reader, and how; for the page.
    package var text: (cards: String, question: String) {
        switch self {
        case .kind:
            (
                "any",
                "what the reader reports before the card is asked: answer to reset, anticollision; `FF CA F1 01` of "
                    + "SpringCard's readers where these name no product"
            )
        case .application:
            (
                "ISO 14443-4 (Type 4, phones, DESFire …), and cards with a contact card's answer to reset",
                "SELECT `D2760000850101`, then `D2760000850100`; refused for its form (`67xx`, `6Cxx`, `6A80`, `6A86`, "
                    + "`6A87`, `6B00`), with the Le that is named, without Le, then with P2 `0C`"
            )
        case .container: ("with the application", "SELECT `E103`, with P2 `0C`, with `00`, and with Le")
        case .pages:
            (
                "Type 2; as such storage cards without a known name, of type A or of no stated technology, and cards with a "
                    + "contact card's answer to reset that know no SELECT (`6D00`, `6E00`), but for those of 125 kHz",
                "`FF B0`, or READ in frames: pages 0 to 3"
            )
        case .block:
            (
                "Types 1, 3 and 5, by the reader",
                "`FF B0`: the first block, of Type 5 with lengths 4, 8 and 16, of Type 3 also after `FF A4`"
            )
        case .frames:
            (
                "Types 1, 3 and 5, in their own frames, where `FF B0` did not read",
                "RID; polling for `12FC`; READ SINGLE BLOCK: by libnfc, or in `FF FE`, `FF 00 00 00` (`D4 42`, `D4 40 01`), "
                    + "`FF EF`, `FF C2`"
            )
        case .key: ("MIFARE Classic, by PC/SC", "`FF 82`: the public key")
        case .directory: ("MIFARE Classic", "`FF 86`, or its own frame: sector 0 with the public key; its directory")
        case .message: ("any, once a tag was seen", "the place for the message, and the message")
        }
    }

    /// What an answer means.
    package enum Meaning: Sendable, CaseIterable {
        /// There is something: it is asked further.
        case present
        /// There is no message; the card's own identifier counts.
        case absent
        /// Whether there is one could not be asked.
        case notAsked
        /// It may not be read without a key.
        case protected
        /// It follows a mapping that is not known.
        case unsupported
        /// It is not consistent, or reading it went wrong on the card.
        case corrupt
        /// The link failed.
        case failed
    }

    /// What some of the answers to a question mean.
    package struct Answer: Sendable {
        /// The status words, in ranges; none for answers without one.
        package var statuses: [ClosedRange<UInt16>] = []
        /// The answers in words.
        package var words = ""
        package var meaning: Meaning

        fileprivate static func status(_ status: UInt16..., words: String = "", means meaning: Meaning) -> Self {
            Self(statuses: status.map { $0...$0 }, words: words, meaning: meaning)
        }

        /// What a reader reports of the radio link.
        fileprivate static func link(_ words: String = "") -> Self {
            Self(statuses: [0x6F01...0x6FFF], words: words, meaning: .failed)
        }

        fileprivate static func other(_ words: String, means meaning: Meaning) -> Self {
            Self(statuses: [0...0xFFFF], words: words, meaning: meaning)
        }

        fileprivate static func words(_ words: String, means meaning: Meaning) -> Self {
            Self(words: words, meaning: meaning)
        }

        fileprivate func fits(_ status: StatusWord) -> Bool { statuses.contains { $0.contains(status.rawValue) } }
    }

    /// The answers; the first that a status word fits counts.
    package var answers: [Answer] {
        switch self {
        case .kind:
            [
                .words("an answer to reset that cannot be read, or none", means: .notAsked),
                .words(
                    "a kind without a mapping, such as memory cards of type B, cards of 125 kHz or NFC-DEP",
                    means: .absent
                ),
            ]
        case .application:
            [
                Answer(statuses: [0x9000...0x9000, 0x6100...0x61FF], meaning: .present),
                .status(0x6A81, 0x6A82, 0x6A88, 0x6999, 0x6D00, 0x6E00, 0x911C, 0x91A0, means: .absent),
                .status(0x6982, means: .protected),
                Answer(statuses: [0x6400...0x66FF, 0x6F00...0x6FFF], meaning: .corrupt),
                .other(
                    "any other, as `6700`, `6A86`, `6985`, `6283`, when no form is left to try; `6D00` or `6E00` to a later form",
                    means: .notAsked
                ),
            ]
        case .container:
            [
                .status(0x9000, means: .present),
                .status(0x6A82, words: "to P2 `00`; to `0C` if no other form is taken", means: .absent),
                .status(0x6982, means: .protected), .other("any other, when no form is left to try", means: .corrupt),
            ]
        case .pages:
            [
                .words("no `E1` in page 3", means: .absent),
                .words(
                    "by a card with a contact card's answer to reset: any refusal but `63xx` to `65xx`, an answer without a "
                        + "page, or silence (`6F01`, `6F1B`)",
                    means: .absent
                ),
                .words("refused otherwise by a card that is not known to be of Type 2", means: .notAsked),
                .status(0x6982, means: .protected), .link(), .other("refused otherwise", means: .corrupt),
            ]
        case .block:
            [
                .words("a block that is none of a tag's", means: .absent),
                .status(0x6982, 0x6A82, words: "if the reader carries no frames; or `6A82` to `FF A4`", means: .absent),
                .link("if the reader carries no frames"),
                .other("any other, as `6300`, if the reader carries no frames", means: .notAsked),
            ]
        case .frames:
            [
                .words("silence, or anything that is no tag's", means: .absent),
                .words("what arrived damaged", means: .failed),
            ]
        case .key: [.status(0x9000, means: .present), .other("any other", means: .notAsked)]
        case .directory:
            [
                .words("no directory, a blank one (all `00` or all `FF`), or one without a message", means: .absent),
                .status(0x9000, means: .present),
                .status(
                    0x6300,
                    0x6982,
                    0x6983,
                    0x6F04,
                    0x6F0A,
                    words: "or silence to a frame: the key is not the card's",
                    means: .absent
                ),
                .link(), .words("any other directory that fails its checksum", means: .corrupt),
                .other("any other; a block of the directory that is not read", means: .notAsked),
            ]
        case .message:
            [
                .words("a mapping version that is not known", means: .unsupported),
                .words("a key or a password is needed", means: .protected),
                .words("what the tag states of itself is not consistent", means: .corrupt),
                .words("the card left, or the link failed", means: .failed),
            ]
        }
    }

    /// What a status word means as the answer.
    func meaning(of status: StatusWord) -> Meaning { answers.first { $0.fits(status) }?.meaning ?? .notAsked }
}

extension TagError {
    /// What reading the message came to, as the table has it.
    package var outcome: MessageQuestion.Meaning {
        switch self {
        case .link: .failed
        case .notAsked: .notAsked
        case .unsupportedVersion: .unsupported
        case .protected where isPermanent: .protected
        default: .corrupt
        }
    }
}
