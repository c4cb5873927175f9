import CardCore

extension Capture {
    /// Something that was sent, and what came back.
    public struct Exchange: Sendable {
        /// What was sent.
        public var request: Request

        /// What came back, or why nothing did.
        public var answer: Answer

        /// When the answer came, since the start of the capture, if that is known.
        public var at: Duration?

        /// The line of the file that holds the request. It does not count when exchanges are compared.
        public var sourceLine: Int?

        /// What was sent.
        public enum Request: Sendable, Hashable {
            /// A command APDU: `> HEX`.
            case apdu([UInt8])
            /// A raw frame without checksum: `>> HEX`.
            case raw(RawFrame)
            /// An escape command to the reader itself: `control CODE > HEX`.
            case control(code: UInt32, data: [UInt8])
        }

        /// What came back.
        public enum Answer: Sendable, Hashable {
            /// A response APDU with its status word, or the answer to an escape command: `< HEX`.
            case bytes([UInt8])
            /// A raw frame without checksum: `<< HEX`.
            case raw(RawFrame)
            /// Nothing, for a reason: `! removed`.
            case fault(Fault)
        }

        /// An exchange.
        public init(_ request: Request, _ answer: Answer, at: Duration? = nil, sourceLine: Int? = nil) {
            self.request = request
            self.answer = answer
            self.at = at
            self.sourceLine = sourceLine
        }
    }
}

extension Capture.Exchange: Hashable {
    /// Equal exchanges say the same; their place in a file does not count.
    public static func == (left: Self, right: Self) -> Bool {
        left.request == right.request && left.answer == right.answer && left.at == right.at
    }

    /// Hashes what the exchange says.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(request)
        hasher.combine(answer)
        hasher.combine(at)
    }
}
