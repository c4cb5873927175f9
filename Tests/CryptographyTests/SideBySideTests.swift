import Crypto
import CryptoExtras
import Foundation
import Testing
import TestSupport

import Cryptography

/// What took the place of swift-crypto, beside it: the same results and the same refusals.
@Suite("Both libraries", .timeLimit(.minutes(20)))
struct SideBySideTests {
    private static let rounds = 10_000

    private func forEach(_ seed: UInt64, _ body: (inout SeededNumbers) throws -> Void) rethrows {
        var numbers = SeededNumbers(seed: seed)
        for _ in 0..<Self.rounds { try body(&numbers) }
    }

    @Test func digests() {
        forEach(1) { numbers in
            let (message, key) = (numbers.bytes(0...200), numbers.bytes(0...140))
            #expect(Cryptography.SHA256.hash(message) == Array(Crypto.SHA256.hash(data: message)))
            let code = Crypto.HMAC<Crypto.SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
            #expect(Cryptography.HMAC.code(for: message, key: SecretBytes(key)) == Array(code))
        }
    }

    @Test func ciphers() {
        forEach(2) { numbers in
            let odd = Int.random(in: 0..<4, using: &numbers) == 0
            let key = odd ? numbers.bytes(0...40) : numbers.bytes(16...16)
            let vector = odd ? numbers.bytes(0...40) : numbers.bytes(16...16)
            let message =
                odd
                ? numbers.bytes(0...80)
                : numbers.bytes(16 * Int.random(in: 0..<5, using: &numbers)...(16 * 5)).suffix(
                    16 * Int.random(in: 0..<5, using: &numbers)
                ) + []
            let (theirs, ours) = (SymmetricKey(data: key), SecretBytes(key))
            if key.count == 16 {
                if message.count % 16 == 0, !message.isEmpty, vector.count == 16 {
                    let iv = try? Crypto.AES._CBC.IV(ivBytes: vector)
                    let encrypted = iv.flatMap {
                        try? Crypto.AES._CBC.encrypt(message, using: theirs, iv: $0, noPadding: true)
                    }
                    let decrypted = iv.flatMap {
                        try? Crypto.AES._CBC.decrypt(message, using: theirs, iv: $0, noPadding: true)
                    }
                    #expect(
                        (try? Cryptography.AES.encrypt(chained: Array(message), key: ours, vector: vector))
                            == encrypted.map(Array.init)
                    )
                    #expect(
                        (try? Cryptography.AES.decrypt(chained: Array(message), key: ours, vector: vector))
                            == decrypted.map(Array.init)
                    )
                }
                let nonce = try? Crypto.AES._CTR.Nonce(nonceBytes: vector)
                if vector.count == 16 {
                    let stream = nonce.flatMap { try? Crypto.AES._CTR.encrypt(message, using: theirs, nonce: $0) }
                    #expect(
                        (try? Cryptography.AES.apply(counter: vector, to: message, key: ours))
                            == stream.map { Array($0) }
                    )
                }
                var cmac = try? Crypto.AES.CMAC(key: theirs)
                cmac?.update(data: message)
                #expect((try? Cryptography.AES.cmac(Array(message), key: ours)) == cmac.map { Array($0.finalize()) })
                if message.count == 16 {
                    var block = Array(message)
                    try? Crypto.AES.permute(&block, key: theirs)
                    #expect((try? Cryptography.AES.encrypt(blocks: Array(message), key: ours)) == block)
                }
            } else {
                #expect((try? Cryptography.AES.encrypt(chained: Array(message), key: ours, vector: vector)) == nil)
            }
        }
    }

    @Test func gcm() {
        forEach(3) { numbers in
            let odd = Int.random(in: 0..<4, using: &numbers) == 0
            let key = numbers.bytes(32...32)
            let nonce = odd ? numbers.bytes(12...40) : numbers.bytes(16...16)
            let (message, data) = (numbers.bytes(0...100), numbers.bytes(0...30))
            guard let theirNonce = try? Crypto.AES.GCM.Nonce(data: nonce) else { return }
            let theirs = try? Crypto.AES.GCM.seal(
                message,
                using: SymmetricKey(data: key),
                nonce: theirNonce,
                authenticating: data
            )
            let ours = try? Cryptography.AES.GCM.seal(
                message,
                key: SecretBytes(key),
                nonce: nonce,
                authenticating: data
            )
            #expect(
                ours?.ciphertext == theirs.map { Array($0.ciphertext) } && ours?.tag == theirs.map { Array($0.tag) }
            )
            guard let ours else { return }
            var (ciphertext, tag) = (ours.ciphertext, ours.tag)
            if Bool.random(using: &numbers), !ciphertext.isEmpty {
                ciphertext[Int.random(in: ciphertext.indices, using: &numbers)] ^= 1
            }
            if Int.random(in: 0..<4, using: &numbers) == 0 { tag[Int.random(in: tag.indices, using: &numbers)] ^= 0x80 }
            let box = try? Crypto.AES.GCM.SealedBox(nonce: theirNonce, ciphertext: ciphertext, tag: tag)
            let opened = box.flatMap {
                try? Crypto.AES.GCM.open($0, using: SymmetricKey(data: key), authenticating: data)
            }
            let own = try? Cryptography.AES.GCM.open(
                ciphertext,
                tag: tag,
                key: SecretBytes(key),
                nonce: nonce,
                authenticating: data
            )
            #expect(own == opened.map { Array($0) })
        }
    }

    /// Numbers, points and what looks like them.
    private func point(_ numbers: inout SeededNumbers, _ base: [UInt8]) -> [UInt8] {
        var bytes = base
        switch Int.random(in: 0..<6, using: &numbers) {
        case 0: bytes[Int.random(in: bytes.indices, using: &numbers)] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 1: bytes[0] = UInt8.random(in: 0...9, using: &numbers)
        case 2: bytes = numbers.bytes(0...70)
        case 3: bytes = [bytes[0]] + numbers.bytes(32...32)
        default: break
        }
        return bytes
    }

    @Test func keys() throws {
        try forEach(4) { numbers in
            var number = numbers.bytes(32...32)
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: number = [UInt8](repeating: 0xFF, count: 16) + numbers.bytes(16...16)
            case 1: number = [UInt8](repeating: 0, count: 31) + numbers.bytes(1...1)
            case 2: number = numbers.bytes(0...40)
            default: break
            }
            let theirs = try? Crypto.P256.KeyAgreement.PrivateKey(rawRepresentation: number)
            let ours = try? Cryptography.P256.PrivateKey(number)
            #expect((theirs == nil) == (ours == nil), "\(number)")
            guard let theirs, let ours else { return }
            #expect(ours.publicKey.compressed == Array(theirs.publicKey.compressedRepresentation))
            #expect(ours.publicKey.coordinates == Array(theirs.publicKey.rawRepresentation))
            let bytes = point(&numbers, ours.publicKey.compressed)
            let their = try? Crypto.P256.KeyAgreement.PublicKey(compressedRepresentation: bytes)
            let our = try? Cryptography.P256.PublicKey(compressed: bytes)
            #expect(our?.coordinates == their.map { Array($0.rawRepresentation) }, "\(bytes)")
            let raw = Array(point(&numbers, [4] + ours.publicKey.coordinates).dropFirst())
            let their2 = try? Crypto.P256.KeyAgreement.PublicKey(rawRepresentation: raw)
            #expect(
                (try? Cryptography.P256.PublicKey(coordinates: raw))?.coordinates
                    == their2.map { Array($0.rawRepresentation) },
                "\(raw)"
            )
            guard let their, let our else { return }
            let secret = try theirs.sharedSecretFromKeyAgreement(with: their)
            let own = try ours.sharedSecret(with: our)
            #expect(own == SecretBytes(secret.withUnsafeBytes { Array($0) }))
            let (salt, info) = (numbers.bytes(0...40), numbers.bytes(0...200))
            let count = Int.random(in: 1...64, using: &numbers)
            let hkdf = secret.hkdfDerivedSymmetricKey(
                using: Crypto.SHA256.self,
                salt: salt,
                sharedInfo: info,
                outputByteCount: count
            )
            #expect(
                try KeyDerivation.hkdf(own, salt: salt, information: info, count: count)
                    == SecretBytes(hkdf.withUnsafeBytes { Array($0) })
            )
            let x963 = secret.x963DerivedSymmetricKey(
                using: Crypto.SHA256.self,
                sharedInfo: info,
                outputByteCount: count
            )
            #expect(
                try KeyDerivation.x963(own, information: info, count: count)
                    == SecretBytes(x963.withUnsafeBytes { Array($0) })
            )
        }
    }

    @Test func signatures() throws {
        let (theirs, ours) = try { () throws in
            let number = [UInt8](repeating: 7, count: 32)
            return (
                try Crypto.P256.Signing.PrivateKey(rawRepresentation: number), try Cryptography.P256.PrivateKey(number)
            )
        }()
        try forEach(5) { numbers in
            let message = numbers.bytes(0...60)
            var der =
                Bool.random(using: &numbers)
                ? Array(try theirs.signature(for: message).derRepresentation) : try ours.sign(message).der
            switch Int.random(in: 0..<6, using: &numbers) {
            case 0: der[Int.random(in: der.indices, using: &numbers)] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            case 1: der.removeLast(Int.random(in: 1...der.count, using: &numbers))
            case 2: der += numbers.bytes(1...3)
            case 3: der.insert(0, at: Int.random(in: 0...8, using: &numbers))
            default: break
            }
            let their = try? Crypto.P256.Signing.ECDSASignature(derRepresentation: der)
            let our = ECDSASignature(der: der)
            #expect(our?.numbers == their.map { Array($0.rawRepresentation) }, "\(der.hex)")
            guard let their, let our else { return }
            let other = Int.random(in: 0..<8, using: &numbers) == 0 ? message + [0] : message
            #expect(ours.publicKey.isValid(our, for: other) == theirs.publicKey.isValidSignature(their, for: other))
            var raw = our.numbers
            if Bool.random(using: &numbers) { raw[Int.random(in: raw.indices, using: &numbers)] ^= 1 }
            let their3 = try? Crypto.P256.Signing.ECDSASignature(rawRepresentation: raw)
            let our3 = ECDSASignature(numbers: raw)
            #expect((their3 == nil) == (our3 == nil))
            if let their3, let our3 {
                #expect(our3.der == Array(their3.derRepresentation))
                #expect(
                    ours.publicKey.isValid(our3, for: message)
                        == theirs.publicKey.isValidSignature(their3, for: message)
                )
            }
        }
    }

    @Test func ed25519() throws {
        let key = try Curve25519.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
        let own = try Ed25519.PublicKey(Array(key.publicKey.rawRepresentation))
        try forEach(6) { numbers in
            let message = numbers.bytes(0...60)
            var signature = Array(try key.signature(for: message))
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0:
                signature[Int.random(in: signature.indices, using: &numbers)] ^=
                    1 << UInt8.random(in: 0..<8, using: &numbers)
            case 1: signature = numbers.bytes(0...70)
            default: break
            }
            #expect(own.isValid(signature, for: message) == key.publicKey.isValidSignature(signature, for: message))
            // Other keys too, which may be none of the curve.
            let bytes = numbers.bytes(Int.random(in: 30...33, using: &numbers)...33)
            let their = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            #expect((their == nil) == ((try? Ed25519.PublicKey(bytes)) == nil))
            if let their, let our = try? Ed25519.PublicKey(bytes) {
                #expect(our.isValid(signature, for: message) == their.isValidSignature(signature, for: message))
            }
        }
    }

    @Test func pem() throws {
        let key = try Cryptography.P256.PrivateKey([UInt8](repeating: 5, count: 32))
        let theirs = try Crypto.P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 5, count: 32))
        #expect(key.pem == theirs.pemRepresentation && key.publicKey.pem == theirs.publicKey.pemRepresentation)
        var differences: [String: Int] = [:]
        func compare(_ what: String, _ ours: Bool, _ theirs: Bool, _ text: String) {
            guard ours != theirs else { return }
            differences["\(what): \(ours ? "taken here, refused there" : "refused here, taken there")", default: 0] += 1
            if differences["shown \(what) \(ours)", default: 0] < 4 {
                print("PEM \(what) \(ours ? "taken" : "refused") here:\n" + text)
                differences["shown \(what) \(ours)", default: 0] += 1
            }
        }
        for text in [key.pem, key.publicKey.pem] {
            let lines = text.split(separator: "\n")
            let base = Array(Data(base64Encoded: lines.dropFirst().dropLast().joined())!)
            forEach(7) { numbers in
                var der = base
                let reach = Bool.random(using: &numbers) ? min(der.count, 36) : der.count
                for _ in 0..<Int.random(in: 0...2, using: &numbers) {
                    der[Int.random(in: 0..<reach, using: &numbers)] = UInt8.random(in: 0...255, using: &numbers)
                }
                let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
                let pem = "\(lines[0])\n\(body)\n\(lines.last!)"
                if text == key.pem {
                    let ours = try? Cryptography.P256.PrivateKey(pem: pem)
                    let their = try? Crypto.P256.Signing.PrivateKey(pemRepresentation: pem)
                    if ours?.number != their.map({ SecretBytes($0.rawRepresentation) }) {
                        compare("private", ours != nil, their != nil, Hex.encode(der))
                    }
                } else {
                    let ours = try? Cryptography.P256.PublicKey(pem: pem)
                    let their = try? Crypto.P256.Signing.PublicKey(pemRepresentation: pem)
                    if ours?.coordinates != their.map({ Array($0.rawRepresentation) }) {
                        compare("public", ours != nil, their != nil, Hex.encode(der))
                    }
                }
            }
        }
        print("PEM: \(differences)")
    }
}
