import Cryptography
import Testing
import TestSupport

@Suite("Keys and signatures on curves")
struct CurveTests {
    /// RFC 6979, A.2.5.
    private static let number = bytes("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")
    private static let coordinates = bytes(
        "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
            + "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
    )
    private static let signature = bytes(
        "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
            + "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    )

    @Test func signatures() throws {
        let key = try P256.PrivateKey(Self.number)
        #expect(key.publicKey.coordinates == Self.coordinates)
        #expect(key.number == SecretBytes(Self.number))
        let known = try #require(ECDSASignature(numbers: Self.signature))
        #expect(key.publicKey.isValid(known, for: "sample".utf8))
        let message = Array("sample".utf8)
        let own = try key.sign(message)
        for signature in [known, own] {
            #expect(!key.publicKey.isValid(signature, for: message + [0]))
            #expect(ECDSASignature(der: signature.der) == signature)
            for index in signature.numbers.indices {
                var numbers = signature.numbers
                numbers[index] ^= 1
                let other = try #require(ECDSASignature(numbers: numbers))
                #expect(!key.publicKey.isValid(other, for: message), "byte \(index)")
            }
        }
        #expect(key.publicKey.isValid(own, for: message))
        #expect(!P256.PrivateKey().publicKey.isValid(own, for: message))
        for extreme in [UInt8(0), 0xFF] {
            let numbers = [UInt8](repeating: extreme, count: 64)
            #expect(!key.publicKey.isValid(try #require(ECDSASignature(numbers: numbers)), for: message))
        }
    }

    @Test("A signature in DER is taken in its one form")
    func der() throws {
        let der: [UInt8] = [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x7F]
        #expect(ECDSASignature(der: der)?.numbers.suffix(1) == [0x7F])
        for bad in [
            [], [0x30], [0x30, 0x00], der + [0], Array(der.dropLast()), [0x31] + der.dropFirst(),
            // A length in two bytes, a zero that is not needed, a number below zero, one number, three.
            [0x30, 0x81, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x7F],
            [0x30, 0x07, 0x02, 0x02, 0x00, 0x01, 0x02, 0x01, 0x7F],
            [0x30, 0x06, 0x02, 0x01, 0x81, 0x02, 0x01, 0x7F], [0x30, 0x03, 0x02, 0x01, 0x01],
            [0x30, 0x09, 0x02, 0x01, 0x01, 0x02, 0x01, 0x7F, 0x02, 0x01, 0x01],
            // A number of 33 bytes.
            [0x30, 0x26, 0x02, 0x21, 0x01] + [UInt8](repeating: 1, count: 32) + [0x02, 0x01, 0x7F],
        ] as [[UInt8]] {
            #expect(ECDSASignature(der: bad) == nil, "\(bad)")
        }
        #expect(ECDSASignature(numbers: [UInt8](repeating: 1, count: 63)) == nil)
        #expect(ECDSASignature(numbers: [UInt8](repeating: 1, count: 32), curve: .secp128r1) != nil)
    }

    /// RFC 5903, 8.1.
    @Test func agreement() throws {
        let one = try P256.PrivateKey(bytes("C88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433"))
        let other = try P256.PrivateKey(bytes("C6EF9C5D78AE012A011164ACB397CE2088685D8F06BF9BE0B283AB46476BEE53"))
        let secret = SecretBytes(bytes("D6840F6B42F6EDAFD13116E0E12565202FEF8E9ECE7DCE03812464D04B9442DE"))
        #expect(try one.sharedSecret(with: other.publicKey) == secret)
        #expect(try other.sharedSecret(with: one.publicKey) == secret)
        // The sign of Y makes no difference.
        let mirrored = [other.publicKey.compressed[0] ^ 1] + other.publicKey.compressed.dropFirst()
        #expect(try one.sharedSecret(with: P256.PublicKey(compressed: mirrored)) == secret)
    }

    @Test("What is no point of the curve, or none that has a form in use, is no key")
    func points() throws {
        let key = try P256.PublicKey(coordinates: Self.coordinates)
        #expect(try P256.PublicKey(compressed: key.compressed).coordinates == Self.coordinates)
        for point in [
            [], [0], [0] + [UInt8](repeating: 0, count: 32), Self.coordinates, key.compressed + [0],
            Array(key.compressed.dropLast()), [0x04] + Self.coordinates, [0x06] + Self.coordinates,
            [0x07] + Self.coordinates,
            [0x01] + key.compressed.dropFirst(), [0x04] + key.compressed.dropFirst(),
            [0x06] + key.compressed.dropFirst(),
            // No X of the curve, and one above the field.
            [0x02] + [UInt8](repeating: 0, count: 31) + [0x07], [0x02] + [UInt8](repeating: 0xFF, count: 32),
        ] as [[UInt8]] {
            #expect(throws: CryptographyError.self, "\(point)") { try P256.PublicKey(compressed: point) }
        }
        var off = Self.coordinates
        off[63] ^= 1
        for coordinates in [
            [], Array(Self.coordinates.dropLast()), Self.coordinates + [0], off, [UInt8](repeating: 0, count: 64),
            [UInt8](repeating: 0xFF, count: 64),
        ] {
            #expect(throws: CryptographyError.self) { try P256.PublicKey(coordinates: coordinates) }
        }
    }

    @Test("A private key is a number from 1 up to below the order of the curve")
    func numbers() throws {
        let order = bytes("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
        let zeros = [UInt8](repeating: 0, count: 31)
        for number in [zeros + [0], order, [UInt8](repeating: 0xFF, count: 32), zeros, zeros + [0, 1], []] {
            #expect(throws: CryptographyError.self, "\(number)") { try P256.PrivateKey(number) }
        }
        let generator = bytes("036B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296")
        #expect(try P256.PrivateKey(zeros + [1]).publicKey.compressed == generator)
        let last = try P256.PrivateKey(Array(order.dropLast()) + [0x50])
        #expect(last.publicKey.compressed == [0x02] + generator.dropFirst())
        #expect(last.number == SecretBytes(Array(order.dropLast()) + [0x50]))
        var dumped = ""
        dump(last, to: &dumped)
        #expect(dumped == "- private key on P-256\n" && "\(last)" == "private key on P-256")
    }

    /// RFC 8032, 7.1, tests 1 and 2.
    @Test(
        arguments: [
            (
                "D75A980182B10AB7D54BFED3C964073A0EE172F3DAA62325AF021A68F707511A", "",
                "E5564300C360AC729086E2CC806E828A84877F1EB8E5D974D873E065224901555FB8821590A33BACC61E39701CF9B46BD25BF5F0595BBE24655141438E7A100B"
            ),
            (
                "3D4017C3E843895A92B70AA74D1B7EBC9C982CCF2EC4968CC0CD55F12AF4660C", "72",
                "92A009A9F0D4CAB8720E820B5F642540A2B27B5416503F8FB3762223EBDB69DA085AC1E43E15996E458F3613D0F11D8C387B2EAEB4302AEEB00D291612BB0C00"
            ),
        ] as [(String, String, String)]
    )
    func ed25519(key: String, message: String, signature: String) throws {
        let key = try Ed25519.PublicKey(bytes(key))
        let (message, signature) = (bytes(message), bytes(signature))
        #expect(key.isValid(signature, for: message))
        #expect(!key.isValid(signature, for: message + [0]))
        #expect(!key.isValid(signature.dropLast(), for: message) && !key.isValid([], for: message))
        for index in signature.indices {
            var other = signature
            other[index] ^= 1
            #expect(!key.isValid(other, for: message), "byte \(index)")
        }
        #expect(throws: CryptographyError.self) { try Ed25519.PublicKey([1, 2]) }
        let own = Ed25519.PrivateKey()
        #expect(own.publicKey.isValid(try own.sign(message), for: message))
        #expect(!own.publicKey.isValid(signature, for: message))
        #expect(try Ed25519.PublicKey(pem: own.publicKey.pem).bytes == own.publicKey.bytes)
        #expect("\(own)" == "private key of Ed25519")
    }

    @Test("The signature that NXP puts on an NTAG21x")
    func originality() throws {
        let point = bytes("494E1A386D3D3CFE3DC10E5DE68A499B1C202DB5B132393E89ED19FE5BE8BC61")
        let key = try SECP128R1PublicKey(coordinates: point)
        let uid = bytes("04AB87F2CA1190")
        let numbers = bytes("67B1750BCCEB1174F9A33BF20E0226551A6366939B31F949848C3C087350FA90")
        let signature = try #require(ECDSASignature(numbers: numbers, curve: .secp128r1))
        #expect(key.isValid(signature, for: uid))
        #expect(!key.isValid(signature, for: bytes("04AB87F2CA1191")))
        for index in numbers.indices {
            var other = numbers
            other[index] ^= 1
            let changed = try #require(ECDSASignature(numbers: other, curve: .secp128r1))
            #expect(!key.isValid(changed, for: uid), "byte \(index)")
        }
        for bad in [[], point.dropLast(), [UInt8](repeating: 0, count: 32), point.reversed()] as [[UInt8]] {
            #expect(throws: CryptographyError.self) { try SECP128R1PublicKey(coordinates: bad) }
        }
    }
}
