import CardTags

/// Where a signing tag puts what into its URL: the names of the parameters, and where the signed part begins.
///
/// It sets for the URL what the tag's file settings set by offsets (SDMENCOffset, SDMMACInputOffset, SDMMACOffset).
///
/// Several parts may name the same parameter; then they stand in it one behind the other, in the order of the properties
/// here. `SDMLayout(piccData: "e", fileData: "e", mac: "e")` has everything in `e`, as NXP's sdm-backend takes it.
public struct SDMLayout: Sendable, Hashable, Codable {
    /// The parameter with identifier and counter, encrypted: 32 hexadecimal digits (48 in LRP mode).
    public var piccData: String?

    /// The parameter with the identifier in the open: 14 digits.
    public var uid: String?

    /// The parameter with the counter in the open: 6 digits, the most significant first.
    public var counter: String?

    /// The parameter with encrypted file data: a multiple of 32 digits. It has to stand in the signed part. In one that it
    /// shares with others it may be absent.
    public var fileData: String?

    /// The parameter with the code: 16 digits.
    public var mac: String

    /// The parameter at whose value the signed part begins, which ends at the code; `nil` for nothing but identifier and
    /// counter, and for the file data where the code stands directly behind them.
    public var signedFrom: String?

    /// What the tag signs and encrypts with, if it shows its identifier in the open; otherwise the length of
    /// ``piccData`` determines it. In JSON it may be omitted for ``Mode/aes``.
    public var mode: Mode

    /// What a tag signs and encrypts with. A tag that was brought to LRP mode never leaves it.
    public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
        /// AES in its usual modes (AN12196).
        case aes
        /// The leakage resilient primitive (AN12304).
        case lrp
    }

    /// A layout.
    public init(
        piccData: String? = nil,
        uid: String? = nil,
        counter: String? = nil,
        fileData: String? = nil,
        mac: String,
        signedFrom: String? = nil,
        mode: Mode = .aes
    ) {
        self.piccData = piccData
        self.uid = uid
        self.counter = counter
        self.fileData = fileData
        self.mac = mac
        self.signedFrom = signedFrom
        self.mode = mode
    }

    /// Reads a layout of which only ``mac`` may not be left out.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        piccData = try container.decodeIfPresent(String.self, forKey: .piccData)
        uid = try container.decodeIfPresent(String.self, forKey: .uid)
        counter = try container.decodeIfPresent(String.self, forKey: .counter)
        fileData = try container.decodeIfPresent(String.self, forKey: .fileData)
        mac = try container.decode(String.self, forKey: .mac)
        signedFrom = try container.decodeIfPresent(String.self, forKey: .signedFrom)
        mode = try container.decodeIfPresent(Mode.self, forKey: .mode) ?? .aes
    }

    /// The names of NXP's application notes: `picc_data` (or `e`), `enc`, `cmac` (or `c`).
    public static let encrypted = SDMLayout(piccData: "picc_data", fileData: "enc", mac: "cmac", signedFrom: "enc")
    /// Identifier and counter in the open: `uid`, `ctr`, `cmac`.
    public static let plain = SDMLayout(uid: "uid", counter: "ctr", mac: "cmac")
}

extension SDMLayout {
    /// The parts of what a tag writes, in the order in which they stand in a parameter that they share.
    enum Part: CaseIterable {
        case piccData, uid, counter, fileData, mac

        var digits: Int? { [.uid: 14, .counter: 6, .mac: 16][self] }
    }

    /// The parameter with a part; empty for one that is not there.
    func name(of part: Part) -> String {
        switch part {
        case .piccData: piccData ?? ""
        case .uid: uid ?? ""
        case .counter: counter ?? ""
        case .fileData: fileData ?? ""
        case .mac: mac
        }
    }

    /// Whether a tag reports both its identifier and how often it was read, so that a recorded tap is recognized.
    var counts: Bool { piccData != nil || uid != nil && counter != nil }
}
