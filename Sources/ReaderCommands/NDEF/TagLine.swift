import ReaderKit
import ToolSupport

/// What `ndef read`, `write`, `format`, `lock` and `repair` print of a tag.
struct TagLine: Encodable, Sendable {
    enum Event: String, Encodable, Sendable {
        case read, written, formatted, locked, repaired, unchanged
    }

    var event: Event
    var reader: String
    var uid: String?
    /// Whether the card itself keeps the lock, and not its capability container's word alone.
    var enforced: Bool?
    var state: TagState

    init(_ event: Event, _ content: TagContent, _ card: CardOnReader) {
        self.event = event
        reader = card.presence.reader.name
        uid = card.uid?.hex
        state = TagState(content)
    }

    func encode(to encoder: any Encoder) throws {
        let more: JSONObject = ["event": event, "reader": reader, "uid": uid, "enforced": enforced]
        try JSONObject(state, more).encode(to: encoder)
    }
}

/// What is on a tag.
struct TagState: Encodable, Sendable {
    enum State: String, Encodable, Sendable {
        case absent, empty, message
    }

    var type: TagType?
    var state: State
    var capacity: Int?
    var used: Int?
    var version: String?
    var readAccess: String?
    var writeAccess: String?
    var interrupted: Bool?
    var ndef: String?
    var records: [NDEFRecord]?
    var error: NDEFError?

    init(_ content: TagContent) {
        type = content.type
        switch content.ndef {
        case .absent: state = .absent
        case .empty:
            state = .empty
            records = []
        case .message(let bytes):
            state = .message
            let (message, fault) = NDEFMessage.decodeLeniently(bytes, limits: .maximum)
            records = message.records
            error = fault
        }
        ndef = content.ndef.bytes?.hex
        used = content.ndef.bytes?.count
        guard let area = content.area else { return }
        capacity = area.capacity
        version = area.version.description
        readAccess = area.readAccess.name
        writeAccess = area.writeAccess.name
        interrupted = content.isInterrupted
    }

    /// One line for people: "Type 2, 42 of 137 bytes used".
    var summary: String {
        var text = type.map { $0 == .mifareClassic ? $0.name : $0.name + " tag" } ?? "no tag"
        switch (state, used, capacity) {
        case (.absent, _, _): text += ", no place for a message"
        case (_, let used?, let capacity?): text += ", \(used) of \(capacity) bytes used"
        default: break
        }
        if writeAccess == "never" { text += ", read only" }
        if interrupted == true { text += ", empty because writing was interrupted ('readerctl ndef repair')" }
        return text
    }

    var text: String {
        var lines = [summary]
        if state == .absent, type != nil {
            lines.append("  'readerctl ndef format' makes a place, where the tag can have one")
        }
        if state == .empty { lines.append("  formatted, without a message") }
        lines += (records ?? []).map { "  " + RecordText.describe($0) }
        return lines.joined(separator: "\n")
    }
}

extension TagArea.Access {
    /// As JSON has it: "free", "never", or "key XX" for what the maker decides.
    var name: String {
        switch self {
        case .free: "free"
        case .never: "never"
        case .proprietary(let number): "key \([number].hex)"
        }
    }
}
