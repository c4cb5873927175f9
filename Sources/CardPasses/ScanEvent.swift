import CardCore
import CardTags
import Foundation
import NDEFCodec

/// One tap: what was read from one presentation of a card, however long it rested on the reader.
///
/// The `Codable` form is the JSON object that the tools print; its keys are documented there and only added to.
public struct ScanEvent: Sendable, Hashable, Identifiable {
    /// Distinguishes this tap from every other. A club that sees the same id again returns its first result.
    public var id: UUID

    /// When the card was seen.
    public var at: Date

    /// The name of the reader.
    public var reader: String

    /// The way by which the reader is reached.
    public var backend: BackendKind

    /// The radio technology, or `nil` if the reader does not report it.
    public var technology: Technology?

    /// The name of the card's product, as far as it is known ("MIFARE Classic 1K", "ISO 14443-4 A").
    public var card: String

    /// The card's unique identifier, or `nil` if it could not be read.
    public var uid: CardUID?

    /// The answer to reset, if the backend provides one.
    public var atr: [UInt8]?

    /// The NDEF records: empty when the tag is formatted but holds none, `nil` when there is no NDEF on the card or it
    /// could not be read; then ``problems`` explains why.
    public var ndef: [NDEFRecord]?

    /// Everything that was read and identifies the member; the first provides ``memberKey``.
    ///
    /// They stand in the order of the place (``PassSite/order``), and of one kind the most trusted first. Without a place
    /// the records come in their order on the card, and the card's own identifier last.
    public var passes: [Pass]

    /// The objects of the phone's wallet (Google Wallet), in the phone's order: the pass of ``passes`` that names the
    /// member, and whatever names nobody here, such as offers and tickets. Empty if the place does not trust it.
    public var objects: [SmartTapObject]

    /// What the club looks the member up by, or `nil` when nothing stable was read.
    public var memberKey: String?

    /// The member's name, as stated by the pass that provided ``memberKey``.
    public var memberName: String?

    /// What could not be read or was not accepted, in the order in which it was met.
    public var problems: [Problem]

    /// How long reading the card took.
    public var duration: Duration

    /// Something that could not be read or was not accepted. It is part of the tap, not a failure of the program.
    public struct Problem: Sendable, Hashable, Codable {
        /// What kind of problem, for programs.
        public var code: Code

        /// What happened and what can be done, for people.
        public var message: String

        /// The kinds of problems: first what another try can mend, then what is wrong on the card, then what kind of card
        /// it is.
        public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
            /// The card left before all of it was read.
            case cardRemoved
            /// The link to the card or its reader failed before all of it was read.
            case readFailed
            case phoneLocked
            case phoneNeedsOwner
            /// The tag's memory is inconsistent, as after a torn write.
            case tagCorrupt
            case ndefMalformed
            /// A membership text that is not well formed.
            case invalidPass
            /// A pass whose proof is wrong, or that cannot be checked.
            case passNotAccepted
            /// A pass that was presented before: a recording, or an address that was opened twice.
            case passReplayed
            /// A pass that was made too long ago, by the phone's clock.
            case passExpired
            /// What is there can be copied, and the place wants proof.
            case passNotTrusted
            case noPass
            /// The message on the tag cannot be read without a key or a password.
            case tagProtected
            /// The tag is of a version that is not known here, or it could not be asked whether there is a message.
            case tagUnsupported
            /// The card's identifier has a length that no card of its kind has, or cannot be asked for where nothing else
            /// names anybody.
            case invalidUID
            /// The card's identifier is not unique, so it identifies nobody.
            case nonUniqueUID
            /// The card shows a new identifier each time, which identifies nobody.
            case randomUID

            /// What the person at the reader can do, in one line.
            public var advice: String {
                switch self {
                case .cardRemoved: "The card left too soon. Hold it to the reader until it signals."
                case .readFailed: "The card could not be read. Hold it still and closer."
                case .phoneLocked: "The phone is locked. Unlock it and hold it to the reader again."
                case .phoneNeedsOwner: "Choose the pass on the phone and hold it to the reader again."
                case .passNotAccepted: "This pass could not be checked. Ask at the desk."
                case .passReplayed: "This tap was seen before. Hold the phone or card itself to the reader."
                case .passExpired: "This pass is too old. Check the phone's clock, or ask at the desk."
                case .passNotTrusted: "This card is not enough here. Use a pass."
                case .noPass: "There is no pass of this place on the phone. Add it to the wallet."
                case .tagCorrupt, .ndefMalformed: "The data on this card is damaged. Ask at the desk."
                case .invalidPass: "The membership text on this card is not valid. Ask at the desk."
                case .tagProtected: "The data on this card is locked. Ask at the desk."
                case .tagUnsupported: "This kind of card is not known here. Use another one."
                case .invalidUID: "This card has no valid number. Use another one."
                case .nonUniqueUID: "The number of this card is not unique. Use another one."
                case .randomUID: "This card shows a new number each time. Use another one."
                }
            }
        }

