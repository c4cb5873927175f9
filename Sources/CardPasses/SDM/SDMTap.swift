/// One tap of a signing tag, whose code is right.
public struct SDMTap: Sendable, Hashable {
    /// The tag's identifier: 7 bytes, or 4; empty where the tag does not tell it.
    public var uid: [UInt8]

    /// How often the tag was read, this time included: 0 to FFFFFF. `nil` where the tag does not tell it, and then a
    /// recorded tap cannot be told from a fresh one.
    public var counter: UInt32?

    /// What the tag had encrypted of its file, decrypted.
    public var fileData: [UInt8]?

    /// A tap.
    public init(uid: [UInt8], counter: UInt32?, fileData: [UInt8]? = nil) {
        self.uid = uid
        self.counter = counter
        self.fileData = fileData
    }
}
