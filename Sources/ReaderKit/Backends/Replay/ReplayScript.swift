protocol ReplayScript {
    typealias Request = Capture.Exchange.Request

    mutating func next(_ request: Request, attempting attempt: String) throws(ReaderError) -> Capture.Exchange

    mutating func reset()

    /// Whether there is an answer to a request now.
    func isRecorded(_ request: Request) -> Bool

    var rest: ReaderError? { get }
}

struct StrictScript: ReplayScript {
    private let presentation: Capture.Presentation
    private let file: String?
    private var position = 0

    init(_ presentation: Capture.Presentation, file: String?) {
        self.presentation = presentation
        self.file = file
    }

    mutating func next(_ request: Request, attempting attempt: String) throws(ReaderError) -> Capture.Exchange {
        let sent = Self.beginning(of: request)
        guard position < presentation.exchanges.count else {
            let last = presentation.exchanges.last?.sourceLine ?? presentation.sourceLine
            throw mismatch(attempt, line: last, "'\(sent)' was sent and nothing more is recorded")
        }
        let exchange = presentation.exchanges[position]
        guard exchange.request == request else {
            let recorded = Self.beginning(of: exchange.request)
            throw mismatch(attempt, line: exchange.sourceLine, "'\(sent)' was sent and '\(recorded)' is recorded")
        }
        position += 1
        return exchange
    }

    mutating func reset() {}

    func isRecorded(_ request: Request) -> Bool {
        position < presentation.exchanges.count && presentation.exchanges[position].request == request
    }

    var rest: ReaderError? {
        guard position < presentation.exchanges.count else { return nil }
        let exchange = presentation.exchanges[position]
        let recorded = Self.beginning(of: exchange.request)
        return mismatch("replay all of the card", line: exchange.sourceLine, "'\(recorded)' was not sent")
    }

    /// What was sent, for a message: without the data, which may be a key or a password.
    private static func beginning(of request: Request) -> String {
        let (text, isWhole): (String, Bool)
        switch request {
        case .apdu(let command):
            text = CaptureText.request(.apdu(Array(command.prefix(5))))
            isWhole = command.count <= 5
        case .raw(let frame):
            isWhole = frame.bytes.count <= 2
            text = CaptureText.request(.raw(isWhole ? frame : RawFrame(Array(frame.bytes.prefix(1)))))
        case .control(let code, let data):
            text = CaptureText.request(.control(code: code, data: Array(data.prefix(4))))
            isWhole = data.count <= 4
        }
        return isWhole ? text : text + " …"
    }

    private func mismatch(_ attempt: String, line: Int?, _ text: String) -> ReaderError {
        let place = line.map { "\(file ?? "capture"):\($0): " } ?? ""
        return ReaderError(.replayMismatch, attempting: attempt, detail: place + text)
    }
}

/// Looks answers up by the command, within the last successful SELECT.
struct CommandScript: ReplayScript {
    /// What an answer is looked up by. The scope is the last successful SELECT, `nil` before the first; `anywhere`
    /// stands for what does not depend on it.
    private struct Key: Hashable {
        enum Scope: Hashable {
            case anywhere
            case selected([UInt8]?)
        }
        var scope: Scope
        var request: Request
    }

    private var answers: [Key: [Capture.Exchange]] = [:]
    private var used: [Key: Int] = [:]
    private var selected: [UInt8]?

    init(_ presentation: Capture.Presentation) {
        for exchange in presentation.exchanges {
            if Self.isScoped(exchange.request) {
                answers[Key(scope: .selected(selected), request: exchange.request), default: []].append(exchange)
            }
            if !Self.isScoped(exchange.request) || Self.isSelect(exchange.request) {
                answers[Key(scope: .anywhere, request: exchange.request), default: []].append(exchange)
            }
            follow(exchange)
        }
        selected = nil
    }

    mutating func next(_ request: Request, attempting attempt: String) throws(ReaderError) -> Capture.Exchange {
        for scope in [Key.Scope.selected(selected), .anywhere] {
            let key = Key(scope: scope, request: request)
            guard let recorded = answers[key], let last = recorded.indices.last else { continue }
            let index = min(used[key, default: 0], last)
            used[key] = index + 1
            follow(recorded[index])
            return recorded[index]
        }
        switch request {
        case .apdu:
            return Capture.Exchange(request, .bytes([0x6D, 0x00]))
        case .raw:
            return Capture.Exchange(request, .fault(.timeout))
        case .control:
            let code = ReaderError.Code(rawValue: 0x8010_001F, name: "SCARD_E_UNSUPPORTED_FEATURE")
            throw ReaderError(.unsupported, attempting: attempt, code: code)
        }
    }

    mutating func reset() {
        selected = nil
    }

    func isRecorded(_ request: Request) -> Bool {
        [Key.Scope.selected(selected), .anywhere].contains { answers[Key(scope: $0, request: request)] != nil }
    }

    var rest: ReaderError? { nil }

    private mutating func follow(_ exchange: Capture.Exchange) {
        if case .apdu(let command) = exchange.request, Self.isSelect(exchange.request),
            case .bytes(let answer) = exchange.answer, Self.isSuccess(answer)
        {
            selected = command
        } else if case .fault(.reset) = exchange.answer {
            selected = nil
        }
    }

    /// Class `FF` is answered by the reader, whatever is selected on the card.
    private static func isScoped(_ request: Request) -> Bool {
        guard case .apdu(let command) = request else { return false }
        return command.first != 0xFF
    }

    /// SELECT of ISO/IEC 7816-4: instruction `A4` in an interindustry class.
    private static func isSelect(_ request: Request) -> Bool {
        guard case .apdu(let command) = request, command.count >= CaptureLimits.shortestCommand else { return false }
        return command[0] < 0x80 && command[1] == Instruction.select
    }

    private static func isSuccess(_ answer: [UInt8]) -> Bool {
        guard answer.count >= 2 else { return false }
        let status = answer.suffix(2)
        return status.elementsEqual([0x90, 0x00]) || status.first == 0x61
    }
}
