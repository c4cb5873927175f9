import CardTags

/// The keys by which the taps of signing tags are checked (NTAG 424 DNA, Secure Dynamic Messaging).
public struct SDMKeys: Sendable {
    /// Opens encrypted PICC data (SDMMetaRead); `nil` where the tag shows identifier and counter in the open.
    public var metaRead: SecretKey?

    /// Gives the key of one tag that its codes are made with (SDMFileRead), from the tag's identifier; `nil` for a tag that
    /// is none of this place, whose code is then wrong.
    public var fileRead: @Sendable (_ uid: [UInt8]) -> SecretKey?

    /// One key for all tags.
    public init(metaRead: SecretKey?, fileRead: SecretKey) {
        self.metaRead = metaRead
        self.fileRead = { _ in fileRead }
    }

    /// A key for each tag, worked out from a master key, as AN10922 does.
    public init(metaRead: SecretKey?, master: SecretKey, diversification: KeyDiversification) {
        self.metaRead = metaRead
        fileRead = { uid in diversification.key(master: master, uid: uid) }
    }

    /// A key for each tag, in a way of one's own.
    ///
    /// - Parameter diversified: gives the key of the tag with that identifier (7 bytes, or 4, or none where the tag does
    ///   not tell it); `nil` if there is none.
    public init(metaRead: SecretKey?, diversified: @escaping @Sendable (_ uid: [UInt8]) -> SecretKey?) {
        self.metaRead = metaRead
        fileRead = diversified
    }
}
