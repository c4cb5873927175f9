import CardCore
import Foundation

@testable import Captures

/// A log of each form: those in files were recorded with the real programs and a simulated card, those here are written
/// as the programs write them.
struct LogSample: Sendable, CustomStringConvertible {
    let name: String
    let form: CaptureConversion.Format
    let text: [UInt8]
    /// What a line with a command and one with an answer has.
    let command: String
    let answer: String
    /// The exchanges as a capture shows them.
    let said: [String]

    var description: String { name }

    init(
        _ name: String,
        _ form: CaptureConversion.Format,
        _ text: String? = nil,
        command: String = ">",
        answer: String = "<",
        said: [String]
    ) {
        self.name = name
        self.form = form
        self.text = text.map { Array($0.utf8) } ?? (try? CaptureConversionTests.log(name)) ?? []
        self.command = command
        self.answer = answer
        self.said = said
    }

    /// The exchanges of a capture, one text each.
    static func said(_ capture: Capture) -> [String] {
        capture.presentations.flatMap(\.exchanges).map { exchange in
            let frame = { (frame: RawFrame) in
                frame.bytes.hex + (frame.bitsInLastByte < 8 ? "/\(frame.bitsInLastByte)" : "")
            }
            let request =
                switch exchange.request {
                case .apdu(let bytes): bytes.hex
                case .raw(let bytes): ">" + frame(bytes)
                case .control(let code, let data): "\(code):" + data.hex
                }
            switch exchange.answer {
            case .bytes(let bytes): return request + " " + bytes.hex
            case .raw(let bytes): return request + " " + frame(bytes)
            case .fault(let fault): return request + " !" + fault.rawValue
            }
        }
    }

    // MARK: The card that was recorded

    /// What the simulated card holds.
    private static let memory: [UInt8] = {
        let head = "0015D101115504636C75622E6578616D706C652F6D2F3790002020FF0061101F"
        let start = (try? Hex.decode(head)) ?? []
        return Array((start + (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }).prefix(300))
    }()

    static func read(_ count: Int) -> String {
        [0x00, 0xB0, 0x00, 0x00, UInt8(count & 0xFF)].hex + " " + memory.prefix(count).hex + "9000"
    }

    static let uid = "FFCA000000 045A2B3A9C39809000"
    static let select = "00A4040007D276000085010100 9000"
    /// What the script of scriptor sends.
    static let script =
        [uid, select, "00A4000C02E103 9000"] + [14, 15, 16, 30, 32, 256].map(read)
        + ["00CA000000 6D00", "00A4040005DEADBEEF01 6A82", "00C0000000 6110", "00B0000001 6C10", select]

    // MARK: Pages of a tag

    static let pages = [
        ">3000 045A2BFD3A9C39801F480000E1101200", ">3004 0103A00C340315D101115504636C7562",
        ">3008 2E6578616D706C652F6D2F37FE000000",
    ]
    static let pcscPages = [uid, "FFB0000410 0103A00C340315D101115504636C75629000"]
    static let member = [
        uid, select, "00A4000C02E103 9000", "00B000000F 000F20003B00340406E104040000009000", "00A4000C02E104 9000",
        "00B0000002 00159000", "00B0000215 D101115504636C75622E6578616D706C652F6D2F379000",
    ]
    private static let file = "00B0000012 D101115504636C75622E6578616D706C652F9000"

