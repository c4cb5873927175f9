/// The keys by which the taps of signing tags are checked (NTAG 424 DNA, Secure Dynamic Messaging).
public struct SDMKeys: Sendable {
    /// Opens encrypted PICC data (SDMMetaRead); `nil` where the tag shows identifier and counter in the open.
    public var metaRead: SecretKey?

    /// Gives the key of one tag that its codes are made with (SDMFileRead), from the tag's identifier.
    public var fileRead: @Sendable (_ uid: [UInt8]) -> SecretKey

    /// One key for all tags.
    public init(metaRead: SecretKey?, fileRead: SecretKey) {
        self.metaRead = metaRead
        self.fileRead = { _ in fileRead }
    }

    /// A key for each tag, worked out from its identifier, as AN10922 and others do.
    ///
    /// - Parameter diversified: gives the key of the tag with that identifier (7 bytes, or 4).
    public init(metaRead: SecretKey?, diversified: @escaping @Sendable (_ uid: [UInt8]) -> SecretKey) {
        self.metaRead = metaRead
        fileRead = diversified
    }
}
