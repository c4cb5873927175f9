/// The part next to the card: encodes a command in the shortest form that carries it, sends it, and reads the answer.
///
/// It also keeps the time of a command with all its rounds, and reports each exchange to a trace.
final class APDUTransport: APDUProcessor {
    private let channel: any CardChannel
    private let trace: APDUTrace?
    private let limit: Duration?
    private var start: Duration?
    private var secrets = APDUSecrets()

    /// - Parameter limit: how long everything after ``begin()`` may take. It is looked at before each exchange.
    init(_ channel: any CardChannel, trace: APDUTrace? = nil, limit: Duration? = nil) {
        self.channel = channel
        self.trace = trace
        self.limit = limit
    }

    /// Starts the time of a command anew.
    func begin() {
        start = channel.elapsed
    }

    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU {
        let bytes = command.encoded()
        let before = channel.elapsed
        if let limit, let start, before - start > limit {
            let detail = "with all its rounds it takes longer than \(limit)"
            throw ReaderError(.timeout, attempting: "send a command to the card", detail: detail)
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
protocol APDUProcessor {
    /// Carries out a command and returns the answer, whatever its status word.
    func process(_ command: CommandAPDU) throws(ReaderError) -> ResponseAPDU
}
