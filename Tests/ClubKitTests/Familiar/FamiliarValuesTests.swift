import Foundation
import ReaderKit
import Testing

@testable import ClubKit

@Suite("Values under the names of the original library")
struct FamiliarValuesTests {
    @Test("Results have the spelling and the numbers of the original reader kit")
    func results() {
        let expected: [(String, Int)] = [
            ("E_NOERROR", 0), ("E_NOTSUPPORTED", -15), ("E_INVALIDPARAMETER", -18), ("E_NOTINITIALIZED", -19),
            ("E_UNABLEINITIALIZE", -21),
        ]
        #expect(CaptureLayerResult.allCases.map { "\($0)" } == expected.map(\.0))
        #expect(CaptureLayerResult.allCases.map(\.rawValue) == expected.map(\.1))
    }

    @Test("Errors have the original cases, each with a message")
    func errors() {
        let make: [(String) -> CKError] = [
            CKError.userExistsAlready, CKError.nonexistentUser, CKError.nullDecodedData,
            CKError.nonExistentUTF8DecodedDataString, CKError.invalidPassInformation, CKError.invalidRealmLayer,
        ]
        for make in make {
            let error = make("what to do")
            #expect(error.message == "what to do")
            #expect(error.localizedDescription == "what to do")
            #expect("\(error)" == "what to do")
        }
    }

    @Test(
        "A membership text has exactly four fields, of which the second is not empty",
        arguments: [
            ("4|U1|x|Ann", ["4", "U1", "x", "Ann"]), ("|U1||", ["", "U1", "", ""]),
            ("4| U1 |x| Ann Lee ", ["4", "U1", "x", "Ann Lee"]), ("a|b|c", nil), ("a|b|c|d|e", nil), ("|||", nil),
            ("4| |x|Ann", nil), ("", nil), ("4|\u{202E}U1|x|Ann", nil),
        ] as [(String, [String]?)]
    )
    func membershipText(text: String, fields: [String]?) {
        let information = CaptureDataInformation(captureDataString: text)
        let found = information.map { [$0.payloadNumber, $0.passId, $0.payload, $0.username] }
        #expect(found == fields)
    }

    @Test("File types have the original extensions")
    func fileTypes() {
        #expect(IOFileType.allCases.map(\.fileExtension) == ["musrl", "mucsv"])
    }

    @Test("A discovered device is the same one whatever it is called after it was plugged in again")
    func discoveredDevices() {
        func device(_ name: String, _ serial: String? = nil) -> DiscoveredDeviceInfo {
            DiscoveredDeviceInfo(ReaderInfo(name: name, backend: .pcsc, serial: serial))
        }
        let one = device("Reader (000A1B2C) 00 00", "000A1B2C")
        #expect(one == device("Reader (000A1B2C) 01 00", "000A1B2C"))
        #expect(one.hashValue == device("Reader (000A1B2C) 01 00", "000A1B2C").hashValue)
        #expect(one != device("Reader (000A1B2C) 00 01", "000A1B2C"))
        #expect(device("Reader 00 00") != device("Reader 01 00"))
        #expect(one.deviceName == "Reader (000A1B2C) 00 00")
        #expect(one.serviceUUID == "pcsc")
        let stored = DiscoveredDeviceInfo(identifierUUID: one.identifierUUID, deviceName: "other", serviceUUID: "")
        #expect(stored == one)
    }

    @Test("Decoded data is the membership text, or else the key; or the NDEF message")
    func decodedData() throws {
        var scan = tap("U1", name: "Ann")
        scan.technology = .iso14443a
        scan.card = "NTAG213"
        #expect(CaptureLayerDecodedData(scan).stringFromDecodedData() == "U1")
        #expect(CaptureLayerDecodedData(scan, format: .NDEF).decodedData == nil)
        let records = [try NDEFRecord.text("4|U1|x|Ann", language: "en")]
        scan.ndef = records
        let data = CaptureLayerDecodedData(scan)
        #expect(data.stringFromDecodedData() == "4|U1|x|Ann")
        #expect(data.dataSourceID.rawValue == 256)
        #expect(data.dataSourceName == "NTAG213")
        let message = try NDEFMessage(records).encoded()
        #expect(CaptureLayerDecodedData(scan, format: .NDEF).decodedData == Data(message))
        // Another member's text is not this member's.
        scan.memberKey = "U2"
        #expect(CaptureLayerDecodedData(scan).stringFromDecodedData() == "U2")
        scan.memberKey = nil
        #expect(CaptureLayerDecodedData(scan).decodedData == nil)
        #expect(CaptureLayerDecodedData(decodedData: Data([0xFF])).stringFromDecodedData() == nil)
        #expect(!"\(data)".contains("Ann") && !String(reflecting: data).contains("U1"))
    }

    @Test("Styles of creation are equal as copies of one, and no condition is called for it")
    func userCreation() {
        let condition = UserCreation.withSatisfied {
            Issue.record("the condition was called")
            return true
        }
        #expect(condition == condition)
        #expect(condition != .withSatisfied { true })
        #expect(condition != .automaticallyOnScan)
        #expect(MembershipConfiguration.default.userCreationStyle == .automaticallyOnScan)
        #expect(MembershipConfiguration.default.migrationChanges.isEmpty)
    }
}
