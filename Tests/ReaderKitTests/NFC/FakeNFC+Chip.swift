import CardCore
import ReaderKitTesting
import TestSupport

@testable import ReaderKit

#if NFC && PCSC

extension FakeNFC.Chip {
    /// What anticollision shows of a card, and of which kind it is to the chip.
    static func target(_ card: any SimulatedCard) -> NFCTarget? {
        func typeA(_ atqa: [UInt8], _ sak: UInt8, _ ats: [UInt8] = []) -> NFCTarget {
            var values: [CardFacts.Value] = [.init("atqa", atqa), .init("sak", [sak]), .init("uid", card.uid)]
            if !ats.isEmpty { values.append(.init("ats", ats)) }
            return NFCTarget(.iso14443a, values)
        }
        switch card.kind {
        case .isoDEP(let history):
            return typeA([0x03, 0x44], 0x20, [UInt8(history.count + 5), 0x78, 0x80, 0x71, 0x02] + history)
        case .classicMini: return typeA([0x00, 0x04], 0x09)
        case .classic1K: return typeA([0x00, 0x04], 0x08)
        case .classic4K: return typeA([0x00, 0x02], 0x18)
        case .topaz: return NFCTarget(.jewel, [.init("atqa", [0x0C, 0x00]), .init("uid", Array(card.uid.prefix(4)))])
        case .feliCa:
            return NFCTarget(.felica212, [.init("idm", card.uid), .init("pmm", [0, 0xF1, 0, 0, 0, 1, 0x43, 0])])
        case .storage(0x03, _): return typeA([0x00, 0x44], 0x00)
        default: return nil
        }
    }

    mutating func select(_ modulation: NFCModulation, _ data: [UInt8]) -> NFCTarget? {
        isSelected = false
        guard let card, let target = Self.target(card), target.modulation == modulation else { return nil }
        guard data.isEmpty || data == target["uid"] else { return nil }
        card.powerOff()
        card.powerOn()
        isSelected = true
        return target
    }

    mutating func ping() -> NFCCode {
        guard isSelected, let card else { return .targetReleased }
        if case .isoDEP = card.kind { return .success }
        guard Self.target(card)?.canBePinged == true else { return .notSupported }
        return card.receive(frame: RawFrame([0x30, 0x00]))?.bytes.count == 16 ? .success : .radio
    }

    mutating func transceive(_ frame: [UInt8]) -> (code: NFCCode, answer: [UInt8]) {
        guard isSelected, let card, let target = Self.target(card) else { return (.radio, []) }
        guard isEasy else {
            guard !addsChecksum, let plain = RadioChecksum.typeA.strip(frame),
                let answer = card.receive(frame: RawFrame(plain))
            else { return (.radio, []) }
            let isWhole = answer.bitsInLastByte == 8
            return (.success, answer.bytes + (isWhole ? RadioChecksum.typeA.bytes(of: answer.bytes) : []))
        }
        if target.isISODEP { return card.receive(apdu: frame).map { (.success, $0) } ?? (.radio, []) }
        guard let answer = card.receive(frame: RawFrame(frame)) else {
            let isAuthentication = target.isClassic && (frame[0] == 0x60 || frame[0] == 0x61)
            return (isAuthentication ? .authenticationFailed : .radio, [])
        }
        if answer.bitsInLastByte < 8 { return answer.bytes == [0x0A] ? (.success, []) : (.radio, []) }
        let hidesAddress = target.modulation == .jewel && frame[0] != 0x78 && frame[0] != 0x00
        return (.success, Array(answer.bytes.dropFirst(hidesAddress ? 1 : 0)))
    }
}
#endif