    static let all: [LogSample] = [
        .init("scriptor-file.txt", .transcript, said: script), .init("scriptor-stdin.txt", .transcript, said: script),
        .init("scriptor-terminal.txt", .transcript, said: script),
        .init("scriptor-member.txt", .transcript, said: member),
        .init("scriptor-removed.txt", .transcript, said: [uid, "00B0000010 !comm-error"]),
        .init(
            "pyscard.txt",
            .transcript,
            said: [uid, select] + [14, 15, 16, 30, 32, 256].map(read)
                + ["00CA000000 6D00", "00C0000000 6110", uid, "00B0000010 !removed"]
        ),
        .init(
            "opensc-tool-long.txt",
            .transcript,
            command: "Sending",
            answer: "Received",
            said: [uid, select] + [14, 15, 16, 17, 30, 32, 256].map(read) + ["00CA000000 6D00"]
        ),
        .init(
            "opensc-debug.log",
            .openSC,
            command: "Outgoing",
            answer: "Incoming",
            said: [uid, select] + [14, 15, 16, 17, 30, 32].map(read)
        ),
        .init("pcsc-spy.log", .pcscSpy, command: "bSendBuffer", answer: "bRecvBuffer", said: script),
        .init("pcscd-info-colour.log", .pcscd, command: "APDU:", answer: "SW:", said: script + [uid]),
        .init("pcscd-null.log", .pcscd, command: "APDU:", answer: "SW:", said: [uid]),
        .init("pcscd-syslog.log", .pcscd, command: "APDU:", answer: "SW:", said: pcscPages),
        .init("libnfc-uart.log", .libnfc, command: "TX:", answer: "RX:", said: pages),
        .init("libnfc-spi.log", .libnfc, command: "TX: 01", answer: "RX: d5", said: pages),
        .init("libnfc-wrapped.log", .libnfc, command: "TX:", answer: "RX:", said: pages),
        .init("libnfc-pcsc.log", .libnfc, command: "TX:", answer: "RX:", said: pcscPages),
        .init("libnfc-t4.log", .libnfc, command: "TX:", answer: "RX:", said: []),
        .init(
            "gscriptor",
            .transcript,
            """
            Beginning script execution...

            Sending: FF CA 00 00 00\u{20}
            Received: 04 5A 2B 3A 9C 39 80 90 00\u{20}
            Normal processing.

            Sending: 00 B0 00 00 0E\u{20}
            Received: 00 15 D1 01 11 55 04 63 6C 75 62 2E 65 78 90 00\u{20}
            Normal processing.

            Sending: 00 B0 00 00 12\u{20}
            Received: D1 01 11 55 04 63 6C 75 62 2E 65 78 61 6D 70 6C 65\u{20}
            2F 90 00\u{20}
            Normal processing.

            Sending: 00 C0 00 00 00\u{20}
            Received: 61 10\u{20}
            0x10 bytes of response still available.

            Script was executed without error...
            """,
            command: "Sending",
            answer: "Received",
            said: [uid, "00B000000E 0015D101115504636C75622E65789000", file, "00C0000000 6110"]
        ),
        .init(
            "GlobalPlatformPro",
            .transcript,
            """
            # gp -l -d
            # Detected readers from JNA2PCSC
            SCardConnect("Desk Reader 00 00", T=*) -> T=1, 3B8F8001804F0CA0000003060300030000000068
            SCardBeginTransaction("Desk Reader 00 00")
            A>> T=1 (4+0000) 00A40400 00\u{20}
            A<< (0018+2) (26ms) 6F108408A000000151000000A5049F6501FF 9000
            [TRACE] GlobalPlatform -  [6F]
            [DEBUG] GlobalPlatform - Auto-detected ISD: A000000151000000
            A>> T=1 (4+0008) 80500000 08 EC255ADBCDB6C751 00
            A<< (0028+2) (61ms) 00007213002987072483FF02020613A5A6AADE027E59F3F8C98F0EE3 9000
            A>> T=1 (4+0002) 80F21000 02 4F00 00
            A<< (0000+2) (12ms) 6A81
            """,
            command: "A>>",
            answer: "A<<",
            said: [
                "00A4040000 6F108408A000000151000000A5049F6501FF9000",
                "8050000008EC255ADBCDB6C75100 00007213002987072483FF02020613A5A6AADE027E59F3F8C98F0EE39000",
                "80F21000024F0000 6A81",
            ]
        ),
        .init(
            "apdu4j",
            .transcript,
            """
            >> 00A40400 07 A0000000628101 00
            << AABB 9000 (12ms)
            >> 00CA0000 00
            << [error] SCARD_W_REMOVED_CARD (3ms)
            """,
            command: ">>",
            answer: "<<",
            said: ["00A4040007A000000062810100 AABB9000", "00CA000000 !removed"]
        ),
        .init(
            "journal short-precise",
            .pcscd,
            """
            Nov 21 15:00:00.123456 desk pcscd[2811]: 00000000 winscard.c:258:SCardConnect() Attempting Connect to Desk 00 00 using protocol: 3
            Nov 21 15:00:00.123490 desk pcscd[2811]: 04370016 APDU: FF CA 00 00 00\u{20}
            Nov 21 15:00:00.123512 desk pcscd[2811]: 00000035 SW: 04 5A 2B 3A 9C 39 80 90 00\u{20}
            """,
            command: "APDU:",
            answer: "SW:",
            said: [uid]
        ),
        .init(
            "journal short-iso",
            .pcscd,
            """
            2026-11-21T15:00:00+0100 desk pcscd[2811]: winscard.c:258:SCardConnect() Attempting Connect to Desk 00 00 using protocol: 3
            2026-11-21T15:00:00+0100 desk kernel: usb 1-1: reset full-speed USB device number 5
            2026-11-21T15:00:00+0100 desk pcscd[2811]: APDU: FF CA 00 00 00\u{20}
            2026-11-21T15:00:00+0100 desk pcscd[2811]: SW: 04 5A 2B 3A 9C 39 80 90 00\u{20}
            """,
            command: "APDU:",
            answer: "SW:",
            said: [uid]
        ),
        .init(
            "libnfc pn53x_usb",
            .libnfc,
            """
            debug\tlibnfc.driver.pn53x_usb\tTX: 00 00 ff 04 fc d4 4a 01 00 e1 00\u{20}
            debug\tlibnfc.driver.pn53x_usb\tRX: 00 00 ff 00 ff 00\u{20}
            debug\tlibnfc.chip.pn53x\tPN53x ACKed
            debug\tlibnfc.driver.pn53x_usb\tRX: 00 00 ff 0f f1 d5 4b 01 01 00 44 00 07 04 5a 2b 3a 9c 39 80 7b 00\u{20}
            debug\tlibnfc.driver.pn53x_usb\tTX: 00 00 ff 05 fb d4 40 01 30 08 b3 00\u{20}
            debug\tlibnfc.driver.pn53x_usb\tRX: 00 00 ff 00 ff 00\u{20}
            debug\tlibnfc.driver.pn53x_usb\tRX: 00 00 ff 13 ed d5 41 00 2e 65 78 61 6d 70 6c 65 2f 6d 2f 37 fe 00 00 00 d0 00\u{20}
            debug\tlibnfc.driver.pn53x_usb\tTX: 00 00 ff 05 fb d4 40 01 30 04 b7 00\u{20}
            debug\tlibnfc.driver.pn53x_usb\tRX: 00 00 ff 00 ff 00\u{20}
            """,
            command: "TX:",
            answer: "RX: 00 00 ff 1",
            said: [pages[2], ">3004 !timeout"]
        ),
        .init(
            "nfc-pcsc",
            .nfcPCSC,
            """
            new reader detected Desk Reader 00 00
            card inserted <Buffer 3b 8f 80 01 80 4f 0c a0 00 00 03 06 03 00 03 00 00 00 00 68>
            trying to connect CONNECT_MODE_CARD 2
            connected { type: 2, protocol: 2 }
            transmitting <Buffer ff ca 00 00 00> 40
            transmit response received <Buffer 04 5a 2b 3a 9c 39 80 90 00> 9
            transmitting <Buffer 00 b0 00 00 12> 20
            transmit response received <Buffer d1 01 11 55 04 63 6c 75 62 2e 65 78 61 6d 70 6c 65 2f 90 00> 20
            transmitting <Buffer 80 ca 9f 7f 2c> 12
            { TransmitError: An error occurred while transmitting.
                at reader.transmit (/home/me/node_modules/nfc-pcsc/dist/Reader.js:275:20)
              previous: Error: SCardTransmit error: Insufficient buffer.(0x80100008) }
            card removed
            trying to disconnect { type: 2, protocol: 2 }
            """,
            command: "transmitting",
            answer: "received",
            said: [uid, file, "80CA9F7F2C !comm-error"]
        ),
        .init(
            "nfcpy Type 2",
            .nfcpy,
            """
            508 ms [main] enable debug output for 'nfc'
            626 ms [nfc.clf.transport] >>> 000000000000000000000000ff02fed4022a00
            630 ms [nfc.clf.transport] <<< 0000ff00ff00
            700 ms [nfc.clf] found 106A sdd_res=045A2B3A9C3980 sel_res=00 sens_res=4400
            710 ms [nfc.tag.tt2] >> 3000 (0.005000s)
            711 ms [nfc.clf] >>> 3000 timeout=0.005
            715 ms [nfc.clf] <<< 045a2bfd3a9c39801f480000e1101200 0.004s
            715 ms [nfc.tag.tt2] << 045a2bfd3a9c39801f480000e1101200 (0.004000s)
            716 ms [nfc.tag.tt2] >> 3004 (0.005000s)
            721 ms [nfc.tag.tt2] << 0103a00c340315d101115504636c7562 (0.004000s)
            730 ms [nfc.tag.tt2] >> 30ff (0.005000s)
            740 ms [nfc.tag.tt2] TimeoutError after 0 retries
            """,
            command: ".tt2] >>",
            answer: ".tt2] <<",
            said: [pages[0], pages[1], ">30FF !timeout"]
        ),
        .init(
            "nfcpy Type 4",
            .nfcpy,
            """
            [nfc.clf] found 106A sdd_res=08112233 sel_res=20 sens_res=0400
            [nfc.tag.tt4] rcvd RATS response: 067577810280
            [nfc.tag.tt4] >> 00a4040007d276000085010100
            [nfc.clf] >>> 0200a4040007d276000085010100 timeout=0.1
            [nfc.clf] <<< 029000 0.010s
            [nfc.tag.tt4] << 9000
            [nfc.tag.tt4] >> 00b0000012
            [nfc.tag.tt4] << d101115504636c75622e6578616d706c652f9000
            [nfc.tag.tt4] >> 00b0000002
            [nfc.tag.tt4] << None
            """,
            command: ".tt4] >>",
            answer: ".tt4] <<",
            said: [select, file, "00B0000002 !timeout"]
        ),
        .init(
            "Proxmark NTAG",
            .proxmark,
            """
            [=] downloading tracelog data from device
            [+] Recorded activity (trace len = 200 bytes)
                  Start |        End | Src | Data (! denotes parity error)                                           | CRC | Annotation
            ------------+------------+-----+-------------------------------------------------------------------------+-----+--------------------
                      0 |        992 | Rdr |26(7)                                                                    |     | REQA
                   2228 |       4596 | Tag |44  00                                                                   |     |
                   7040 |       9504 | Rdr |93  20                                                                   |     | ANTICOLL
                  10676 |      16500 | Tag |88  04  5a  2b  fd                                                       |     |
                  18688 |      29216 | Rdr |93  70  88  04  5a  2b  fd  \(crc("93708804 5A2BFD"))                                       |  ok | SELECT_UID
                  30388 |      33908 | Tag |04  da  17                                                               |  ok |
                  35200 |      37664 | Rdr |95  20                                                                   |     | ANTICOLL-2
                  38836 |      44724 | Tag |3a  9c  39  80  1f                                                       |     |
                  46848 |      57312 | Rdr |95  70  3a  9c  39  80  1f  \(crc("95703A9C39801F"))                                       |  ok | SELECT_UID-2
                  58516 |      62100 | Tag |00  fe  51                                                               |  ok |
                  70000 |      74000 | Rdr |30  00  \(crc("3000"))                                                           |  ok | READBLOCK(0)
                  75000 |      95000 | Tag |04  5a  2b  fd  3a  9c  39  80  1f  48  00  00  e1  10  12  00  \(crc("045A2BFD3A9C39801F480000E1101200")) |  ok |
                  96000 |     100000 | Rdr |30  ff  \(crc("30FF"))                                                           |  ok | READBLOCK(255)
                 101000 |     101500 | Tag |00(4)                                                                    |     |
                 110000 |     114000 | Rdr |50  00  57  cd                                                           |  ok | HALT
            """,
            command: "Rdr |",
            answer: "Tag |",
            said: [pages[0], ">30FF 00/4"]
        ),
        .init(
            "Proxmark ISO-DEP",
            .proxmark,
            """
                  Start |        End | Src | Data (! denotes parity error)                                   | CRC | Annotation         |
            ------------|------------|-----|-----------------------------------------------------------------|-----|--------------------|
                      0 |        992 | Rdr | 52                                                              |     | WUPA
                   2228 |       4596 | Tag | 04  00                                                          |     |
                  18688 |      29216 | Rdr | 93  70  08  11  22  33  08  \(crc("93700811223308"))                              |  ok | SELECT_UID
                  30388 |      33908 | Tag | 20  fc  70                                                      |     |
                  40000 |      44000 | Rdr | e0  80  31  73                                                  |  ok | RATS
                  45000 |      50000 | Tag | 06  75  77  81  02  80  \(crc("067577810280"))                                  |     |
                  60000 |      70000 | Rdr | 02  00  a4  04  00  07  d2  76  00  00  85  01  01  00  \(crc("0200A4040007D276000085010100"))  |  ok |
                  71000 |      72000 | Tag | f2  01  \(crc("F201"))                                                  |     |
                  73000 |      74000 | Rdr | f2  01  \(crc("F201"))                                                  |  ok |
                  75000 |      76000 | Tag | 02  90  00  \(crc("029000"))                                              |     |
                  80000 |      90000 | Rdr | 03  00  b0  00  00  12  \(crc("0300B0000012"))                                  |  ok |
                  91000 |      95000 | Tag | 13  d1  01  11  55  04  63  6c  75  62  \(crc("13D101115504636C7562"))                  |     |
                  96000 |      97000 | Rdr | a2  \(crc("A2"))                                                      |  ok |
                  98000 |      99000 | Tag | 02  2e  65  78  61  6d  70  6c  65  2f  90  00  \(crc("022E6578616D706C652F9000"))  |     |
                            |            |     |                                                                 |     |
                 100000 |     101000 | Rdr | c2  e0  b4                                                      |  ok | DESELECT
            """,
            command: "Rdr |",
            answer: "Tag |",
            said: [select, file]
        ),
        .init(
            "people",
            .transcript,
            """
            => FF:CA:00:00:00
            <= 04:5A:2B:3A:9C:39:80:90:00
            => 0x00, 0xB0, 0x00, 0x00, 0x12
            <= 0xD1, 0x01, 0x11, 0x55, 0x04, 0x63, 0x6C, 0x75, 0x62, 0x2E, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0x2F, 0x90, 0x00
            => 00-C0-00-00-00 (get response)
            <= 61-10
            """,
            command: "=>",
            answer: "<=",
            said: [uid, file, "00C0000000 6110"]
        ),
        random("random bytes", .transcript, command: ">", answer: "<") { ["> " + $0.spaced, "< " + $1.spaced] },
        random("gscriptor of random bytes", .transcript, command: "Sending", answer: "Received") { command, answer in
            rows("Sending: ", command) + rows("Received: ", answer) + ["Normal processing.", ""]
        },
        random("opensc-tool of random bytes", .transcript, command: "Sending", answer: "Received") { command, answer in
            let data = answer.dropLast(2)
            let status = String(format: "SW1=0x%02X, SW2=0x%02X", answer[data.count], answer[data.count + 1])
            let dump = stride(from: 0, to: data.count, by: 16).map { place in
                let row = Array(data[place..<min(place + 16, data.count)])
                let text = String(decoding: row.map { (0x20...0x7E).contains($0) ? $0 : 0x2E }, as: UTF8.self)
                return (row.spaced + " ").padding(
                    toLength: place == 0 ? row.count * 3 : 48,
                    withPad: " ",
                    startingAt: 0
                ) + text
            }
            return ["Sending: " + command.spaced, "Received (\(status))" + (data.isEmpty ? "" : ":")] + dump
        },
        random("nfc-pcsc of random bytes", .nfcPCSC, command: "transmitting", answer: "received") { command, answer in
            [
                "transmitting <Buffer \(command.spaced.lowercased())> 60",
                "response received <Buffer \(answer.spaced.lowercased())> \(answer.count)",
            ]
        },
    ]

