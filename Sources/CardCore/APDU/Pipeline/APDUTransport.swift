/// The part next to the card: encodes a command, sends it, and reads the answer.
///
/// It also keeps the time of a command with all its rounds, and tells a trace of each exchange.
public final class APDUTransport: APDUProcessor {
    private let channel: any CardChannel
    private let trace: APDUTrace?
    private let limit: Duration?
    private var start: Duration?
    private var secrets = APDUSecrets()

    /// A transport over a channel.
    ///
    /// - Parameters:
    ///   - channel: the conversation with the card.
    ///   - trace: what to tell of each exchange, or `nil`.
    ///   - limit: how long everything after ``begin()`` may take. It is looked at before each exchange.
    public init(_ channel: any CardChannel, trace: APDUTrace? = nil, limit: Duration? = nil) {
        self.channel = channel
        self.trace = trace
        self.limit = limit
    }

    /// Starts the time of a command anew.
    public func begin() {
        start = channel.elapsed
    }

    /// Sends a command in the shortest form that carries it.
    public func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let bytes = command.encoded()
        let before = channel.elapsed
        if let limit, let start, before - start > limit {
            throw ReaderError(
                .timeout,
                attempting: "send a command to the card",
                detail: "with all its rounds it takes longer than \(limit)"
            )
        }
        let isSecret = secrets.isSecret(command)
        do throws(ReaderError) {
            let answer = try channel.transmit(bytes)
            let response: ResponseAPDU
            do {
                response = try ResponseAPDU(bytes: answer)
            } catch {
                throw ReaderError(.invalidAnswer, attempting: "read the card's answer", detail: error.message)
            }
            trace?.tell(command, bytes.count, .success(response), channel.elapsed - before, isSecret: isSecret)
            return response
        } catch {
            trace?.tell(command, bytes.count, .failure(error), channel.elapsed - before, isSecret: isSecret)
            throw error
        }
    }
}

/// One part of the way from a command to the card: it passes commands on to the next part and does one thing itself.
///
/// ``APDUPipeline`` puts the parts together; a protocol with rules of its own puts together the ones it wants.
public protocol APDUProcessor {
    /// Carries out a command and returns the answer, whatever its status word.
    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU
}
