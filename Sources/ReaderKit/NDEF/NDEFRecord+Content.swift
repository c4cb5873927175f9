extension NDEFRecord {
    /// What the record says, read in ``NDEFMode/lenient`` with the highest limits. It never fails: a payload that breaks
    /// the rules of its type gives ``NDEFContent/malformed(_:)``.
    public var content: NDEFContent {
        do {
            return try decodedContent(mode: .lenient, limits: .maximum)
        } catch {
            return .malformed(error)
        }
    }

    /// What the record says.
    ///
    /// - Throws: The rule of the record's type that its payload breaks, with the offset in the payload.
    public func decodedContent(
        mode: NDEFMode = .strict,
        limits: NDEFLimits = .default
    ) throws(NDEFError) -> NDEFContent {
        .other
    }

    /// The records of the message in the payload of a Smart Poster, or `nil` if the record is none or is malformed.
    public var nestedRecords: [NDEFRecord]? { nil }

    /// Whether the record is data of that media type: type and subtype are compared without regard to case, parameters
    /// are not compared.
    public func isMIME(_ type: String) -> Bool { false }

    /// Whether the record is of that external type (`domain:type`), compared without regard to case.
    public func isExternal(_ type: String) -> Bool { false }
}
