/// Passes a conversation on to another channel and records every exchange, its time and its fault.
///
/// What the reader cannot do (``ReaderError/Kind/unsupported``) is not recorded, for it never reached the card, nor what
/// is sent to a card that has left, for nothing answers it.
public final class RecordingChannel: CardChannel {
    private let channel: any CardChannel
    private let sink: (Capture.Exchange.Request, Capture.Exchange.Answer) -> Duration
    private let sinkReset: () -> Void

    private var isRemoved = false

    /// What the reader knows of the card.
    public var facts: CardFacts { channel.facts }

    /// The time from the presentation of the card to the last answer, as it is recorded: a replay tells the same.
    public private(set) var elapsed: Duration = .zero

    /// A channel that hands each exchange to `record` as soon as it is over.
    ///
    /// - Parameters:
    ///   - channel: the channel to the card.
    ///   - reset: notes that the card was powered anew.
    ///   - record: keeps an exchange and gives the time since the presentation of the card under which it was kept.
    public init(
        _ channel: any CardChannel,
        reset: @escaping () -> Void = {},
        record: @escaping (Capture.Exchange.Request, Capture.Exchange.Answer) -> Duration
    ) {
        self.channel = channel
        sink = record
        sinkReset = reset
    }

    /// Sends a command APDU and records it with its answer.
    public func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8] {
        do throws(ReaderError) {
            let answer = try channel.transmit(command)
            note(.apdu(command), .bytes(answer))
            return answer
        } catch {
            throw note(.apdu(command), error)
        }
    }

    /// Exchanges a raw frame and records it with its answer.
    public func transceive(_ frame: RawFrame) throws(ReaderError) -> RawFrame {
        do throws(ReaderError) {
            let answer = try channel.transceive(frame)
            note(.raw(frame), .raw(answer))
            return answer
        } catch {
            throw note(.raw(frame), error)
        }
    }

    /// Sends a control code to the reader and records it with its answer.
    public func control(_ code: UInt32, _ data: [UInt8]) throws(ReaderError) -> [UInt8] {
        do throws(ReaderError) {
            let answer = try channel.control(code, data)
            note(.control(code: code, data: data), .bytes(answer))
            return answer
        } catch {
            throw note(.control(code: code, data: data), error)
        }
    }

    /// Powers the card anew. Captures have no line for it; the file gets a comment.
    public func reset() throws(ReaderError) {
        try channel.reset()
        sinkReset()
    }

    private func note(_ request: Capture.Exchange.Request, _ answer: Capture.Exchange.Answer) {
        elapsed = max(elapsed, sink(request, answer))
    }

    private func note(_ request: Capture.Exchange.Request, _ error: ReaderError) -> ReaderError {
        let fault = Capture.Fault(error)
        if error.kind != .unsupported, !(isRemoved && fault == .removed) { note(request, .fault(fault)) }
        if fault == .removed { isRemoved = true }
        return error
    }
}
