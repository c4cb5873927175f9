import Foundation
import Testing

@testable import ClubKit

@Suite("Member records")
struct MembershipUserTests {
    private static let keys = ["userId", "username", "timeStampAdded", "numVisits", "timeStampOfLastVisit"]

    @Test("A record without values is empty, in a subclass too")
    func empty() throws {
        let user = try MembershipUser()
        #expect(user.userId == nil)
        #expect(user.username == nil)
        #expect(user.timeStampAdded == 0)
        #expect(user.numVisits == 0)
        #expect(user.timeStampOfLastVisit == 0)
        let custom = try CustomUser()
        #expect(custom.emailAddress == "")
        #expect(custom.level == 0)
        #expect(custom.interests == [])
        #expect(custom.birthday == nil)
    }

    @Test("The columns are the base values, then those of the subclass")
    func columns() {
        #expect(MembershipUser.variableNamesAsStrings() == Self.keys)
        #expect(CustomUser.variableNamesAsStrings() == Self.keys + ["emailAddress", "level", "interests", "birthday"])
    }

    @Test(
        "Base values are read as the original library writes them",
        arguments: [
            (#"{"userId":"A","username":"Ada","timeStampAdded":1.5,"numVisits":3,"timeStampOfLastVisit":2}"#, 3, 1.5),
            (
                #"{"userId":"A","username":"Ada","timeStampAdded":"1.5","numVisits":"3","timeStampOfLastVisit":"2"}"#,
                3, 1.5
            ),
            (#"{"userId":"A","username":"Ada","timeStampAdded":"x","numVisits":"","timeStampOfLastVisit":null}"#, 0, 0),
            (#"{"userId":"A","username":"Ada","numVisits":1e300,"timeStampAdded":"inf"}"#, 0, 0),
            (#"{"userId":"A","username":"Ada","numVisits":2.9,"timeStampAdded":"nan"}"#, 2, 0),
            (#"{"userId":"A","username":"Ada"}"#, 0, 0),
        ]
    )
    func baseValues(json: String, visits: Int, added: Double) throws {
        let user = try JSONDecoder().decode(MembershipUser.self, from: Data(json.utf8))
        #expect(user.userId == "A")
        #expect(user.username == "Ada")
        #expect(user.numVisits == visits)
        #expect(user.timeStampAdded == added)
    }

    @Test("The ids of both generations of the original library are understood")
    func generations() throws {
        func user(_ json: String) throws -> MembershipUser {
            try JSONDecoder().decode(MembershipUser.self, from: Data(json.utf8))
        }
        let later = try user(#"{"memberId":"M-1","passId":"A","username":"Ada"}"#)
        #expect(later.userId == "A" && later.passId == "A" && later.memberId == "M-1" && later.id == "A")
        let former = try user(#"{"userId":"A","username":"Ada"}"#)
        #expect(former.userId == "A" && former.passId == "A" && former.memberId == "A")
        #expect(try user(#"{"userId":"A","passId":"B"}"#).userId == "A")
        let nobody = try user("{}")
        #expect(nobody.memberId == nil && nobody.passId == nil && nobody.id == "")
        #expect(MembershipUser.primaryKey() == "userId")
        #expect(CustomUser.className() == "CustomUser")
    }

    private final class Identified: MembershipUser {
        // What the record calls "id" is the subclass's own value.
        var id: Int = 7
    }

    @Test("A subclass may have a value named id")
    func ownID() throws {
        func identifier<T: Identifiable>(of value: T) -> T.ID { value.id }
        let user = try Identified()
        user.userId = "A"
        #expect(user.id == 7)
        #expect(identifier(of: user) == "A")
        let identifiable: any IdentifiableUserProtocol = user
        #expect(identifiable.passId == "A")
    }

    @Test("Missing ids and names are written as null and read back")
    func null() throws {
        let json = try JSONEncoder().encode(MembershipUser())
        let object = try JSONDecoder().decode([String: FieldValue].self, from: json)
        #expect(object["userId"] == .null)
        #expect(object["username"] == .null)
        #expect(Set(object.keys) == Set(Self.keys))
        #expect(try JSONDecoder().decode(MembershipUser.self, from: json).username == nil)
    }

    @Test("Custom fields are stored and given back through the subclass")
    func customFields() async throws {
        let directory = try TemporaryDirectory()
        let configuration = ClubConfiguration.test(.file(path: directory.file()))
        let fields: [String: FieldValue] = [
            "emailAddress": "ada@example.org", "level": 3, "interests": ["chess", "go"], "birthday": 100.25,
            "unknown to the class": ["a": nil, "b": true],
        ]
        var club = try await openClub(configuration).setCustomMembershipUser(classType: CustomUser.self)
        _ = try await club.receive(tap("A", name: "Ada"))
        let fresh = try #require(try club.getUser(with: "A") as? CustomUser)
        #expect(fresh.emailAddress == "")
        let wanted = fields.merging(["numVisits": 99, "$blocked": "x"]) { $1 }
        #expect(try await club.update("A") { $0.fields = wanted }.fields == fields)
        #expect(try await club.update("A") { $0.fields["level"] = 4 }.fields["interests"] == ["chess", "go"])
        await #expect(throws: ClubError.self) { try await club.update("B") { $0.fields["level"] = 4 } }
        try await club.close()

        club = try await openClub(configuration).setCustomMembershipUser(classType: CustomUser.self)
        let user = try #require(try club.getUser(with: "A") as? CustomUser)
        #expect(user.userId == "A")
        #expect(user.username == "Ada")
        #expect(user.numVisits == 1)
        #expect(user.timeStampAdded == start.timeIntervalSince1970)
        #expect(user.emailAddress == "ada@example.org")
        #expect(user.level == 4)
        #expect(user.interests == ["chess", "go"])
        #expect(user.birthday == Date(timeIntervalSinceReferenceDate: 100.25))
        // A tap leaves them alone.
        #expect(try await club.receive(tap("A", at: 60)).member?.fields == fields.merging(["level": 4]) { $1 })
        try await club.close()
    }

    @Test("Getters hand out copies")
    func copies() async throws {
        let club = try await openClub()
        _ = try await club.receive(tap("A", name: "Ada"))
        let user = try #require(try club.getUser(with: "A"))
        user.username = "Eve"
        user.numVisits = 99
        let other = try #require(try club.getUser(with: "A"))
        #expect(other !== user)
        #expect(other.username == "Ada")
        #expect(other.numVisits == 1)
    }

    @Test("What a class does not accept is a typed error that quotes no value")
    func refused() async throws {
        let club = try await openClub().setCustomMembershipUser(classType: RefusingUser.self)
        _ = try await club.receive(tap("04A1B2C3D4E5F6"))
        let error = try #require(throws: ClubError.self) { try club.getUser(with: "04A1B2C3D4E5F6") }
        #expect(error.kind == .unreadableRecord)
        #expect(!error.description.contains("04A1B2C3D4E5F6"))
        #expect(!error.description.contains("secret"))
    }

    @Test("A member in JSON has the base values and the custom fields at one level")
    func memberJSON() throws {
        let member = Member(
            userId: "A",
            username: nil,
            timeStampAdded: 1.5,
            numVisits: 2,
            timeStampOfLastVisit: 3,
            fields: ["email": "ada@example.org", "tags": [1, 2.5, nil], "userId": "forged"]
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(member), as: UTF8.self)
        #expect(
            json == #"{"email":"ada@example.org","numVisits":2,"tags":[1,2.5,null],"timeStampAdded":1.5,"#
                + #""timeStampOfLastVisit":3,"userId":"A","username":null}"#
        )
        var expected = member
        expected.fields["userId"] = nil
        #expect(try JSONDecoder().decode(Member.self, from: Data(json.utf8)) == expected)
    }
}
