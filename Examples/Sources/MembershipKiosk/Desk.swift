import ClubKit

/// Is told what happens in the club, on the main queue, after it is on disk.
final class Desk: ClubMiddlewareDelegate {
    func club(_ club: Club, didCreateNewMembership user: MembershipUser) {
        print("Welcome, \(name(user)). This is your first visit.")
        if let user = user as? CustomMembershipUser, user.emailAddress?.isEmpty != false {
            print("  Shall we write to you? There is no e-mail address yet.")
        }
    }

    func club(_ club: Club, didUpdateMembership user: MembershipUser) {
        print("Welcome back, \(name(user)). Visit number \(user.numVisits).")
    }

    func club(_ club: Club, didReceive error: any Error) {
        print("\(error)")
    }

    private func name(_ user: MembershipUser) -> String {
        if let name = user.username, !name.isEmpty { name } else { user.userId ?? "" }
    }
}