        /// A problem.
        public init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }

    /// A tap.
    public init(
        id: UUID,
        at: Date,
        reader: String,
        backend: BackendKind,
        technology: Technology? = nil,
        card: String = "unknown",
        uid: CardUID? = nil,
        atr: [UInt8]? = nil,
        ndef: [NDEFRecord]? = nil,
        passes: [Pass] = [],
        objects: [SmartTapObject] = [],
        memberKey: String? = nil,
        memberName: String? = nil,
        problems: [Problem] = [],
        duration: Duration = .zero
    ) {
        self.id = id
        self.at = at
        self.reader = reader
        self.backend = backend
        self.technology = technology
        self.card = card
        self.uid = uid
        self.atr = atr
        self.ndef = ndef
        self.passes = passes
        self.objects = objects
        self.memberKey = memberKey
        self.memberName = memberName
        self.problems = problems
        self.duration = duration
    }

    /// The pass that provided ``memberKey``; for a wallet's pass, ``Pass/type`` identifies it.
    public var memberPass: Pass? { passes.first { $0.id == memberKey } }
}

extension ScanEvent: Redacted {
    /// What was tapped where. Identifiers, names and the card's contents are omitted, so that they do not end up in a
    /// log by accident; its JSON has them.
    public var description: String {
        let problems = problems.map(\.code.rawValue).joined(separator: ", ")
        return "tap of \(card) on \(reader) at \(ISO8601.text(at))\(problems.isEmpty ? "" : " (\(problems))")"
    }
}

extension ScanEvent: Codable {
    private enum Key: String, CodingKey {
        case event, id, at, reader, backend, technology, card, uid, uidKind, atr, ndef, passes, objects, memberKey,
            memberName
        case problems, durationMs
    }

    /// The object that the tools print for a tap: bytes as upper-case hexadecimal, times in UTC with milliseconds,
    /// absent values left out.
    public func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode("scan", forKey: .event)
        try object.encode(id.uuidString, forKey: .id)
        try object.encode(ISO8601.text(at), forKey: .at)
        try object.encode(reader, forKey: .reader)
        try object.encode(backend, forKey: .backend)
        try object.encodeIfPresent(technology, forKey: .technology)
        try object.encode(card, forKey: .card)
        try object.encodeIfPresent(uid?.hex, forKey: .uid)
        try object.encodeIfPresent(uid?.kind, forKey: .uidKind)
        try object.encodeIfPresent(atr?.hex, forKey: .atr)
        try object.encodeIfPresent(ndef, forKey: .ndef)
        try object.encode(passes, forKey: .passes)
        if !objects.isEmpty { try object.encode(objects, forKey: .objects) }
        try object.encodeIfPresent(memberKey, forKey: .memberKey)
        try object.encodeIfPresent(memberName, forKey: .memberName)
        if !problems.isEmpty { try object.encode(problems, forKey: .problems) }
        try object.encode((duration.seconds * 10_000).rounded() / 10, forKey: .durationMs)
    }

    /// Reads the object back. Keys that are not known are passed over.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        guard try object.decode(String.self, forKey: .event) == "scan" else {
            throw DecodingError.dataCorruptedError(forKey: .event, in: object, debugDescription: "not a scan event")
        }
        guard let at = ISO8601.date(try object.decode(String.self, forKey: .at)) else {
            throw DecodingError.dataCorruptedError(forKey: .at, in: object, debugDescription: "not an ISO 8601 time")
        }
        let technology = try object.decodeIfPresent(Technology.self, forKey: .technology)
        self.init(
            id: try object.decode(UUID.self, forKey: .id),
            at: at,
            reader: try object.decode(String.self, forKey: .reader),
            backend: try object.decode(BackendKind.self, forKey: .backend),
            technology: technology,
            card: try object.decodeIfPresent(String.self, forKey: .card) ?? "unknown",
            uid: try object.bytes(forKey: .uid).map { CardUID($0, technology: technology) },
            atr: try object.bytes(forKey: .atr),
            ndef: try object.decodeIfPresent([NDEFRecord].self, forKey: .ndef),
            passes: try object.decodeIfPresent([Pass].self, forKey: .passes) ?? [],
            objects: try object.decodeIfPresent([SmartTapObject].self, forKey: .objects) ?? [],
            memberKey: try object.decodeIfPresent(String.self, forKey: .memberKey),
            memberName: try object.decodeIfPresent(String.self, forKey: .memberName),
            problems: try object.decodeIfPresent([Problem].self, forKey: .problems) ?? [],
            duration: .seconds((try object.decodeIfPresent(Double.self, forKey: .durationMs) ?? 0) / 1000)
        )
    }
}

extension MessageQuestion.Meaning {
    /// The problem of a tap at which the search for the message came to this; `nil` for none.
    package var problem: ScanEvent.Problem.Code? {
        switch self {
        case .present, .absent: nil
        case .notAsked, .unsupported: .tagUnsupported
        case .protected: .tagProtected
        case .corrupt: .tagCorrupt
        case .failed: .readFailed
        }
    }
}
