import Cryptography
import Testing
import TestSupport

/// Keys in files, which openssl wrote.
@Suite("Keys in PEM")
struct PEMTests {
    private static let number = SecretBytes(bytes("E16415B606601E1AAACECE3FDDD78603BC98000F057579DD1A3D75AEF5DA15C8"))

    private static let sec1 = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIOFkFbYGYB4aqs7OP93XhgO8mAAPBXV53Ro9da712hXIoAoGCCqGSM49
        AwEHoUQDQgAE70sy0sAO500iDt6sR1XIx5GkAL0cdiO9ygOfio9NCbk2yJNrBO+5
        lkghrWOPKQR8fwlD5Lr+MAHqfYfGU7vB5w==
        -----END EC PRIVATE KEY-----
        """
    private static let pkcs8 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4WQVtgZgHhqqzs4/
        3deGA7yYAA8FdXndGj11rvXaFcihRANCAATvSzLSwA7nTSIO3qxHVcjHkaQAvRx2
        I73KA5+Kj00JuTbIk2sE77mWSCGtY48pBHx/CUPkuv4wAep9h8ZTu8Hn
        -----END PRIVATE KEY-----
        """
    private static let withoutPoint = """
        -----BEGIN EC PRIVATE KEY-----
        MDECAQEEIOFkFbYGYB4aqs7OP93XhgO8mAAPBXV53Ro9da712hXIoAoGCCqGSM49
        AwEH
        -----END EC PRIVATE KEY-----
        """
    private static let spki = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE70sy0sAO500iDt6sR1XIx5GkAL0c
        diO9ygOfio9NCbk2yJNrBO+5lkghrWOPKQR8fwlD5Lr+MAHqfYfGU7vB5w==
        -----END PUBLIC KEY-----
        """

    @Test(arguments: [sec1, pkcs8, withoutPoint])
    func privateKeys(pem: String) throws {
        for text in [
            pem, pem + "\n", pem.replacing("\n", with: "\r\n"), pem.replacing("\n", with: "\r"),
            "\u{FEFF}" + pem, "  " + pem.replacing("\n", with: "  \n  "), "Our key:\n" + pem + "\nand a remark",
        ] {
            let key = try P256.PrivateKey(pem: text)
            #expect(key.number == Self.number)
            #expect(key.pem == Self.pkcs8 && key.publicKey.pem == Self.spki)
        }
    }

    @Test func publicKeys() throws {
        let point = try P256.PrivateKey(pem: Self.sec1).publicKey.coordinates
        for text in [Self.spki, Self.sec1 + "\n" + Self.spki, Self.spki.replacing("\n", with: "\r\n")] {
            #expect(try P256.PublicKey(pem: text).coordinates == point)
        }
        let key = try Ed25519.PublicKey(pem: Self.ed25519)
        // Signed with openssl pkeyutl.
        #expect(key.isValid(bytes(Self.signature), for: "club".utf8))
    }

    @Test("Keys on other curves, encrypted ones and what is no key are refused", arguments: foreign)
    func refused(name: String, pem: String) {
        #expect(throws: CryptographyError.self) { try P256.PrivateKey(pem: pem) }
        #expect(throws: CryptographyError.self) { try P256.PublicKey(pem: pem) }
        #expect(throws: CryptographyError.self) { try Ed25519.PublicKey(pem: pem) }
    }

    @Test("Each half is refused where the other is asked for, and what is cut or changed too")
    func halves() {
        #expect(throws: CryptographyError.self) { try P256.PublicKey(pem: Self.pkcs8) }
        #expect(throws: CryptographyError.self) { try P256.PrivateKey(pem: Self.spki) }
        #expect(throws: CryptographyError.self) { try P256.PrivateKey(pem: Self.ed25519) }
        for pem in [Self.sec1, Self.pkcs8] {
            for end in stride(from: 1, to: pem.count - 1, by: 7) {
                #expect(throws: CryptographyError.self, "\(end)") { try P256.PrivateKey(pem: String(pem.prefix(end))) }
            }
        }
        var numbers = SeededNumbers(seed: 41)
        for _ in rounds(400) {
            var bytes = Array(Self.pkcs8.utf8)
            bytes[Int.random(in: bytes.indices, using: &numbers)] = UInt8.random(in: 0x20..<0x7F, using: &numbers)
            // Whatever is read is a key.
            if let key = try? P256.PrivateKey(pem: String(decoding: bytes, as: UTF8.self)) {
                #expect((try? P256.PrivateKey(pem: key.pem))?.number == key.number)
            }
        }
    }

    private static let ed25519 = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEARn9kCz1fbSUtqy9bxabyg4T0bOH10aAbaFI5cLtJ9oY=
        -----END PUBLIC KEY-----
        """
    private static let signature =
        "CBBBDD87C3F034EF8D9FEB65F184BDBFA29CE24254428DA7B9CF0EE9EBBCCFFCCD64B61AA6169B54479E5223C37E26606F7451A8F6276FD5A8F92AD469DFD30E"

