/// The way to a reader itself, beside its cards: the seam between backends and ``ReaderControl``.
///
/// As a ``CardChannel`` it is synchronous, belongs to the isolation of its reader, and must not leave the closure of
/// ``ReaderBackend/withReader(_:perform:)``.
public protocol ReaderChannel: AnyObject {
    /// Returns whether the driver reports that it passes escape commands (PC/SC part 10: `FEATURE_CCID_ESC_COMMAND`).
    func reportsEscape() throws(ReaderError) -> Bool

    /// Sends an escape command to the reader, which needs no card (PC/SC: `SCardControl` 0x42000001).
    ///
    /// - Throws: ``ReaderError/Kind/unsupported`` if the driver passes none.
    func escape(_ command: [UInt8]) throws(ReaderError) -> [UInt8]

    /// Sends a command APDU with the card on the reader, in a transaction of its own, to be answered by the reader itself.
    ///
    /// - Throws: ``ReaderError/Kind/cardRemoved`` if there is no card.
    func transmit(_ command: [UInt8]) throws(ReaderError) -> [UInt8]
}

/// The commands of one call, on the reader's thread.
struct ControlSession {
    let channel: any ReaderChannel
    let way: ControlWay
    let dialect: ControlDialect
    let reader: String

    /// Finds the way if none is known: escape commands if the driver passes them and the reader answers as its dialect
    /// does, else command APDUs in whichever form the reader answers.
    init(
        _ channel: any ReaderChannel,
        _ dialect: ControlDialect,
        reader: String,
        known: ControlWay?,
        withoutCard: Bool
    ) throws {
        self.channel = channel
        self.dialect = dialect
        self.reader = reader
        way = try known ?? Self.find(channel, dialect, reader, withoutCard)
    }

    private static func find(
        _ channel: any ReaderChannel,
        _ dialect: ControlDialect,
        _ reader: String,
        _ withoutCard: Bool
    ) throws -> ControlWay {
        var refusal: ReaderError.Code?
        var fault: ControlError?
        for way in dialect.ways where !(way.needsCard && withoutCard) {
            do throws(ReaderError) {
                // Old readers may not have what is asked for: that the driver passes commands is enough.
                if way == .escape, dialect == .csb6, try channel.reportsEscape() { return way }
                let bytes = way.bytes(dialect.probe)
                let answer = try way == .escape ? channel.escape(bytes) : channel.transmit(bytes)
                do throws(ControlError) {
                    _ = try way.data(of: answer, to: dialect.probe)
                    return way
                } catch {
                    // In the other form the reader may answer too, with a status for an unknown command.
                    if way == .escape { fault = error }
                }
            } catch {
                guard error.kind.leavesAnotherWay else { throw error }
                if way == .escape { refusal = error.code }
            }
        }
        throw fault ?? ControlError.escapeDisabled(reader: reader, refusal)
    }

    /// Sends a command, and returns the data of the answer.
    @discardableResult
    func send(_ message: ControlMessage) throws -> [UInt8] {
        let bytes = way.bytes(message)
        let answer: [UInt8]
        if way == .escape {
            answer = try channel.escape(bytes)
        } else {
            do throws(ReaderError) {
                answer = try channel.transmit(bytes)
            } catch  where error.kind == .cardRemoved {
                throw ControlError.escapeDisabled(reader: reader, error.code)
            }
        }
        return try way.data(of: answer, to: message)
    }

    @discardableResult
    func send(_ command: ControlCommand) throws -> [UInt8] {
        // Of the rest CSB6 readers know neither the codes nor the registers.
        guard dialect == .springCore || dialect == .csb6 && command.instruction == .getData else {
            throw dialect.unsupported("carry out \(command)")
        }
        return try send(.control(command))
    }

    /// Sends a command after which the reader is gone, perhaps before it has answered.
    func sendLast(_ command: ControlCommand) throws {
        // One that is gone already is not taken for one that leaves.
        try send(dialect.probe)
        do {
            try send(command)
        } catch let error as ReaderError where error.kind.meansReaderLeft {
            // As was to be expected.
        } catch ControlError.invalidAnswer {
            // An answer that was cut off.
        } catch ControlError.refused(_, let status) where status.meansSilence {
            // What a driver made of no answer.
        }
    }

    /// What the reader answers to a question, `nil` if it has no such thing.
    func ask(_ command: ControlCommand) throws -> [UInt8]? {
        do {
            return try send(command)
        } catch ControlError.refused, ControlError.unsupported {
            return nil
        }
    }
}

extension ReaderError.Kind {
    /// Whether the failure of one way implies nothing about others.
    fileprivate var leavesAnotherWay: Bool {
        switch self {
        case .unsupported, .communication, .timeout, .invalidAnswer, .limitExceeded, .cardRemoved, .cardReset,
            .cardUnresponsive, .cardUnpowered, .other:
            true
        default: false
        }
    }

    /// Whether it is what a reader leaves behind that restarts or goes off.
    fileprivate var meansReaderLeft: Bool {
        switch self {
        case .readerUnavailable, .communication, .timeout, .cardRemoved, .cardReset, .cardUnpowered, .invalidAnswer:
            true
        default: false
        }
    }
}