    /// Thirty exchanges of bytes that may look like a status word anywhere.
    private static func random(
        _ name: String,
        _ form: CaptureConversion.Format,
        command: String,
        answer: String,
        _ lines: ([UInt8], [UInt8]) -> [String]
    ) -> LogSample {
        var random = MutationRandom(seed: 5)
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in
                random.below(4) == 0 ? [0x61, 0x63, 0x6A, 0x90, 0x00][random.below(5)] : UInt8(random.below(256))
            }
        }
        let pairs = (0..<30).map { index -> ([UInt8], [UInt8]) in
            let data = bytes(random.below(40) + 1)
            let head: [UInt8] = [0x00, 0xB0, UInt8(index)]
            let command = [
                head + [0, 0], head + [1, UInt8(data.count)] + data,
                head + [2, UInt8(data.count)] + data + [0],
            ][random.below(3)]
            return (command, bytes(random.below(46)) + [[0x90, 0x00], [0x61, 0x10], [0x62, 0x82]][random.below(3)])
        }
        let said = pairs.map { $0.0.hex + " " + $0.1.hex }
        let text = pairs.flatMap { lines($0.0, $0.1) }.joined(separator: "\n") + "\n"
        return .init(name, form, text, command: command, answer: answer, said: said)
    }

    /// Gscriptor breaks its lines behind each seventeenth byte.
    private static func rows(_ mark: String, _ bytes: [UInt8]) -> [String] {
        let rows = stride(from: 0, through: bytes.count, by: 17).map {
            Array(bytes[$0..<min($0 + 17, bytes.count)]).spaced
        }
        return [mark + rows[0]] + rows.dropFirst()
    }

    /// The checksum of a frame on air, as a Proxmark's list has it.
    private static func crc(_ hex: String) -> String {
        let frame = (try? Hex.decode(hex.replacing(" ", with: ""))) ?? []
        return RadioChecksum.typeA.bytes(of: frame).map { String(format: "%02x", $0) }.joined(separator: "  ")
    }
}

extension [UInt8] {
    fileprivate var spaced: String { Hex.encode(self, separator: " ") }
}
