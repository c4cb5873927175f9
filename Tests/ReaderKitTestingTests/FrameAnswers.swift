import ReaderKit
import ReaderKitTesting

/// The answer to a frame as captures write it: `-` for silence, a digit and `/4` for four bits.
func answer(_ card: any SimulatedCard, _ frame: String) -> String {
    guard let answer = card.receive(frame: RawFrame((try? Hex.decode(frame)) ?? [])) else { return "-" }
    guard answer.bitsInLastByte == 4, let byte = answer.bytes.first else { return answer.bytes.hex }
    return String(byte, radix: 16, uppercase: true) + "/4"
}

/// A step of a conversation: a frame and its answer; `power` in place of a frame powers the card anew.
struct FrameStep: Sendable {
    var frame: String
    var answer: String

    init(_ frame: String, _ answer: String) {
        self.frame = frame
        self.answer = answer
    }

    static let power = FrameStep("power", "")
}

/// The steps whose answers are not the expected ones, with what was answered; empty if all are.
func differences(_ card: any SimulatedCard, _ steps: [FrameStep]) -> [String] {
    card.powerOn()
    return steps.enumerated().compactMap { index, step in
        if step.frame == "power" {
            card.powerOff()
            card.powerOn()
            return nil
        }
        let given = answer(card, step.frame)
        return given == step.answer ? nil : "\(index): \(step.frame) gave \(given), not \(step.answer)"
    }
}
