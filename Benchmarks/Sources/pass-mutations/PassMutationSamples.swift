import BenchmarkSupport
import Foundation
import ReaderKit

/// Passes of two simulated phones, made with fixed keys, of which mutated answers are made.
struct PassMutationSamples {
    /// A pass of Apple Wallet: the answer that has it, and what it says.
    struct ApplePass {
        var answer: [UInt8]
        /// Where the cryptogram begins in the answer, behind the tags and lengths.
        var start: Int
        var cryptogram: [UInt8]
        var text: String
    }

    /// What an Android phone answers when it is asked for its passes.
    struct GooglePass {
        var answer: [UInt8]
        /// The rest, where not all came at once.
        var rest: [UInt8] = [0x94, 0x05]
    }

    /// The answer of an iPhone to SELECT.
    let appleSelection: [UInt8]
    let applePasses: [ApplePass]
    /// The answers of an Android phone to the two SELECTs and to the negotiation.
    let googleSelection: [UInt8]
    let googleSelectionAgain: [UInt8]
    let negotiation: [UInt8]
    let googlePasses: [GooglePass]

    let appleReader: AppleVASReader
    /// Signs each tap.
    let liveReader: SmartTapReader
    /// Has a signature that was made in advance, so that there are data that open.
    let preSignedReader: SmartTapReader

    /// When the iPhone made its cryptograms.
    static let moment = Date(timeIntervalSince1970: 978_307_200 + 0x2E00_0000)

    /// Whom the genuine data of the Android phone name.
    static let values = ["2018"]

    /// The samples; `nil` if one of them is not what it should be.
    init?() {
        guard let key = AppleVASKey([UInt8](repeating: 0x33, count: 32)),
            let terminal = SmartTapKey([UInt8](repeating: 0x55, count: 32), collectorID: 20_180_608, version: 1),
            let preSignature = SmartTapPreSignature(text: Self.preSignature),
            let entropy = SmartTapEntropy(
                session: Array(0xA1...0xA8),
                nonce: Array(0x40...0x5F),
                ephemeralKey: [UInt8](repeating: 0x11, count: 32)
            )
        else { return nil }
        let merchant = AppleVASMerchant(passTypeIdentifier: "pass.com.example.readerkit", keys: [key])
        appleReader = AppleVASReader([merchant], allowsVariant: true)
        liveReader = SmartTapReader(key: terminal) { entropy }
        var preSigned = SmartTapReader(preSigned: preSignature)
        preSigned.makeEntropy = { entropy }
        preSignedReader = preSigned

        func successful(_ digits: String) -> [UInt8]? { Hexadecimal.decode(digits + "9000") }
        let passes = Self.cryptograms.compactMap { Self.pass($0.digits, $0.text) }
        let data = Self.data.compactMap { successful($0).map { GooglePass(answer: $0) } }
        guard passes.count == Self.cryptograms.count, data.count == Self.data.count,
            let appleSelection = successful("6F1D50084170706C655061799F210201009F2404010203049F23040000001E"),
            let googleSelection = successful(Self.selection), let again = successful(Self.selectionAgain),
            let negotiation = successful(Self.negotiation), let last = data.last?.answer
        else { return nil }
        applePasses = passes
        (self.appleSelection, self.googleSelection) = (appleSelection, googleSelection)
        (googleSelectionAgain, self.negotiation) = (again, negotiation)
        let half = last.count / 2
        googlePasses =
            data + [GooglePass(answer: last[..<half] + [0x91, 0x00], rest: Array(last[half...]))]
    }

    private static func pass(_ digits: String, _ text: String) -> ApplePass? {
        guard let cryptogram = Hexadecimal.decode(digits),
            let answer = try? BERTLV(0x70, objects: [BERTLV(0x9F2A, []), BERTLV(0x9F27, cryptogram)]).encoded()
        else { return nil }
        return ApplePass(
            answer: answer + [0x90, 0x00],
            start: answer.count - cryptogram.count,
            cryptogram: cryptogram,
            text: text
        )
    }

    private static let preSignature = """
        {
          "collector": 20180608, "keyVersion": 1,
          "nonce": "404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F",
          "ephemeralKey": "1111111111111111111111111111111111111111111111111111111111111111",
          "signature": "304402203CBE59767282AE8281B87B8E1F481BA39854C29ADE4A9E6CA121E3E15DC31F6E0220\
        68A72F8E06AB02097E2F7D8C03A14E68531D97CD8DDA8E5042CBED9CA5404B94"
        }
        """

    /// Five of the way that phones use, one of the variant.
    private static let cryptograms: [(text: String, digits: String)] = [
        (
            "MEMBER-000042",
            "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D683D40C7556FB65DB93408BCAC7A5FD3"
                + "04A23D390C2F7A2757A24B459D162F9D2E"
        ),
        (
            "7",
            "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D683D40C72FEDD0926EB4A0DF5A56061D"
                + "79B725B7ED"
        ),
        (
            "M-1042",
            "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D683D40C75507CA2FC854C745A93CD982"
                + "13405E4462E415EE0673"
        ),
        (
            String(repeating: "A", count: 60) + "Ä5",
            "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D683D40C7596BBA5EBD2764CDDD0B2EA6"
                + "77005926C25FE2D81FCB27C2ADFD3EFB6FADC053AA5A1914768CB9696AB6621B50EE0E158F06141062B81EDAB549965F967B2771"
                + "824599589C5637DCE2A020A14CD9BB"
        ),
        (
            String(repeating: "0123456789abcdef", count: 10),
            "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D683D40C7281BC92CC85313BBA4730E85"
                + "55257D01B32F91AA6ABF50B4D4851ED84D88E474DB2A6A6603F8CE1F13CE423872CB2A32FE76676217CC69ACCC31B67C369B7796"
                + "D609155FB3079A7B517D54AE1FEF26343C89B5C7529E37300BD03D0E4031B18943C78E810E9A77DD0BF42705D6B34FBBF2A44C18"
                + "C00B9F4C1D9AF7325D5E679BECEA563D64E09B3FE90520FD17B4B18B409CA371390FFFC6E465196CE55082562B3CE21B15AAC24C"
                + "DCB5878CBAE9FF23"
        ),
        (
            "MEMBER-000042",
            "3D906C015B36890DACBD7C9A96BB74A1EE28B3D2D75B72E09A20EF25CF8E6FD8A9F0350D2F981E54CFE38D5C687D261398388750"
                + "2C376DBE6280181B633591D4EEA379EF42"
        ),
    ]