    private static let foreign: [(String, String)] = [
        ("nothing", ""), ("text", "a key"), ("a block without an end", "-----BEGIN PRIVATE KEY-----\nMIGH"),
        ("an empty block", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----"),
        (
            "no DER", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"
        ),
        (
            "a key of Ed25519",
            """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEILvm2ffvafRjOGC4lyKDF/1puzPPJsC3ADI5TS2cm6jp
            -----END PRIVATE KEY-----
            """
        ),
        (
            "secp256k1",
            """
            -----BEGIN EC PRIVATE KEY-----
            MHQCAQEEIDzcw/JPJYIy2J01yPeiuVDeNNl456azz7tDDY4LEK2SoAcGBSuBBAAK
            oUQDQgAEO5zNaCeF1kbyGZsZ7HRgGt+T7vgFs4ZIIhhPfEMMXQW6YfHjhaDyWQPC
            wq4Bom1BFI4w3HeCMqzR0neLEUNkmw==
            -----END EC PRIVATE KEY-----
            """
        ),
        (
            "P-384",
            """
            -----BEGIN EC PRIVATE KEY-----
            MIGkAgEBBDBz7lIjniI93r4rRiqLSBo1RzjsWVuOcv+7w9Okz/aLDa5X8WX8836W
            SEKYCANuSligBwYFK4EEACKhZANiAARmDWyykk/JHsfk+EDfN4bAvhK/no/pXtaB
            xNdNkHSOS416nZDGb7nj/aTHawc04wnmJzqPaSmrakBD0jm3JkA5swDrJ/qH9sfi
            NFghBaDZ8BXQug+Xajl3FE/m9TXbg2A=
            -----END EC PRIVATE KEY-----
            """
        ),
        (
            "RSA",
            """
            -----BEGIN PRIVATE KEY-----
            MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBANHT8VSEq/63UYcp
            HY5e2+PIpEVjN3xbA116sYqEwMS9+UlmmxqzamJvEtwqoitDe+5W3of0QlQ1EVod
            etWYsy7lRfAlfq+S1mWZWQeu5EAgzq2k1Wo8mOrWUIL7ptprK46O6Y7hMpvll7Q1
            wtytTAioBbNxux5HISTyl9yk5MepAgMBAAECgYEAwHPSr6CYWKIvZvbxIvoiWQRY
            l0PvSmH37i9w1An6/Pj5wrcXoB/bfbk+5S09XM0iyHJo3O3OQIoEBlFvrqXGAZ4h
            1nxyDMLKI9I5G5gvvi6fnsGAzt4tK8bI0mFq0quu33By1ZQPeSlhCQ8YRWwJ/T/U
            kDzsX36BIa68Nx3GHpkCQQDpfzBezgyxpepiEqjlJ9iQ6cYBP7m8r1tJ37BZdePw
            13laI41EK+X+o82eg3OJlUSXU/N9AnNXDo2ksI/wDtcPAkEA5gzL09bMi3RoUnNy
            YbzJSMfT94DNa/Apg9owxTYDcI1TXOHZwVMBzvUd7gvMtdZ/ViYKvDQltVt58b4D
            z9K1xwJBALZ85TzzJRCib3B+zOlsHuIDEvFe8Lb7BgnSfW0tqhxNC1bbekjRVkuR
            kd5VNjNNKfJrdl05URO1GBait5wSvRkCQA1V2o7qGatP0ShOZugBgI2Gf+QOBFpo
            bo+lG0SjT+m7V4S/1tadEDLGBLki1/gGehUtWVv1jeYIanY39JKcfUsCQQChaFVE
            jCLKDRyn2TI1Ib6GP9f4JWdXjIO/ngfZS+g1NDxEARqDzMIMOu5L4ifNMQYo1ncG
            QtRlVu/VTsXctJRQ
            -----END PRIVATE KEY-----
            """
        ),
        (
            "encrypted",
            """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhwIKxzP7mj+QICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHNlG1WCyShvyR/wgs3/kiMEgZAq
            EZgUSJmYu1EVcVW6HUKTRn7jV9QQJJ4j5RxRXwko+ih5GmrVfvb4fkvsfUSj5L3x
            yOt5tHlrFMLBcsgP9KQWQS0zfQhXRC9FZDJG9hEtnKU22MfB+sc1KdY/fRda9qe0
            h3cu5Q83vAMmR4pSeXOTxhPNZTfnV3COJkXJQeTw7L7WtAKoyT86dNZz+MWRp0s=
            -----END ENCRYPTED PRIVATE KEY-----
            """
        ),
        (
            "encrypted, as openssl once did it",
            """
            -----BEGIN EC PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-128-CBC,B4A3716720A181421BDBCBC2F3CF04A2

            /3JGjVNEAeNhux88qZF5iFrq/bIj2p+gesUQnCR+O7Q7cliEE5KoyObxkqvDyM7p
            d19NlK/caRctt+1leW5+mIh5CaLIR8+DrjFgOK6ybLJ0Hvsmpa2fWiFCD9SHLjbY
            NbvlxHCAI0rKncZvhTqV8VP2rn+q783CexuHtA2JTx4=
            -----END EC PRIVATE KEY-----
            """
        ),
        (
            "SEC 1 with the curve spelled out",
            """
            -----BEGIN EC PRIVATE KEY-----
            MIIBaAIBAQQg4WQVtgZgHhqqzs4/3deGA7yYAA8FdXndGj11rvXaFciggfowgfcC
            AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
            MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
            vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
            axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
            K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
            YyVRAgEBoUQDQgAE70sy0sAO500iDt6sR1XIx5GkAL0cdiO9ygOfio9NCbk2yJNr
            BO+5lkghrWOPKQR8fwlD5Lr+MAHqfYfGU7vB5w==
            -----END EC PRIVATE KEY-----
            """
        ),
        (
            "PKCS #8 with the curve spelled out",
            """
            -----BEGIN PRIVATE KEY-----
            MIIBeQIBADCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAAB
            AAAAAAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA
            ///////////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMV
            AMSdNgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg
            9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8A
            AAAA//////////+85vqtpxeehPO5ysL8YyVRAgEBBG0wawIBAQQg4WQVtgZgHhqq
            zs4/3deGA7yYAA8FdXndGj11rvXaFcihRANCAATvSzLSwA7nTSIO3qxHVcjHkaQA
            vRx2I73KA5+Kj00JuTbIk2sE77mWSCGtY48pBHx/CUPkuv4wAep9h8ZTu8Hn
            -----END PRIVATE KEY-----
            """
        ),
        (
            "a public key with the curve spelled out",
            """
            -----BEGIN PUBLIC KEY-----
            MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
            AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
            ///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
            NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
            RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
            //////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABO9LMtLADudNIg7erEdVyMeR
            pAC9HHYjvcoDn4qPTQm5NsiTawTvuZZIIa1jjykEfH8JQ+S6/jAB6n2HxlO7wec=
            -----END PUBLIC KEY-----
            """
        ),
        (
            "a compressed point",
            """
            -----BEGIN PUBLIC KEY-----
            MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgAD70sy0sAO500iDt6sR1XIx5GkAL0c
            diO9ygOfio9NCbk=
            -----END PUBLIC KEY-----
            """
        ),
        (
            "a hybrid point",
            """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAH70sy0sAO500iDt6sR1XIx5GkAL0c
            diO9ygOfio9NCbk2yJNrBO+5lkghrWOPKQR8fwlD5Lr+MAHqfYfGU7vB5w==
            -----END PUBLIC KEY-----
            """
        ),
    ]

    /// Files of authorities: each certificate is one, and one that cannot be read spoils the file.
    @Test func certificates() throws {
        let folder = "\(Fixtures.directory)/siren/tls"
        let authority = try String(contentsOfFile: folder + "/authority.pem", encoding: .utf8)
        let server = try String(contentsOfFile: folder + "/server.pem", encoding: .utf8)
        let plain = try #require(CertificateFile.certificates(of: authority))
        for text in [
            authority, "\u{FEFF}" + authority, authority.replacing("\n", with: "\r\n"),
            "Ours:\n" + authority + "and a remark\n",
            "  " + authority.replacing("\n", with: "\n  "), Self.spki + "\n" + authority, plain,
        ] { #expect(CertificateFile.certificates(of: text) == plain) }
        let both = try #require(CertificateFile.certificates(of: authority + "\n" + server))
        #expect(both.hasPrefix(plain) && both.matches(of: /BEGIN CERTIFICATE/).count > 1 && !both.contains("KEY"))
        let end = "-----END CERTIFICATE-----"
        for damaged in [
            authority.replacing("MII", with: "MIJ"), authority.replacing("MII", with: "M!I"),
            authority.replacing(end, with: ""),
            Self.spki.replacing("PUBLIC KEY", with: "CERTIFICATE"),
        ] {
            #expect(CertificateFile.certificates(of: damaged) == nil)
            #expect(CertificateFile.certificates(of: authority + "\n" + damaged) == nil)
        }
        #expect(CertificateFile.certificates(of: "") == nil && CertificateFile.certificates(of: Self.spki) == nil)
    }
}
