import ClubKit

/// A list of the members that follows every change: what a table on a screen does, on a terminal.
class MemberListScreen {
    private let usersCollection: MembershipUserCollection<CustomMembershipUser>

    init(of club: Club) {
        usersCollection = MembershipUserCollection<CustomMembershipUser>(club: club)
    }

    func observeChanges() {
        usersCollection.observeAllRecords({ [weak self] (changes: MembershipUserChanges) in
            switch changes {
            case .initial(_):
                self?.reload()
            case let .update(_, deletions, insertions, modifications):
                self?.show(deletions, insertions, modifications)
            case let .error(error):
                print("The list cannot be shown: \(error)")
            }
        })
    }

    func stopObserving() {
        usersCollection.stopObserving()
    }

    private func reload() {
        print("\(usersCollection.count) members")
        for row in 0..<usersCollection.count { showRow(row) }
    }

    private func show(_ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
        // Deletions and modifications are rows of the list before, insertions rows of the list now.
        for row in deletions { print("  row \(row) is gone") }
        for row in modifications where deletions.isEmpty && insertions.isEmpty { showRow(row) }
        for row in insertions { showRow(row) }
    }

    private func showRow(_ row: Int) {
        guard let user = usersCollection.user(at: row) else { return }
        print("  row \(row): \(user.shownName), visits: \(user.numVisits), \(user.emailAddress ?? "")")
    }
}

extension MembershipUser {
    /// The name, or what is on the card where there is none.
    var shownName: String {
        if let username, !username.isEmpty { username } else { userId ?? "" }
    }
}
