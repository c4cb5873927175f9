/// The content of a Handover Request (`Hr`) or Handover Select (`Hs`) record: the carriers over which two devices could
/// go on (NFC Forum Connection Handover 1.2 to 1.5).
///
/// What a carrier needs lies in other records of the same message, which it names by their identifiers.
/// ``NDEFMessage/handover(mode:limits:)`` finds them.
public struct NDEFHandover: Sendable, Hashable {
    /// Which of the two records it is.
    public var kind: Kind

    /// The version of the standard that the record follows; the major number is 1.
    public var version: Version

    /// The random number that decides between two devices that ask at the same time (`cr`). Requests only.
    public var collisionResolution: UInt16?

    /// The carriers, the preferred one first.
    public var carriers: [AlternativeCarrier]

    /// Why an earlier request failed (`err`). Selections only.
    public var failure: Failure?

    /// Records of other types in the payload, which the standard says to ignore, in the order in which they are written.
    public var others: [NDEFRecord]

    /// The two records of a handover.
    public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
        /// `Hr`: these carriers are offered.
        case request
        /// `Hs`: these carriers are chosen, or none.
        case select
    }

    /// A version of the standard.
    public struct Version: Sendable, Hashable, CustomStringConvertible {
        /// The number before the point, 0 to 15. Other numbers than 1 are not read.
        public let major: Int
        /// The number after the point, 0 to 15.
        public let minor: Int

        /// A version. Numbers out of the range from 0 to 15 are brought into it.
        public init(_ major: Int, _ minor: Int) {
            self.major = min(max(major, 0), 15)
            self.minor = min(max(minor, 0), 15)
        }

        init(code: UInt8) { self.init(Int(code >> 4), Int(code & 0x0F)) }

        var code: UInt8 { UInt8(truncatingIfNeeded: major << 4 | minor) }

        /// Such as `1.2`.
        public var description: String { "\(major).\(minor)" }
    }

    /// A carrier of a handover (`ac`).
    public struct AlternativeCarrier: Sendable, Hashable {
        /// Whether the carrier is switched on.
        public var power: PowerState
        /// The identifier of the record that configures the carrier, 0 to 255 bytes.
        public var reference: [UInt8]
        /// The identifiers of records that say more, at most 255 of 0 to 255 bytes each.
        public var auxiliary: [[UInt8]]

        /// A carrier.
        public init(power: PowerState, reference: [UInt8], auxiliary: [[UInt8]] = []) {
            self.power = power
            self.reference = reference
            self.auxiliary = auxiliary
        }
    }

    /// Whether a carrier is switched on. The raw value is the code in the record.
    public enum PowerState: UInt8, Sendable, Hashable, CaseIterable {
        /// It is off.
        case inactive = 0
        /// It is on.
        case active = 1
        /// It is being switched on.
        case activating = 2
        /// It is not known.
        case unknown = 3
    }

    /// Why a request failed (`err`).
    public enum Failure: Sendable, Hashable {
        /// There is too little memory now; ask again after so many milliseconds.
        case temporaryMemory(milliseconds: UInt8)
        /// There is too little memory; a message of so many bytes would fit.
        case permanentMemory(bytes: UInt32)
        /// The carrier cannot be used now; ask again after so many milliseconds.
        case carrier(milliseconds: UInt8)
        /// A reason that the standard reserves, with its data.
        case reserved(reason: UInt8, data: [UInt8])
    }

    /// A handover.
    public init(
        _ kind: Kind,
        version: Version = Version(1, 2),
        collisionResolution: UInt16? = nil,
        carriers: [AlternativeCarrier] = [],
        failure: Failure? = nil,
        others: [NDEFRecord] = []
    ) {
        self.kind = kind
        self.version = version
        self.collisionResolution = collisionResolution
        self.carriers = carriers
        self.failure = failure
        self.others = others
    }
}

extension NDEFHandover.PowerState {
    /// The name in JSON and in texts.
    public var name: String { "\(self)" }
}
