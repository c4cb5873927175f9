/// Whom a scenario is evaluated for.
///
/// In JSON: `{"member": "04A2…"}`, `{"group": "students"}` or `{"kiosk": true}`.
public enum ScenarioSubject: Sendable, Hashable {
    /// The member with that ``Member/userId``.
    case member(String)
    /// All members with that tag together.
    case group(String)
    /// This device.
    case kiosk
}

extension ScenarioSubject: Codable {
    private enum Key: String, CodingKey {
        case member, group, kiosk
    }

    /// Reads the object that ``encode(to:)`` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if let id = try container.decodeIfPresent(String.self, forKey: .member) {
            self = .member(id)
        } else if let tag = try container.decodeIfPresent(String.self, forKey: .group) {
            self = .group(tag)
        } else if try container.decode(Bool.self, forKey: .kiosk) {
            self = .kiosk
        } else {
            let text = "a subject is a member, a group, or the kiosk"
            throw DecodingError.dataCorruptedError(forKey: .kiosk, in: container, debugDescription: text)
        }
    }

    /// Writes an object with one key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .member(let id): try container.encode(id, forKey: .member)
        case .group(let tag): try container.encode(tag, forKey: .group)
        case .kiosk: try container.encode(true, forKey: .kiosk)
        }
    }
}

extension ScenarioSubject: CustomStringConvertible, CustomDebugStringConvertible {
    /// What kind of subject it is. Who it is is left out, so that it does not end up in a log by accident.
    public var description: String {
        switch self {
        case .member: "a member"
        case .group: "a group"
        case .kiosk: "the kiosk"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
