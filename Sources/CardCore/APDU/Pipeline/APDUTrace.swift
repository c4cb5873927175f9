/// Where a conversation's exchanges are reported, for logs and for people who look for a fault.
///
/// An entry has the header, the lengths, the status word and the time. Data bytes are in it only if they are asked for,
/// and those of keys, passwords and authentications never (``Entry/isSecret``).
public struct APDUTrace: Sendable {
    /// Whether data bytes are reported.
    public enum Data: String, Sendable, Hashable, CaseIterable {
        /// Only their number.
        case counted
        /// The bytes, but for keys, passwords and authentications. They may identify a person.
        case shown
    }

    private let data: Data
    private let sink: @Sendable (Entry) -> Void

    /// A trace.
    ///
    /// - Parameters:
    ///   - data: whether data bytes are reported.
    ///   - sink: is called after each exchange, on the thread of the conversation, which waits for it.
    public init(data: Data = .counted, _ sink: @escaping @Sendable (Entry) -> Void) {
        self.data = data
        self.sink = sink
    }

    /// One exchange.
    public struct Entry: Sendable, Hashable {
        /// CLA, INS, P1 and P2.
        public var header: [UInt8]
        /// The number of data bytes in the command (Nc).
        public var commandDataCount: Int
        /// The expected length (Ne), or `nil`.
        public var expectedLength: Int?
        /// The number of bytes of the whole command as it was sent.
        public var commandLength: Int
        /// The command's data, if they are shown.
        public var commandData: [UInt8]?
        /// The number of data bytes in the answer; 0 if there was none.
        public var responseDataCount: Int
        /// The answer's data, if they are shown.
        public var responseData: [UInt8]?
        /// The status word, or `nil` if no answer came.
        public var statusWord: StatusWord?
        /// Why no answer came, or `nil`.
        public var fault: ReaderError.Kind?
        /// How long it took.
        public var duration: Duration
        /// Whether the command has to do with keys or passwords, so that data are not shown in any case.
        public var isSecret: Bool
    }

    func tell(
        _ command: CommandAPDU,
        _ commandLength: Int,
        _ result: Result<ResponseAPDU, ReaderError>,
        _ duration: Duration,
        isSecret: Bool
    ) {
        let isShown = data == .shown && !isSecret
        var entry = Entry(
            header: [command.cla, command.ins, command.p1, command.p2],
            commandDataCount: command.data.count,
            expectedLength: command.expectedLength,
            commandLength: commandLength,
            commandData: isShown ? command.data : nil,
            responseDataCount: 0,
            duration: duration,
            isSecret: isSecret
        )
        switch result {
        case .success(let response):
            entry.responseDataCount = response.data.count
            if isShown { entry.responseData = response.data }
            entry.statusWord = response.statusWord
        case .failure(let error):
            entry.fault = error.kind
        }
        sink(entry)
    }
}

extension APDUTrace.Entry: CustomStringConvertible {
    /// One line, as `00 A4 04 00, 7 bytes, Le 256: 0 bytes, 9000 success, 4.1 ms`.
    public var description: String {
        var text = Hex.encode(header, separator: " ")
        if commandDataCount > 0 { text += ", " + CommandAPDU.counted(commandDataCount, commandData) }
        if let expectedLength { text += ", Le \(expectedLength)" }
        text += ": "
        if let statusWord {
            text += "\(CommandAPDU.counted(responseDataCount, responseData)), \(statusWord)"
        } else if let fault {
            text += fault.meaning
        }
        let tenths = Int(min(max(duration.seconds * 10_000, 0), 1e12).rounded())
        return text + ", \(tenths / 10).\(tenths % 10) ms"
    }
}
