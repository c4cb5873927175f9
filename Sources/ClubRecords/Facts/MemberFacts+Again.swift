extension MemberFacts {
    /// What a row of a file tells of a member who was deleted or erased and is there again.
    ///
    /// By the time of the row, which may have none, all of it would have ended with the one who was there before. So what
    /// nobody has said here of the one who is there now counts as said when they were added: the same on every device
    /// that imports the row, and again if it is imported again. A total with a last visit before the end is that of the
    /// former one, and not taken.
    package func told(again facts: MemberFacts) -> MemberFacts {
        guard let end = facts.end, let born = facts.born, !born.isLegacy else { return self }
        var told = MemberFacts()
        told.add(births)
        for (name, versions) in values {
            let known = facts.values[name] ?? []
            told.merge(
                versions.compactMap { version in
                    if facts.isAlive(version.stamp) { return version }
                    guard version.kind != .emptyInFile,
                        !known.contains(where: { $0.kind == .device && $0.stamp != born })
                    else { return nil }
                    // Of what was said when they were added, nothing is replaced.
                    if let said = known.first(where: { $0.stamp == born }), said != Version(born, version.value) {
                        return nil
                    }
                    return Version(born, version.value)
                },
                into: name
            )
        }
        told.add(
            claims.compactMap { claim in
                if facts.isAlive(claim.stamp) { return claim }
                let isOver = claim.at != 0 && Stamp.legacy(at: claim.at).time <= end.time
                return isOver ? nil : Claim(visits: claim.visits, moment: claim.moment, stamp: born)
            }
        )
        return told
    }
}
