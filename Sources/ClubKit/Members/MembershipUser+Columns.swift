extension MembershipUser {
    /// The names of the values of that class, in the order of the columns of an export: those that
    /// ``variableNamesAsStrings()`` gives, then those that the class writes besides, so that a class which does not
    /// override it loses none.
    class var columnNames: [String] {
        // A class may refuse a record without values.
        let written = (try? Self.emptyRecordNames()) ?? []
        var seen: Set<String> = []
        return (variableNamesAsStrings() + written).filter { seen.insert($0).inserted }
    }

    private class func emptyRecordNames() throws -> [String] {
        try RecordEncoder.record(of: Self.init(from: RecordDecoder([:]))).names
    }

    /// What the object holds, by name.
    ///
    /// - Throws: ``ClubError/Kind/unreadableRecord`` if its `encode(to:)` throws.
    func record(attempting attempt: String) throws(ClubError) -> [String: FieldValue] {
        do {
            var record = try RecordEncoder.record(of: self).fields
            let name = FieldKey.memberId.stringValue
            if let formerMemberID, record[name] == nil { record[name] = .string(formerMemberID) }
            return record
        } catch {
            throw ClubError(.unreadableRecord, attempting: attempt, detail: RecordEncoder.summary(error))
        }
    }
}

extension RecordEncoder {
    /// What went wrong and at which field, without the values that an encoding error quotes.
    static func summary(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else { return "it threw \(type(of: error))" }
        let path = context.codingPath.map { PlainText.line($0.stringValue) }.joined(separator: ".")
        return "the field '\(path)' cannot be stored"
    }
}