    private static let selection =
        "6F8184500A416E64726F6964506179C0020001C108CC00000000008080C220808182838485868788898A8B8C8D8E8F9091929394"
        + "95969798999A9B9C9D9E9FC32103D65A93977CAA3D1B081852FF57A79E465F1660577304BAEAD505DD3A48589CF3A523BF0C2061"
        + "1E4F09A000000476D0000111870101730EDF6D020000DF4D020001DF620103"

    private static let selectionAgain =
        "00000001DC0321036D646E6D646E04808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9F"

    private static let negotiation =
        "D403376E727394030A736573A1A2A3A4A5A6A7A8020154032164706B03D65A93977CAA3D1B081852FF57A79E465F1660577304BA"
        + "EAD505DD3A48589CF3"

    /// In the open: plain, compressed, with all kinds of objects, with a text in UTF-16. Encrypted: compressed, plain.
    private static let data = [
        "D4039773727394030A736573A1A2A3A4A5A6A7A804015403817265620094034B6173769401066904020000000154033B63757394"
            + "031163696404C0C1C2C3C4C5C6C7C8C9CACBCCCDCECF190105035463706C02656E656E54031163757404D0D1D2D3D4D5D6D7D8D9"
            + "DADBDCDDDEDF5403296173769401066904010133EE8054021A6C799403096F696404010203040506070859010501546E00323031"
            + "38",
        "D4039C73727394030A736573A1A2A3A4A5A6A7A8040154038672656202789C9BC2EC9D585C3685912D9385898181813184D93AB9"
            + "B4780AB36072660ACB8183870E1F397AECF88993A74E9F397BEEBC24232B734872410E536A5E6A5E08504D6909CB858B972E5FB9"
            + "7AEDFA8D9BB76EDFB97BEF7E08B326CC404646E3770D214C523995539839F381E6313231B3B0B2B1734432B23286E4311819185A"
            + "0000F3622FB1",
        "C403000001AB73727394030A736573A1A2A3A4A5A6A7A80401440300000192726562009403306173769401066904010133EE8054"
            + "02216F669403096F696404000000000000000054010E6E024D7E31303432236F66666572211403266173769401066904010133EE"
            + "8054021767639403096F69640400000000000000005401046E01472D371403296173769401066904010133EE8054021A706C9403"
            + "096F69640400000000000000005401076E030050002D00311403266173769401066904010133EE8054021765749403096F696404"
            + "00000000000000005401046E0512345F1403256173769401066904010133EE80540216666C9403096F6964040000000000000000"
            + "5401036E0401021403226173769401066904010133EE8054021374729403096F69640400000000000000005401006E1403276173"
            + "769401066904010133EE8054021867729403096F69640400000000000000005401056E02C3842D31140324617376940106690401"
            + "0133EE8054021567709403096F69640400000000000000005401026E02FF5403246173769401066904010133EE80540215787894"
            + "03096F69640400000000000000005401026E0258",
        "D4033B73727394030A736573A1A2A3A4A5A6A7A8040154032572656200D4031E6173769401066904010133EE8054020F6C79D901"
            + "0901546E82656E004D002D0037",
        "D403C873727394030A736573A1A2A3A4A5A6A7A804015403B272656203A0A1A2A3A4A5A6A7A8A9AAAB24984B06397806BD72D605"
            + "528FABC0E2C08229F2C330081553B2011CE03C3E16F3E2E204382A069BBE81A638A9E213AB4FDC22360CA1CEB98A7DE35AC0498F"
            + "9F8FB71068BBD1B2B73F15899ECA0B5F3AE7B5A1A74ED66151137B2AED112B0DDF2B76CC2EF7FAAE7EA682F3A1D0059F5EB2CB13"
            + "8327C8A3BC46A9D20FBE08D9D58895313441475EB7936E6CA0E2381FC4E448EFABF52E731B52F20812D17743E645F6760F21",
        "D403C373727394030A736573A1A2A3A4A5A6A7A804015403AD72656201A0A1A2A3A4A5A6A7A8A9AAABC8079BA5A693CAE0423A90"
            + "7D1C2E4962150023156F7925A23ADBDB18969AF51FB1A5A0CCE0DBB5BD8DC4F85128642BD5A23465654BD0E3A5AE1DE4338F40A4"
            + "E3DB2AA8B3A380ECF6C692E93EFC2D0F7F8F8F7D37544A69CDA15B8FA9566CDD46A6038266A21669E5961E1B23E536ACEE067CA4"
            + "F76BA3108BC1198D179520B2ED7B3EA50C79441C9BD628BD7CCF1C0630F11CCE27006D83288024CAB70DE4D34B",
    ]
}
